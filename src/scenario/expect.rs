//! The key `expect`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use nix::sys::signal::Signal;
use regex::bytes::Regex;
use serde::Deserialize;

use super::flexible::{Flexible, NoMapping, deserialize_flexible};
use super::nearest::nearest;
use super::patterns::{WrittenCounts, WrittenPattern, WrittenStep};
use super::steps::{Expectations, StepSpec};
use crate::units::{ExitKind, Limit};

/// What must come out of a run.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    /// How the workload must end; where the author wrote nothing, with status 0.
    pub exit: Option<ExitKind>,
    /// What it must write to standard output.
    pub stdout: Option<ExpectedOutput>,
    /// What it must write to standard error.
    pub stderr: Option<ExpectedOutput>,
    /// Which limit it must run into.
    pub limit: Option<Limit>,
    /// What is expected of the events of the whole run.
    pub events: Expectations,
    /// What is expected of the events of a section, by its name.
    pub sections: BTreeMap<String, Expectations>,
    /// How many more of each (fewer, below zero) there must be than in the run of `baseline`, both ends included.
    pub delta: Vec<DeltaSpec>,
    /// What must be in the working directory after the run, by path or by a glob for all that is not named; in the order of the file.
    pub files_after: Vec<(String, FileAfter)>,
}

/// An element of `delta`.
#[derive(Clone, Debug)]
pub struct DeltaSpec {
    /// What is counted.
    pub step: StepSpec,
    /// The least difference; `None` where there is no end.
    pub min: Option<i64>,
    /// The greatest.
    pub max: Option<i64>,
}

/// What a file must be after the run.
#[derive(Clone, Debug, Default)]
pub struct FileAfter {
    /// Whether it must be there; where a glob says `true`, at least one must.
    pub exists: bool,
    /// What a regular file must hold.
    pub content: Option<ExpectedOutput>,
    /// What it must be.
    pub kind: Option<FileType>,
    /// Its permission bits.
    pub mode: Option<u32>,
    /// What a symbolic link must say.
    pub target: Option<String>,
    /// Its size in bytes.
    pub size: Option<CountRange>,
}

/// What a name in a directory may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

/// What a stream must hold; compared as bytes, since a program may write any.
#[derive(Clone, Debug)]
pub enum ExpectedOutput {
    /// Exactly this, to the last newline.
    Exact(String),
    /// This somewhere.
    Contains(String),
    /// A match of this somewhere.
    Matches(Regex),
}

impl ExpectedOutput {
    /// Whether `output` is what was expected.
    #[must_use]
    pub fn accepts(&self, output: &[u8]) -> bool {
        match self {
            Self::Exact(text) => output == text.as_bytes(),
            Self::Contains(text) if text.is_empty() => true,
            Self::Contains(text) => output
                .windows(text.len())
                .any(|part| part == text.as_bytes()),
            Self::Matches(regex) => regex.is_match(output),
        }
    }
}

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

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenExpect {
    pub(super) exit: Option<WrittenExit>,
    pub(super) stdout: Option<ExpectedOutput>,
    pub(super) stderr: Option<ExpectedOutput>,
    pub(super) sequence: Option<Vec<WrittenPattern>>,
    pub(super) any_order: Option<Vec<WrittenPattern>>,
    pub(super) never: Option<Vec<WrittenStep>>,
    pub(super) only: Option<Vec<WrittenStep>>,
    pub(super) count: Option<WrittenCounts<CountRange>>,
    pub(super) limit: Option<WrittenLimit>,
}

#[derive(Debug)]
pub(super) struct WrittenLimit(pub(super) Limit);

#[derive(Debug)]
pub(super) struct WrittenExit(pub(super) ExitKind);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignalMapping {
    signal: SignalName,
}

#[derive(Debug)]
struct SignalName(Signal);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputMapping {
    contains: Option<String>,
    matches: Option<Pattern>,
}

#[derive(Debug)]
pub(super) struct Pattern(pub(super) Regex);

