//! What was given to rings of io_uring and was not recorded.

use crate::plan::EventsPlan;
use perf_records::units::count_of;
use syscall_model::{Call, uring};

/// Counts the calls by which something was given to a ring.
pub(super) struct Submitted {
    /// Calls that the scenario asks for and that a ring may make unseen.
    unseen: Vec<&'static str>,
    n_submissions: u64,
    /// How many rings were made from which the kernel may take things without a call.
    n_polled: u64,
}

impl Submitted {
    pub(super) fn of(events: &EventsPlan) -> Self {
        Self {
            unseen: events.unseen_as_operations(),
            n_submissions: 0,
            n_polled: 0,
        }
    }

    pub(super) fn note(&mut self, call: &Call) {
        if self.unseen.is_empty() || !uring::submits(call) {
            return;
        }
        match call.name() {
            Some("io_uring_setup") => self.n_polled += 1,
            _ => self.n_submissions += 1,
        }
    }

    /// Says that something may be unseen, if it may.
    pub(super) fn unrecorded(&self) -> Option<String> {
        let first = self.unseen.first()?;
        let (what, it) = match (self.n_submissions, self.n_polled) {
            (0, 0) => return None,
            (0, n) => {
                let rings = count_of(n, "io_uring");
                let how = format!("made {rings} from which the kernel may take without a call");
                (how, "what it took")
            }
            (n, _) => {
                let calls = count_of(n, "call");
                (
                    format!("submitted to an io_uring in {calls}"),
                    "what it submitted",
                )
            }
        };
        Some(format!(
            "the workload {what}, and {it}, which may do what `{first}` does, was not recorded: name \
             `io_uring_enter` among `trace.events`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(n_submissions: u64, n_polled: u64) -> Option<String> {
        let submitted = Submitted {
            unseen: vec!["fsync"],
            n_submissions,
            n_polled,
        };
        submitted.unrecorded()
    }

    #[test]
    fn a_ring_that_the_kernel_polls_is_not_said_to_have_been_submitted_to() {
        assert_eq!(told(0, 0), None);
        let polled = told(0, 1).expect("a finding");
        assert!(
            polled.contains("made 1 io_uring from which the kernel may take"),
            "{polled}"
        );
        assert!(!polled.contains("submitted"), "{polled}");
        let submitted = told(2, 1).expect("a finding");
        assert!(
            submitted.contains("submitted to an io_uring in 2 calls"),
            "{submitted}"
        );
    }
}
