//! Steps, patterns and counts as they stand in the file.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::counts::CountRange;
use super::field_test::Test;
use super::flexible::{Entries, Flexible, deserialize_flexible, elements};
use super::schema::{either, entries_of, list_of, of, some_text};

/// One event: its name, or a mapping whose only key is the name and whose value are the fields.
#[derive(Clone, Debug)]
pub(super) struct WrittenStep {
    pub(super) event: String,
    pub(super) fields: Vec<(String, Test)>,
}

/// An element of `sequence` or `any_order`: a step, or a mapping with one of these keys alone.
#[derive(Clone, Debug)]
pub(super) enum WrittenPattern {
    Step(WrittenStep),
    /// `next`: the event that the thread of the step before makes next.
    Next(WrittenStep),
    /// `never`: none of these between the step before and the step behind.
    Never(WrittenSteps),
    /// `sequence`: these in this order.
    Sequence(Vec<WrittenPattern>),
    /// `any_order`: these in any order.
    AnyOrder(Vec<WrittenPattern>),
}

/// A step, or a list of them.
#[derive(Clone, Debug)]
pub(super) enum WrittenSteps {
    One(WrittenStep),
    Many(Vec<WrittenStep>),
}

/// How many of each: a mapping of events, or a list of steps with `times` beside each event.
#[derive(Clone, Debug)]
pub(super) enum WrittenCounts<N> {
    Mapping(Vec<(String, N)>),
    List(Vec<WrittenCounted<N>>),
}

/// A step with `times` beside the event.
#[derive(Clone, Debug)]
pub(super) struct WrittenCounted<N> {
    pub(super) step: WrittenStep,
    pub(super) times: N,
}

/// What is expected of single events, of all of the run or of a section.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenExpectations {
    /// These in this order; other events may lie between.
    pub(super) sequence: Option<Vec<WrittenPattern>>,
    /// These in any order, each another event.
    pub(super) any_order: Option<Vec<WrittenPattern>>,
    /// None of these.
    pub(super) never: Option<Vec<WrittenStep>>,
    /// Nothing but these.
    pub(super) only: Option<Vec<WrittenStep>>,
    /// So many of each.
    pub(super) count: Option<WrittenCounts<CountRange>>,
}

/// The keys that are no names of events.
const WORDS: [&str; 4] = ["next", "never", "sequence", "any_order"];

impl Flexible for WrittenStep {
    const EXPECTED: &'static str =
        "an event such as `fsync`, or a mapping with one: { fsync: { returns: 0 } }";
    type Mapping = OnlyKey;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([some_text(), event(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(check_event(text).map(|()| Self {
            event: text.to_owned(),
            fields: Vec::new(),
        }))
    }

    fn from_mapping(OnlyKey(pattern): OnlyKey) -> Option<Result<Self, String>> {
        let word = match pattern {
            WrittenPattern::Step(step) => return Some(Ok(step)),
            WrittenPattern::Next(_) => "next",
            WrittenPattern::Never(_) => "never",
            WrittenPattern::Sequence(_) => "sequence",
            WrittenPattern::AnyOrder(_) => "any_order",
        };
        Some(Err(format!(
            "`{word}` cannot stand here\nname an event: {{ fsync: {{ returns: 0 }} }}"
        )))
    }
}

impl Flexible for WrittenPattern {
    const EXPECTED: &'static str = WrittenStep::EXPECTED;
    type Mapping = OnlyKey;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let step = generator.subschema_for::<WrittenStep>();
        let pattern = generator.subschema_for::<Self>();
        let fields = generator.subschema_for::<Fields>();
        json_schema!({
            "anyOf": [
                { "type": "string", "minLength": 1 },
                {
                    "type": "object",
                    "properties": {
                        "next": step,
                        "never": generator.subschema_for::<WrittenSteps>(),
                        "sequence": { "type": "array", "items": pattern, "minItems": 1 },
                        "any_order": { "type": "array", "items": pattern, "minItems": 1 },
                    },
                    "additionalProperties": fields,
                    "minProperties": 1,
                    "maxProperties": 1,
                },
            ],
        })
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(WrittenStep::from_text(text)?.map(Self::Step))
    }

    fn from_mapping(OnlyKey(pattern): OnlyKey) -> Option<Result<Self, String>> {
        Some(Ok(pattern))
    }
}

impl Flexible for WrittenSteps {
    const EXPECTED: &'static str = "an event, or a list of events";
    type Mapping = OnlyKey;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([
            of::<WrittenStep>(generator),
            list_of(of::<WrittenStep>(generator)),
        ])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(WrittenStep::from_text(text)?.map(Self::One))
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Option<Result<Self, A::Error>> {
        Some(elements(list).map(Self::Many))
    }

