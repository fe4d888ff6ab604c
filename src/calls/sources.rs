//! Where the records of calls come from, and how much of the calls is there.

use super::Tracker;

/// What the records are those of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Whether [`Tracker::signal`] is told of the signals that come while a call returns.
    pub signals: bool,
    /// Whether the halves come from tracepoints of each call's own: a call that leaves as -1 has no
    /// second half then.
    pub own_tracepoints: bool,
    /// Whether [`Tracker::refused`] is told of calls that a seccomp filter refuses by a signal.
    pub refusals: bool,
    /// Whether they are counted for a control group, as the events of a task may be taken off it.
    pub of_group: bool,
    /// How much of the calls is there.
    pub calls: Remembered,
}

/// How much of the calls of a run is there to be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remembered {
    /// All of them.
    #[default]
    All,
    /// None: they were overwritten, or still may be.
    None,
    /// All from here on.
    Rest,
}

impl Tracker {
    /// From here on all calls are recorded, and those of before are not. Of a call that is under
    /// way now, only the return will be seen.
    pub fn remembers(&mut self) {
        self.sources.calls = Remembered::Rest;
    }
}
