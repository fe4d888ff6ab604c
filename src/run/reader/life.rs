//! Measures how long a workload lived, by its records.

use super::Reader;
use perf_records::units::{Nanos, Pid};
use std::time::Duration;

/// The times of a workload's life, on the clock of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) struct Life {
    main: Pid,
    /// When the main process executed its program.
    began: Nanos,
    /// The last end of a thread of the main process.
    ended: Option<Nanos>,
    /// The last end of a thread of the workload.
    last: Nanos,
}

impl Life {
    /// Notes that a process executed a program; the first to do so is the main one.
    pub(super) fn begin(life: &mut Option<Self>, main: Pid, at: Option<Nanos>) {
        if let (None, Some(began)) = (&life, at) {
            *life = Some(Self {
                main,
                began,
                ended: None,
                last: began,
            });
        }
    }

    pub(super) fn ends(&mut self, pid: Pid, at: Option<Nanos>) {
        let at = at.unwrap_or(self.last);
        self.last = self.last.max(at);
        if pid == self.main {
            self.ended = self.ended.max(Some(at));
        }
    }

    /// Returns the time from the execution of the main program to the last end of a thread.
    pub(in crate::run) fn took(&self) -> Duration {
        Duration::from_nanos(self.last.0.saturating_sub(self.began.0))
    }

    /// Returns the time from the end of the main process to the last end; `None` if that end is not
    /// recorded.
    pub(in crate::run) fn behind(&self) -> Option<Duration> {
        let ended = self.ended?;
        Some(Duration::from_nanos(self.last.0.saturating_sub(ended.0)))
    }
}

impl Reader<'_> {
    /// Returns the times of the workload's life, if its start is recorded, and the number of
    /// processes whose end is not.
    pub(in crate::run) fn life(&self) -> (Option<Life>, usize) {
        (self.life, self.lineage.living().len())
    }
}
