//! Newtypes that every room shares; none of them knows where its value came from.

mod limits;
mod probe;
mod software;
mod text;

pub use limits::{Limit, Limits, Struck, Survivor, Usage, User};
pub use probe::{GETNAME, Probe, ProbeArgument, ProbeKind, ProbePlace, ProbeSyntax, VFS_GETNAME};

use serde::{Deserialize, Serialize};
pub use software::{Mode, Rate, SoftwareEvent, SoftwareKind};
use std::borrow::Cow;
use std::fmt;
pub use text::{NotText, excerpt, is_hidden, shown, shown_lines, shown_path};

/// A process id (the kernel's `tgid`) as the harness sees it: in the pid namespace of whoever opened the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(pub u32);

/// A thread id (the kernel's `pid`) in the same namespace as [`Pid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tid(pub u32);

/// A logical CPU number, as in `/sys/devices/system/cpu/cpuN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cpu(pub u32);

/// Nanoseconds of `CLOCK_MONOTONIC`, the clock that every event of a run is stamped with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// As a length of time, in the largest unit that leaves digits in front of the point: `1.250ms`.
    ///
    /// ```
    /// use trace_harness::units::Nanos;
    /// assert_eq!(Nanos(1_250_000).as_duration(), "1.250ms");
    /// assert_eq!(Nanos(999).as_duration(), "999ns");
    /// ```
    #[must_use]
    pub fn as_duration(self) -> String {
        let (unit, of) = match self.0 {
            0..=999 => return format!("{}ns", self.0),
            1_000..=999_999 => ("us", 1_000),
            1_000_000..=999_999_999 => ("ms", 1_000_000),
            _ => ("s", 1_000_000_000),
        };
        let thousandths = self.0 % of / (of / 1_000);
        format!("{}.{thousandths:03}{unit}", self.0 / of)
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of a tracepoint, `system:event`, as perf spells it.
///
/// ```
/// use trace_harness::units::TracepointName;
/// let name = TracepointName::parse("sched:sched_switch").unwrap();
/// assert_eq!((name.system(), name.event()), ("sched", "sched_switch"));
/// assert!(TracepointName::parse("sched_switch").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TracepointName {
    whole: String,
    colon: usize,
}

impl TracepointName {
    /// Reads `system:event`; `None` where one of the two is missing or holds a character that no tracefs folder has.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (system, event) = text.split_once(':')?;
        let is_word = |word: &str| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
                && !word.starts_with('.')
        };
        (is_word(system) && is_word(event)).then(|| Self {
            whole: text.to_owned(),
            colon: system.len(),
        })
    }

    /// The part before the colon: a folder of tracefs' `events`.
    #[must_use]
    pub fn system(&self) -> &str {
        self.whole.get(..self.colon).unwrap_or_default()
    }

    /// The part behind the colon.
    #[must_use]
    pub fn event(&self) -> &str {
        self.whole
            .get(self.colon.saturating_add(1)..)
            .unwrap_or_default()
    }

    /// The whole name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.whole
    }
}

impl fmt::Display for TracepointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.whole)
    }
}

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

/// The name of a signal, `SIGKILL` or `SIGRT_2`, as strace writes it: those for real time by their place behind the kernel's `SIGRTMIN`, of
/// which the C library keeps the first two for itself. `None` for a number that is no signal's.
#[must_use]
pub fn known_signal(number: i32) -> Option<Cow<'static, str>> {
    match nix::sys::signal::Signal::try_from(number) {
        Ok(signal) => Some(signal.as_str().into()),
        Err(_) if number == 32 => Some("SIGRTMIN".into()),
        Err(_) if (33..=64).contains(&number) => {
            Some(format!("SIGRT_{}", number.saturating_sub(32)).into())
        }
        Err(_) => None,
    }
}

/// The same, `signal 99` for what is none.
#[must_use]
pub fn signal_name(number: i32) -> String {
    known_signal(number).map_or_else(|| format!("signal {number}"), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracepoint_name_needs_both_halves() {
        for bad in ["", ":", "sched:", ":x", "a:b:c", "../x:y", "sched:*"] {
            assert!(TracepointName::parse(bad).is_none(), "{bad}");
        }
        assert_eq!(TracepointName::parse("a:b").unwrap().to_string(), "a:b");
    }

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
