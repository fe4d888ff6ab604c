//! Calls with their arguments as strace writes them: `name(argument, argument) = result`.
//!
//! A line of `strace -f` is not always a call: one may be interrupted by another thread's and go on
//! in a later line. And a comma does not always separate arguments: it also stands in strings,
//! structures, sets and comments.

use std::collections::BTreeMap;

use super::calls::Outcome;

/// A call as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    /// The name.
    pub(crate) name: String,
    /// What stands between the parentheses.
    pub(crate) arguments: Vec<Argument>,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// How many signals came before the next call.
    signals: usize,
}

/// An argument as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// `flags` of `flags=CLONE_VM`; most have none.
    pub(crate) label: Option<String>,
    /// What is left.
    pub(crate) text: String,
}

/// The calls of each thread, in its own order.
pub(crate) type Threads = BTreeMap<i32, Vec<Spoken>>;

/// Reads the text of `strace -f -o`; an error is what is like nothing that strace prints.
pub(crate) fn threads(text: &str) -> Result<Threads, String> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line).ok_or(line)?;
    }
    for tid in reader.begun.keys().copied().collect::<Vec<_>>() {
        reader.never_returned(tid).ok_or("a call without an end")?;
    }
    let mut threads = reader.threads;
    threads
        .values_mut()
        .for_each(|calls| as_the_program_sees(calls));
    Ok(threads)
}

#[derive(Default)]
struct Reader {
    threads: Threads,
    /// The beginnings of calls that have been entered and have not returned.
    begun: BTreeMap<i32, String>,
    /// Leaders whose id was taken over by the thread of theirs that executed a program.
    superseded_by: BTreeMap<i32, i32>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Option<()> {
        let (tid, event) = line.split_once(' ')?;
        let tid: i32 = tid.parse().ok()?;
        let event = event.trim_start();
        if let Some(end) = event.strip_prefix("+++ ") {
            if let Some(rest) = end.strip_prefix("superseded by execve in pid ") {
                let executing = rest.strip_suffix(" +++")?.parse().ok()?;
                self.superseded_by.insert(tid, executing);
            }
            return self.never_returned(tid);
        }
        if let Some(signal) = event.strip_prefix("--- ") {
            let last = self
                .threads
                .get_mut(&tid)
                .and_then(|calls| calls.last_mut());
            if let Some(last) = last.filter(|_| !signal.starts_with("stopped by ")) {
                last.signals += 1;
            }
            return Some(());
        }
        if let Some(beginning) = event.strip_suffix("<unfinished ...>") {
            self.begun.insert(tid, beginning.trim_end().to_owned());
            return Some(());
        }
        let Some(resumed) = event.strip_prefix("<... ") else {
            return self.call(tid, event);
        };
        let (name, rest) = resumed.split_once(" resumed>")?;
        let entered_by = self.superseded_by.remove(&tid).unwrap_or(tid);
        let beginning = self.begun.remove(&entered_by)?;
        let is_it = beginning.split_once('(')?.0 == name;
        is_it.then(|| self.call(entered_by, &(beginning + rest)))?
    }

    fn call(&mut self, tid: i32, line: &str) -> Option<()> {
        let call = call(line)?;
        self.threads.entry(tid).or_default().push(call);
        Some(())
    }

    /// The thread is gone: the call that it was in never returned.
    fn never_returned(&mut self, tid: i32) -> Option<()> {
        match self.begun.remove(&tid) {
            Some(beginning) => self.call(tid, &format!("{beginning}) = ?")),
            None => Some(()),
        }
    }
}

/// strace looks at an interrupted call before the signal is delivered, and cannot say whether it is
/// made again or fails with `EINTR`. What follows tells: the call again, or the return from the
/// handler, which restores the result, or nothing where the signal killed the thread.
fn as_the_program_sees(calls: &mut [Spoken]) {
    if let Some(last) = calls.last_mut()
        && matches!(last.outcome, Outcome::Interrupted(_))
    {
        last.outcome = Outcome::Never;
    }
    let failed: Vec<bool> = (0..calls.len())
        .map(|at| calls.get(at..).is_some_and(fails_at_last))
        .collect();
    for (call, _) in calls.iter_mut().zip(failed).filter(|(_, failed)| *failed) {
        call.outcome = Outcome::Failed("EINTR".to_owned());
    }
}

/// Whether the first call is interrupted, and its handler returns to an error.
fn fails_at_last(calls: &[Spoken]) -> bool {
    let [call, next, ..] = calls else {
        return false;
    };
    let is_made_again = next.name == "restart_syscall"
        || (&next.name, &next.arguments) == (&call.name, &call.arguments);
    if !matches!(call.outcome, Outcome::Interrupted(_)) || is_made_again {
        return false;
    }
    // Each signal that is handled puts a frame on the stack, and each return takes one away; it
    // restores the result of the call behind which the signal came.
    let mut frames = call.signals;
    for call in calls.iter().skip(1) {
        if frames == 0 || matches!(call.outcome, Outcome::Interrupted(_)) {
            return false;
        }
        if call.name == "rt_sigreturn" {
            if call.outcome == Outcome::Failed("EINTR".to_owned()) {
                return true;
            }
            frames -= 1;
        }
        frames += call.signals;
    }
    false
}

