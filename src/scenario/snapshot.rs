//! The key `snapshot`.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::flexible::{Entries, Flexible, Text, deserialize_flexible};
use super::nearest::one_of;
use super::quantity::ByteSize;
use super::schema::{either, of, words};

/// Whether and how strictly the trace is compared with a stored one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotSpec {
    /// No snapshot.
    Off,
    /// A snapshot.
    On(SnapshotKeys),
}

/// What a snapshot shows, and what of it must be the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotKeys {
    /// What of the trace must be the same.
    pub level: SnapshotLevel,
    /// Names to leave out, spelt as in `trace.events`.
    pub hide: Vec<String>,
    /// The only names to keep, spelt as in `trace.events`; empty where the author wrote nothing,
    /// which keeps all.
    pub show: Vec<String>,
    /// How many bytes of what is read and written to show; 0 for none.
    pub contents: u16,
    /// Names of files that are other ones in each run, as globs.
    pub temporary: Vec<String>,
    /// The section that is shown; `None` where the author wrote nothing, which shows the whole run.
    pub section: Option<String>,
    /// Levels of single processes: a glob for the name of a program (`cc1`), or for a
    /// process with its number (`P3 sh`). The first that matches counts.
    pub levels: Vec<(String, LevelSpec)>,
    /// What is told apart.
    pub by: SnapshotBy,
}

/// What of a process' trace must be the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelSpec {
    /// Of its order and counts.
    pub level: SnapshotLevel,
    /// Names that are only counted in it.
    pub counts: Vec<String>,
    /// Names of which it only matters that they occur.
    pub set: Vec<String>,
    /// Names to leave out of it, besides those that are left out everywhere.
    pub hide: Vec<String>,
}

/// What a snapshot tells apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotBy {
    /// Processes, by their place in the tree of creation.
    #[default]
    Process,
    /// Programs: all processes with the same program are one, however many there are.
    Program,
}

impl SnapshotBy {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Process, Self::Program];

    /// The word for it in a scenario.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Program => "program",
        }
    }
}

/// So much of a buffer can be read at a time, in bytes.
const MOST_CONTENTS: u16 = 4096;

/// What of a trace must be the same in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotLevel {
    /// The calls of each thread, in order.
    #[default]
    Sequence,
    /// How often each call occurs.
    Counts,
    /// Which calls occur.
    Set,
}

impl SnapshotLevel {
    /// Every level, the strictest first.
    pub const ALL: [Self; 3] = [Self::Sequence, Self::Counts, Self::Set];

    /// The level's word in a scenario.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sequence => "sequence",
            Self::Counts => "counts",
            Self::Set => "set",
        }
    }
}

impl fmt::Display for SnapshotLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl SnapshotSpec {
    /// What it shows; `None` where there is none.
    #[must_use]
    pub fn keys(&self) -> Option<&SnapshotKeys> {
        match self {
            Self::On(keys) => Some(keys),
            Self::Off => None,
        }
    }

    /// The section that is shown, if not the whole run is.
    #[must_use]
    pub fn section(&self) -> Option<&str> {
        self.keys()?.section.as_deref()
    }
}

impl Default for SnapshotSpec {
    fn default() -> Self {
        Self::On(SnapshotKeys::default())
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotMapping {
    #[serde(default)]
    level: SnapshotLevel,
    #[serde(default)]
    hide: Vec<String>,
    #[serde(default)]
    show: Vec<String>,
    #[serde(default)]
    contents: Option<ByteSize>,
    #[serde(default)]
    temporary: Vec<String>,
    #[serde(default)]
    levels: Entries<LevelSpec>,
    #[serde(default)]
    by: SnapshotBy,
    section: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelMapping {
    #[serde(default)]
    level: SnapshotLevel,
    #[serde(default)]
    counts: Vec<String>,
    #[serde(default)]
    set: Vec<String>,
    #[serde(default)]
    hide: Vec<String>,
}

impl Flexible for SnapshotSpec {
    const EXPECTED: &'static str = "`true`, `false`, or a mapping with `level`, `levels`, `by`, `hide`, `show`, `contents`, `temporary` or `section`";
    type Mapping = SnapshotMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([
            json_schema!({ "type": "boolean" }),
            of::<SnapshotMapping>(generator),
        ])
    }

    fn from_flag(flag: bool) -> Option<Result<Self, String>> {
        Some(Ok(if flag { Self::default() } else { Self::Off }))
    }

    fn from_mapping(mapping: SnapshotMapping) -> Option<Result<Self, String>> {
        let contents = mapping.contents.map_or(0, |size| size.0);
        Some(match u16::try_from(contents) {
            Ok(contents @ 0..=MOST_CONTENTS) => Ok(Self::On(SnapshotKeys {
                level: mapping.level,
                hide: mapping.hide,
                show: mapping.show,
                contents,
                temporary: mapping.temporary,
                levels: mapping.levels.0,
                by: mapping.by,
                section: mapping.section,
            })),
            _ => Err(format!(
                "`contents` must be {MOST_CONTENTS} bytes at most: that much of a buffer can be read at a time"
            )),
        })
    }
}

impl Flexible for LevelSpec {
    const EXPECTED: &'static str =
        "`sequence`, `counts`, `set`, or a mapping with `level`, `counts`, `set` or `hide`";
    type Mapping = LevelMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([
            of::<SnapshotLevel>(generator),
            of::<LevelMapping>(generator),
        ])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let level = SnapshotLevel::from_text(text)?;
        Some(level.map(|level| Self {
            level,
            ..Self::default()
        }))
    }

    fn from_mapping(mapping: LevelMapping) -> Option<Result<Self, String>> {
        Some(Ok(Self {
            level: mapping.level,
            counts: mapping.counts,
            set: mapping.set,
            hide: mapping.hide,
        }))
    }
}

impl Text for SnapshotLevel {
    const EXPECTED: &'static str = "`sequence`, `counts` or `set`";

    fn schema() -> Schema {
        words(Self::ALL.map(Self::as_str))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = Self::ALL.map(|level| (level.as_str(), level));
        one_of(text, "level", &known)
    }
}

impl Text for SnapshotBy {
    const EXPECTED: &'static str = "`process` or `program`";

    fn schema() -> Schema {
        words(Self::ALL.map(Self::as_str))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = Self::ALL.map(|by| (by.as_str(), by));
        one_of(text, "value", &known)
    }
}

deserialize_flexible!(SnapshotSpec, SnapshotLevel, SnapshotBy, LevelSpec);
