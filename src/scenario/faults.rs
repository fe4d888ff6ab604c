//! The key `faults`: what the kernel answers to single calls in place of making them.

use std::fmt;
use std::time::Duration;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::expect::SignalName;
use super::field_test::Test;
use super::flexible::{Flexible, NoMapping, Text, deserialize_flexible};
use super::nearest::{did_you_mean, unknown};
use super::patterns::step_of;
use super::quantity::Timeout;
use super::schema::{any_number, either, number, of, text_like, words};
use super::steps::StepSpec;
use perf_records::units::Nanos;
use syscall_model::errno::{errno_name, errno_names};
use syscall_model::{Answer, Injected};

/// The largest number of an error that the kernel gives to programs.
const LAST_ERROR: i32 = 133;

/// One fault.
#[derive(Clone, Debug)]
pub struct FaultSpec {
    /// Which calls it may be done to.
    pub step: StepSpec,
    /// To which of these it is.
    pub when: When,
    /// By what these are counted.
    pub per: Per,
    /// What is done.
    pub injected: Injected,
}

/// Which of many calls are meant, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When {
    /// The first.
    pub first: u64,
    /// The last; `None` for no end.
    pub last: Option<u64>,
    /// From one to the next; never 0.
    pub step: u64,
}

impl Default for When {
    fn default() -> Self {
        Self {
            first: 1,
            last: None,
            step: 1,
        }
    }
}

impl When {
    /// Whether the call of this number is meant.
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        let behind = number.checked_sub(self.first);
        behind.is_some_and(|behind| behind.is_multiple_of(self.step))
            && self.last.is_none_or(|last| number <= last)
    }

    /// Whether no call behind this number is meant.
    #[must_use]
    pub fn is_over(&self, number: u64) -> bool {
        self.last.is_some_and(|last| number >= last)
    }
}

/// By what the calls of a fault are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// All of the run together.
    #[default]
    Run,
    /// Each process by itself.
    Process,
    /// Each thread by itself, as strace does it; no scenario says so.
    Thread,
}

/// A fault as it stands in the file, with its place below this one.
#[derive(Clone, Debug)]
pub(super) struct WrittenFault(pub(super) FaultSpec);

impl Flexible for When {
    const EXPECTED: &'static str =
        "the number of a call such as 2, or \"3..\", \"2..=4\", \"2..+3\"";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        either([number(1), text_like(r"^[0-9]+\.\.(=[0-9]+|\+[0-9]+)?$")])
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(checked(number, Some(number), 1))
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let number = |text: &str| text.parse::<u64>().ok();
        let (first, rest) = text.split_once("..")?;
        let first = number(first)?;
        Some(match (rest.strip_prefix('='), rest.strip_prefix('+')) {
            (Some(last), _) => checked(first, Some(number(last)?), 1),
            (_, Some(step)) => checked(first, None, number(step)?),
            _ if rest.is_empty() => checked(first, None, 1),
            _ => return None,
        })
    }
}

fn checked(first: u64, last: Option<u64>, step: u64) -> Result<When, String> {
    match (first, last, step) {
        (0, ..) => Err("calls are counted from 1".to_owned()),
        (_, Some(last), _) if last < first => Err("no call is in this range".to_owned()),
        (.., 0) => Err("the step must be larger than zero".to_owned()),
        (first, last, step) => Ok(When { first, last, step }),
    }
}

struct ErrorName(i32);

impl Text for ErrorName {
    const EXPECTED: &'static str = "an error's name such as `ENOSPC`";

    fn schema() -> Schema {
        words(errno_names())
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = (1..=LAST_ERROR).find(|number| errno_name(*number) == Some(text));
        Some(
            known
                .map(Self)
                .ok_or_else(|| unknown("error", text, did_you_mean(text, errno_names()))),
        )
    }
}

struct Value(i64);

impl Flexible for Value {
    const EXPECTED: &'static str = "a number; an error stands under `error`";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        any_number()
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(
            i64::try_from(number)
                .map(Self)
                .map_err(|_| "the number is too large".to_owned()),
        )
    }

    fn from_negative(number: i64) -> Option<Result<Self, String>> {
        Some(match number {
            -4095..=-1 => {
                Err("a number from -4095 to -1 is an error\nwrite `error` and its name".to_owned())
            }
            _ => Ok(Self(number)),
        })
    }
}

struct Bytes(u64);

impl Flexible for Bytes {
    const EXPECTED: &'static str = "a number of bytes above zero";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        number(1)
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(match number {
            0 => Err("a short call moves one byte at least".to_owned()),
            number => Ok(Self(number)),
        })
    }
}

