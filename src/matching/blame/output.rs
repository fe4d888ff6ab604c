//! Which test did something, by what its runner had printed.

use super::printed::State;
use super::{Blamed, Tests};
use crate::trace::StableName;
use std::collections::BTreeMap;

impl Tests {
    /// What ran, by what the nearest process that prints of tests had printed when it did this, or
    /// when it started what did; `None` if no test ran.
    pub(super) fn by_output(&self, line: &[(StableName, u64)], now: u64) -> Option<Blamed> {
        // The process of the line that the next one started, and whether one of them prints.
        let (mut branch, mut prints) = (None, false);
        for (task, moment) in line {
            let Some(printed) = self.printed.get(&task.process) else {
                branch = Some(task.process);
                continue;
            };
            // A runner that starts a process for each test does nothing of a test itself.
            if printed.starts_each_test() && branch.is_none() {
                (branch, prints) = (Some(task.process), true);
                continue;
            }
            let runs_tests = printed.runs_tests(self.tellers.get(&task.process));
            let made = match printed.has_own_threads() {
                false => None,
                true if task.thread == runs_tests => None,
                // What no test made may work for any.
                true => Some(self.made.get(task).map(|(_, when)| printed.at(*when))),
            };
            let is_of_none =
                matches!(&made, Some(made) if !matches!(made, Some(State::Running(_))));
            if is_of_none {
                return Some(Blamed::UNKNOWN);
            }
            let then = made.flatten().unwrap_or_else(|| printed.at(*moment));
            match then {
                State::Unknown => return Some(Blamed::UNKNOWN),
                // What a test started and what outlives it works for whom nobody knows.
                State::Running(names) => {
                    let still = match printed.starts_each_test() {
                        true => !names.iter().any(|name| printed.has_ended(name, now)),
                        false => printed.at(now) == State::Running(names.clone()),
                    };
                    let names = if still { names } else { Vec::new() };
                    return Some(Blamed::among(names));
                }
                State::Outside => {}
            }
            // What was there before a test and is still there may be what runs it.
            let lives = branch.filter(|process| *process != task.process && !prints);
            let end = lives.map(|process| self.until.get(&process).copied());
            if end.is_some_and(|end| printed.begins_within(*moment, end.unwrap_or(u64::MAX))) {
                return Some(Blamed::UNKNOWN);
            }
            (branch, prints) = (Some(task.process), true);
        }
        None
    }

    /// When each process has ended with all that descend from it, as far as they said so.
    pub(super) fn ends(&self) -> BTreeMap<u32, u64> {
        let mut until: BTreeMap<u32, u64> = BTreeMap::new();
        for made in self.made.keys().filter(|made| made.thread == 1) {
            let end = self.exited.get(&made.process).copied().unwrap_or(u64::MAX);
            for (task, _) in self.line(*made, end) {
                let last = until.entry(task.process).or_default();
                *last = end.max(*last);
            }
        }
        until
    }
}
