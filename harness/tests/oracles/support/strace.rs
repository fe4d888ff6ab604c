//! strace as a witness: `strace -f -o FILE`, read back.

use std::fs;
use std::process::Output;

use super::calls::{Call, Trace};
use super::command::Place;
use super::spoken::{self, Spoken};

/// The calls that strace saw.
pub(crate) fn trace(place: &Place, prepare: &str, command: &[&str]) -> Trace {
    let (trace, _) = trace_and_output(place, prepare, command);
    trace
}

/// The calls that strace saw, and what the command printed.
pub(crate) fn trace_and_output(place: &Place, prepare: &str, command: &[&str]) -> (Trace, Output) {
    trace_behind(place, prepare, &[], command)
}

/// The same, with words in front of strace.
pub(crate) fn trace_behind(
    place: &Place,
    prepare: &str,
    before: &[&str],
    command: &[&str],
) -> (Trace, Output) {
    let file = place.beside("strace");
    let file = file.to_str().expect("a path of letters");
    // Strings are of no interest, and what is not printed cannot be mistaken for a result.
    let strace = ["strace", "-f", "-s", "0", "-o", file];
    let words = before.iter().chain(&strace).chain(command);
    let words: Vec<&str> = words.copied().collect();
    let output = place.run(prepare, &words);
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let trace = parse(&text);
    let trace = trace.unwrap_or_else(|line| panic!("cannot read strace's line `{line}`"));
    (trace, output)
}

/// Reads the text of `strace -f -o`; an error is the line that is like none that strace prints.
fn parse(text: &str) -> Result<Trace, String> {
    let threads = spoken::threads(text)?;
    let root = text.split(' ').next().and_then(|tid| tid.parse().ok());
    let without_arguments = |call: Spoken| Call {
        name: call.name,
        outcome: call.outcome,
    };
    let calls = |(tid, calls): (i32, Vec<Spoken>)| {
        (tid, calls.into_iter().map(without_arguments).collect())
    };
    Ok(Trace {
        root: root.unwrap_or_default(),
        threads: threads.into_iter().map(calls).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::calls::{Outcome, difference};
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
    fn an_interrupted_call_ends_as_the_program_sees_it() {
        require!(require::strace());
        let (trace, facts) = witness(&["restart"]);
        let slept = facts
            .all("restart")
            .into_iter()
            .find(|fact| fact.word("call") == "nanosleep");
        let tid = slept.expect("the case of the sleep").id("tid");
        let continued = Outcome::Interrupted("ERESTART_RESTARTBLOCK".to_owned());
        let handled = Outcome::Failed("EINTR".to_owned());
        for (name, outcome) in [("nanosleep", continued), ("restart_syscall", handled)] {
            let call = last(&trace, tid, name);
            assert_eq!(call.map(|call| &call.outcome), Some(&outcome), "{name}");
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
            assert_eq!(parse(&text).err().as_deref(), Some(line));
        }
    }
}
