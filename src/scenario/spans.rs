//! Spans: pairs of events, by the key that both share.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::SeqAccess;

use super::flexible::{Flexible, Text, deserialize_flexible, elements};
use super::key_path::KeyPath;
use super::schema::{either, list_of, of, some_text};
use super::steps::StepSpec;

/// Two events that are the two ends of one thing.
#[derive(Clone, Debug)]
pub struct SpanSpec {
    /// Its name, which expectations have as `span:name`: lower case letters, digits, `_` and `-`.
    pub name: String,
    /// What begins it.
    pub begin: StepSpec,
    /// What ends it.
    pub end: StepSpec,
    /// What both share; never empty.
    pub key: Vec<SharedSpec>,
    /// Its place in the file.
    pub at: KeyPath,
}

/// A field that both ends share, or `thread` or `process` for the task itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSpec {
    /// The begin's name for it.
    pub begin: String,
    /// The end's.
    pub end: String,
    /// Where the begin's stands.
    pub begin_at: KeyPath,
    /// Where the end's stands.
    pub end_at: KeyPath,
}

/// Two events and what they share.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `begin` and `end`")]
pub(super) struct WrittenSpan {
    /// What begins it: an event that is recorded, with fields where its name is not enough.
    pub(super) begin: StepSpec,
    /// What ends it.
    pub(super) end: StepSpec,
    /// What both share: a field or a list of fields; without it the thread.
    pub(super) key: Option<WrittenKey>,
}

/// A field, or a list of fields.
#[derive(Clone, Debug)]
pub(super) enum WrittenKey {
    One(WrittenShared),
    Many(Vec<WrittenShared>),
}

/// A field by its name, or by the names that the two events have for it.
#[derive(Clone, Debug)]
pub(super) enum WrittenShared {
    Same(String),
    Renamed(Renamed),
}

/// The names that the two events have for it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Renamed {
    /// The begin's.
    begin: FieldName,
    /// The end's.
    end: FieldName,
}

/// The name of a field.
#[derive(Clone, Debug)]
struct FieldName(String);

const EXPECTED: &str =
    "the name of a field, or a mapping with what it is called at the `begin` and at the `end`";

impl Flexible for WrittenShared {
    const EXPECTED: &'static str = EXPECTED;
    type Mapping = Renamed;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([some_text(), of::<Renamed>(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(FieldName::from_text(text)?.map(|FieldName(name)| Self::Same(name)))
    }

    fn from_mapping(renamed: Renamed) -> Option<Result<Self, String>> {
        Some(Ok(Self::Renamed(renamed)))
    }
}

impl Flexible for WrittenKey {
    const EXPECTED: &'static str =
        "the name of a field, a list of such, or a mapping with `begin` and `end`";
    type Mapping = Renamed;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([
            of::<WrittenShared>(generator),
            list_of(of::<WrittenShared>(generator)),
        ])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(WrittenShared::from_text(text)?.map(Self::One))
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Option<Result<Self, A::Error>> {
        Some(elements(list).and_then(|all: Vec<WrittenShared>| match all.is_empty() {
            true => Err(serde::de::Error::custom(
                "a key of nothing pairs everything with everything\nleave it out to pair what one thread does",
            )),
            false => Ok(Self::Many(all)),
        }))
    }

    fn from_mapping(renamed: Renamed) -> Option<Result<Self, String>> {
        Some(Ok(Self::One(WrittenShared::Renamed(renamed))))
    }
}

impl Text for FieldName {
    const EXPECTED: &'static str = "the name of a field";

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(match text.trim().is_empty() {
            true => Err("the name of a field is empty".to_owned()),
            false => Ok(Self(text.to_owned())),
        })
    }
}

deserialize_flexible!(WrittenShared, WrittenKey, FieldName);

impl WrittenKey {
    /// The fields with their places; `at` is that of the key.
    pub(super) fn placed(self, at: &KeyPath) -> Vec<SharedSpec> {
        let one = |shared: WrittenShared, at: KeyPath| match shared {
            WrittenShared::Same(name) => SharedSpec {
                begin: name.clone(),
                end: name,
                begin_at: at.clone(),
                end_at: at,
            },
            WrittenShared::Renamed(Renamed { begin, end }) => SharedSpec {
                begin: begin.0,
                end: end.0,
                begin_at: at.clone().key("begin"),
                end_at: at.key("end"),
            },
        };
        match self {
            Self::One(shared) => vec![one(shared, at.clone())],
            Self::Many(all) => {
                let all = all.into_iter().enumerate();
                all.map(|(place, shared)| one(shared, at.clone().index(place)))
                    .collect()
            }
        }
    }
}

/// What is wrong with the name of a span.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    match name {
        "" => Err("the name of a span is empty".to_owned()),
        name if name.chars().all(is_plain) => Ok(()),
        name => Err(format!(
            "`{}` is no name of a span: it has lower case letters, digits, `_` and `-` only",
            name.escape_debug()
        )),
    }
}