struct Delay(Duration);

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct DelayMapping {
    /// How long it is held in front of the kernel.
    before: Timeout,
}

impl Flexible for Delay {
    const EXPECTED: &'static str = "a duration such as `200ms`, or { before: 200ms }";
    type Mapping = DelayMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([of::<Timeout>(generator), of::<DelayMapping>(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(Timeout::read(text)?.map(|Timeout(duration)| Self(duration)))
    }

    fn from_mapping(mapping: DelayMapping) -> Option<Result<Self, String>> {
        Some(Ok(Self(mapping.before.0)))
    }
}

impl Text for Per {
    const EXPECTED: &'static str = "`process`, or `run` as without it";

    fn schema() -> Schema {
        words(["process", "run"])
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        match text {
            "process" => Some(Ok(Self::Process)),
            "run" => Some(Ok(Self::Run)),
            _ => None,
        }
    }
}

deserialize_flexible!(When, ErrorName, Value = "ReturnedValue", Bytes, Delay, Per);

const ACTIONS: &str = "`error`, `returns`, `delay`, `signal` and `short`";

/// The fields of the call, and what is done to it.
#[derive(Default)]
struct Done {
    fields: Vec<(String, Test)>,
    when: When,
    per: Per,
    actions: Vec<Injected>,
}

impl<'de> Deserialize<'de> for Done {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DoneVisitor)
    }
}

struct DoneVisitor;

impl<'de> Visitor<'de> for DoneVisitor {
    type Value = Done;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping such as { when: 2, error: ENOSPC }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Done, A::Error> {
        let mut done = Done::default();
        let answered = |answer| Injected {
            answer: Some(answer),
            ..Injected::default()
        };
        while let Some(key) = map.next_key::<String>()? {
            let action = match key.as_str() {
                "when" => {
                    done.when = map.next_value()?;
                    continue;
                }
                "per" => {
                    done.per = map.next_value()?;
                    continue;
                }
                "error" => answered(Answer::Error(map.next_value::<ErrorName>()?.0)),
                "returns" => answered(Answer::Value(map.next_value::<Value>()?.0)),
                "short" => answered(Answer::Short(map.next_value::<Bytes>()?.0)),
                "signal" => Injected {
                    signal: Some(map.next_value::<SignalName>()?.0 as i32),
                    ..Injected::default()
                },
                "delay" => {
                    let Delay(delay) = map.next_value()?;
                    let nanos = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
                    Injected {
                        delay: Some(Nanos(nanos)),
                        ..Injected::default()
                    }
                }
                "block" => {
                    let fault = "no fault blocks a call until another event comes\nhold it for a time: `delay`";
                    return Err(A::Error::custom(fault));
                }
                _ => {
                    done.fields.push((key, map.next_value()?));
                    continue;
                }
            };
            done.actions.push(action);
        }
        Ok(done)
    }
}

impl<'de> Deserialize<'de> for WrittenFault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FaultVisitor)
    }
}

struct FaultVisitor;

impl<'de> Visitor<'de> for FaultVisitor {
    type Value = WrittenFault;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping with a call: { fsync: { when: 2, error: EIO } }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WrittenFault, A::Error> {
        let Some((name, done)) = map.next_entry::<String, Done>()? else {
            let fault = "the mapping names no call\nwrite { fsync: { error: EIO } }";
            return Err(A::Error::custom(fault));
        };
        if let Some(other) = map.next_key::<String>()? {
            return Err(A::Error::custom(format!(
                "an element names one call, not both `{}` and `{}`",
                name.escape_debug(),
                other.escape_debug()
            )));
        }
        let [injected] = done.actions.as_slice() else {
            let fault = match done.actions.is_empty() {
                true => format!("a fault needs one of {ACTIONS}"),
                false => {
                    format!("a fault takes one of {ACTIONS}, not several\nwrite a fault for each")
                }
            };
            return Err(A::Error::custom(fault));
        };
        Ok(WrittenFault(FaultSpec {
            injected: *injected,
            step: step_of(&name, done.fields),
            when: done.when,
            per: done.per,
        }))
    }
}

impl schemars::JsonSchema for WrittenFault {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fault".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let test = generator.subschema_for::<Test>();
        json_schema!({
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "when": generator.subschema_for::<When>(),
                    "per": generator.subschema_for::<Per>(),
                    "error": generator.subschema_for::<ErrorName>(),
                    "returns": generator.subschema_for::<Value>(),
                    "delay": generator.subschema_for::<Delay>(),
                    "signal": generator.subschema_for::<SignalName>(),
                    "short": generator.subschema_for::<Bytes>(),
                },
                "additionalProperties": test,
            },
        })
    }
}
