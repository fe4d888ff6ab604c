//! Which tests run, as their runner prints it: Go's `-v`, pytest's `-v`, Rust's tests.

use super::lines::{Said, beginning, is_node, is_result, whole};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a process printed of its tests.
#[derive(Debug, Default)]
pub(super) struct Printed {
    /// The ends of streams, each by the stream's number.
    rests: BTreeMap<u64, Rest>,
    running: Vec<Arc<str>>,
    /// The test of pytest that ended last: its fixtures are cleared away behind its result.
    over: Option<Arc<str>>,
    /// All names that came.
    begun: BTreeSet<Arc<str>>,
    ended: BTreeSet<Arc<str>>,
    /// What ran from each moment on.
    states: Vec<(u64, State)>,
    /// Whether something was said that a runner does not say, or was not read.
    is_doubtful: bool,
    is_missed: bool,
    /// Whether it told of a test only when that was over.
    is_behind: bool,
    /// Whether other processes run the tests, of which it tells.
    is_elsewhere: bool,
    /// Whether each test has a thread of its own, or the first one.
    has_own_threads: bool,
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
    /// None runs, and what this one left is cleared away.
    Over(Arc<str>),
    Unknown,
}

impl State {
    pub(super) fn is_of_a_test(&self) -> bool {
        match self {
            Self::Running(names) => !names.is_empty(),
            Self::Over(_) => true,
            Self::Unknown => false,
        }
    }
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
            self.has_own_threads = true;
            rest.begun = Some(name.into());
            rest.bytes.clear();
            self.take(Said::Begins(name));
        }
        if is_cut {
            return self.miss(moment);
        }
        self.rests.insert(stream, rest);
        let state = match (self.running.as_slice(), &self.over) {
            // What a test before it has made may be cleared away as well.
            ([], Some(name)) if self.ended.len() == 1 => State::Over(Arc::clone(name)),
            ([], Some(_)) => State::Unknown,
            _ => State::Running(self.innermost()),
        };
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
                self.over = None;
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
                self.over = is_node(name).then(|| name.into());
            }
            Said::Was(name) => {
                self.is_behind = true;
                self.is_doubtful |= !self.begun.insert(name.into());
            }
            Said::Skipped(name) => self.is_doubtful |= !self.begun.insert(name.into()),
            Said::Elsewhere => self.is_elsewhere = true,
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
        let is_mixed = self.is_elsewhere && !self.ended.is_empty();
        if self.has_tests() && (self.is_behind || is_mixed) {
            return Some(State::Unknown);
        }
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

    pub(super) fn has_tests(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Whether other processes run all tests of which it tells.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.is_elsewhere && self.ended.is_empty() && !self.is_behind && !self.is_doubtful()
    }

    /// Whether a test began after one moment and before another.
    pub(super) fn begins_within(&self, from: u64, to: u64) -> bool {
        let mut states = self.states.iter();
        states.any(|(moment, state)| {
            let has_tests = *state == State::Unknown || state.is_of_a_test();
            has_tests && (from..=to).contains(moment)
        })
    }

    /// Whether a thread that was made in one test, or in none, does nothing for another: Go's tests
    /// go from thread to thread.
    pub(super) fn has_own_threads(&self) -> bool {
        self.has_own_threads
    }
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
                Some(State::Over(name)) => vec![format!("behind {name}")],
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
            // What is behind the second one may be of a fixture that the first one had made.
            &[
                "a.py::x[a b] ",
                "PASSED",
                "   [ 50%]\n",
                "a.py::y ",
                "PASSED",
            ],
            &[
                &["a.py::x[a b]"],
                &["behind a.py::x[a b]"],
                &["behind a.py::x[a b]"],
                &["a.py::y"],
                &["?"],
            ],
        );
        check(
            &["\nrunning 1 test\n", "test net::a ... ", "ok\n"],
            &[&[], &["net::a"], &[]],
        );
    }

    #[test]
    fn results_of_tests_that_ran_elsewhere_or_earlier_make_all_unknown() {
        let worker = [
            "a.py::x ",
            "\n",
            "[gw0]",
            " [ 50%] ",
            "PASSED",
            " a.py::x ",
            "\n",
            "a.py::y ",
            "PASSED",
        ];
        let colours = [
            "a.py::x ",
            "\n",
            "\u{1b}[36m[gw0]\u{1b}[0m [ 50%] PASSED a.py::x \n",
            "a.py::y ",
            "PASSED",
        ];
        for written in [&worker[..], &colours] {
            let written = [written, &["\n"]].concat();
            check(&written, &vec![&["?"][..]; written.len()]);
        }
        check(&["\n", "test a ... ok\n"], &[&["?"], &["?"]]);
        check(&["a.py::x PASSED [ 50%]\n"], &[&["?"]]);
        check(
            &["test a ... ignored\n", "test b ... ", "ok\n"],
            &[&[], &["b"], &[]],
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
        check(
            &["test a ... ", "okay, connecting\n", "ok\n", "test b ... "],
            &[&["a"], &["a"], &[], &["b"]],
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
