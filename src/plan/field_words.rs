//! Words for what became of a span, for lengths of time and for where signals come from.

use super::field_tests::{Named, Wrong};
use crate::scenario::did_you_mean;
use crate::trace::State;
use syscall_model::signal_codes;

pub(super) const RANGE_OF_TIME: &str =
    "a length of time is written \"..=10ms\", \"1s..\" or \"200us..=1ms\"";

impl Named<'_> {
    pub(super) fn no_duration(&self, text: &str) -> Wrong {
        let message = format!(
            "{self} is a length of time, never exactly `{}`",
            text.escape_debug()
        );
        (message, Some(RANGE_OF_TIME.to_owned()))
    }

    pub(super) fn state(&self, text: &str) -> Result<(), Wrong> {
        let words = State::ALL.map(State::word);
        if words.contains(&text) {
            return Ok(());
        }
        let message = format!("{self} is never `{}`", text.escape_debug());
        let all = || format!("it is {}", words.join(", "));
        Err((message, Some(did_you_mean(text, words).unwrap_or_else(all))))
    }

    pub(super) fn signal_code(&self, text: &str) -> Result<(), Wrong> {
        if signal_codes().any(|name| name == text) {
            return Ok(());
        }
        Err((
            format!("unknown code of a signal `{}`", text.escape_debug()),
            did_you_mean(text, signal_codes()),
        ))
    }
}
