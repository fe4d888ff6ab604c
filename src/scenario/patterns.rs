//! How steps, patterns and counts stand in the file.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::counts::CountRange;
use super::field_test::Test;
use super::flexible::{Entries, Flexible, NoMapping, deserialize_flexible, elements};
use super::key_path::KeyPath;
use super::schema::{either, entries_of, list_of, of, some_text};
use super::steps::{NumberOf, Pattern, StepSpec};

/// An event, or a list of them; each with its place below this one.
#[derive(Clone, Debug)]
pub(super) struct Steps(Vec<StepSpec>);

/// How many of each: a mapping of events, or a list of steps with `times` beside each event; each
/// with its place below this one.
#[derive(Clone, Debug)]
pub(super) struct WrittenCounts<N>(pub(super) Vec<NumberOf<StepSpec, N>>);

/// What is expected of single events, of all of the run or of a section.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenExpectations {
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
}

/// Something that must come between two others.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `first`, `then` and `there_is`"
)]
pub(super) struct WrittenBetween {
    /// Each of these that has a `then` behind it.
    pub(super) first: StepSpec,
    /// The next of these behind it.
    pub(super) then: StepSpec,
    /// Behind `first` and before `then` one of these must come.
    pub(super) there_is: StepSpec,
    /// How many `first` must have a `then` behind them; without it at least one.
    pub(super) times: Option<Pairs>,
}

/// How many there must be, where `0..` is no idle word: without it there must be one at least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs(pub(super) CountRange);

/// The keys that are no names of events.
const WORDS: [&str; 4] = ["next", "never", "sequence", "any_order"];

