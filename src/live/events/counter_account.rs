//! What counters without records say at the end of a run.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What was counted of an event that leaves no records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterAccount {
    /// The event.
    pub name: String,
    /// How often it happened while it was counted; nanoseconds of a clock.
    pub value: u64,
    /// How long it was to be counted, over all tasks, in nanoseconds.
    pub enabled: u64,
    /// How long it was, in nanoseconds: less where events share the counters of a processor.
    pub running: u64,
}

impl CounterAccount {
    /// Whether it was counted all the time.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.running == self.enabled
    }
}

impl fmt::Display for CounterAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            value,
            enabled,
            running,
        } = self;
        write!(
            f,
            "`{name}`: {value} counted in {running} of {enabled} ns: it shared a counter with other events"
        )
    }
}
