//! What executing programs and starting processes says of tests.

use super::started::{argv, hands_on, of_arguments, program, started};
use super::{Blamed, Tests};
use crate::scenario::BlameBy;
use crate::trace::{Deed, StableName};
use std::collections::btree_map::Entry;

impl Tests {
    /// Takes the command itself.
    pub(super) fn commanded(&mut self, command: &[String]) {
        let words = command.iter().map(String::as_bytes);
        let Some(started) = of_arguments(words.clone(), false) else {
            return;
        };
        self.started.insert(1, (0, started));
        if words.clone().next().is_some_and(hands_on) {
            self.handing_on
                .insert(1, words.map(<[u8]>::to_vec).collect());
        }
    }

    /// Takes what a process executed. The first that tells of a test counts; but one that only
    /// hands the rest of its words on, as `env` does, tells of none once that was executed, by
    /// itself or by the process that it made for that.
    pub(super) fn executed(&mut self, deed: &Deed) {
        let Some(words) = argv(deed) else { return };
        let process = deed.task.process;
        let leader = StableName { process, thread: 1 };
        let maker = self.made.get(&leader).map(|(maker, _)| maker.process);
        for process in [Some(process), maker].into_iter().flatten() {
            let all = self.handing_on.remove(&process).unwrap_or_default();
            if !words.is_empty() && words.len() < all.len() && all.ends_with(&words) {
                self.started.remove(&process);
            }
        }
        if let Some(started) = started(deed)
            && let Entry::Vacant(first) = self.started.entry(process)
        {
            first.insert((deed.entered, started));
            if program(deed).is_some_and(|path| hands_on(&path)) {
                self.handing_on.insert(process, words);
            }
        }
    }

    /// Returns the test that a process was started in.
    #[must_use]
    pub fn blame_process(&self, process: u32) -> Blamed {
        let task = StableName { process, thread: 1 };
        let made = self.made.get(&task).map(|(_, when)| *when);
        match self.by {
            // It may have become the process of a test since.
            BlameBy::Process => self.at(task, u64::MAX),
            BlameBy::Thread | BlameBy::Output => match made {
                Some(made) => self.at(task, made),
                None => Blamed::UNKNOWN,
            },
        }
    }
}
