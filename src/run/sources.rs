//! Checks the files that a scenario lays out from elsewhere, before anything runs.

use crate::scenario::{Diagnostic, FileSource, KeyPath, Scenario, Workload, nearest};
use perf_live::errors::chain;
use perf_live::files;
use perf_records::units::{shown, shown_path};
use std::path::Path;

/// Returns a complaint about the first `from:` that names no file, with the file of the most
/// similar name, or that names no regular file (opening one might wait forever).
pub(super) fn complaint(scenario: &Scenario, file: &Path) -> Option<Diagnostic> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let workloads = [
        ("workload", Some(&scenario.workload)),
        ("baseline", scenario.baseline.as_ref()),
    ];
    let named = workloads.into_iter().flat_map(|(key, workload)| {
        let files = workload.into_iter().flat_map(sources);
        files.map(move |(name, from)| {
            let at = KeyPath::root().key(key).key("files").key(name);
            (at.key("from"), from)
        })
    });
    named.into_iter().find_map(|(at, from)| {
        let error = files::look(&folder.join(from), files::LAID).err()?;
        let message = format!("`{}`: {}", shown_path(from), chain(&error));
        Some(scenario.complaint(&at, message, near(folder, from)))
    })
}

fn sources(workload: &Workload) -> impl Iterator<Item = (String, &Path)> {
    workload
        .files
        .iter()
        .filter_map(|(path, file)| match &file.source {
            FileSource::From(from) => Some((path.to_string_lossy().into_owned(), from.as_path())),
            // These were found where they are.
            FileSource::Content(_) | FileSource::FolderOf(_) | FileSource::LinkOf(_) => None,
        })
}

/// Returns the entry beside `from` whose name is most similar; if its folder does not exist, says
/// what paths are relative to.
fn near(folder: &Path, from: &Path) -> Option<String> {
    let whole = folder.join(from);
    if whole.exists() {
        return None;
    }
    let beside = whole.parent().filter(|beside| beside.is_dir());
    let Some(beside) = beside else {
        return Some("a path is taken from the folder of the scenario on".to_owned());
    };
    let name = whole.file_name()?.to_string_lossy();
    let entries = beside.read_dir().ok()?.filter_map(Result::ok);
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    let near = nearest(&name, names.iter().map(String::as_str))?;
    let near = from.with_file_name(near);
    Some(format!(
        "did you mean `{}`?",
        shown(&near.to_string_lossy())
    ))
}
