//! The values of a fault: which calls, and what is done to them.

use std::time::Duration;

use schemars::{Schema, SchemaGenerator};
use serde::Deserialize;

use super::super::flexible::{Flexible, NoMapping, Text, deserialize_flexible};
use super::super::nearest::{did_you_mean, unknown};
use super::super::quantity::Timeout;
use super::super::schema::{any_number, either, number, of, text_like, words};
use super::super::steps::StepSpec;
use super::{Per, When};
use perf_records::units::Nanos;
use syscall_model::errno::{errno_name, errno_names};

/// The largest number of an error that the kernel gives to programs.
const LAST_ERROR: i32 = 133;

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

pub(super) struct ErrorName(pub(super) i32);

impl ErrorName {
    /// Those that a program can see.
    fn all() -> impl Iterator<Item = (i32, &'static str)> {
        (1..=LAST_ERROR).filter_map(|number| Some((number, errno_name(number)?)))
    }
}

impl Text for ErrorName {
    const EXPECTED: &'static str = "an error's name such as `ENOSPC`";

    fn schema() -> Schema {
        words(Self::all().map(|(_, name)| name))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = Self::all().find(|(_, name)| *name == text);
        let known = known.map(|(number, _)| Self(number));
        Some(
            known.ok_or_else(|| match errno_names().any(|name| name == text) {
                true => format!("`{text}` is the kernel's own: no program sees it"),
                false => {
                    let names = Self::all().map(|(_, name)| name);
                    unknown("error", text, did_you_mean(text, names))
                }
            }),
        )
    }
}

pub(super) struct Value(pub(super) i64);

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

pub(super) struct Bytes(pub(super) u64);

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

/// How long a call is held.
pub(super) struct Delay {
    /// In front of the kernel.
    pub(super) before: Option<Nanos>,
    /// At its return.
    pub(super) after: Option<Nanos>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub(super) struct DelayMapping {
    /// How long it is held in front of the kernel.
    before: Option<Timeout>,
    /// How long its return is held: that of an answer, or of a call that is made for its thread
    /// (`fdatasync`, `fsync`, `pread64`, `pwrite64`, `read`, `write`).
    after: Option<Timeout>,
}

impl Flexible for Delay {
    const EXPECTED: &'static str =
        "a duration such as `200ms`, or { before: 200ms }, { after: 200ms }";
    type Mapping = DelayMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([of::<Timeout>(generator), of::<DelayMapping>(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let before = |Timeout(duration)| Self {
            before: Some(nanos(duration)),
            after: None,
        };
        Some(Timeout::read(text)?.map(before))
    }

    fn from_mapping(mapping: DelayMapping) -> Option<Result<Self, String>> {
        let DelayMapping { before, after } = mapping;
        let [before, after] = [before, after].map(|it| it.map(|Timeout(it)| nanos(it)));
        Some(match before.or(after) {
            Some(_) => Ok(Self { before, after }),
            None => Err("a delay is { before: 200ms } or { after: 200ms }".to_owned()),
        })
    }
}

fn nanos(duration: Duration) -> Nanos {
    Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// Until what a call is held.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with a call: { until: { fsync: {} } }"
)]
pub(super) struct Block {
    /// The call that must come before it is made.
    pub(super) until: StepSpec,
}

impl Text for Per {
    const EXPECTED: &'static str = "`process`, `thread`, or `run` as without it";

    fn schema() -> Schema {
        words(["process", "thread", "run"])
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        match text {
            "process" => Some(Ok(Self::Process)),
            "thread" => Some(Ok(Self::Thread)),
            "run" => Some(Ok(Self::Run)),
            _ => None,
        }
    }
}

deserialize_flexible!(When, ErrorName, Value = "ReturnedValue", Bytes, Delay, Per);
