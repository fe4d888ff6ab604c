//! Which tests run, as their runner prints it.
//!
//! Each runner has an order in which it says things. Where it is not kept, nothing that the process
//! said is believed; where a part was not read, nothing from there to the next test that can only
//! run alone.

use super::calls::LONGEST_NAME;
use super::lines::{Runner, Said};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a process printed of its tests.
#[derive(Debug, Default)]
pub(super) struct Printed {
    runner: Option<Runner>,
    /// When each test began and ended.
    begun: BTreeMap<Arc<str>, u64>,
    ended: BTreeMap<Arc<str>, u64>,
    running: Vec<Arc<str>>,
    waiting: BTreeSet<Arc<str>>,
    /// What ran from each moment on, in order.
    states: Vec<(u64, State)>,
    /// Of these the moments from which a test ran, or may have.
    busy: Vec<u64>,
    /// Whether something was said that the runner does not say.
    is_doubtful: bool,
    /// Whether something was not read, and whether no test has begun since that runs alone.
    is_missed: bool,
    is_lost: bool,
    /// Whether the tests are over.
    is_over: bool,
}

/// What ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No test: none had begun, or all were over.
    Outside,
    /// One of these.
    Running(Vec<Arc<str>>),
    /// A test, or none. So it is behind each result: fixtures of any test may be cleared away.
    Unknown,
}

/// So many tests that may run are told apart.
const MOST: usize = 256;

impl Printed {
    /// Takes what the streams of a process say, in order.
    pub(super) fn of(said: impl IntoIterator<Item = (u64, Said)>) -> Self {
        let mut printed = Self::default();
        for (moment, said) in said {
            printed.take(moment, said);
            printed.note(moment);
        }
        // A process that ends in a test has not said all.
        printed.is_doubtful |= !printed.is_over && !printed.is_lost;
        printed
    }

    fn take(&mut self, moment: u64, said: Said) {
        match said {
            Said::Begins(name, runner) => self.begins(moment, name, runner),
            Said::GoesOn(name) => {
                if !self.running.contains(&name) {
                    self.is_doubtful |= !self.waiting.remove(&name) && !self.is_missed;
                    self.running.push(name);
                }
            }
            Said::Waits(name) => {
                self.leaves(&name);
                self.waiting.insert(name);
            }
            Said::Ended(name) => {
                match self.starts_each_test() {
                    true => self.running.retain(|it| *it != name),
                    false => self.leaves(&name),
                }
                self.ended.insert(name, moment);
            }
            Said::Over => {
                let may_run = self.starts_each_test() || self.is_lost;
                self.is_doubtful |= !self.running.is_empty() && !may_run;
                (self.is_over, self.is_lost) = (true, false);
                self.running.clear();
            }
            Said::Orphan => {
                let may_be = self.is_lost || self.is_missed && self.starts_each_test();
                self.is_doubtful |= !may_be;
            }
            Said::Wrong => self.is_doubtful = true,
            Said::Missed => (self.is_missed, self.is_lost) = (true, true),
        }
    }

    fn begins(&mut self, moment: u64, name: Arc<str>, runner: Runner) {
        // One process has one runner, and no runner begins a test twice.
        self.is_doubtful |= *self.runner.get_or_insert(runner) != runner;
        self.is_doubtful |= self.begun.insert(Arc::clone(&name), moment).is_some();
        let whole = match runner {
            Runner::Go => name.split_once('/').map(|(whole, _)| whole),
            Runner::Pytest | Runner::Rust | Runner::Ctest => None,
        };
        if let Some(whole) = whole {
            let is_part = self.running.iter().any(|it| **it == *whole);
            self.is_doubtful |= !is_part && !self.is_lost;
        } else {
            // Others of `ctest` may run beside it: what it starts is of the one that it named last.
            let is_alone = runner != Runner::Ctest && !self.is_lost;
            self.is_doubtful |= !self.running.is_empty() && is_alone;
            self.running.clear();
            self.is_lost = false;
        }
        self.is_over = false;
        self.running.push(name);
    }

