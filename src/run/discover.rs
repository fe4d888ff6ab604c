//! The scenario files that are meant by paths.

use crate::snapshot::Place;
use std::io;
use std::path::PathBuf;

/// A scenario file that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// Its name in reports, that of its snapshot.
    pub name: String,
    /// The file.
    pub file: PathBuf,
}

/// The scenario files that paths stand for: a file for itself, a folder for every `.yaml` and `.yml` below it.
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
                items.push(Item {
                    name: Place::of(&path).name,
                    file: path,
                });
            }
        }
    }
    items.sort();
    items.dedup();
    Ok(items)
}