/// Reads a whole call.
pub(crate) fn call(line: &str) -> Option<Spoken> {
    let (name, rest) = line.split_once('(')?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    // strace names a call so that it can no longer ask for, as its thread was killed meanwhile.
    let is_unknown = name == "???";
    if name.is_empty() || !(is_unknown || name.bytes().all(is_name)) {
        return None;
    }
    let (texts, rest) = until_closed(rest)?;
    let outcome = outcome_at_the_end_of(rest).filter(|_| rest.trim_start().starts_with("= "))?;
    let arguments = texts.into_iter().map(|text| argument(name, text));
    Some(Spoken {
        name: name.to_owned(),
        arguments: arguments.collect(),
        outcome,
        signals: 0,
    })
}

/// The arguments in front of the parenthesis that closes them, and what stands behind it.
fn until_closed(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut texts = Vec::new();
    let (mut begin, mut depth) = (0, 0);
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at += length_of_string(bytes.get(at..)?)?,
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += text.get(at..)?.find("*/")? + 2;
            }
            // A comment such as `<... resuming interrupted read ...>`; `<` alone is an operator.
            b'<' if bytes.get(at + 1) == Some(&b'.') => at += text.get(at..)?.find('>')? + 1,
            b')' if depth == 0 => {
                let last = text.get(begin..at)?.trim();
                // `getpid()` has no argument, not an empty one.
                if !(texts.is_empty() && last.is_empty()) {
                    texts.push(last);
                }
                return Some((texts, text.get(at + 1..)?));
            }
            b',' if depth == 0 => {
                texts.push(text.get(begin..at)?.trim());
                begin = at + 1;
                at += 1;
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b')' | b']' | b'}' => {
                depth -= 1;
                at += 1;
            }
            _ => at += 1,
        }
        if depth < 0 {
            return None;
        }
    }
    None
}

