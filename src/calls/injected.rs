//! What was done to a call from outside, while it was held.

use super::errno::errno_name;
use super::signals::signal_name;
use perf_records::units::Nanos;
use std::fmt;

/// What was done to a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Injected {
    /// The answer that it got in place of being made; `None` where it was made.
    pub answer: Option<Answer>,
    /// How long it was held in front of the kernel.
    pub delay: Option<Nanos>,
    /// How long its return was held, where it was made for its thread.
    pub late: Option<Nanos>,
    /// The signal that its thread was sent.
    pub signal: Option<i32>,
    /// Whether it was held until another call had come.
    pub is_blocked: bool,
}

impl Injected {
    /// Nothing.
    pub const NONE: Self = Self {
        answer: None,
        delay: None,
        late: None,
        signal: None,
        is_blocked: false,
    };

    /// Whether nothing was done to it.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::NONE
    }
}

/// What answered a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This error.
    Error(i32),
    /// This value.
    Value(i64),
    /// The call was made for it with so many bytes at most.
    Short(u64),
    /// The call was made for it as it is, so that its return could be held.
    Whole,
}

/// As strace marks it.
impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_blocked {
            return f.write_str("(BLOCKED)");
        }
        let is_held = self.delay.is_some() || self.late.is_some();
        match (self.answer, self.signal, is_held) {
            (Some(Answer::Whole), ..) => return f.write_str("(DELAYED)"),
            (Some(Answer::Short(most)), ..) => write!(f, "(INJECTED: short {most})")?,
            (Some(_), Some(signal), _) => {
                write!(f, "(INJECTED: retval, {})", signal_name(signal))?;
            }
            (Some(_), None, _) => f.write_str("(INJECTED)")?,
            (None, Some(signal), _) => write!(f, "(INJECTED: {})", signal_name(signal))?,
            (None, None, true) => return f.write_str("(DELAYED)"),
            (None, None, false) => return Ok(()),
        }
        match is_held {
            true => f.write_str(" (DELAYED)"),
            false => Ok(()),
        }
    }
}

impl Answer {
    /// The name of the error, where it is one.
    #[must_use]
    pub fn error(self) -> Option<&'static str> {
        match self {
            Self::Error(error) => errno_name(error),
            Self::Value(_) | Self::Short(_) | Self::Whole => None,
        }
    }
}
