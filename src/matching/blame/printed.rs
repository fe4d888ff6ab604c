//! Which tests run, as their runner prints it: Go's `-v`, pytest's `-v`, Rust's tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a process printed of its tests.
#[derive(Debug, Default)]
pub(super) struct Printed {
    /// The ends of streams, each by the stream's number.
    rests: BTreeMap<u64, Rest>,
    running: Vec<Arc<str>>,
    /// All names that came.
    begun: BTreeSet<Arc<str>>,
    ended: BTreeSet<Arc<str>>,
    /// What ran from each moment on.
    states: Vec<(u64, State)>,
    /// Whether something was said that a runner does not say, or was not read.
    is_doubtful: bool,
    is_missed: bool,
}

/// The end of a stream that has no line feed yet.
#[derive(Debug, Default)]
struct Rest {
    bytes: Vec<u8>,
    /// The test whose result comes next.
    begun: Option<Arc<str>>,
    /// Whether the rest of the line was taken for that.
    is_told: bool,
}

/// What ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Running(Vec<Arc<str>>),
    Unknown,
}

impl State {
    pub(super) fn is_of_a_test(&self) -> bool {
        matches!(self, Self::Running(names) if !names.is_empty())
    }
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said<'l> {
    /// A test begins.
    Begins(&'l str),
    /// A test goes on, or waits.
    GoesOn(&'l str),
    Waits(&'l str),
    /// A test has ended.
    Ended(&'l str),
    /// A test began and ended unseen.
    Was(&'l str),
}

impl Printed {
    /// Takes what was written at a moment.
    pub(super) fn write(&mut self, stream: u64, moment: u64, bytes: &[u8], is_cut: bool) {
        let mut rest = self.rests.remove(&stream).unwrap_or_default();
        rest.bytes.extend_from_slice(bytes);
        while let Some(end) = rest.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line).into_owned();
            let line = line.trim_end_matches('\n');
            if let Some(name) = rest.begun.take_if(|_| is_result(line)) {
                self.take(Said::Ended(&name));
            } else if !std::mem::take(&mut rest.is_told) {
                whole(line).into_iter().for_each(|said| self.take(said));
            }
        }
        let text = String::from_utf8_lossy(&rest.bytes).into_owned();
        if let Some(name) = rest.begun.take_if(|_| is_result(&text)) {
            rest.is_told = true;
            self.take(Said::Ended(&name));
        } else if let Some(name) = beginning(&text) {
            rest.begun = Some(name.into());
            rest.bytes.clear();
            self.take(Said::Begins(name));
        }
        if is_cut {
            return self.miss(moment);
        }
        self.rests.insert(stream, rest);
        let state = State::Running(self.innermost());
        let is_new = match self.states.last() {
            Some((_, last)) => *last != state,
            None => !self.begun.is_empty(),
        };
        if is_new {
            self.states.push((moment, state));
        }
    }

    /// Something was written that was not read: it may have been a name.
    pub(super) fn miss(&mut self, moment: u64) {
        self.is_missed = true;
        if !self.begun.is_empty() {
            self.states.push((moment, State::Unknown));
        }
    }

    fn take(&mut self, said: Said<'_>) {
        match said {
            Said::Begins(name) => {
                let name = Arc::from(name);
                // No runner begins a test twice.
                self.is_doubtful |= !self.begun.insert(Arc::clone(&name));
                self.running.push(name);
            }
            Said::GoesOn(name) => {
                if !self.running.iter().any(|it| **it == *name) {
                    self.running.push(name.into());
                }
            }
            Said::Waits(name) => self.running.retain(|it| **it != *name),
            Said::Ended(name) => {
                let is_known = self.begun.contains(name);
                self.is_doubtful |= !is_known || !self.ended.insert(name.into());
                self.running.retain(|it| **it != *name);
            }
            Said::Was(name) => {
                self.is_doubtful |= !self.begun.insert(name.into());
            }
        }
    }

    /// What runs, without the tests of which a part runs.
    fn innermost(&self) -> Vec<Arc<str>> {
        let has_part = |name: &str| {
            let mut all = self.running.iter();
            all.any(|it| {
                it.strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with('/'))
            })
        };
        let all = self.running.iter();
        all.filter(|name| !has_part(name)).cloned().collect()
    }

    /// What ran at a moment; `None` if nothing was said until then.
    pub(super) fn at(&self, moment: u64) -> Option<State> {
        let mut states = self.states.iter().rev();
        let (_, state) = states.find(|(since, _)| *since <= moment)?;
        Some(match self.is_doubtful {
            true => State::Unknown,
            false => state.clone(),
        })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = Arc<str>> {
        self.begun.iter().cloned()
    }

    pub(super) fn is_doubtful(&self) -> bool {
        self.is_doubtful || self.is_missed
    }
}

/// The test that a line without its end begins: what follows is the result.
fn beginning(line: &str) -> Option<&str> {
    let rust = line.strip_prefix("test ");
    if let Some(name) = rust.and_then(|line| line.strip_suffix(" ... ")) {
        return (!name.is_empty()).then_some(name);
    }
    let name = line.strip_suffix(' ')?;
    is_node(name).then_some(name)
}

/// Whether it is a node id of pytest: `tests/test_net.py::test_connects`.
fn is_node(name: &str) -> bool {
    let Some((file, test)) = name.split_once(".py::") else {
        return false;
    };
    !file.is_empty() && !test.is_empty() && !file.contains(char::is_whitespace)
}

const RESULTS: [&str; 7] = [
    "PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL", "XPASS", "RERUN",
];

/// Whether it is the result of a test whose name stands before it, in colours or not.
fn is_result(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some((_, behind)) = rest
        .strip_prefix('\u{1b}')
        .and_then(|colour| colour.split_once('m'))
    {
        rest = behind.trim_start();
    }
    let mut results = RESULTS.iter().chain(&["ok", "ignored"]);
    results.any(|result| rest.starts_with(result))
}

/// What a whole line says.
fn whole(line: &str) -> Vec<Said<'_>> {
    // With `-test.v=test2json` Go marks its own lines.
    let line = line.strip_prefix('\u{16}').unwrap_or(line);
    let framed = |word: &str| line.strip_prefix(word).map(str::trim);
    if let Some(name) = framed("=== RUN ") {
        return vec![Said::Begins(name)];
    }
    if let Some(name) = framed("=== CONT ").or_else(|| framed("=== NAME ")) {
        return vec![Said::GoesOn(name)];
    }
    if let Some(name) = framed("=== PAUSE ") {
        return vec![Said::Waits(name)];
    }
    let trimmed = line.trim_start();
    for word in ["--- PASS: ", "--- FAIL: ", "--- SKIP: "] {
        if let Some(rest) = trimmed.strip_prefix(word) {
            let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
            return vec![Said::Ended(name)];
        }
    }
    if let Some((name, _)) = line
        .strip_prefix("test ")
        .and_then(|line| line.rsplit_once(" ... "))
    {
        return vec![Said::Was(name)];
    }
    let mut results = RESULTS.iter();
    let node = results.find_map(|result| {
        let (name, _) = line.split_once(&format!(" {result}"))?;
        is_node(name).then_some(name)
    });
    node.map(Said::Was).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What runs after each of these was written.
    fn check(written: &[&str], running: &[&[&str]]) {
        let mut printed = Printed::default();
        for (moment, text) in (1..).zip(written) {
            printed.write(0, moment, text.as_bytes(), false);
        }
        let found: Vec<Vec<String>> = (1..)
            .zip(written)
            .map(|(moment, _)| match printed.at(moment) {
                None => Vec::new(),
                Some(State::Unknown) => vec!["?".to_owned()],
                Some(State::Running(names)) => names.iter().map(|it| it.to_string()).collect(),
            })
            .collect();
        assert_eq!(found, running);
    }

    #[test]
    fn go_says_which_test_runs_and_its_part() {
        check(
            &[
                "=== RUN   TestA\n",
                "=== RUN   TestA/sub\n",
                "    --- PASS: TestA/sub (0.00s)\n--- PASS: TestA (0.00s)\n",
                "PASS\n",
            ],
            &[&["TestA"], &["TestA/sub"], &[], &[]],
        );
    }

    #[test]
    fn tests_that_run_side_by_side_are_one_of_several() {
        check(
            &[
                "=== RUN   TestA\n=== PAUSE TestA\n",
                "=== RUN   TestB\n=== PAUSE TestB\n",
                "=== CONT  TestA\n=== CONT  TestB\n",
                "--- PASS: TestA (0.00s)\n",
            ],
            &[&[], &[], &["TestA", "TestB"], &["TestB"]],
        );
    }

    #[test]
    fn pytest_and_rust_begin_a_line_and_end_it() {
        check(
            &["tests/test_a.py::test_x[a b] ", "PASSED", "   [ 50%]\n"],
            &[&["tests/test_a.py::test_x[a b]"], &[], &[]],
        );
        check(
            &["\nrunning 1 test\n", "test net::a ... ", "ok\n"],
            &[&[], &["net::a"], &[]],
        );
    }

    #[test]
    fn what_a_test_prints_between_its_name_and_its_result_ends_nothing() {
        check(
            &["test a ... ", "hello\n", "\u{1b}[32mok", "\n"],
            &[&["a"], &["a"], &[], &[]],
        );
        check(
            &["test a ... ", "hello\n", "test b ... "],
            &[&["a"], &["a"], &["a", "b"]],
        );
    }

    #[test]
    fn a_name_that_comes_twice_or_a_result_of_no_test_makes_all_unknown() {
        let forged = "=== RUN   TestB\n";
        check(
            &[
                "=== RUN   TestA\n",
                forged,
                "--- PASS: TestA (0.00s)\n",
                forged,
            ],
            &[&["?"], &["?"], &["?"], &["?"]],
        );
        check(
            &["=== RUN   TestA\n", "--- PASS: TestC (0.00s)\n"],
            &[&["?"], &["?"]],
        );
        check(
            &["=== RUN   TestA\n", forged],
            &[&["TestA"], &["TestA", "TestB"]],
        );
    }

    #[test]
    fn what_was_not_read_may_have_been_a_name() {
        let mut printed = Printed::default();
        printed.write(0, 1, b"=== RUN   TestA\n", false);
        printed.write(0, 2, b"xxxx", true);
        assert_eq!(printed.at(2), Some(State::Unknown));
    }
}
