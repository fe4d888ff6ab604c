//! Which rings a run is recorded in, and what is kept of one that failed.

use super::flexible::{Flexible, Text, deserialize_flexible};
use super::nearest::one_of;
use super::quantity::{ByteSize, Timeout};
use super::schema::{either, of, words};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::time::Duration;

/// What becomes of a ring that is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RingMode {
    /// It is read while it fills, and what finds no room is lost.
    #[default]
    Stream,
    /// The newest records overwrite the oldest, and it is read at the end of the run.
    Flight,
}

impl RingMode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Stream, Self::Flight];

    /// The word for it in a scenario.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Flight => "flight",
        }
    }
}

/// The rings of each CPU, as far as the author chose them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingSpec {
    /// Bytes of each CPU's ring, above zero: of the one that is overwritten, where
    /// [`mode`](Self::mode) is that.
    pub size: Option<u64>,
    /// What becomes of the records of events that say nothing else.
    pub mode: RingMode,
}

/// How much of a run that failed is kept, counted from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// All that rings held that are overwritten; of a run without such the last seconds.
    All,
    /// So much time.
    Time(Duration),
    /// So many bytes of events' records.
    Bytes(u64),
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `size` or `mode`")]
pub(super) struct WrittenRing {
    /// Bytes for each CPU.
    pub(super) size: Option<ByteSize>,
    /// Whether the newest records overwrite the oldest.
    #[serde(default)]
    pub(super) mode: RingMode,
}

impl Text for RingMode {
    const EXPECTED: &'static str = "`stream` or `flight`";

    fn schema() -> Schema {
        words(Self::ALL.map(Self::as_str))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = Self::ALL.map(|mode| (mode.as_str(), mode));
        one_of(text, "mode", &known)
    }
}

/// The key `on_failure`.
#[derive(Debug)]
pub(super) struct OnFailure(pub(super) Last);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenOnFailure {
    /// What is kept of the run.
    dump: WrittenDump,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `last`")]
struct WrittenDump {
    /// How much of it, counted from its end.
    last: Last,
}

impl Flexible for OnFailure {
    const EXPECTED: &'static str = "`dump`, or a mapping such as `dump: { last: 5s }`";
    type Mapping = WrittenOnFailure;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([words(["dump"]), of::<WrittenOnFailure>(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        (text == "dump").then_some(Ok(Self(Last::All)))
    }

    fn from_mapping(written: WrittenOnFailure) -> Option<Result<Self, String>> {
        Some(Ok(Self(written.dump.last)))
    }
}

impl Text for Last {
    const EXPECTED: &'static str = "a duration such as `500ms` or `5s`, or a size such as `16MiB`";
    const LIKE: &'static str = "^[0-9]+(ms|s|m|KiB|MiB)$";

    fn read(text: &str) -> Option<Result<Self, String>> {
        let time = Timeout::from_text(text);
        let size = ByteSize::from_text(text);
        let time = time.map(|time| time.map(|time| Self::Time(time.0)));
        time.or_else(|| Some(size?.map(|size| Self::Bytes(size.0))))
    }
}

deserialize_flexible!(RingMode, OnFailure, Last);
