//! strace as a witness: `strace -f -o FILE`, read back.

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;

use super::calls::{Call, Outcome, Trace};
use super::command::Place;

/// The calls that strace saw.
pub(crate) fn trace(place: &Place, prepare: &str, command: &[&str]) -> Trace {
    let (trace, _) = trace_and_output(place, prepare, command);
    trace
}

/// The calls that strace saw, and what the command printed.
pub(crate) fn trace_and_output(place: &Place, prepare: &str, command: &[&str]) -> (Trace, Output) {
    let file = place.beside("strace");
    let file = file.to_str().expect("a path of letters");
    // Strings are of no interest, and what is not printed cannot be mistaken for a result.
    let strace = ["strace", "-f", "-s", "0", "-o", file];
    let words: Vec<&str> = strace.iter().chain(command).copied().collect();
    let output = place.run(prepare, &words);
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let trace = parse(&text);
    let trace = trace.unwrap_or_else(|line| panic!("cannot read strace's line `{line}`"));
    (trace, output)
}

/// Reads the text of `strace -f -o`; an error is the line that is like none that strace prints.
fn parse(text: &str) -> Result<Trace, &str> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line).ok_or(line)?;
    }
    Ok(reader.trace)
}

#[derive(Default)]
struct Reader {
    trace: Trace,
    /// Threads whose last call has been entered and has not returned, with the name of the call.
    inside: BTreeMap<i32, String>,
    /// Leaders whose id was taken over by the thread of theirs that executed a program.
    superseded_by: BTreeMap<i32, i32>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Option<()> {
        let (tid, event) = line.split_once(' ')?;
        let tid: i32 = tid.parse().ok()?;
        let event = event.trim_start();
        if let Some(event) = event.strip_prefix("+++ ") {
            self.end_of_thread(tid, event)
        } else if event.starts_with("--- ") {
            Some(())
        } else if let Some(resumed) = event.strip_prefix("<... ") {
            let (name, rest) = resumed.split_once(" resumed>")?;
            self.resumed(tid, name, outcome_at_the_end_of(rest)?)
        } else {
            self.entered(tid, event)
        }
    }

    fn entered(&mut self, tid: i32, event: &str) -> Option<()> {
        let (name, _) = event.split_once('(')?;
        if self.trace.threads.is_empty() {
            self.trace.root = tid;
        }
        let outcome = if event.ends_with("<unfinished ...>") {
            self.inside.insert(tid, name.to_owned());
            Outcome::Never
        } else {
            outcome_at_the_end_of(event)?
        };
        let name = name.to_owned();
        self.trace
            .threads
            .entry(tid)
            .or_default()
            .push(Call { name, outcome });
        Some(())
    }

    /// The second half of a call: it stands where the first half stood.
    fn resumed(&mut self, tid: i32, name: &str, outcome: Outcome) -> Option<()> {
        let entered_by = self.superseded_by.remove(&tid).unwrap_or(tid);
        if self.inside.remove(&entered_by)? != name {
            return None;
        }
        let call = self.trace.threads.get_mut(&entered_by)?.last_mut()?;
        call.outcome = outcome;
        Some(())
    }

    fn end_of_thread(&mut self, tid: i32, event: &str) -> Option<()> {
        if let Some(rest) = event.strip_prefix("superseded by execve in pid ") {
            let executing = rest.strip_suffix(" +++")?.parse().ok()?;
            self.superseded_by.insert(tid, executing);
        }
        self.inside.remove(&tid);
        Some(())
    }
}

/// `... = 3`, `... = -1 ENOENT (No such file or directory)`, `... = 0x8002 (flags ...)`, `... = ?`.
pub(crate) fn outcome_at_the_end_of(event: &str) -> Option<Outcome> {
    let (_, result) = event.rsplit_once(" = ")?;
    let mut words = result.split(' ');
    let value = words.next()?;
    let errno = words.next().filter(|word| word.starts_with('E'));
    match (value, errno) {
        ("?", None) => Some(Outcome::Never),
        ("?", Some(errno)) => Some(Outcome::Interrupted(errno.to_owned())),
        (_, Some(errno)) => Some(Outcome::Failed(errno.to_owned())),
        (value, None) => number(value).map(Outcome::Value),
    }
}

