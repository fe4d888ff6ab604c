//! The key `snapshot`.

use std::fmt;

use serde::Deserialize;

use super::flexible::{Flexible, NoMapping, deserialize_flexible};
use super::nearest::nearest;
use super::quantity::ByteSize;

/// Whether and how strictly the trace is compared with a stored one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotSpec {
    /// No snapshot.
    Off,
    /// A snapshot.
    On {
        /// What of the trace must be the same.
        level: SnapshotLevel,
        /// Names to leave out, spelt as in `trace.events`.
        hide: Vec<String>,
        /// The only names to keep, spelt as in `trace.events`; empty where the author wrote nothing, which keeps all.
        show: Vec<String>,
        /// How many bytes of what is read and written to show; 0 for none.
        contents: u16,
        /// Names of files that are other ones in each run, as globs.
        temporary: Vec<String>,
    },
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

impl Default for SnapshotSpec {
    fn default() -> Self {
        Self::On {
            level: SnapshotLevel::default(),
            hide: Vec::new(),
            show: Vec::new(),
            contents: 0,
            temporary: Vec::new(),
        }
    }
}

#[derive(Debug, Deserialize)]
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
}

impl Flexible for SnapshotSpec {
    const EXPECTED: &'static str =
        "`true`, `false`, or a mapping with `level`, `hide`, `show`, `contents` or `temporary`";
    type Mapping = SnapshotMapping;

    fn from_flag(flag: bool) -> Option<Result<Self, String>> {
        Some(Ok(if flag { Self::default() } else { Self::Off }))
    }

    fn from_mapping(mapping: SnapshotMapping) -> Option<Result<Self, String>> {
        let SnapshotMapping {
            level,
            hide,
            show,
            contents,
            temporary,
        } = mapping;
        let contents = contents.map_or(0, |size| size.0);
        Some(match u16::try_from(contents) {
            Ok(contents @ 0..=MOST_CONTENTS) => Ok(Self::On {
                level,
                hide,
                show,
                contents,
                temporary,
            }),
            _ => Err(format!(
                "`contents` must be {MOST_CONTENTS} bytes at most: that much of a buffer can be read at a time"
            )),
        })
    }
}

impl Flexible for SnapshotLevel {
    const EXPECTED: &'static str = "`sequence`, `counts` or `set`";
    type Mapping = NoMapping;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        if let Some(level) = Self::ALL.into_iter().find(|level| level.as_str() == text) {
            return Some(Ok(level));
        }
        let near = nearest(text, Self::ALL.map(Self::as_str))?;
        let message = format!(
            "unknown level `{}`\ndid you mean `{near}`?",
            text.escape_debug()
        );
        Some(Err(message))
    }
}

deserialize_flexible!(SnapshotSpec, SnapshotLevel);
