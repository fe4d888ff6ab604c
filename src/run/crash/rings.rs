//! Rings of operations: what they do no call shows, so that nothing could hold it.

use crate::plan::REFUSED;
use perf_live::gate::{Decision, Held, Logged, read_memory};
use syscall_model::memory::Fetches;

/// What is said of a call that makes a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    /// Where it was refused.
    pub(super) refused: &'static str,
    /// Where it was let through.
    pub(super) made: &'static str,
}

impl Ring {
    /// That of a call; `None` where it makes no ring.
    pub(super) fn made_by(name: &str) -> Option<Self> {
        match name {
            "io_uring_setup" => Some(Self {
                refused: "io_uring_setup was answered with ENOSYS: what a ring does could not be held",
                made: "io_uring_setup was made: what a ring does could not be held",
            }),
            "io_setup" => Some(Self {
                refused: "io_setup was answered with ENOSYS: what is submitted there could not be held",
                made: "io_setup was made: what is submitted there could not be held",
            }),
            _ => None,
        }
    }
}

/// The answer to a call that would make a ring, with what is read for those that are made.
pub(super) fn refused(call: &Held, fetches: &Fetches) -> Decision {
    Decision {
        injected: REFUSED,
        log: Some(Logged::of(call, read_memory(call, fetches), REFUSED)),
        ..Decision::default()
    }
}
