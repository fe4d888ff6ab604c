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
    let new_text = folder.join(format!(".{}.yaml.new", scenario.name));
    let forget = || {
        std::fs::remove_dir_all(&new).ok();
        std::fs::remove_file(&new_text).ok();
    };
    let write_all = || {
        std::fs::create_dir_all(&new).map_err(|error| failed(&new, chain(&error)))?;
        for (name, bytes) in &scenario.files {
            let copy = new.join(name);
            files::write(&copy, bytes).map_err(|error| failed(&copy, chain(&error)))?;
        }
        let text = scenario.text.as_bytes();
        files::write(&new_text, text).map_err(|error| failed(&new_text, chain(&error)))
    };
    // Of one that was killed.
    forget();
    write_all().inspect_err(|_| forget())?;
    if is_there(&beside) {
        std::fs::remove_dir_all(&beside).map_err(|error| failed(&beside, chain(&error)))?;
    }
    for (from, to) in [(&new, &beside), (&new_text, &path)] {
        std::fs::rename(from, to).map_err(|error| failed(to, chain(&error)))?;
    }
    Ok(path)
}
