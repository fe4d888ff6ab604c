//! Programs that others go on with.

use super::super::recorded::Half;
use super::exec::{enter_exec, exit_exec, strings};
use super::rest::{rest, send};
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
    /// [`rest`], the same.
    Rest,
    /// [`send`], for what others have read at a half of a call.
    Send(Half),
}

impl Other {
    /// The number of these programs.
    pub(in crate::capture) const NUMBER: u32 = 2 * COPIES + 4;

    /// Those that these copies go on with. A program that is loaded when the one is there that it
    /// goes on with jumps there from the start; put there later, that takes a word to all CPUs.
    pub(in crate::capture) fn needed(copies: &[Copy]) -> impl Iterator<Item = Self> {
        let each = copies
            .iter()
            .flat_map(|copy| [Self::Enter(*copy), Self::Exit(*copy)]);
        let send = [Half::Enter, Half::Leave].map(Self::Send);
        let of_all = send.into_iter().chain([Self::Strings, Self::Rest]);
        of_all.chain(each)
    }

    /// The program.
    pub(in crate::capture) fn program(self, names: &Names) -> Option<Vec<u64>> {
        match self {
            Self::Enter(copy) => enter_exec(names, copy),
            Self::Exit(copy) => exit_exec(names, copy),
            Self::Strings => strings(names),
            Self::Rest => rest(names),
            Self::Send(half) => send(names, half),
        }
    }

    /// Its place in the map of those programs.
    pub(in crate::capture) fn place(self) -> u32 {
        match self {
            Self::Enter(copy) => copy as u32,
            Self::Exit(copy) => COPIES + copy as u32,
            Self::Strings => 2 * COPIES,
            Self::Rest => 2 * COPIES + 1,
            Self::Send(half) => 2 * COPIES + 2 + half as u32,
        }
    }
}
