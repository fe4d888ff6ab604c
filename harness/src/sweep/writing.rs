//! The folder with the scenarios of runs that were not handled.

use crate::new::{plain, relative};
use crate::out::note;
use crate::status;
use perf_live::errors::chain;
use perf_live::files;
use perf_records::units::shown_path;
use std::path::{Path, PathBuf};
use trace_harness::run::{Bench, SweepPlan, Swept};

/// Writes the scenario of a run into the folder. A file that no sweep has written stays. An error
/// has the exit status that it asks for, and why.
pub(super) fn write(
    bench: &Bench<'_>,
    plan: &SweepPlan,
    swept: &Swept,
    folder: &Path,
) -> Result<PathBuf, (u8, String)> {
    let failed = |why: String| (status::TROUBLE, why);
    let here = std::env::current_dir().map_err(|error| failed(chain(&error)))?;
    let whole = |path: &Path| plain(&here.join(path));
    let source = plan.item.file.parent().unwrap_or(Path::new(""));
    let from = |file: &Path| relative(&whole(folder), &whole(&source.join(file)));
    let (name, text) = plan
        .scenario(bench, swept, &from)
        .map_err(|error| failed(chain(&error)))?;
    let path = folder.join(name);
    let cannot = |why: String| format!("cannot write `{}`: {why}", shown_path(&path));
    if path.symlink_metadata().is_ok() && !is_of(plan, &path) {
        let why = "it is there, and no sweep of this scenario has written it";
        return Err((status::USAGE, cannot(why.to_owned())));
    }
    files::write(&path, text.as_bytes()).map_err(|error| failed(cannot(chain(&error))))?;
    Ok(path)
}

/// Says which scenarios of the folder an earlier sweep of this one has written, and not this.
pub(super) fn tell_earlier(plan: &SweepPlan, folder: &Path, own: &[&Path]) {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let found = found.map(|entry| entry.path());
    let earlier = found.filter(|path| !own.contains(&path.as_path()) && is_of(plan, path));
    let mut earlier: Vec<String> = earlier.map(shown_path).collect();
    if earlier.is_empty() {
        return;
    }
    earlier.sort();
    note!(
        "harness: {}: an earlier sweep has written these, and this one has not: {}",
        plan.item.name,
        earlier.join(", ")
    );
}

/// Whether a sweep of this scenario has written the file.
fn is_of(plan: &SweepPlan, path: &Path) -> bool {
    let first = plan.first_line();
    files::text(path, files::SCENARIO).is_ok_and(|text| text.lines().next() == Some(&*first))
}
