//! Programs that others go on with.

use super::exec::{enter_exec, exit_exec, strings};
use super::{Copy, Names};

/// A program that others go on with (`bpf_tail_call`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture) enum Other {
    /// [`enter_exec`].
    Enter(Copy),
    /// [`exit_exec`].
    Exit(Copy),
    /// [`strings`], which makes its record where the task's began.
    Strings,
}

impl Other {
    /// All of them.
    pub(in crate::capture) const ALL: [Self; 5] = [
        Self::Enter(Copy::First),
        Self::Enter(Copy::Second),
        Self::Exit(Copy::First),
        Self::Exit(Copy::Second),
        Self::Strings,
    ];

    /// The program.
    pub(in crate::capture) fn program(self, names: &Names) -> Option<Vec<u64>> {
        match self {
            Self::Enter(copy) => enter_exec(names, copy),
            Self::Exit(copy) => exit_exec(names, copy),
            Self::Strings => strings(names),
        }
    }

    /// Its place in the map of those programs.
    pub(in crate::capture) fn place(self) -> u32 {
        match self {
            Self::Enter(copy) => copy as u32,
            Self::Exit(copy) => 2 + copy as u32,
            Self::Strings => 4,
        }
    }
}
