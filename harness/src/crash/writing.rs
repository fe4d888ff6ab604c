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
    let write_all = || {
        if is_there(&beside) {
            std::fs::remove_dir_all(&beside).map_err(|error| cannot(&beside, chain(&error)))?;
        }
        std::fs::create_dir_all(&beside).map_err(|error| cannot(&beside, chain(&error)))?;
        for (name, bytes) in &scenario.files {
            let copy = beside.join(name);
            files::write(&copy, bytes).map_err(|error| cannot(&copy, chain(&error)))?;
        }
        files::write(&path, scenario.text.as_bytes()).map_err(|error| cannot(&path, chain(&error)))
    };
    write_all().map_err(|why| {
        // Without its scenario it would be taken for somebody else's.
        std::fs::remove_dir_all(&beside).ok();
        (status::TROUBLE, why)
    })?;
    Ok(path)
}
