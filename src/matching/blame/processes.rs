//! Which test a process was started in.

use super::{Blamed, Tests};
use crate::scenario::BlameBy;
use crate::trace::StableName;

impl Tests {
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
