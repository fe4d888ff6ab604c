//! The key `expect`.

use std::collections::BTreeMap;

use regex::bytes::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::confined::{Confined, WrittenConfined};
use super::counts::{CountRange, Difference};
use super::files_after::FileAfter;
use super::flexible::{Entries, Flexible, Text, deserialize_flexible};
use super::nearest::{did_you_mean, unknown};
use super::patterns::{WrittenBetween, WrittenCounts, WrittenExpectations};
use super::schema::{either, of, one_key, text, words};
use super::steps::{Expectations, NumberOf, Pattern, StepSpec};
use perf_live::units::{ExitKind, Limit};
use syscall_model::signals::{counted_signal, signal_number, signals};

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
    /// What it may do, as far as the author confined it.
    pub confined: Option<Confined>,
    /// How many more of each (fewer, below zero) there must be than in the run of `baseline`, both
    /// ends included.
    pub delta: Vec<NumberOf<StepSpec, Difference>>,
    /// What must be in the working directory after the run, by path or by a glob for all that is
    /// not named; in the order of the file.
    pub files_after: Vec<(String, FileAfter)>,
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

    /// Whether an output that begins so, and goes on, is what was expected; `None` where the rest
    /// of it decides.
    #[must_use]
    pub fn accepts_beginning(&self, output: &[u8]) -> Option<bool> {
        match self {
            Self::Exact(text) => {
                let text = text.as_bytes();
                let may_go_on = text.len() > output.len() && text.starts_with(output);
                (!may_go_on).then_some(false)
            }
            Self::Contains(_) => self.accepts(output).then_some(true),
            Self::Matches(_) => None,
        }
    }
}

/// What must come out of a run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenExpect {
    /// How the workload must end: a status, or `{ signal: SIGKILL }`; without it with status 0.
    pub(super) exit: Option<WrittenExit>,
    /// What it must write to standard output.
    pub(super) stdout: Option<ExpectedOutput>,
    /// What it must write to standard error.
    pub(super) stderr: Option<ExpectedOutput>,
    /// These in this order; other events may lie between.
    pub(super) sequence: Option<Vec<Pattern>>,
    /// These in any order, each another event.
    pub(super) any_order: Option<Vec<Pattern>>,
    /// None of these.
    pub(super) never: Option<Vec<StepSpec>>,
    /// Nothing but these.
    pub(super) only: Option<Vec<StepSpec>>,
    /// So many of each.
    pub(super) count: Option<WrittenCounts<CountRange>>,
    /// Something between each of one and the next of another behind it.
    pub(super) between: Option<Vec<WrittenBetween>>,
    /// What the run may write, read, reach and execute, whatever call does it.
    pub(super) confined: Option<WrittenConfined>,
    /// What is expected of the events of a section, by its name.
    pub(super) sections: Option<Entries<WrittenExpectations>>,
    /// How many more of each there must be than in the run of `baseline`.
    pub(super) delta: Option<WrittenCounts<Difference>>,
    /// What must be in the working directory after the run, by path or by a glob.
    pub(super) files_after: Option<Entries<FileAfter>>,
    /// Which limit it must run into.
    pub(super) limit: Option<WrittenLimit>,
}

/// A text that is not empty.
#[derive(Debug)]
pub(super) struct NeededText(pub(super) String);

#[derive(Debug)]
pub(super) struct WrittenLimit(pub(super) Limit);

#[derive(Debug)]
pub(super) struct WrittenExit(pub(super) ExitKind);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignalMapping {
    /// The signal that must kill it.
    signal: SignalName,
}

#[derive(Debug)]
pub(super) struct SignalName(pub(super) i32);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputMapping {
    /// What it must hold somewhere.
    contains: Option<NeededText>,
    /// A regular expression that must match somewhere in it.
    matches: Option<RegexText>,
}

#[derive(Debug)]
pub(super) struct RegexText(pub(super) Regex);

impl Flexible for WrittenExit {
    const EXPECTED: &'static str = "a status from 0 to 255, or a mapping with `signal`";
    type Mapping = SignalMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([
            json_schema!({ "type": "integer", "minimum": 0, "maximum": 255 }),
            of::<SignalMapping>(generator),
        ])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        signal_number(text).filter(|_| text.starts_with("SIG"))?;
        Some(Err(format!(
            "a signal stands in a mapping\nwrite {{ signal: {text} }}"
        )))
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        let status = u8::try_from(number).ok()?;
        Some(Ok(Self(ExitKind::Code(status.into()))))
    }

    fn from_mapping(mapping: SignalMapping) -> Option<Result<Self, String>> {
        Some(Ok(Self(ExitKind::Signal(mapping.signal.0))))
    }
}

impl Text for WrittenLimit {
    const EXPECTED: &'static str = "a limit's name such as `memory`";

    fn schema() -> Schema {
        words(Limit::ALL.map(Limit::word))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = Limit::ALL.into_iter().find(|limit| limit.word() == text);
        Some(known.map(Self).ok_or_else(|| {
            unknown(
                "limit",
                text,
                did_you_mean(text, Limit::ALL.map(Limit::word)),
            )
        }))
    }
}

impl Text for SignalName {
    const EXPECTED: &'static str = "a signal's name such as `SIGKILL`";

    fn schema() -> Schema {
        let names: Vec<_> = signals().collect();
        words(names.iter().map(AsRef::as_ref))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let unknown = || {
            let whole = format!("SIG{}", text.to_uppercase().trim_start_matches("SIG"));
            let names: Vec<_> = signals().collect();
            let counted = counted_signal(text).map(|name| format!("that of C is `{name}` here"));
            let near = || did_you_mean(&whole, names.iter().map(AsRef::as_ref));
            unknown("signal", text, counted.or_else(near))
        };
        let number = signal_number(text).filter(|_| text.starts_with("SIG"));
        Some(number.map(Self).ok_or_else(unknown))
    }
}

impl Flexible for ExpectedOutput {
    const EXPECTED: &'static str = "a string, or a mapping with `contains` or `matches`";
    type Mapping = OutputMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([text(), one_key::<OutputMapping>(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(Ok(Self::Exact(text.to_owned())))
    }

    fn from_mapping(mapping: OutputMapping) -> Option<Result<Self, String>> {
        Some(match (mapping.contains, mapping.matches) {
            (Some(NeededText(text)), None) => Ok(Self::Contains(text)),
            (None, Some(RegexText(regex))) => Ok(Self::Matches(regex)),
            (Some(_), Some(_)) => Err("`contains` and `matches` exclude each other".to_owned()),
            (None, None) => Err("one of `contains` and `matches` is needed".to_owned()),
        })
    }
}

impl Text for NeededText {
    const EXPECTED: &'static str = "a string";

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(if text.is_empty() {
            Err("every text contains an empty one\nsay what must be there, or for no text at all write \"\" in place of the mapping".to_owned())
        } else {
            Ok(Self(text.to_owned()))
        })
    }
}

impl Text for RegexText {
    const EXPECTED: &'static str = "a string with a regular expression";

    fn read(text: &str) -> Option<Result<Self, String>> {
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

deserialize_flexible!(
    NeededText,
    WrittenExit,
    WrittenLimit,
    SignalName,
    ExpectedOutput,
    RegexText = "Pattern"
);

#[cfg(test)]
mod tests {
    use super::*;

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
