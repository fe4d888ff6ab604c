//! Durations and sizes as authors write them.

use std::time::Duration;

use super::field_test::Test;
use super::flexible::{Flexible, NoMapping, Text, deserialize_flexible};
use super::schema::{either, number, text_like};
use schemars::{Schema, SchemaGenerator};

/// Long enough for any test, and short enough that adding it to a clock never overflows.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// A duration above zero: `500ms`, `10s`, `2m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timeout(pub(super) Duration);

/// A number of bytes above zero: `65536`, `64KiB`, `1MiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteSize(pub(super) u64);

impl Text for Timeout {
    const EXPECTED: &'static str = "a duration such as `500ms`, `10s` or `2m`";
    const LIKE: &'static str = "^[0-9]+(ms|s|m)$";

    fn read(text: &str) -> Option<Result<Self, String>> {
        let (number, unit) = number_and_unit(text)?;
        let duration = match unit {
            "ms" => Some(Duration::from_millis(number)),
            "s" => Some(Duration::from_secs(number)),
            "m" => number.checked_mul(60).map(Duration::from_secs),
            _ => return None,
        };
        Some(match duration {
            Some(Duration::ZERO) => Err("a timeout must be longer than zero".to_owned()),
            Some(duration) if duration <= MAX_TIMEOUT => Ok(Self(duration)),
            _ => Err("a timeout must be 24 hours at most".to_owned()),
        })
    }
}

impl Flexible for ByteSize {
    const EXPECTED: &'static str = "a size in bytes such as `65536`, `64KiB` or `1MiB`";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        either([number(1), text_like("^[0-9]+(KiB|MiB)$")])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let (number, unit) = number_and_unit(text)?;
        let factor = match unit {
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            _ => return None,
        };
        match number.checked_mul(factor) {
            Some(bytes) => Self::from_number(bytes),
            None => Some(Err("the size is larger than 64 bits can count".to_owned())),
        }
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(match number {
            0 => Err("a size must be larger than zero".to_owned()),
            bytes => Ok(Self(bytes)),
        })
    }
}

impl Test {
    /// A range of lengths of time, `..=10ms`, `1s..` or `200us..=1ms`, in nanoseconds. `None` where
    /// `text` is none; an error where it is one that nothing is in, or everything.
    ///
    /// ```
    /// use trace_harness::scenario::Test;
    /// let test = Test::range_of_time("..=10ms");
    /// assert!(matches!(test, Some(Ok(Test::Range(None, Some(10_000_000))))));
    /// assert!(Test::range_of_time("10ms").is_none());
    /// ```
    #[must_use]
    pub fn range_of_time(text: &str) -> Option<Result<Self, String>> {
        let end = |text: &str| {
            let (number, unit) = number_and_unit(text)?;
            let nanos: i128 = match unit {
                "ns" => 1,
                "us" => 1_000,
                "ms" => 1_000_000,
                "s" => 1_000_000_000,
                _ => return None,
            };
            Some(nanos.saturating_mul(number.into()))
        };
        let (from, to) = match (text.split_once("..="), text.strip_suffix("..")) {
            (Some(("", to)), _) => (None, Some(end(to)?)),
            (Some((from, to)), _) => (Some(end(from)?), Some(end(to)?)),
            (None, Some(from)) => (Some(end(from)?), None),
            (None, None) => return None,
        };
        Some(match (from, to) {
            (Some(from), Some(to)) if from > to => {
                Err("no length of time is in this range".to_owned())
            }
            (Some(0), None) => Err("every length of time is in this range".to_owned()),
            (from, to) => Ok(Self::Range(from, to)),
        })
    }
}

deserialize_flexible!(Timeout, ByteSize);

/// Splits `10s` into 10 and `s`; a number too large to count is the largest.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    (digits > 0).then(|| (number.parse().unwrap_or(u64::MAX), unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeout(text: &str) -> Option<Result<Duration, String>> {
        Timeout::from_text(text).map(|result| result.map(|timeout| timeout.0))
    }

    #[test]
    fn durations_have_one_unit() {
        assert_eq!(timeout("500ms"), Some(Ok(Duration::from_millis(500))));
        assert_eq!(timeout("10s"), Some(Ok(Duration::from_secs(10))));
        assert_eq!(timeout("2m"), Some(Ok(Duration::from_secs(120))));
        for bad in [
            "", "s", "10", "10 s", "-1s", "1.5s", "1h", "10S", "1m30s", "１s",
        ] {
            assert_eq!(timeout(bad), None, "{bad}");
        }
    }

    #[test]
    fn durations_have_ends() {
        assert_eq!(timeout("1440m"), Some(Ok(MAX_TIMEOUT)));
        for bad in [
            "0s",
            "0ms",
            "1441m",
            "99999999999999999999s",
            "18446744073709551615m",
        ] {
            assert!(matches!(timeout(bad), Some(Err(_))), "{bad}");
        }
    }

    #[test]
    fn sizes_are_binary() {
        let size = |text| ByteSize::from_text(text).map(|result| result.map(|size| size.0));
        assert_eq!(size("64KiB"), Some(Ok(65536)));
        assert_eq!(size("1MiB"), Some(Ok(1_048_576)));
        for bad in ["", "1MB", "1M", "64kib", "1 MiB", "0x10", "65536"] {
            assert_eq!(size(bad), None, "{bad}");
        }
        for bad in ["0KiB", "18446744073709551615KiB"] {
            assert!(matches!(size(bad), Some(Err(_))), "{bad}");
        }
    }
}
