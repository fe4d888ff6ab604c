//! The conditions that a workload runs under.

use std::fmt;

/// A condition of runs. What differs rarely on a quiet machine differs often under one of the
/// others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// The machine as it is.
    Quiet,
    /// Each CPU has a thread that never stops computing.
    Busy,
    /// Each CPU is taken away for moments of random length at random times.
    Bursts,
    /// The workload may use only one CPU.
    OneCpu,
    /// Several copies of the workload run side by side.
    Crowd,
}

impl Condition {
    /// All of them, in the order in which they take turns.
    pub const ALL: [Self; 5] = [
        Self::Quiet,
        Self::Busy,
        Self::Bursts,
        Self::OneCpu,
        Self::Crowd,
    ];
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quiet => "on the machine as it is",
            Self::Busy => "with every CPU busy",
            Self::Bursts => "with every CPU taken away for moments",
            Self::OneCpu => "on one CPU",
            Self::Crowd => "beside copies of itself",
        })
    }
}