/// How long the string literal is that the bytes begin with, its quotes included.
pub(crate) fn length_of_string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// `... = 3`, `... = -1 ENOENT (No such file or directory)`, `... = 0x8002 (flags ...)`, `... = ?`.
fn outcome_at_the_end_of(event: &str) -> Option<Outcome> {
    let (_, result) = event.rsplit_once(" = ")?;
    let mut words = result.split(' ');
    // With `-y` a descriptor is followed by what it refers to.
    let value = words.next()?.split('<').next()?;
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

/// Only of the old `clone` are arguments named, as their order differs between architectures.
fn argument(name: &str, text: &str) -> Argument {
    let label = text.split_once('=').filter(|_| name == "clone");
    match label {
        Some((label, text)) => Argument {
            label: Some(label.to_owned()),
            text: text.to_owned(),
        },
        None => Argument {
            label: None,
            text: text.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        let call = call(line).unwrap_or_else(|| panic!("no call: {line}"));
        let texts = call.arguments.into_iter().map(|argument| argument.text);
        texts.collect()
    }

    #[test]
    fn a_comma_in_a_string_a_structure_a_set_or_a_comment_separates_nothing() {
        for (line, arguments) in [
            ("getpid() = 7", &[][..]),
            ("read(3, \"\", 0)  = 0", &["3", "\"\"", "0"]),
            (
                r#"write(1, "a, \"b) = 1\\", 9) = 9"#,
                &["1", r#""a, \"b) = 1\\""#, "9"],
            ),
            (r#"read(0, "x"..., 832) = 832"#, &["0", r#""x"..."#, "832"]),
            (
                r#"execve("/bin/ls", ["ls", "a)"], 0x7f /* 35 vars, or so */) = 0"#,
                &[
                    r#""/bin/ls""#,
                    r#"["ls", "a)"]"#,
                    "0x7f /* 35 vars, or so */",
                ],
            ),
            (
                "newfstatat(3, \"\", {st_mode=S_IFREG|0644, st_rdev=makedev(0x8, 0x1), ...}, 0) = 0",
                &[
                    "3",
                    "\"\"",
                    "{st_mode=S_IFREG|0644, st_rdev=makedev(0x8, 0x1), ...}",
                    "0",
                ],
            ),
            (
                "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 9",
                &["-1", "[{WIFEXITED(s) && WEXITSTATUS(s) == 0}]", "0", "NULL"],
            ),
            (
                "capget({a, pid=0}, {effective=1<<CAP_CHOWN|1<<CAP_KILL}) = 0",
                &["{a, pid=0}", "{effective=1<<CAP_CHOWN|1<<CAP_KILL}"],
            ),
            (
                "restart_syscall(<... resuming interrupted read ...>) = 1",
                &["<... resuming interrupted read ...>"],
            ),
            (
                "poll([{fd=3, events=POLLIN}], 1, 0) = 1 ([{fd=3, revents=POLLIN}])",
                &["[{fd=3, events=POLLIN}]", "1", "0"],
            ),
        ] {
            assert_eq!(texts(line), arguments, "{line}");
        }
    }

    #[test]
    fn every_form_of_a_result_is_read() {
        let outcome = |line| call(line).map(|call| call.outcome);
        for (line, expected) in [
            ("exit_group(0)    = ?", Outcome::Never),
            ("brk(NULL) = 0x1000", Outcome::Value(0x1000)),
            ("umask(022) = 077", Outcome::Value(0o77)),
            (
                "fcntl(1, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE)",
                Outcome::Value(0x8002),
            ),
            ("poll([{fd=3}], 1, 0) = 0 (Timeout)", Outcome::Value(0)),
            (
                "access(\"a = b\", R_OK) = -1 ENOENT (No such file or directory)",
                Outcome::Failed("ENOENT".to_owned()),
            ),
            (
                "read(0, 0x7f, 1) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)",
                Outcome::Interrupted("ERESTARTSYS".to_owned()),
            ),
        ] {
            assert_eq!(outcome(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn arguments_of_clone_have_names() {
        let call = call("clone(child_stack=NULL, flags=CLONE_VM|SIGCHLD, parent_tid=[9]) = 9");
        let labels: Vec<_> = call
            .iter()
            .flat_map(|call| &call.arguments)
            .map(|argument| (argument.label.as_deref(), argument.text.as_str()))
            .collect();
        assert_eq!(
            labels,
            [
                (Some("child_stack"), "NULL"),
                (Some("flags"), "CLONE_VM|SIGCHLD"),
                (Some("parent_tid"), "[9]"),
            ]
        );
    }

    #[test]
    fn a_call_in_two_lines_is_one() {
        let text = "\
7 read(3,  <unfinished ...>
8 futex(0x1, FUTEX_WAIT, 1, NULL <unfinished ...>
7 <... read resumed>\"a, b\", 10) = 4
7 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---
8 +++ killed by SIGKILL +++
7 exit_group(0) = ?
7 +++ exited with 0 +++
";
        let threads = threads(text).expect("strace's text");
        assert_eq!(threads.len(), 2);
        let read = call("read(3, \"a, b\", 10) = 4").map(|read| Spoken { signals: 1, ..read });
        assert_eq!(
            threads.get(&7).map(|calls| calls.first().cloned()),
            Some(read)
        );
        assert_eq!(
            threads.get(&8).map(|calls| calls.first().cloned()),
            Some(call("futex(0x1, FUTEX_WAIT, 1, NULL) = ?"))
        );
    }

    #[test]
    fn what_a_program_sees_of_an_interrupted_call_follows_from_what_comes_after() {
        let handler = "7 --- SIGALRM {} ---\n7 kill(8, SIGINT) = 0\n";
        let ignored = "7 --- SIGCHLD {} ---\n";
        let nested = "7 --- SIGUSR1 {} ---\n7 getpid() = 7\n7 rt_sigreturn({mask=[]}) = 0\n";
        let fails = "7 rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted)\n";
        let again = "7 rt_sigreturn({mask=[]}) = 0\n7 read(3, \"a\", 1) = 1\n";
        let unfinished = "7 read(3, 0x1, 1) = ? ERESTARTSYS (To be restarted)\n";
        let (failed, interrupted) = (
            Outcome::Failed("EINTR".to_owned()),
            Outcome::Interrupted("ERESTARTSYS".to_owned()),
        );
        for (lines, expected) in [
            (&[handler, fails][..], &failed),
            (&[handler, ignored, fails], &failed),
            (&[handler, ignored, nested, fails], &failed),
            (&[handler, again], &interrupted),
            (&[ignored, unfinished, handler, fails], &interrupted),
            (&[ignored], &Outcome::Never),
        ] {
            let text = unfinished.to_owned() + &lines.concat();
            let threads = threads(&text).expect("strace's text");
            let read = threads.get(&7).and_then(|calls| calls.first());
            assert_eq!(read.map(|read| &read.outcome), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_call_that_strace_could_no_longer_ask_for_has_no_name() {
        let text = "7 ???( <unfinished ...>\n7 <... ??? resumed>)   = ?\n7 +++ exited with 0 +++\n";
        let threads = threads(text).expect("strace's text");
        let read = threads.get(&7).and_then(|calls| calls.first());
        let read = read.map(|read| (read.name.as_str(), &read.outcome));
        assert_eq!(read, Some(("???", &Outcome::Never)));
    }

    #[test]
    fn what_is_no_call_is_refused() {
        for line in [
            "getpid",
            "getpid(",
            "getpid()",
            "getpid() = x",
            "read(\"a) = 3",
            "read(]) = 3",
            "a b() = 3",
            "(3) = 3",
            "f(3) g = 3",
        ] {
            assert_eq!(call(line), None, "{line}");
        }
        for text in ["", "x\n", "7 <... read resumed>) = 1\n"] {
            assert_eq!(threads(text).is_err(), !text.is_empty(), "{text}");
        }
    }
}
