//! How marks stand in the file.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::flexible::{Flexible, deserialize_flexible};
use super::model::Mark;
use super::nearest::{did_you_mean, unknown};
use super::patterns::{OnlyKey, event};
use super::schema::{either, one_key, some_text, words};
use super::steps::StepSpec;
use super::trace::Since;

/// What is written to a descriptor to mark a moment, without the line feed at its end.
#[derive(Clone, Debug)]
pub(super) struct MarkText(pub(super) String);

/// A mark, with a key that says which kind it is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SinceMapping {
    /// A write of exactly this, a line feed at its end left out, to any descriptor.
    written: Option<MarkText>,
    /// An event.
    step: Option<StepSpec>,
}

impl Flexible for Mark {
    const EXPECTED: &'static str =
        "a string that is written then, or a mapping with an event: { openat: { path: start } }";
    type Mapping = OnlyKey;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([some_text(), event(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(MarkText::from_text(text)?.map(|MarkText(text)| Self::Written(text)))
    }

    fn from_mapping(mapping: OnlyKey) -> Option<Result<Self, String>> {
        Some(StepSpec::from_mapping(mapping)?.map(Self::Step))
    }
}

impl Flexible for MarkText {
    const EXPECTED: &'static str = "a string";
    type Mapping = serde::de::IgnoredAny;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        some_text()
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        Some(if text.is_empty() {
            Err("an empty text marks nothing\nname what the workload writes: \">save\"".to_owned())
        } else {
            Ok(Self(text.to_owned()))
        })
    }
}

impl Flexible for Since {
    const EXPECTED: &'static str = "`exec`, `main`, or a mapping with `written` or `step`";
    type Mapping = SinceMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([words(["exec", "main"]), one_key::<SinceMapping>(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        match text {
            "exec" => Some(Ok(Self::Exec)),
            "main" => Some(Ok(Self::Main)),
            other => {
                let mark = || format!("for what the workload writes: {{ written: {other:?} }}");
                let help = did_you_mean(other, ["exec", "main"]).unwrap_or_else(mark);
                Some(Err(unknown("start", other, Some(help))))
            }
        }
    }

    fn from_mapping(written: SinceMapping) -> Option<Result<Self, String>> {
        Some(match (written.written, written.step) {
            (Some(MarkText(text)), None) => Ok(Self::Mark(Mark::Written(text))),
            (None, Some(step)) => Ok(Self::Mark(Mark::Step(step))),
            (Some(_), Some(_)) => Err("`written` and `step` exclude each other".to_owned()),
            (None, None) => Err("one of `written` and `step` is needed".to_owned()),
        })
    }
}

deserialize_flexible!(Mark = "WrittenMark", MarkText, Since = "WrittenSince");