    fn from_mapping(mapping: OnlyKey) -> Option<Result<Self, String>> {
        Some(WrittenStep::from_mapping(mapping)?.map(Self::One))
    }
}

deserialize_flexible!(WrittenStep, WrittenPattern, WrittenSteps);

/// A mapping whose only key is an event, with its fields.
pub(super) fn event(generator: &mut SchemaGenerator) -> Schema {
    let fields = generator.subschema_for::<Fields>();
    json_schema!({
        "type": "object",
        "additionalProperties": fields,
        "propertyNames": { "not": { "enum": WORDS } },
        "minProperties": 1,
        "maxProperties": 1,
    })
}

fn check_event(name: &str) -> Result<(), String> {
    if WORDS.contains(&name) {
        Err(format!(
            "`{name}` is no event\nwrite a mapping: {{ {name}: ... }}"
        ))
    } else if name.trim().is_empty() {
        Err("the name of an event is empty".to_owned())
    } else {
        Ok(())
    }
}

/// A mapping with one key, which says what the mapping is.
pub(super) struct OnlyKey(WrittenPattern);

impl WrittenExpectations {
    /// Whether nothing at all stands there.
    pub(super) fn is_empty(&self) -> bool {
        let patterns = self.sequence.is_none() && self.any_order.is_none();
        patterns && self.never.is_none() && self.only.is_none() && self.count.is_none()
    }
}

impl<'de> Deserialize<'de> for OnlyKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OnlyKeyVisitor)
    }
}

struct OnlyKeyVisitor;

impl<'de> Visitor<'de> for OnlyKeyVisitor {
    type Value = OnlyKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WrittenStep::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OnlyKey, A::Error> {
        let Some(key) = map.next_key::<String>()? else {
            let fault = "the mapping names no event\nwrite { fsync: {} }, or the name alone";
            return Err(A::Error::custom(fault));
        };
        let pattern = match key.as_str() {
            "next" => WrittenPattern::Next(map.next_value()?),
            "never" => WrittenPattern::Never(map.next_value()?),
            "sequence" => WrittenPattern::Sequence(map.next_value()?),
            "any_order" => WrittenPattern::AnyOrder(map.next_value()?),
            _ => WrittenPattern::Step(step(key.clone(), &mut map)?),
        };
        match map.next_key::<String>()? {
            Some(other) => Err(A::Error::custom(two_keys(&key, &other))),
            None => Ok(OnlyKey(pattern)),
        }
    }
}

/// The step whose name was read, with the fields that are its value.
fn step<'de, A: MapAccess<'de>>(event: String, map: &mut A) -> Result<WrittenStep, A::Error> {
    let Fields(fields) = map.next_value()?;
    check_event(&event).map_err(A::Error::custom)?;
    Ok(WrittenStep { event, fields })
}

fn two_keys(one: &str, other: &str) -> String {
    format!(
        "an element names one event, not both `{}` and `{}`\n\
         fields stand in a mapping below the event: {{ fsync: {{ returns: 0 }} }}",
        one.escape_debug(),
        other.escape_debug()
    )
}

/// The fields of an event and what each must be.
struct Fields(Vec<(String, Test)>);

impl Flexible for Fields {
    const EXPECTED: &'static str = "a mapping of fields such as { returns: 0 }";
    type Mapping = Entries<Test>;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        entries_of(of::<Test>(generator))
    }

    fn from_mapping(Entries(fields): Entries<Test>) -> Option<Result<Self, String>> {
        Some(Ok(Self(fields)))
    }
}

deserialize_flexible!(Fields);

impl<'de, N: Deserialize<'de>> Deserialize<'de> for WrittenCounts<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountsVisitor(PhantomData))
    }
}

impl<N: JsonSchema> JsonSchema for WrittenCounts<N> {
    fn schema_name() -> Cow<'static, str> {
        format!("CountsOf{}", N::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let times = generator.subschema_for::<N>();
        let fields = generator.subschema_for::<Fields>();
        json_schema!({
            "anyOf": [
                { "type": "object", "additionalProperties": times, "minProperties": 1 },
                {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "properties": { "times": times },
                        "required": ["times"],
                        "additionalProperties": fields,
                        "minProperties": 2,
                        "maxProperties": 2,
                    },
                },
            ],
        })
    }
}

struct CountsVisitor<N>(PhantomData<N>);

impl<'de, N: Deserialize<'de>> Visitor<'de> for CountsVisitor<N> {
    type Value = WrittenCounts<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of events to numbers, or a list of events with `times`")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let Entries(entries) = Entries::deserialize(MapAccessDeserializer::new(map))?;
        Ok(WrittenCounts::Mapping(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        elements(list).map(WrittenCounts::List)
    }
}

impl<'de, N: Deserialize<'de>> Deserialize<'de> for WrittenCounted<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountedVisitor(PhantomData))
    }
}

struct CountedVisitor<N>(PhantomData<N>);

impl<'de, N: Deserialize<'de>> Visitor<'de> for CountedVisitor<N> {
    type Value = WrittenCounted<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping with an event and `times`: { fsync: { fd: 3 }, times: 2 }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut counted, mut times) = (None::<WrittenStep>, None);
        while let Some(key) = map.next_key::<String>()? {
            if key == "times" {
                times = Some(map.next_value()?);
            } else if let Some(first) = &counted {
                return Err(A::Error::custom(two_keys(&first.event, &key)));
            } else {
                counted = Some(step(key, &mut map)?);
            }
        }
        let fault = match (counted, times) {
            (Some(step), Some(times)) => return Ok(WrittenCounted { step, times }),
            (Some(_), None) => "`times` is missing\nsay how many: { fsync: { fd: 3 }, times: 2 }",
            (None, _) => "an event is missing\nsay of what: { fsync: { fd: 3 }, times: 2 }",
        };
        Err(A::Error::custom(fault))
    }
}