impl Flexible for StepSpec {
    const EXPECTED: &'static str =
        "an event such as `fsync`, or a mapping with one: { fsync: { returns: 0 } }";
    type Mapping = OnlyKey;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([some_text(), event(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(check_event(text).map(|()| step_of(text, Vec::new())))
    }

    fn from_mapping(OnlyKey(pattern): OnlyKey) -> Option<Result<Self, String>> {
        let word = match pattern {
            Pattern::Step(step) => return Some(Ok(step)),
            Pattern::Next(_) => "next",
            Pattern::Never(_) => "never",
            Pattern::Sequence(_) => "sequence",
            Pattern::AnyOrder(_) => "any_order",
        };
        Some(Err(format!(
            "`{word}` cannot stand here\nname an event: {{ fsync: {{ returns: 0 }} }}"
        )))
    }
}

impl Flexible for Pattern {
    const EXPECTED: &'static str = StepSpec::EXPECTED;
    type Mapping = OnlyKey;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let step = generator.subschema_for::<StepSpec>();
        let pattern = generator.subschema_for::<Self>();
        let fields = generator.subschema_for::<Fields>();
        json_schema!({
            "anyOf": [
                { "type": "string", "minLength": 1 },
                {
                    "type": "object",
                    "properties": {
                        "next": step,
                        "never": generator.subschema_for::<Steps>(),
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
        Some(StepSpec::from_text(text)?.map(Self::Step))
    }

    fn from_mapping(OnlyKey(pattern): OnlyKey) -> Option<Result<Self, String>> {
        Some(Ok(pattern))
    }
}

impl Flexible for Steps {
    const EXPECTED: &'static str = "an event, or a list of events";
    type Mapping = OnlyKey;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([
            of::<StepSpec>(generator),
            list_of(of::<StepSpec>(generator)),
        ])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(StepSpec::from_text(text)?.map(|step| Self(vec![step])))
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Option<Result<Self, A::Error>> {
        Some(elements(list).map(|steps| {
            let steps = steps.into_iter().enumerate();
            let steps =
                steps.map(|(at, step): (_, StepSpec)| step.below(KeyPath::root().index(at)));
            Self(steps.collect())
        }))
    }

    fn from_mapping(mapping: OnlyKey) -> Option<Result<Self, String>> {
        Some(StepSpec::from_mapping(mapping)?.map(|step| Self(vec![step])))
    }
}

deserialize_flexible!(
    StepSpec = "WrittenStep",
    Pattern = "WrittenPattern",
    Steps = "WrittenSteps"
);

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
pub(super) struct OnlyKey(Pattern);

impl WrittenExpectations {
    /// Whether nothing at all stands there.
    pub(super) fn is_empty(&self) -> bool {
        let patterns = self.sequence.is_none() && self.any_order.is_none();
        let others = self.never.is_none() && self.only.is_none() && self.count.is_none();
        patterns && others && self.between.is_none()
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
        f.write_str(StepSpec::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OnlyKey, A::Error> {
        let Some(key) = map.next_key::<String>()? else {
            let fault = "the mapping names no event\nwrite { fsync: {} }, or the name alone";
            return Err(A::Error::custom(fault));
        };
        let pattern = match key.as_str() {
            "next" => Pattern::Next(map.next_value()?),
            "never" => Pattern::Never(map.next_value::<Steps>()?.0),
            "sequence" => Pattern::Sequence(map.next_value()?),
            "any_order" => Pattern::AnyOrder(map.next_value()?),
            _ => Pattern::Step(step(key.clone(), &mut map)?),
        };
        match map.next_key::<String>()? {
            Some(other) => Err(A::Error::custom(two_keys(&key, &other))),
            None => Ok(OnlyKey(pattern)),
        }
    }
}

/// The step whose name was read, with the fields that are its value.
fn step<'de, A: MapAccess<'de>>(event: String, map: &mut A) -> Result<StepSpec, A::Error> {
    let Fields(fields) = map.next_value()?;
    check_event(&event).map_err(A::Error::custom)?;
    Ok(step_of(&event, fields))
}

/// A step with its place below what holds it, where it stands under its name or as the name alone:
/// [`KeyPath`] leads to both.
pub(super) fn step_of(event: &str, fields: Vec<(String, Test)>) -> StepSpec {
    StepSpec {
        event: event.to_owned(),
        fields,
        at: KeyPath::root().key(event).key_itself(),
    }
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

deserialize_flexible!(Fields, Pairs);

impl Flexible for Pairs {
    const EXPECTED: &'static str = CountRange::EXPECTED;
    type Mapping = NoMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        <CountRange as Flexible>::schema(generator)
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(CountRange::from_number(number)?.map(Self))
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(match text {
            "0.." => Ok(Self(CountRange { min: 0, max: None })),
            text => CountRange::from_text(text)?.map(Self),
        })
    }
}

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
        let count = |(event, times): (String, N)| NumberOf {
            step: step_of(&event, Vec::new()),
            times,
        };
        Ok(WrittenCounts(entries.into_iter().map(count).collect()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut counts = Vec::new();
        while let Some(Counted(NumberOf { step, times })) = list.next_element()? {
            let step = step.below(KeyPath::root().index(counts.len()));
            counts.push(NumberOf { step, times });
        }
        Ok(WrittenCounts(counts))
    }
}

/// A step with `times` beside the event.
struct Counted<N>(NumberOf<StepSpec, N>);

impl<'de, N: Deserialize<'de>> Deserialize<'de> for Counted<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountedVisitor(PhantomData))
    }
}

struct CountedVisitor<N>(PhantomData<N>);

impl<'de, N: Deserialize<'de>> Visitor<'de> for CountedVisitor<N> {
    type Value = Counted<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping with an event and `times`: { fsync: { fd: 3 }, times: 2 }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut counted, mut times) = (None::<StepSpec>, None);
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
            (Some(step), Some(times)) => return Ok(Counted(NumberOf { step, times })),
            (Some(_), None) => "`times` is missing\nsay how many: { fsync: { fd: 3 }, times: 2 }",
            (None, _) => "an event is missing\nsay of what: { fsync: { fd: 3 }, times: 2 }",
        };
        Err(A::Error::custom(fault))
    }
}
