//! The key `faults`: what the kernel answers to single calls in place of making them.

mod words;

use std::fmt;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::expect::SignalName;
use super::field_test::Test;
use super::key_path::KeyPath;
use super::patterns::step_of;
use super::steps::StepSpec;
use perf_records::units::Nanos;
use syscall_model::{Answer, Injected};
use words::{Block, Bytes, Delay, ErrorName, Value};

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
    /// The call that must come before it is made.
    pub until: Option<StepSpec>,
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
    /// Each thread by itself, as strace does it.
    Thread,
}

/// A fault as it stands in the file, with its place below this one.
#[derive(Clone, Debug)]
pub(super) struct WrittenFault(pub(super) FaultSpec);

const ACTIONS: &str = "`error`, `returns`, `short`, `signal`, `delay` and `block`";

/// The fields of the call, and what is done to it.
#[derive(Default)]
struct Done {
    fields: Vec<(String, Test)>,
    when: When,
    per: Per,
    /// What is done beside a delay.
    actions: Vec<Injected>,
    delay: Option<Delay>,
    until: Option<StepSpec>,
}

impl Done {
    /// All of it together, or why these are not done to one call.
    fn injected(&self) -> Result<Injected, String> {
        let both = match self.actions.as_slice() {
            [one, other] => with_signal(*one, *other).or_else(|| with_signal(*other, *one)),
            _ => None,
        };
        let actions = both
            .as_ref()
            .map_or(self.actions.as_slice(), std::slice::from_ref);
        let action = match actions {
            [] if self.delay.is_none() => {
                return Err(format!("a fault needs one of {ACTIONS}"));
            }
            [] => Injected::NONE,
            [action] => *action,
            _ => {
                return Err(format!(
                    "a fault takes one of {ACTIONS}, not several: beside it only a `delay` stands, and a \
                     `signal` beside an `error`\nwrite a fault for each"
                ));
            }
        };
        match &self.delay {
            None => Ok(action),
            Some(_) if action.is_blocked => {
                let fault = "a call is held for a time or until another comes, not both\nwrite a fault for each";
                Err(fault.to_owned())
            }
            Some(delay) => held(action, delay),
        }
    }
}

/// What is done, and a delay: nothing happens between the two halves of an answer's.
fn held(action: Injected, delay: &Delay) -> Result<Injected, String> {
    let Delay { before, after } = *delay;
    let Some(late) = after else {
        return Ok(Injected {
            delay: before,
            ..action
        });
    };
    match action.answer {
        Some(Answer::Error(_) | Answer::Value(_)) => {
            let before = before.map_or(0, |Nanos(before)| before);
            Ok(Injected {
                delay: Some(Nanos(before.saturating_add(late.0))),
                ..action
            })
        }
        None if action.signal.is_some() => {
            let fault = "`after` holds a return, and the signal comes before that\nwrite `before`";
            Err(fault.to_owned())
        }
        Some(Answer::Short(_) | Answer::Whole) | None => Ok(Injected {
            answer: action.answer.or(Some(Answer::Whole)),
            delay: before,
            late: Some(late),
            ..action
        }),
    }
}

/// An error, and the signal that comes with it: `SIGPIPE` with `EPIPE`.
fn with_signal(error: Injected, signal: Injected) -> Option<Injected> {
    let is_error = matches!(error.answer, Some(Answer::Error(_)));
    (is_error && signal.signal.is_some()).then_some(Injected {
        signal: signal.signal,
        ..error
    })
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
                    signal: Some(map.next_value::<SignalName>()?.0),
                    ..Injected::default()
                },
                "delay" => {
                    done.delay = Some(map.next_value()?);
                    continue;
                }
                "block" => {
                    let Block { until } = map.next_value()?;
                    done.until = Some(until);
                    Injected {
                        is_blocked: true,
                        ..Injected::default()
                    }
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
        let injected = done.injected().map_err(A::Error::custom)?;
        let holder = KeyPath::root().key(&name).key("block").key("until");
        Ok(WrittenFault(FaultSpec {
            injected,
            step: step_of(&name, done.fields),
            when: done.when,
            per: done.per,
            until: done.until.map(|until| until.below(holder)),
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
                    "block": generator.subschema_for::<Block>(),
                },
                "additionalProperties": test,
            },
        })
    }
}
