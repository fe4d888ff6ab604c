//! Finds files that are written through shared mappings: such stores are no calls.

use super::syncs::{self, has_flag, has_name};
use crate::scenario::{Expectations, Suggestion};
use crate::trace::{Deed, Value};
use crate::verdict::Run;
use std::collections::BTreeSet;

/// The files below the working directory that any run maps shared and for writing, by name. That
/// takes the calls of [`BESIDE`](super::BESIDE) among those that were recorded.
pub(super) fn files(runs: &[Run]) -> BTreeSet<Vec<u8>> {
    let of_run = |run: &Run| of(&run.trace.in_order());
    runs.iter().flat_map(of_run).collect()
}

fn of(deeds: &[&Deed]) -> BTreeSet<Vec<u8>> {
    let is_shared =
        |deed: &Deed| has_flag(deed, "MAP_SHARED") || has_flag(deed, "MAP_SHARED_VALIDATE");
    let shared = deeds.iter().filter(|deed| is_shared(deed) && !failed(deed));
    let shared = shared.filter_map(|deed| Some((*deed, syncs::file(deed)?)));
    let below = shared.filter(|(_, file)| file.starts_with(b"$DIR/"));
    let written = below.filter(|(deed, file)| {
        has_name(deed, "prot", "PROT_WRITE") || deeds.iter().any(|other| opens(other, file))
    });
    written.map(|(_, file)| file).collect()
}

/// Whether a call makes what is mapped of a file writable.
fn opens(deed: &Deed, file: &[u8]) -> bool {
    let place = deed.fields.first().map(|part| part.text.as_bytes());
    let of_file = place.and_then(|text| text.strip_prefix(b"<")?.strip_prefix(file));
    deed.name.ends_with("mprotect")
        && has_name(deed, "prot", "PROT_WRITE")
        && of_file.is_some_and(|rest| matches!(rest.first(), Some(b'>' | b'+' | b':')))
}

fn failed(deed: &Deed) -> bool {
    let value = deed.returns.as_ref().map(|part| &part.value);
    matches!(value, Some(Value::Error(_)))
}

/// Says of which files no order of calls tells the whole.
pub(super) fn remark(runs: &[Run], files: &BTreeSet<Vec<u8>>) -> Option<Suggestion> {
    let names: Vec<String> = files
        .iter()
        .filter_map(|file| syncs::written(file))
        .collect();
    if names.is_empty() {
        return None;
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let mut why = vec![
        format!(
            "Written through a shared mapping: {}. Such stores are no calls,",
            names.join(", ")
        ),
        "so that no expectation orders them: what is suggested here says nothing of them."
            .to_owned(),
    ];
    let deeds = || runs.iter().flat_map(|run| run.trace.in_order());
    let is_late = |deed: &Deed| *deed.name == *"msync" && !has_flag(deed, "MS_SYNC");
    if deeds().any(is_late) {
        why.push(
            "`msync` with MS_ASYNC is no sync: it waits for nothing to be on the disk.".to_owned(),
        );
    }
    Some(Suggestion {
        why,
        expectations: Expectations::default(),
    })
}
