//! A scenario's text with one of its keys changed, everything else as its author left it.

mod mapping;

use std::path::Path;

use serde::Deserialize;
use serde_yaml::Value;

use super::diagnostic::{Diagnostic, Source};
use super::key_path::KeyPath;
use super::places::Places;
use super::snapshot::SnapshotSpec;
use super::write;
use mapping::{Edit, Mapping};

const SNAPSHOT: &str = "snapshot";

/// The text of a scenario with `wanted` under its key `snapshot`: the key is changed, added, or
/// taken out where it says nothing.
///
/// All else stays to the byte: comments, quotes, the ends of lines, and what `snapshot` already
/// says as it is wanted.
///
/// # Errors
///
/// What keeps the text from being read, or from being edited: an alias under the key, say. It
/// points at the key.
pub fn with_snapshot(file: &Path, text: &str, wanted: &SnapshotSpec) -> Result<String, Diagnostic> {
    let before = Draft::read(file, text)?;
    let found = before.snapshot()?;
    if found == *wanted {
        return Ok(text.to_owned());
    }
    let as_expected = |draft: &Draft| {
        draft.rest() == before.rest() && draft.snapshot().is_ok_and(|spec| spec == *wanted)
    };
    let edited = before.edited(&found, wanted);
    let edited = edited.into_iter().find(as_expected);
    edited.map(Draft::into_text).ok_or_else(|| {
        let at = KeyPath::root().key(SNAPSHOT).key_itself();
        let at = before.places.range_of(&before.source, &at);
        let complaint = before
            .source
            .diagnostic(at, "`snapshot` cannot be changed here");
        let line = match write::snapshot(wanted) {
            Some(value) => format!("write `snapshot: {value}` yourself"),
            None => "take the key out yourself".to_owned(),
        };
        complaint.with_help(line)
    })
}

/// A text on its way, with what is read in it.
struct Draft {
    source: Source,
    places: Places,
    value: Value,
    /// Whether the file begins with a byte order mark, which the source has lost.
    has_mark: bool,
}

impl Draft {
    fn read(file: &Path, text: &str) -> Result<Self, Diagnostic> {
        let source = Source::new(file, text);
        let places = Places::parse(&source)?;
        let value = places.value();
        let has_mark = text.len() > source.text().len();
        Ok(Self {
            source,
            places,
            value,
            has_mark,
        })
    }

    fn into_text(self) -> String {
        let mark = if self.has_mark { "\u{feff}" } else { "" };
        format!("{mark}{}", self.source.text())
    }

    fn snapshot(&self) -> Result<SnapshotSpec, Diagnostic> {
        let Some(value) = self.value.get(SNAPSHOT) else {
            return Ok(SnapshotSpec::default());
        };
        SnapshotSpec::deserialize(value).map_err(|error| {
            let at = self
                .places
                .range_of(&self.source, &KeyPath::root().key(SNAPSHOT));
            let message = error.to_string();
            let message = message.lines().next().unwrap_or_default();
            self.source.diagnostic(at, format!("`snapshot`: {message}"))
        })
    }

    /// All but the snapshot.
    fn rest(&self) -> Value {
        let mut rest = self.value.clone();
        if let Some(mapping) = rest.as_mapping_mut() {
            mapping.shift_remove(SNAPSHOT);
        }
        rest
    }

    /// The ways to say `wanted`, the best first. Not all of them need be sound: what comes out is
    /// read again.
    fn edited(&self, found: &SnapshotSpec, wanted: &SnapshotSpec) -> Vec<Self> {
        let root = self.mapping(&[]);
        let place = root.and_then(|root| root.position(SNAPSHOT));
        let drafts = match (write::snapshot(wanted), place) {
            (Some(value), None) => {
                let neighbours = ["expect", "trace"].map(|name| root?.position(name));
                let behind = neighbours.into_iter().flatten();
                let behind = behind.chain(root.map(Mapping::last));
                behind
                    .map(|index| self.with(root?.insert_behind(index, SNAPSHOT, &value)))
                    .collect()
            }
            (Some(value), Some(index)) => vec![
                self.key_by_key(found, wanted),
                root.and_then(|root| self.with(root.replace(index, &value))),
            ],
            (None, Some(index)) => vec![root.and_then(|root| self.with(root.remove(index)))],
            (None, None) => Vec::new(),
        };
        drafts.into_iter().flatten().collect()
    }

    /// Where the snapshot is a mapping and will be one: changes those of its keys that say
    /// something else.
    fn key_by_key(&self, found: &SnapshotSpec, wanted: &SnapshotSpec) -> Option<Self> {
        let found = write::snapshot_keys(found);
        let wanted = write::snapshot_keys(wanted);
        let mut draft: Option<Self> = None;
        for (index, said) in wanted.iter().enumerate() {
            let (key, value) = said;
            if found.contains(said) {
                continue;
            }
            let now = draft.as_ref().unwrap_or(self);
            let mapping = now.mapping(&[SNAPSHOT])?;
            let edit = match (mapping.position(key), value) {
                (None, None) => continue,
                (Some(at), Some(value)) => mapping.replace(at, value),
                (Some(at), None) => mapping.remove(at),
                (None, Some(value)) => {
                    let mut earlier = wanted.iter().take(index).rev();
                    match earlier.find_map(|(key, _)| mapping.position(key)) {
                        Some(at) => mapping.insert_behind(at, key, value),
                        None => mapping.insert_in_front(key, value),
                    }
                }
            };
            draft = Some(now.with(edit)?);
        }
        draft
    }

    fn mapping(&self, path: &[&str]) -> Option<Mapping<'_>> {
        let root = Mapping::new(&self.source, &self.places, self.places.root())?;
        path.iter()
            .try_fold(root, |mapping, key| mapping.below(key))
    }

    /// The same with other bytes in one place; `None` where that is no YAML any more.
    fn with(&self, edit: Option<Edit>) -> Option<Self> {
        let Edit { at, text } = edit?;
        let mut whole = self.source.text().to_owned();
        whole.get(at.clone())?;
        whole.replace_range(at, &text);
        let draft = Self::read(Path::new(""), &whole).ok()?;
        Some(Self {
            has_mark: self.has_mark,
            ..draft
        })
    }
}
