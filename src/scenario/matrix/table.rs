//! From the key as it stands in the file to its rows.

use serde_yaml::{Mapping, Value};

use super::{Cell, Matrix, Row, is_name};
use crate::scenario::diagnostic::{Diagnostic, Source};
use crate::scenario::key_path::KeyPath;
use crate::scenario::places::Places;

/// More rows than anyone reads the results of.
const MOST_ROWS: usize = 256;

const VALUE: &str = "a string, a number or a truth value";

/// `matrix` as it stands in the file.
pub(super) struct Table<'a> {
    pub(super) source: &'a Source,
    pub(super) places: &'a Places,
}

impl Table<'_> {
    pub(super) fn root(&self) -> KeyPath {
        KeyPath::root().key("matrix")
    }

    /// Every combination of the values, the last name fastest.
    pub(super) fn product(&self, lists: &Mapping) -> Result<Matrix, Diagnostic> {
        let mut names = Vec::new();
        let mut rows = vec![Row { cells: Vec::new() }];
        for (name, list) in lists {
            let name = name.as_str().unwrap_or_default();
            let at = self.root().key(name);
            names.push((name.to_owned(), at.clone().key_itself()));
            self.check_name(name, &at)?;
            let Value::Sequence(values) = list else {
                return Err(self.wrong(&at, "a list"));
            };
            let cells = self.column(name, values, &at)?;
            self.check_number(rows.len().saturating_mul(cells.len()))?;
            let with_each = |row: Row| {
                let with = |cell: &Cell| {
                    let mut row = row.clone();
                    row.cells.push(cell.clone());
                    row
                };
                cells.iter().map(with).collect::<Vec<_>>()
            };
            rows = rows.into_iter().flat_map(with_each).collect();
        }
        if names.is_empty() {
            return Err(self.complaint(&self.root(), "`matrix` is empty"));
        }
        Ok(Matrix { rows, names })
    }

    fn column(&self, name: &str, values: &[Value], at: &KeyPath) -> Result<Vec<Cell>, Diagnostic> {
        if values.is_empty() {
            return Err(self.complaint(at, format!("`{at}` is empty, so that there is no row")));
        }
        let mut cells: Vec<Cell> = Vec::new();
        for (index, value) in values.iter().enumerate() {
            let here = at.clone().index(index);
            let cell = self.cell(name, value, &here)?;
            if let Some(first) = cells.iter().position(|known| known.text == cell.text) {
                let first = at.clone().index(first);
                return Err(self.complaint(&here, format!("`{here}` is the same as `{first}`")));
            }
            cells.push(cell);
        }
        Ok(cells)
    }

    /// A row each.
    pub(super) fn rows(&self, written: &[Value]) -> Result<Matrix, Diagnostic> {
        self.check_number(written.len())?;
        let mut names: Vec<(String, KeyPath)> = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        for (index, row) in written.iter().enumerate() {
            let at = self.root().index(index);
            let Value::Mapping(row) = row else {
                return Err(self.wrong(&at, "a mapping of names to values"));
            };
            for name in row.keys().filter_map(Value::as_str) {
                let here = at.clone().key(name);
                self.check_name(name, &here)?;
                let here = here.key_itself();
                match names.iter().any(|(known, _)| known == name) {
                    true => {}
                    false if index == 0 => names.push((name.to_owned(), here)),
                    false => {
                        let message = format!("the first row has no `{name}`");
                        let complaint = self.complaint(&here, message);
                        return Err(complaint.with_help("all rows have the same names"));
                    }
                }
            }
            let cell = |(name, _): &(String, KeyPath)| {
                let value = row.get(name.as_str()).ok_or_else(|| {
                    let message = format!("this row has no `{name}`, which the first row has");
                    let complaint = self.complaint(&at, message);
                    complaint.with_help("all rows have the same names")
                })?;
                self.cell(name, value, &at.clone().key(name))
            };
            let cells: Vec<Cell> = names.iter().map(cell).collect::<Result<_, _>>()?;
            if cells.is_empty() {
                return Err(self.complaint(&at, "this row is empty"));
            }
            let row = Row { cells };
            if let Some(first) = rows.iter().position(|known| known.label() == row.label()) {
                let first = self.root().index(first);
                return Err(self.complaint(&at, format!("`{at}` is the same as `{first}`")));
            }
            rows.push(row);
        }
        if rows.is_empty() {
            return Err(self.complaint(&self.root(), "`matrix` is empty"));
        }
        Ok(Matrix { rows, names })
    }

    fn cell(&self, name: &str, value: &Value, at: &KeyPath) -> Result<Cell, Diagnostic> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => self
                .places
                .plain_text(self.source, at)
                .unwrap_or_default()
                .trim_end()
                .to_owned(),
            _ => return Err(self.wrong(at, VALUE)),
        };
        Ok(Cell {
            name: name.to_owned(),
            value: value.clone(),
            text,
        })
    }

    fn check_name(&self, name: &str, at: &KeyPath) -> Result<(), Diagnostic> {
        if is_name(name) {
            return Ok(());
        }
        let message = format!("`{}` is no name for `${{...}}`", name.escape_debug());
        let complaint = self.complaint(&at.clone().key_itself(), message);
        Err(complaint
            .with_help("a name is a letter from a to z, then such letters, digits and `_`"))
    }

    fn check_number(&self, rows: usize) -> Result<(), Diagnostic> {
        if rows > MOST_ROWS {
            let message = format!("`matrix` has more than {MOST_ROWS} rows");
            return Err(self.complaint(&self.root(), message));
        }
        Ok(())
    }

    pub(super) fn wrong(&self, at: &KeyPath, expected: &str) -> Diagnostic {
        let message = match self.places.describe(self.source, at) {
            Some(found) => format!("`{at}` must be {expected}, not {found}"),
            None => format!("`{at}` has no value: it must be {expected}"),
        };
        self.complaint(at, message)
    }

    pub(super) fn complaint(&self, at: &KeyPath, message: impl Into<String>) -> Diagnostic {
        let range = self.places.range_of(self.source, at);
        self.source.diagnostic(range, message)
    }
}
