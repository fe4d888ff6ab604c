//! What a few runs of a program suggest to expect of it.
//!
//! What all of them have in common becomes an expectation where it is short and no clock can change it: the end, the outputs, the files that
//! were left. What their calls have in common is offered, each expectation with the reason why one would want it, for the author to take
//! or to leave: only he knows what the program promises.

mod clock;
mod events;
mod files;

pub use clock::tells_time;

use crate::sandbox::{Captured, Left};
use crate::scenario::{Draft, ExpectedOutput, SnapshotSpec};
use crate::trace::Normalised;
use crate::units::ExitKind;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Seen {
    /// How it ended.
    pub exit: ExitKind,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// And to standard error.
    pub stderr: Captured,
    /// What it left in its directory.
    pub left: Left,
    /// What it did.
    pub trace: Normalised,
}

/// What there was before the runs, and when they were.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The files that were laid into the directory, and what they hold.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// Seconds since 1970, UTC, when they were made.
    pub now: u64,
    /// Whether all calls are recorded that [`EVENTS`] names.
    pub has_all_events: bool,
}

/// Two runs ended in different ways.
#[derive(Debug, thiserror::Error)]
#[error("one run ended with {one}, another with {other}")]
pub struct NoEnd {
    /// The one.
    pub one: ExitKind,
    /// The other.
    pub other: ExitKind,
}

/// What a new scenario records: what a program does to files and folders by name, what it writes and syncs, the network, who it becomes and
/// which programs it runs. Its memory, its reading, its signal handlers and its waiting are its own affair, and that of its libraries.
pub const EVENTS: [&str; 20] = [
    "%file",
    "%network",
    "write",
    "pwrite64",
    "writev",
    "pwritev*",
    "sendfile",
    "copy_file_range",
    "ftruncate",
    "fallocate",
    "fchmod",
    "fchown",
    "flock",
    "*sync*",
    "kill",
    "set*id",
    "setgroups",
    "ptrace",
    "execve*",
    "exit_group",
];

/// Outputs that are longer than this, in bytes or lines, are not for a scenario file.
const LONGEST: usize = 2000;
const MOST_LINES: usize = 30;

/// Fills in what the runs have in common.
///
/// # Errors
/// [`NoEnd`].
pub fn fill(draft: &mut Draft, runs: &[Seen], given: &Given) -> Result<(), NoEnd> {
    let Some(first) = runs.first() else {
        return Ok(());
    };
    if let Some(other) = runs.iter().find(|run| run.exit != first.exit) {
        return Err(NoEnd {
            one: first.exit,
            other: other.exit,
        });
    }
    draft.exit = first.exit;
    let stdout: Vec<&Captured> = runs.iter().map(|run| &run.stdout).collect();
    let stderr: Vec<&Captured> = runs.iter().map(|run| &run.stderr).collect();
    draft.on_output.clear();
    draft.stdout = output("stdout", &stdout, given.now, &mut draft.on_output);
    draft.stderr = output("stderr", &stderr, given.now, &mut draft.on_output);
    draft.files_after = files::after(runs, given).unwrap_or_else(|many| {
        draft.on_output.push(format!(
            "It leaves {many} files: `files_after` can say what must be in those that matter."
        ));
        Vec::new()
    });
    draft.suggestions = events::suggestions(runs, given);
    if given.has_all_events {
        draft.snapshot = snapshot(runs);
    }
    Ok(())
}

/// Takes out of a draft what failed in a later run, for the reasons that were given; `false` where nothing of the draft is among them.
#[must_use]
pub fn give_up(draft: &mut Draft, reasons: &str) -> bool {
    let mut comments = Vec::new();
    let mut has_failed = false;
    for (key, words, output) in [
        ("stdout", "standard output", &mut draft.stdout),
        ("stderr", "standard error", &mut draft.stderr),
    ] {
        if output.is_some() && reasons.contains(words) {
            *output = None;
            has_failed = true;
            instead(key, "is another one in some runs", &mut comments);
        }
    }
    draft.on_output.append(&mut comments);
    let n_files = draft.files_after.len();
    draft
        .files_after
        .retain(|(path, _)| !reasons.contains(path.as_str()));
    has_failed || draft.files_after.len() < n_files
}

/// The snapshot of a new scenario. How a C library looks at files is its own affair, and what an interpreter opens on its way is none of
/// its program's; where little is opened, it is of interest.
#[must_use]
pub fn snapshot(runs: &[Seen]) -> SnapshotSpec {
    let n_opened = |run: &Seen| -> u64 {
        let counts = run.trace.counts().into_iter();
        let opened = counts.filter(|(name, _)| name.starts_with("open"));
        opened.map(|(_, count)| count).sum()
    };
    let mut spec = SnapshotSpec::default();
    if let SnapshotSpec::On { hide, .. } = &mut spec {
        *hide = HIDDEN.map(str::to_owned).to_vec();
        if runs.iter().any(|run| n_opened(run) > MOST_OPENED) {
            hide.push("open*".to_owned());
        }
    }
    spec
}

const HIDDEN: [&str; 4] = ["*stat*", "*access*", "readlink*", "getcwd"];

/// A program that opens more files than this loads modules.
const MOST_OPENED: u64 = 12;

fn instead(key: &str, why: &str, comments: &mut Vec<String>) {
    comments.push(format!("{key} {why}: say what it must hold, as in"));
    comments.push(format!("  {key}: {{ contains: \"...\" }}"));
}

/// What is expected of an output; where that is nothing, why not is said.
fn output(
    key: &str,
    outputs: &[&Captured],
    now: u64,
    comments: &mut Vec<String>,
) -> Option<ExpectedOutput> {
    let first = outputs.first()?;
    let text = std::str::from_utf8(&first.bytes).ok();
    let why = match text {
        _ if outputs.iter().any(|output| output != first) => "is another one in each run",
        Some(text) if tells_time(text, now) => "tells the time",
        Some(text)
            if first.dropped == 0
                && text.len() <= LONGEST
                && text.lines().count() <= MOST_LINES =>
        {
            return Some(ExpectedOutput::Exact(text.to_owned()));
        }
        Some(_) => "is long",
        None => "is no text",
    };
    instead(key, why, comments);
    None
}