    /// A test that runs does not any more.
    fn leaves(&mut self, name: &str) {
        let place = self.running.iter().position(|it| **it == *name);
        match place {
            Some(place) => drop(self.running.swap_remove(place)),
            None => self.is_doubtful |= !self.is_lost,
        }
    }

    fn note(&mut self, moment: u64) {
        let state = match self.running.len() {
            _ if self.is_lost => State::Unknown,
            0 if self.is_over || self.begun.is_empty() => State::Outside,
            1..=MOST => State::Running(self.running.clone()),
            _ => State::Unknown,
        };
        if self.states.last().is_some_and(|(_, last)| *last == state) {
            return;
        }
        if state != State::Outside {
            self.busy.push(moment);
        }
        self.states.push((moment, state));
    }

    /// What ran at a moment.
    pub(super) fn at(&self, moment: u64) -> State {
        if self.is_doubtful {
            return State::Unknown;
        }
        let behind = self.states.partition_point(|(since, _)| *since <= moment);
        let last = behind.checked_sub(1).and_then(|last| self.states.get(last));
        last.map_or(State::Outside, |(_, state)| state.clone())
    }

    /// Whether a test began, or may have, from one moment on and not behind another.
    pub(super) fn begins_within(&self, from: u64, to: u64) -> bool {
        let next = self.busy.partition_point(|moment| *moment < from);
        self.is_doubtful || self.busy.get(next).is_some_and(|moment| *moment <= to)
    }

    /// Each test, and when it began.
    pub(super) fn begun(&self) -> impl Iterator<Item = (&Arc<str>, u64)> {
        self.begun.iter().map(|(name, moment)| (name, *moment))
    }

    /// The tests, by as much of their names as a thread has.
    pub(super) fn by_thread_name(&self) -> BTreeMap<Vec<u8>, Vec<Arc<str>>> {
        let mut full: BTreeMap<Vec<u8>, Vec<Arc<str>>> = BTreeMap::new();
        for (name, _) in self.begun() {
            let bytes = name.as_bytes();
            let cut = bytes.get(..LONGEST_NAME).unwrap_or(bytes);
            full.entry(cut.to_vec()).or_default().push(Arc::clone(name));
        }
        full
    }

    /// Whether a test was over before a moment.
    pub(super) fn has_ended(&self, name: &str, by: u64) -> bool {
        self.ended.get(name).is_some_and(|end| *end < by)
    }

    /// Whether it starts a process for each test, as soon as it has named it.
    pub(super) fn starts_each_test(&self) -> bool {
        self.runner == Some(Runner::Ctest)
    }

    pub(super) fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    /// Whether it named each test that ran.
    pub(super) fn has_all_names(&self) -> bool {
        self.is_over && !self.is_missed && !self.is_doubtful
    }

    /// Whether a thread that was made in one test, or in none, does nothing for another: Go's tests
    /// go from thread to thread.
    pub(super) fn has_own_threads(&self) -> bool {
        self.runner != Some(Runner::Go)
    }

    /// The thread in which its tests run, of those that said that one begins: the first of the
    /// process; or, as pytest names a test in the thread that runs it, the only one that named any.
    /// With pytest-xdist that is another one if the first is not yet back from a request of
    /// execnet's when that to run tests comes.
    pub(super) fn runs_tests(&self, tellers: Option<&BTreeSet<u32>>) -> u32 {
        let tellers = tellers.filter(|tellers| tellers.len() == 1);
        let only = tellers.and_then(BTreeSet::first);
        let only = only.filter(|_| self.runner == Some(Runner::Pytest));
        only.copied().unwrap_or(1)
    }

    /// Whether it only repeats what processes below it told: of each test one of them did so
    /// before. Rust's runner may name a test behind its end, so also behind a process of the test
    /// that names it.
    pub(super) fn repeats(&self, told: &BTreeMap<Arc<str>, u64>) -> bool {
        let mut begun = self.begun();
        self.runner != Some(Runner::Rust)
            && begun.all(|(name, moment)| told.get(name).is_some_and(|first| *first < moment))
    }
}
