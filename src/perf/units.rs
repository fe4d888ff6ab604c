//! Newtypes that every room shares; none of them knows where its value came from.

mod hashed;
mod text;

pub use hashed::{Hashed, IdHasher};
use std::fmt;
pub use text::{
    NotText, count_of, excerpt, is_hidden, is_order, run, shell_path, shell_word, shown,
    shown_lines, shown_path,
};

/// A process id (the kernel's `tgid`) in the pid namespace of the process that opened the events.
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
    /// As a length of time, in the largest unit that leaves digits in front of the point:
    /// `1.250ms`.
    ///
    /// ```
    /// use perf_records::units::Nanos;
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
/// use perf_records::units::TracepointName;
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
    /// Reads `system:event`; `None` where one of the two is missing or holds a character that no
    /// tracefs folder has.
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
}
