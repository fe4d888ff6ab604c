//! Which recordings a policy is made of: those of every scenario, on every kernel that is given.

use perf_live::errors::chain;
use perf_records::units::shown_path;
use std::path::{Path, PathBuf};
use trace_harness::run::Item;

/// A recording and the scenarios that are read from it: all of them, where it is one file.
pub(super) type Recording = (PathBuf, Vec<Item>);

/// Returns the recordings of these scenarios: files, folders of `harness run --save`, and folders
/// of such folders.
///
/// # Errors
/// What is missing: a policy of the other recordings would be one of fewer kernels, or of fewer
/// scenarios, than was asked for.
pub(super) fn recordings(from: &[PathBuf], items: &[Item]) -> Result<Vec<Recording>, String> {
    let mut found = Vec::new();
    for path in from {
        if !path.is_dir() {
            found.push((path.clone(), items.to_vec()));
            continue;
        }
        let has_any = items.iter().any(|item| saved(path, item).exists());
        let folders = match has_any {
            true => vec![path.clone()],
            false => folders_in(path)?,
        };
        for folder in &folders {
            for item in items {
                let file = saved(folder, item);
                if !file.exists() {
                    let file = shown_path(&file).to_string();
                    return Err(format!("there is no recording `{file}` of `{}`", item.name));
                }
                found.push((file, vec![item.clone()]));
            }
        }
    }
    Ok(found)
}

/// Where `--save` keeps the records of a scenario.
fn saved(folder: &Path, item: &Item) -> PathBuf {
    folder.join(format!("{}.data", item.name))
}

fn folders_in(path: &Path) -> Result<Vec<PathBuf>, String> {
    let shown = shown_path(path).to_string();
    let failed = |error: std::io::Error| format!("cannot read `{shown}`: {}", chain(&error));
    let entries = std::fs::read_dir(path).map_err(failed)?;
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?.path();
        folders.extend(entry.is_dir().then_some(entry));
    }
    folders.sort();
    match folders.is_empty() {
        true => Err(format!(
            "there is no recording of these scenarios in `{shown}`"
        )),
        false => Ok(folders),
    }
}
