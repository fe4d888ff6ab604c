//! What a child says before its program runs: eight bytes, a word of what and a word of why.

use std::io;

/// What the child was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A step of laying out its world, by its place in [`Own::steps`](super::Own).
    Step(u32),
    /// Putting the descriptors in their places and closing the others.
    Descriptors,
    /// Resetting signal dispositions and mask.
    Signals,
    /// Starting a session.
    Session,
    /// Becoming the user that it runs as.
    User,
    /// Changing to the working directory.
    Directory,
    /// Switching address space randomisation off.
    Personality,
    /// Forking the main process under the namespace's init.
    Fork,
    /// `execve(2)`.
    Exec,
    /// Setting the limits of single processes.
    Limits,
    /// Having calls held for the harness.
    Gate,
    /// Having calls refused by a policy.
    Policy,
    /// Being kept to rules of Landlock.
    Rules,
}

// The numbers of steps begin here.
const STEPS: u32 = 1000;
/// The second word of what init says when its world's time is over ([`Own::lasts`](super::Own)).
pub const OVERDUE: u32 = 6;

// The message of an init that is ready.
pub(super) const READY: u32 = 1;

impl Stage {
    const NAMED: [Self; 12] = [
        Self::Descriptors,
        Self::Signals,
        Self::Session,
        Self::User,
        Self::Directory,
        Self::Personality,
        Self::Fork,
        Self::Exec,
        Self::Limits,
        Self::Gate,
        Self::Policy,
        Self::Rules,
    ];

    /// Its number on the pipe.
    pub(super) const fn number(self) -> u32 {
        match self {
            Self::Step(place) => STEPS + place,
            Self::Descriptors => 2,
            Self::Signals => 3,
            Self::Session => 4,
            Self::User => 5,
            Self::Directory => 6,
            Self::Personality => 7,
            Self::Fork => 8,
            Self::Exec => 9,
            Self::Limits => 10,
            Self::Gate => 11,
            Self::Policy => 12,
            Self::Rules => 13,
        }
    }

    fn from_number(number: u32) -> Option<Self> {
        match number.checked_sub(STEPS) {
            Some(place) => Some(Self::Step(place)),
            None => Self::NAMED
                .into_iter()
                .find(|stage| stage.number() == number),
        }
    }
}

/// A message of the status pipe.
#[derive(Debug)]
pub enum Message {
    /// The world is laid out, and the ids of its user namespace may be mapped. Only an init says
    /// so.
    Ready,
    /// The child failed, and is gone.
    Failed {
        /// What it was doing.
        stage: Stage,
        /// The error of the system call that failed.
        error: io::Error,
    },
}

impl Message {
    /// Reads the eight bytes that the child wrote; `None` where they are no such message.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 8]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let number = u32::from_ne_bytes([a, b, c, d]);
        if number == READY {
            return Some(Self::Ready);
        }
        Some(Self::Failed {
            stage: Stage::from_number(number)?,
            error: io::Error::from_raw_os_error(i32::from_ne_bytes([e, f, g, h])),
        })
    }
}
