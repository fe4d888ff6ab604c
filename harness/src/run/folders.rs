//! The folders of a run: those that it writes to, and those of snapshots that no scenario uses.

use super::Arguments;
use crate::is_ci;
use crate::out::note;
use crate::reports;
use perf_records::units::shown_path;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use trace_harness::run::{ScenarioReport, discover, is_scenario};
use trace_harness::snapshot::{self, Place};

/// Returns the folders that a run may write to, those of snapshots and those on the command line,
/// and which of them are new. Missing ones are made, as a guest can write to nothing else.
pub(super) fn written(arguments: &Arguments) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let items = arguments.chosen.find().unwrap_or_default();
    let snapshots = items.iter().map(|item| Place::of(&item.file).root);
    let named = arguments.save.iter().chain(&arguments.dumps).cloned();
    let summary = std::env::var_os("GITHUB_STEP_SUMMARY").map(PathBuf::from);
    let files = arguments.results.files().map(Path::to_owned).chain(summary);
    let beside = files.filter_map(|file| {
        let folder = file.parent()?;
        let here = folder.as_os_str().is_empty();
        Some(if here {
            PathBuf::from(".")
        } else {
            folder.to_owned()
        })
    });
    let beside: BTreeSet<PathBuf> = beside.collect();
    let named = named.chain(beside.iter().cloned());
    let all = named.chain(snapshots.filter(|_| !is_ci()));
    let (mut folders, mut made) = (Vec::new(), Vec::new());
    for folder in all.collect::<BTreeSet<PathBuf>>() {
        let is_new = !folder.exists();
        // A folder that cannot be made is reported when a file is written there.
        match beside.contains(&folder) {
            true => reports::make(&folder, Path::new("")).ok(),
            false => std::fs::create_dir_all(&folder).ok(),
        };
        if let Ok(folder) = std::fs::canonicalize(folder) {
            made.extend(is_new.then(|| folder.clone()));
            folders.push(folder);
        }
    }
    folders.sort();
    folders.dedup();
    (folders, made)
}

/// Returns the folder for the ends of failed runs.
pub(super) fn dumps(arguments: &Arguments) -> PathBuf {
    let chosen = arguments.dumps.as_ref().or(arguments.save.as_ref());
    chosen.map_or_else(|| PathBuf::from("harness-dumps"), Clone::clone)
}

/// The names of the scenarios beside a folder of snapshots, whose they may be as well: `x.yaml`
/// beside `scenarios` has its snapshot where those in it have theirs.
fn beside(snapshots: &Path) -> HashSet<String> {
    let folder = snapshots.parent().unwrap_or(Path::new(""));
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let files: Vec<PathBuf> = files
        .filter(|path| is_scenario(path) && path.is_file())
        .collect();
    let items = discover(&files).unwrap_or_default().into_iter();
    items.map(|item| item.place().name).collect()
}

/// Warns of snapshots below these folders that belong to no scenario.
pub(super) fn warn_of_orphans(paths: &[PathBuf], reports: &[ScenarioReport]) {
    let names: HashSet<String> = reports
        .iter()
        .map(|report| Place::of(&report.file).of_row(&report.row).name)
        .collect();
    // The root of the snapshots, and the prefix of the names that belong to the folder.
    let mut folders: Vec<(PathBuf, String)> = paths
        .iter()
        .filter(|path| path.is_dir())
        .map(|path| Place::of(&path.join("x")))
        .map(|place| (place.root, place.name.trim_end_matches('x').to_owned()))
        .collect();
    folders.sort();
    folders.dedup();
    for (root, prefix) in folders {
        let beside = beside(&root);
        let used = |file: &PathBuf| {
            let below = file.strip_prefix(&root).unwrap_or(file).with_extension("");
            let name = below.to_string_lossy().into_owned();
            let name = name.split('@').next().unwrap_or_default().to_owned();
            !name.starts_with(&prefix) || names.contains(&name) || beside.contains(&name)
        };
        for file in snapshot::files_below(&root, ".snap").unwrap_or_default() {
            let shown = shown_path(&file);
            if !used(&file) {
                note!("warning: no scenario uses the snapshot `{shown}`");
            } else if let Some(names) = snapshot::meant(&file) {
                let names: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
                note!(
                    "warning: no kernel uses the snapshot `{shown}`: its name ends in no version \
                     or architecture, as that of {} does",
                    names.join(" or ")
                );
            }
        }
    }
}
