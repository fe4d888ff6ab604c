//! Events that no run made.

use super::{Deed, Part, StableName};
use syscall_model::ThreadId;

impl Deed {
    /// An event of the first process, at no time, with these fields and this result.
    #[must_use]
    pub fn imagined(name: &str, fields: Vec<Part>, returns: Option<Part>) -> Self {
        Self {
            name: name.into(),
            task: StableName {
                process: 1,
                thread: 1,
            },
            thread: ThreadId(0),
            program: "".into(),
            entered: 0,
            left: 0,
            clock: Default::default(),
            convention: None,
            fields,
            returns,
            stack: None,
            unseen: None,
            behind: Vec::new(),
            ends: None,
            injected: Default::default(),
        }
    }
}
