//! What the rooms of this crate share: how a process ends, what it may use and used, what is to be
//! counted and probed.

mod file_id;
mod limits;
mod modifiers;
mod probe;
mod software;

pub use file_id::FileId;
pub use limits::{Limit, Limits, Struck, Survivor, Usage, User};
pub use modifiers::{WrongModifier, read as read_modifiers};
pub use probe::{
    CALLER, ENTRIES, GETNAME, Probe, ProbeArgument, ProbeKind, ProbePlace, ProbeSyntax, VFS_GETNAME,
};
pub use software::{SoftwareEvent, SoftwareKind};

use serde::{Deserialize, Serialize};
use std::fmt;
use syscall_model::signals::signal_name;

/// How a process ended, as `waitid(2)` tells it; a signal is never folded into a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExitKind {
    /// `exit(2)` with this status, 0 to 255.
    Code(i32),
    /// Ended by this signal number.
    Signal(i32),
}

impl ExitKind {
    /// Reads the status word of `wait(2)`; `None` for a process that only stopped or continued.
    #[must_use]
    pub fn from_wait_status(status: i32) -> Option<Self> {
        if libc::WIFEXITED(status) {
            Some(Self::Code(libc::WEXITSTATUS(status)))
        } else if libc::WIFSIGNALED(status) {
            Some(Self::Signal(libc::WTERMSIG(status)))
        } else {
            None
        }
    }

    /// The status a shell reports for it: the code itself, or 128 and the signal's number.
    #[must_use]
    pub fn shell_status(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => signal.saturating_add(128),
        }
    }
}

impl fmt::Display for ExitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(number) => write!(f, "killed by {}", signal_name(*number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_255_sigkill_and_exit_3_are_three_things() {
        assert_eq!(ExitKind::from_wait_status(3 << 8), Some(ExitKind::Code(3)));
        assert_eq!(
            ExitKind::from_wait_status(255 << 8),
            Some(ExitKind::Code(255))
        );
        assert_eq!(ExitKind::from_wait_status(9), Some(ExitKind::Signal(9)));
        assert_eq!(ExitKind::from_wait_status(0x137f), None, "a stop is no end");
        assert_eq!(ExitKind::Signal(9).to_string(), "killed by SIGKILL");
        assert_eq!(ExitKind::Signal(9).shell_status(), 137);
    }
}
