//! The key `matrix`: one file, several scenarios.
//!
//! The names are replaced in the values before anything is read from them, and in the names of the
//! places, so that each row is read as if it stood in a file of its own and is complained about
//! where it stands in this one.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_yaml::{Mapping, Value};

use super::diagnostic::{Diagnostic, Source};
use super::key_path::KeyPath;
use super::nearest::nearest;
use super::places::Places;
use table::Table;

mod table;

/// What all rows together may take, in bytes, so that no short file asks for much memory.
const MOST_BYTES: usize = 64 << 20;

/// A label is part of a file's name, which has 255 bytes with what stands around it (`NAME_MAX`).
const LONGEST_LABEL: usize = 180;

/// A longer value, in bytes, is cut in a label and told from similar ones by a hash.
const LONGEST_VALUE: usize = 40;

/// Keys whose text changes nothing of a run.
pub(super) const PROSE: [&str; 3] = ["description", "expect_failure", "lenient"];

/// The rows of a file.
#[derive(Debug)]
pub(super) struct Matrix {
    rows: Vec<Row>,
    /// Where each name stands: in its list's key, or in the first row.
    names: Vec<(String, KeyPath)>,
}

/// One row: each name and what stands for it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    cells: Vec<Cell>,
}

#[derive(Clone, Debug)]
struct Cell {
    name: String,
    /// The value, with its YAML type.
    value: Value,
    /// As it stands in the file, quotes left out.
    text: String,
}

/// What makes the scenario of a row, for all rows of a file.
#[derive(Debug)]
pub(super) struct Substitution {
    /// The names that stand in something that a run depends on.
    used: BTreeSet<String>,
    /// What looks like a use of a name that there is not, as the shell's variables do.
    unknown: BTreeSet<String>,
    /// How many bytes the rows may still take.
    room: usize,
}

/// A row as names of reports and of files have it: `mode=wal,sync=FULL`; empty without a matrix.
///
/// What is neither a letter nor a digit nor one of `._+-` is written as `%` and two hexadecimal
/// digits a byte, so that no two rows have the same label and each is part of a file's name. A
/// value of more than 40 bytes is cut, and told from others by a hash.
pub(super) fn label(row: &[(String, String)]) -> String {
    let cells = row.iter().map(|(name, text)| {
        let mut value = String::new();
        for c in text.chars() {
            if c.is_alphanumeric() || matches!(c, '.' | '_' | '+' | '-') {
                value.push(c);
            } else {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _always_fits = write!(value, "%{byte:02X}");
                }
            }
        }
        if value.len() > LONGEST_VALUE {
            value = value.chars().take(LONGEST_VALUE / 2).collect();
            let _always_fits = write!(value, "~{:08x}", fnv1a(text));
        }
        format!("{name}={value}")
    });
    cells.collect::<Vec<_>>().join(",")
}

/// FNV-1a, of 32 bits: it must stay what it is, as names of files depend on it.
fn fnv1a(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step)
}

impl Row {
    /// Each name and its value as text.
    pub(super) fn texts(&self) -> Vec<(String, String)> {
        let text = |cell: &Cell| (cell.name.clone(), cell.text.clone());
        self.cells.iter().map(text).collect()
    }

    /// Its [`label`].
    pub(super) fn label(&self) -> String {
        label(&self.texts())
    }

    fn value_of(&self, name: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.name == name)
    }

    /// The text with each `${name}` replaced.
    fn in_text(&self, text: &str, mut used: impl FnMut(&str, bool)) -> String {
        let mut result = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            result.push_str(before);
            let reference = behind.split_once('}');
            let known = reference.and_then(|(name, behind)| Some((self.value_of(name)?, behind)));
            if let Some((name, _)) = reference.filter(|(name, _)| is_name(name)) {
                used(name, known.is_some());
            }
            match known {
                Some((cell, behind)) => {
                    result.push_str(&cell.text);
                    rest = behind;
                }
                None => {
                    result.push_str("${");
                    rest = behind;
                }
            }
        }
        result.push_str(rest);
        result
    }
}