impl Flexible for WrittenExit {
    const EXPECTED: &'static str = "a status from 0 to 255, or a mapping with `signal`";
    type Mapping = SignalMapping;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let signal = Signal::from_str(text).ok()?;
        Some(Err(format!(
            "a signal stands in a mapping\nwrite {{ signal: {signal} }}"
        )))
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        let status = u8::try_from(number).ok()?;
        Some(Ok(Self(ExitKind::Code(status.into()))))
    }

    fn from_mapping(mapping: SignalMapping) -> Option<Result<Self, String>> {
        // The discriminants of nix's enum are the kernel's signal numbers.
        Some(Ok(Self(ExitKind::Signal(mapping.signal.0 as i32))))
    }
}

impl Flexible for WrittenLimit {
    const EXPECTED: &'static str = "a limit's name such as `memory`";
    type Mapping = NoMapping;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let known = Limit::ALL.into_iter().find(|limit| limit.word() == text);
        Some(known.map(Self).ok_or_else(|| {
            let message = format!("unknown limit `{}`", text.escape_debug());
            match nearest(text, Limit::ALL.map(Limit::word)) {
                Some(near) => format!("{message}\ndid you mean `{near}`?"),
                None => message,
            }
        }))
    }
}

impl Flexible for SignalName {
    const EXPECTED: &'static str = "a signal's name such as `SIGKILL`";
    type Mapping = NoMapping;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let unknown = || {
            let whole = format!("SIG{}", text.to_uppercase().trim_start_matches("SIG"));
            let message = format!("unknown signal `{}`", text.escape_debug());
            match nearest(&whole, Signal::iterator().map(Signal::as_str)) {
                Some(near) => format!("{message}\ndid you mean `{near}`?"),
                None => message,
            }
        };
        Some(Signal::from_str(text).map(Self).map_err(|_| unknown()))
    }
}

impl Flexible for ExpectedOutput {
    const EXPECTED: &'static str = "a string, or a mapping with `contains` or `matches`";
    type Mapping = OutputMapping;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(Ok(Self::Exact(text.to_owned())))
    }

    fn from_mapping(mapping: OutputMapping) -> Option<Result<Self, String>> {
        Some(match (mapping.contains, mapping.matches) {
            (Some(text), None) if text.is_empty() => Err(
                "every output contains an empty text\nfor no output at all write \"\"".to_owned(),
            ),
            (Some(text), None) => Ok(Self::Contains(text)),
            (None, Some(Pattern(regex))) => Ok(Self::Matches(regex)),
            (Some(_), Some(_)) => Err("`contains` and `matches` exclude each other".to_owned()),
            (None, None) => Err("one of `contains` and `matches` is needed".to_owned()),
        })
    }
}

impl Flexible for Pattern {
    const EXPECTED: &'static str = "a string with a regular expression";
    type Mapping = NoMapping;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let regex = Regex::new(text).map_err(|error| {
            // The regex crate draws its own snippet; the fault is named on the last line.
            let drawn = error.to_string();
            let fault = drawn.lines().last().unwrap_or_default();
            let fault = fault.strip_prefix("error: ").unwrap_or(fault);
            format!("no regular expression: {}", fault.trim_end_matches('.'))
        });
        Some(regex.and_then(|regex| {
            if regex.is_match(b"") {
                let fault = "even an empty text matches this\nsay what must be there: `x+` in place of `x*`";
                return Err(fault.to_owned());
            }
            Ok(Self(regex))
        }))
    }
}

impl Flexible for CountRange {
    const EXPECTED: &'static str = "a number, or a range such as `1..=4`, `2..` or `..=3`";
    type Mapping = NoMapping;

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
                    "every number is in this range\nsay how many, or leave it out".to_owned(),
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

deserialize_flexible!(
    WrittenExit,
    WrittenLimit,
    SignalName,
    ExpectedOutput,
    Pattern,
    CountRange
);

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

    #[test]
    fn output_is_compared_as_bytes() {
        let contains = |text: &str| ExpectedOutput::Contains(text.to_owned());
        assert!(ExpectedOutput::Exact("a\n".to_owned()).accepts(b"a\n"));
        assert!(!ExpectedOutput::Exact("a".to_owned()).accepts(b"a\n"));
        assert!(contains("b").accepts(b"\xffb\xff"));
        assert!(contains("").accepts(b""));
        assert!(!contains("abc").accepts(b"ab"));
        let matches = |text| ExpectedOutput::Matches(Regex::new(text).unwrap());
        assert!(matches("^a.c$").accepts(b"abc"));
        assert!(!matches("^a.c$").accepts(b"abcd"));
    }
}
