//! Programs that others go on with.

use super::exec::{enter_exec, exit_exec, strings};
use super::{Copy, Names};

const COPIES: u32 = Copy::ALL.len() as u32;

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
    /// The number of these programs.
    pub(in crate::capture) const NUMBER: u32 = 2 * COPIES + 1;

    /// All of them, by their places.
    pub(in crate::capture) fn all() -> impl Iterator<Item = Self> {
        let (enter, exit) = (Copy::ALL.map(Self::Enter), Copy::ALL.map(Self::Exit));
        enter.into_iter().chain(exit).chain([Self::Strings])
    }

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
            Self::Exit(copy) => COPIES + copy as u32,
            Self::Strings => 2 * COPIES,
        }
    }
}
