//! What was done to a call, in the words of JSON lines.

use serde::{Deserialize, Serialize};
use syscall_model::errno::errno_name;
use syscall_model::signals::signal_name;
use syscall_model::{Answer, Injected};

/// What was done to a call; a member stands for each part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Words {
    /// The name of the error that it failed with, or its number where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The value that it returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    returns: Option<i64>,
    /// How many bytes it moved at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    short: Option<u64>,
    /// How long it was held in front of the kernel, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ns: Option<u64>,
    /// How long its return was held, where it was made for its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_after_ns: Option<u64>,
    /// The signal that its thread got.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// Whether it was held until another came.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    block: bool,
}

impl From<Injected> for Words {
    fn from(injected: Injected) -> Self {
        let mut words = Self {
            delay_ns: injected.delay.map(|delay| delay.0),
            delay_after_ns: injected.late.map(|late| late.0),
            signal: injected.signal.map(signal_name),
            block: injected.is_blocked,
            ..Self::default()
        };
        match injected.answer {
            Some(Answer::Error(error)) => {
                let name = errno_name(error).map(str::to_owned);
                words.error = name.or_else(|| Some(error.to_string()));
            }
            Some(Answer::Value(value)) => words.returns = Some(value),
            Some(Answer::Short(most)) => words.short = Some(most),
            Some(Answer::Whole) | None => {}
        }
        words
    }
}
