//! The scenario files that are meant by paths.

use crate::files;
use crate::scenario;
use crate::snapshot::Place;
use std::io;
use std::path::{Path, PathBuf};

/// A scenario that was found: a file, or a row of its `matrix`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// Its name in reports: `durability/x`, `durability/x[mode=wal,sync=FULL]`.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The label of its row; empty where the file has no `matrix`.
    pub row: String,
}

impl Item {
    /// Where its snapshots are.
    #[must_use]
    pub fn place(&self) -> Place {
        Place::of(&self.file).of_row(&self.row)
    }
}

/// The scenarios that paths stand for: a file for itself or for the rows of its `matrix`, a folder for every `.yaml` and `.yml` below it.
///
/// A file that is no scenario is one item: what is wrong with it is said when it is read for good.
///
/// # Errors
/// For the first path that cannot be read, with that path.
pub fn discover(paths: &[PathBuf]) -> Result<Vec<Item>, (PathBuf, io::Error)> {
    let mut items = Vec::new();
    for path in paths {
        let mut waiting = vec![path.clone()];
        while let Some(path) = waiting.pop() {
            let failed = |error| (path.clone(), error);
            if path.is_dir() {
                for entry in std::fs::read_dir(&path).map_err(failed)? {
                    let entry = entry.map_err(failed)?.path();
                    let is_scenario = entry
                        .extension()
                        .is_some_and(|end| end == "yaml" || end == "yml");
                    if entry.is_dir() || is_scenario {
                        waiting.push(entry);
                    }
                }
            } else {
                std::fs::metadata(&path).map_err(failed)?;
                items.extend(rows(&path));
            }
        }
    }
    items.sort();
    items.dedup();
    Ok(items)
}

fn rows(file: &Path) -> Vec<Item> {
    let labels = files::text(file, files::SCENARIO)
        .ok()
        .and_then(|text| scenario::labels(file, &text).ok())
        .unwrap_or_else(|| vec![String::new()]);
    let name = Place::of(file).name;
    let item = |row: String| Item {
        name: match row.as_str() {
            "" => name.clone(),
            row => format!("{name}[{row}]"),
        },
        file: file.to_owned(),
        row,
    };
    labels.into_iter().map(item).collect()
}
