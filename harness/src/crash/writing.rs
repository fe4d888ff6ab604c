//! The scenario of a state on which the recovery failed.

use super::status_of;
use crate::status;
use perf_live::errors::chain;
use perf_live::files;
use perf_records::units::shown_path;
use std::path::{Path, PathBuf};
use trace_harness::run::{Bench, Remains};

/// Writes the scenario, and the files that it lays out beside it. What no `harness crash` of this
/// scenario has written stays. An error has the exit status that it asks for, and why.
pub(super) fn write(
    bench: &Bench<'_>,
    remains: &Remains,
    folder: &Path,
) -> Result<PathBuf, (u8, String)> {
    let scenario = remains
        .scenario(bench)
        .map_err(|error| (status_of(&error), chain(&error)))?;
    let path = folder.join(format!("{}.yaml", scenario.name));
    let beside = folder.join(&scenario.name);
    let cannot = |path: &Path, why: String| format!("cannot write `{}`: {why}", shown_path(path));
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let first = remains.first_line();
    let is_own =
        files::text(&path, files::SCENARIO).is_ok_and(|text| text.lines().next() == Some(&*first));
    if (is_there(&path) || is_there(&beside)) && !is_own {
        let why = "it is there, and no `harness crash` of this scenario has written it";
        let there = if is_there(&path) { &path } else { &beside };
        return Err((status::USAGE, cannot(there, why.to_owned())));
    }
    let failed = |path: &Path, why: String| (status::TROUBLE, cannot(path, why));
    // Whole before anything takes the place of what is there.
    let new = folder.join(format!(".{}.new", scenario.name));
    if is_there(&new) {
        std::fs::remove_dir_all(&new).map_err(|error| failed(&new, chain(&error)))?;
    }
    let copied = || {
        std::fs::create_dir_all(&new).map_err(|error| failed(&new, chain(&error)))?;
        scenario.files.iter().try_for_each(|(name, bytes)| {
            let copy = new.join(name);
            files::write(&copy, bytes).map_err(|error| failed(&copy, chain(&error)))
        })
    };
    copied().inspect_err(|_| {
        std::fs::remove_dir_all(&new).ok();
    })?;
    let put = || {
        if is_there(&beside) {
            std::fs::remove_dir_all(&beside).map_err(|error| failed(&beside, chain(&error)))?;
        }
        std::fs::rename(&new, &beside).map_err(|error| failed(&beside, chain(&error)))?;
        files::write(&path, scenario.text.as_bytes()).map_err(|error| failed(&path, chain(&error)))
    };
    put().inspect_err(|_| {
        // One without the other is no scenario.
        std::fs::remove_dir_all(&new).ok();
        std::fs::remove_dir_all(&beside).ok();
        std::fs::remove_file(&path).ok();
    })?;
    Ok(path)
}