/// Decimal, or as `%#x` and `%#o` print it (addresses and flags; `umask`).
fn number(word: &str) -> Option<i64> {
    if let Some(digits) = word.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(u64::cast_signed);
    }
    match word.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => i64::from_str_radix(digits, 8).ok(),
        _ => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::difference;
    use super::super::oracle::{self, Facts};
    use super::super::require::{self, require};
    use super::*;

    /// What strace saw of the workload, and what the workload says.
    fn witness(words: &[&str]) -> (Trace, Facts) {
        let oracle = oracle::path();
        let command: Vec<&str> = std::iter::once(oracle.as_str())
            .chain(words.iter().copied())
            .collect();
        let (trace, output) = trace_and_output(&Place::new(), "", &command);
        let facts = Facts::parse(&output.stdout);
        (trace, facts)
    }

    fn last<'a>(trace: &'a Trace, tid: i32, name: &str) -> Option<&'a Call> {
        trace
            .threads
            .get(&tid)?
            .iter()
            .rfind(|call| call.name == name)
    }

    #[test]
    fn calls_of_threads_that_interrupt_each_other_are_joined() {
        require!(require::strace());
        let (trace, facts) = witness(&["threads", "4"]);
        for fact in facts.all("thread") {
            let calls = trace
                .threads
                .get(&fact.id("tid"))
                .map_or(&[][..], Vec::as_slice);
            let whole = |call: &&Call| call.name == "getppid" && call.outcome != Outcome::Never;
            let count = calls.iter().filter(whole).count();
            assert_eq!(i64::try_from(count), Ok(fact.number("count")), "{fact:?}");
        }
    }

    #[test]
    fn an_exec_by_another_thread_returns_to_the_one_that_entered_it() {
        require!(require::strace());
        let (trace, facts) = witness(&["thread-exec"]);
        let exec = facts.one("exec");
        let execve = last(&trace, exec.id("tid"), "execve");
        assert_eq!(execve.map(|call| &call.outcome), Some(&Outcome::Value(0)));
        for blocked in facts.all("blocked") {
            let call = last(&trace, blocked.id("tid"), blocked.word("call"));
            assert_eq!(
                call.map(|call| &call.outcome),
                Some(&Outcome::Never),
                "{blocked:?}"
            );
        }
    }

    #[test]
    fn an_interrupted_call_has_a_name_instead_of_a_value() {
        require!(require::strace());
        let (trace, facts) = witness(&["restart"]);
        let slept = facts
            .all("restart")
            .into_iter()
            .find(|fact| fact.word("call") == "nanosleep");
        let tid = slept.expect("the case of the sleep").id("tid");
        let interrupted = Outcome::Interrupted("ERESTART_RESTARTBLOCK".to_owned());
        for name in ["nanosleep", "restart_syscall"] {
            let call = last(&trace, tid, name);
            assert_eq!(call.map(|call| &call.outcome), Some(&interrupted), "{name}");
        }
    }

    #[test]
    fn one_wrong_result_and_one_missing_call_are_differences() {
        require!(require::strace());
        let (trace, _) = witness(&["fork-tree"]);
        let right = trace.by_creation();
        assert_eq!(right.len(), 7, "{:?}", right.keys());
        assert_eq!(difference(&right, &right), None);
        let (mut wrong, mut short) = (trace.clone(), trace.clone());
        for (tid, calls) in &mut wrong.threads {
            let last_write = calls
                .iter_mut()
                .rfind(|call| call.name == "write" && *tid == trace.root);
            if let Some(call) = last_write {
                call.outcome = Outcome::Value(1);
            }
        }
        short
            .threads
            .values_mut()
            .next_back()
            .expect("a thread")
            .pop();
        assert!(
            difference(&right, &wrong.by_creation()).is_some_and(|text| text.contains("write = 1"))
        );
        assert!(difference(&right, &short.by_creation()).is_some());
    }

    #[test]
    fn a_line_that_strace_does_not_print_is_refused() {
        for line in [
            "",
            "getpid() = 3",
            "7 getpid()",
            "7 <... read resumed>) = 1",
            "7 read(3 = x",
        ] {
            let text = format!("7 brk(NULL) = 0x1000\n{line}\n");
            assert_eq!(parse(&text).err(), Some(line));
        }
    }
}
