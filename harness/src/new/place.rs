//! Decides where a new scenario is written.

use super::NewError;
use perf_records::units::shown_path;
use std::path::{Component, Path, PathBuf};
use trace_harness::run::is_scenario;
use trace_harness::snapshot::Place;

/// The new file.
pub(super) struct Target {
    pub(super) file: PathBuf,
}

impl Target {
    /// Returns the file of that name, which must not exist yet, nor its snapshot.
    pub(super) fn of(name: &Path) -> Result<Self, NewError> {
        let is_path = is_scenario(name);
        let file = if is_path {
            name.to_owned()
        } else {
            let mut parts = name.components();
            if name.as_os_str().is_empty()
                || !parts.all(|part| matches!(part, Component::Normal(_)))
            {
                return Err(NewError::Usage(format!(
                    "`{}` is no name below `scenarios`; a path of its own ends in .yaml",
                    shown_path(name)
                )));
            }
            let mut file = Path::new("scenarios").join(name).into_os_string();
            file.push(".yaml");
            PathBuf::from(file)
        };
        let place = Place::of(&file);
        let snapshot = place.root.join(format!("{}.snap", place.name));
        match [file.clone(), snapshot].iter().find(|it| it.exists()) {
            Some(there) => Err(NewError::Usage(format!(
                "`{}` is there already: choose another name, or remove it",
                shown_path(there)
            ))),
            None => Ok(Self { file }),
        }
    }

    /// Returns the schema's path relative to the file: `schema.json` in its folder or one above, up
    /// to `scenarios`.
    pub(super) fn schema(&self) -> Option<String> {
        let folders = self.file.ancestors().skip(1);
        let mut up = String::new();
        for folder in folders {
            if folder.join("schema.json").is_file() {
                return Some(format!("{up}schema.json"));
            }
            if folder.as_os_str().is_empty() || folder.ends_with("scenarios") {
                return None;
            }
            up.push_str("../");
        }
        None
    }
}

/// The folders that were made for it, which are removed again if there is no scenario in the end.
pub(super) struct Made {
    folders: Vec<PathBuf>,
}

impl Made {
    pub(super) fn folder_of(file: &Path) -> Result<Self, NewError> {
        let mut made = Self {
            folders: Vec::new(),
        };
        let folders: Vec<&Path> = file.ancestors().skip(1).collect();
        for folder in folders.into_iter().rev() {
            if folder.as_os_str().is_empty() || folder.is_dir() {
                continue;
            }
            std::fs::create_dir(folder).map_err(|error| {
                NewError::Usage(format!("cannot make `{}`: {error}", shown_path(folder)))
            })?;
            made.folders.push(folder.to_owned());
        }
        Ok(made)
    }

    pub(super) fn keep(mut self) {
        self.folders.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for folder in self.folders.iter().rev() {
            // A folder that is not empty by now stays.
            let _in_use = std::fs::remove_dir(folder);
        }
    }
}