impl Matrix {
    /// Takes `matrix` out of the values of a file; `None` where there is none.
    ///
    /// # Errors
    /// What makes it no table of at least one row, with its place.
    pub(super) fn take(
        source: &Source,
        places: &Places,
        values: &mut Value,
    ) -> Result<Option<Self>, Diagnostic> {
        let Some(written) = values.as_mapping_mut().and_then(|all| all.remove("matrix")) else {
            return Ok(None);
        };
        let table = Table { source, places };
        let matrix = match &written {
            Value::Mapping(lists) => table.product(lists),
            Value::Sequence(rows) => table.rows(rows),
            _ => Err(table.wrong(
                &table.root(),
                "a mapping of names to lists, or a list of mappings",
            )),
        }?;
        let too_long = |row: &&Row| row.label().len() > LONGEST_LABEL;
        if let Some(row) = matrix.rows.iter().find(too_long) {
            let label = row.label();
            let message = format!("`{label}` is too long for the name of a snapshot's file");
            return Err(table.complaint(&table.root(), message));
        }
        Ok(Some(matrix))
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Complains of a name that no value of the scenario has.
    pub(super) fn check_used(
        &self,
        source: &Source,
        places: &Places,
        substitution: &Substitution,
    ) -> Result<(), Diagnostic> {
        let unused = |(name, _): &&(String, KeyPath)| !substitution.used.contains(name);
        let Some((name, at)) = self.names.iter().find(unused) else {
            return Ok(());
        };
        let message = format!("nothing that is run or expected holds `${{{name}}}`");
        let complaint = source.diagnostic(places.range_of(source, at), message);
        let unknown = substitution.unknown.iter().map(String::as_str);
        Err(match nearest(name, unknown) {
            Some(near) => complaint.with_help(format!("is `${{{near}}}` meant for it?")),
            None => complaint.with_help("all its rows are the same: use it, or leave it out"),
        })
    }
}

impl Substitution {
    pub(super) fn new() -> Self {
        Self {
            used: BTreeSet::new(),
            unknown: BTreeSet::new(),
            room: MOST_BYTES,
        }
    }

    /// The values and places of a row's scenario.
    ///
    /// # Errors
    /// Two keys that are the same in this row; rows that take too much memory.
    pub(super) fn apply(
        &mut self,
        row: &Row,
        source: &Source,
        places: &Places,
        values: &Value,
    ) -> Result<(Places, Value), Diagnostic> {
        let too_large = || {
            let at = places.range_of(source, &KeyPath::root().key("matrix"));
            source.diagnostic(at, "with all its rows the scenario takes more than 64 MiB")
        };
        self.take(source.text().len()).ok_or_else(too_large)?;
        let places = places
            .renamed(|name| row.in_text(name, |_, _| {}))
            .map_err(|(name, at)| {
                let name = name.escape_debug();
                source.diagnostic(at, format!("the key `{name}` stands here twice"))
            })?;
        let values = self.value(row, values, true, true).ok_or_else(too_large)?;
        Ok((places, values))
    }

    /// Recurses no deeper than the depth that the places were built with.
    fn value(&mut self, row: &Row, value: &Value, counts: bool, is_top: bool) -> Option<Value> {
        self.take(size_of::<Value>())?;
        Some(match value {
            Value::String(text) => {
                let whole = text
                    .strip_prefix("${")
                    .and_then(|name| name.strip_suffix('}'));
                if let Some(cell) = whole.and_then(|name| row.value_of(name)) {
                    self.note(&cell.name, true, counts);
                    self.take(cell.text.len())?;
                    return Some(cell.value.clone());
                }
                Value::String(self.text(row, text, counts)?)
            }
            Value::Sequence(items) => items
                .iter()
                .map(|item| self.value(row, item, counts, false))
                .collect::<Option<_>>()
                .map(Value::Sequence)?,
            Value::Mapping(entries) => {
                let mut replaced = Mapping::new();
                for (key, value) in entries {
                    let prose = is_top && key.as_str().is_some_and(|key| PROSE.contains(&key));
                    let key = match key {
                        Value::String(text) => Value::String(self.text(row, text, counts)?),
                        other => other.clone(),
                    };
                    replaced.insert(key, self.value(row, value, counts && !prose, false)?);
                }
                Value::Mapping(replaced)
            }
            other => other.clone(),
        })
    }

    fn text(&mut self, row: &Row, text: &str, counts: bool) -> Option<String> {
        let text = row.in_text(text, |name, known| self.note(name, known, counts));
        self.take(text.len())?;
        Some(text)
    }

    fn note(&mut self, name: &str, known: bool, counts: bool) {
        if !known {
            self.unknown.insert(name.to_owned());
        } else if counts {
            self.used.insert(name.to_owned());
        }
    }

    fn take(&mut self, bytes: usize) -> Option<()> {
        self.room = self.room.checked_sub(bytes)?;
        Some(())
    }
}

/// Whether `name` is one that a matrix may have: `[a-z][a-z0-9_]*`.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
