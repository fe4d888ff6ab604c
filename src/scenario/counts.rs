//! How often something comes, and how much more often.

use std::fmt;

use super::field_test::ends;
use super::flexible::{Flexible, NoMapping, deserialize_flexible};
use super::schema::{any_number, either, number, text_like};
use schemars::{Schema, SchemaGenerator};

/// How often something must occur, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountRange {
    /// The least number of times.
    pub min: u64,
    /// The greatest number of times, at least `min`; `None` where there is no end.
    pub max: Option<u64>,
}

impl CountRange {
    /// Whether `count` lies within.
    #[must_use]
    pub fn contains(self, count: u64) -> bool {
        count >= self.min && self.max.is_none_or(|max| count <= max)
    }

    /// Whether more than `count` decide whether it is within.
    #[must_use]
    pub fn is_open_to_more(self, count: u64) -> bool {
        count < self.min || self.max.is_some_and(|max| count <= max)
    }
}

impl fmt::Display for CountRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (min, Some(max)) if min == max => write!(f, "{min}"),
            (0, Some(max)) => write!(f, "..={max}"),
            (min, Some(max)) => write!(f, "{min}..={max}"),
            (min, None) => write!(f, "{min}.."),
        }
    }
}

/// How many more there must be: `+1`, `"-1..=2"`, `"1.."`, `"..=0"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The least difference; `None` where there is no end.
    pub min: Option<i64>,
    /// The greatest.
    pub max: Option<i64>,
}

impl Flexible for CountRange {
    const EXPECTED: &'static str = "a number, or a range such as `1..=4`, `2..` or `..=3`";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        either([
            number(0),
            text_like(r"^([0-9]+\.\.=[0-9]+|[0-9]+\.\.|\.\.=[0-9]+)$"),
        ])
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(Ok(Self {
            min: number,
            max: Some(number),
        }))
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let (min, max) = match (text.split_once("..="), text.strip_suffix("..")) {
            (Some(("", max)), _) => (0, Some(count(max)?)),
            (Some((min, max)), _) => (count(min)?, Some(count(max)?)),
            (None, Some("0")) => {
                return Some(Err(
                    "every number is in this range\ngive it another end, or leave it out"
                        .to_owned(),
                ));
            }
            (None, Some(min)) => (count(min)?, None),
            (None, None) => return None,
        };
        Some(if max.is_some_and(|max| max < min) {
            Err("no number is in this range".to_owned())
        } else {
            Ok(Self { min, max })
        })
    }
}

impl Flexible for Difference {
    const EXPECTED: &'static str = "a number, or a range such as `-1..=2`, `1..` or `..=0`";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        either([
            any_number(),
            text_like(r"^([+-]?[0-9]+)?\.\.(=[+-]?[0-9]+)?$"),
        ])
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Self::from_negative(i64::try_from(number).ok()?)
    }

    fn from_negative(number: i64) -> Option<Result<Self, String>> {
        let (min, max) = (Some(number), Some(number));
        Some(Ok(Self { min, max }))
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let (min, max) = ends(text)?;
        let end = |end: Option<i128>| end.map(i64::try_from).transpose().ok();
        let (min, max) = (end(min)?, end(max)?);
        let is_empty = min.zip(max).is_some_and(|(min, max)| min > max);
        Some(if is_empty {
            Err("no number is in this range".to_owned())
        } else {
            Ok(Self { min, max })
        })
    }
}

deserialize_flexible!(CountRange, Difference);

/// A count in decimal digits; unlike `u64::from_str`, without a sign.
fn count(text: &str) -> Option<u64> {
    text.bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_ranges_with_their_ends() {
        for (text, min, max) in [
            ("1..=4", 1, Some(4)),
            ("2..", 2, None),
            ("..=3", 0, Some(3)),
        ] {
            let range = CountRange::from_text(text).unwrap().unwrap();
            assert_eq!(range, CountRange { min, max });
            assert_eq!(range.to_string(), text);
        }
        for bad in [
            "", "..", "..=", "1..4", "+1..", "a..=b", "1..=", "..3", "1...", "2",
        ] {
            assert_eq!(CountRange::from_text(bad), None, "{bad}");
        }
        assert!(matches!(CountRange::from_text("4..=1"), Some(Err(_))));
    }

    #[test]
    fn a_range_holds_its_ends_and_nothing_beyond() {
        let range = CountRange {
            min: 1,
            max: Some(4),
        };
        assert_eq!(
            [0, 1, 4, 5].map(|n| range.contains(n)),
            [false, true, true, false]
        );
        let open = CountRange { min: 2, max: None };
        assert_eq!(
            [1, 2, u64::MAX].map(|n| open.contains(n)),
            [false, true, true]
        );
    }
}
