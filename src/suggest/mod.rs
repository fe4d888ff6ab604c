//! Suggests expectations from a few runs of a program.
//!
//! What all runs have in common becomes an expectation if it is short and no clock can change it:
//! the exit status, the outputs, the files that were left. What their calls have in common is
//! offered, each with a reason, for the author to take or to leave: only the author knows what the
//! program promises.

mod between;
mod clock;
mod events;
mod files;
mod mapped;
mod replacement;
mod rules;
mod syncs;

pub use clock::tells_time;
pub use rules::{Learning, rules};

use crate::scenario::{Draft, EventSpec, ExpectedOutput, SnapshotSpec};
use crate::verdict::{About, Finding, Kind, Known, Run};
use perf_live::sandbox::{Captured, Left, Root};
use perf_live::units::ExitKind;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The files before the runs, and the time of the runs.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The files that were laid into the directory, and what they hold.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// Seconds since 1970, UTC, when they were made.
    pub now: u64,
    /// Whether all calls in [`EVENTS`] are recorded.
    pub has_all_events: bool,
}

/// Why no exit status can be expected.
#[derive(Debug, thiserror::Error)]
pub enum NoEnd {
    /// Two runs ended in different ways.
    #[error("one run ended with {one}, another with {other}")]
    Differs {
        /// The first exit status.
        one: ExitKind,
        /// The second exit status.
        other: ExitKind,
    },
    /// The exit status of a run is not known.
    #[error("{0}")]
    Unknown(String),
}

/// The events of a new scenario: what a program does to files and folders by name, what it writes
/// and syncs, the network, changes of user, and the programs that it runs. Its memory, reads,
/// signal handlers and waits are its own affair, and how it looks at files is that of its C
/// library.
pub const EVENTS: [&str; 24] = [
    "%file",
    "!*stat*",
    "!*access*",
    "!readlink*",
    "!getcwd",
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

/// What is recorded beside [`EVENTS`] to suggest from, and is no part of the new scenario: a
/// program's memory is its own affair, but for what it stores in a file in this way.
pub const BESIDE: [&str; 3] = ["mmap", "mprotect", "pkey_mprotect"];

/// Longer outputs, in bytes or lines, do not belong into a scenario file.
const LONGEST: usize = 2000;
const MOST_LINES: usize = 30;

/// Adds to a draft what the runs have in common.
///
/// # Errors
/// [`NoEnd`].
pub fn fill(draft: &mut Draft, runs: &[Run], given: &Given) -> Result<(), NoEnd> {
    let Some(exit) = exit(runs)? else {
        return Ok(());
    };
    draft.exit = exit;
    draft.on_output.clear();
    let comments = &mut draft.on_output;
    let stdout = runs.iter().map(|run| &run.stdout);
    draft.stdout = output("stdout", stdout, given.now, comments);
    let stderr = runs.iter().map(|run| &run.stderr);
    draft.stderr = output("stderr", stderr, given.now, comments);
    let left: Option<Vec<&Left>> = runs.iter().map(|run| run.left.yes()).collect();
    draft.files_after = match left.map(|left| files::after(&left, given)) {
        Some(Ok(files)) => files,
        Some(Err(many)) => {
            comments.push(format!(
                "It leaves {many} files: `files_after` can say what must be in those that matter."
            ));
            Vec::new()
        }
        None => {
            comments.push("Which files it leaves is not known.".to_owned());
            Vec::new()
        }
    };
    let is_loading = given.has_all_events && most_opened(runs) > MOST_OPENED;
    draft.suggestions = events::suggestions(runs, given, is_loading);
    draft.offers_crash = draft.sandbox.root == Root::ReadOnly && events::keeps_data(runs);
    if is_loading {
        leave_opens_out(draft);
    }
    Ok(())
}

/// Returns the exit status of all runs; `None` without a run.
fn exit(runs: &[Run]) -> Result<Option<ExitKind>, NoEnd> {
    let mut all = None;
    for run in runs {
        let other = match &run.exit {
            Known::Yes(exit) => *exit,
            Known::No(why) => return Err(NoEnd::Unknown(why.clone())),
        };
        let one = *all.get_or_insert(other);
        if one != other {
            return Err(NoEnd::Differs { one, other });
        }
    }
    Ok(all)
}

/// Removes from a draft what a later run did not meet; returns whether anything was removed.
#[must_use]
pub fn give_up(draft: &mut Draft, findings: &[Finding]) -> bool {
    let is_missed = |about: &About| {
        let mut missed = findings.iter().filter(|it| it.kind == Kind::Missed);
        missed.any(|finding| finding.about == *about)
    };
    let mut comments = Vec::new();
    let mut has_failed = false;
    for (key, about, output) in [
        ("stdout", About::Stdout, &mut draft.stdout),
        ("stderr", About::Stderr, &mut draft.stderr),
    ] {
        if output.is_some() && is_missed(&about) {
            *output = None;
            has_failed = true;
            instead(key, "differs in some runs", &mut comments);
        }
    }
    draft.on_output.append(&mut comments);
    let n_files = draft.files_after.len();
    draft
        .files_after
        .retain(|(path, _)| !is_missed(&About::File(path.clone())));
    has_failed || draft.files_after.len() < n_files
}

/// Returns the greatest number of files that a run opened.
fn most_opened(runs: &[Run]) -> u64 {
    let n_opened = |run: &Run| -> u64 {
        let counts = run.trace.counts().into_iter();
        let opened = counts.filter(|(name, _)| name.starts_with("open"));
        opened.map(|(_, count)| count).sum()
    };
    runs.iter().map(n_opened).max().unwrap_or(0)
}

/// Leaves out opened files if there are many: what an interpreter loads says nothing about its
/// program. If a suggested expectation is about them, only the snapshot leaves them out.
fn leave_opens_out(draft: &mut Draft) {
    let is_asked_for = draft
        .suggestions
        .iter()
        .any(|suggestion| !suggestion.expectations.sequence.is_empty());
    match (is_asked_for, &mut draft.snapshot) {
        (true, SnapshotSpec::On(keys)) => {
            keys.hide.push("open*".to_owned());
            draft.on_snapshot.push(
                "Most files that it opens are libraries and modules; expectations may speak of all of them.".to_owned(),
            );
        }
        _ => {
            for event in &mut draft.events {
                if let EventSpec::Syscalls(names) = event {
                    names.push("!open*".to_owned());
                }
            }
            draft.on_events.push(
                "Most files that it opens are libraries and modules: no opening is recorded."
                    .to_owned(),
            );
        }
    }
}

/// A program that opens more files than this loads modules.
const MOST_OPENED: u64 = 20;

fn instead(key: &str, why: &str, comments: &mut Vec<String>) {
    comments.push(format!("{key} {why}: say what it must hold, as in"));
    comments.push(format!("  {key}: {{ contains: \"...\" }}"));
}

/// Returns what is expected of an output, or writes why nothing is.
fn output<'a>(
    key: &str,
    outputs: impl Iterator<Item = &'a Known<Captured>>,
    now: u64,
    comments: &mut Vec<String>,
) -> Option<ExpectedOutput> {
    let outputs: Option<Vec<&Captured>> = outputs.map(Known::yes).collect();
    let Some(outputs) = outputs else {
        instead(key, "is not known of each run", comments);
        return None;
    };
    let first = outputs.first()?;
    let text = std::str::from_utf8(&first.bytes).ok();
    let why = match text {
        _ if outputs.iter().any(|output| output != first) => "differs in each run",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::FileAfter;

    const NOW: u64 = 1_795_304_842;

    fn captured(bytes: &[u8]) -> Captured {
        Captured {
            bytes: bytes.to_vec(),
            dropped: 0,
        }
    }

    /// What is expected of an output that was this in three runs, and what is said otherwise.
    fn expected(outputs: [&[u8]; 3]) -> (Option<String>, String) {
        let outputs = outputs.map(|output| Known::Yes(captured(output)));
        let mut comments = Vec::new();
        let text = match output("stdout", outputs.iter(), NOW, &mut comments) {
            Some(ExpectedOutput::Exact(text)) => Some(text),
            _ => None,
        };
        (text, comments.join("\n"))
    }

    #[test]
    fn an_output_that_is_short_and_lasts_is_expected() {
        for text in ["", "saved\n", "größer\n"] {
            let same = [text.as_bytes(); 3];
            assert_eq!(expected(same), (Some(text.to_owned()), String::new()));
        }
    }

    #[test]
    fn of_any_other_output_it_is_said_why_it_is_not() {
        let long = "x".repeat(LONGEST + 1);
        let lines = "x\n".repeat(MOST_LINES + 1);
        for (outputs, why) in [
            ([b"1".as_slice(), b"1", b"2"], "differs in each run"),
            ([b"at 23:47:22".as_slice(); 3], "tells the time"),
            ([long.as_bytes(); 3], "is long"),
            ([lines.as_bytes(); 3], "is long"),
            ([b"\xff".as_slice(); 3], "is no text"),
        ] {
            let (text, said) = expected(outputs);
            assert_eq!(text, None, "{why}");
            assert!(said.starts_with(&format!("stdout {why}: ")), "{said}");
        }
    }

    fn draft() -> Draft {
        let text = |text: &str| Some(ExpectedOutput::Exact(text.to_owned()));
        Draft {
            stdout: text("a\n"),
            stderr: text(""),
            files_after: ["a", "data"]
                .map(|path| (path.to_owned(), FileAfter::default()))
                .to_vec(),
            ..Draft::of_ls(Vec::new())
        }
    }

    /// What is left of outputs and files.
    fn left_after(findings: &[Finding]) -> (bool, String) {
        let mut draft = draft();
        let gave_up = give_up(&mut draft, findings);
        let outputs = [("out", draft.stdout), ("err", draft.stderr)].into_iter();
        let outputs = outputs.filter_map(|(name, output)| Some((name.to_owned(), output?)));
        let files = draft.files_after.into_iter().map(|(path, _)| path);
        let left: Vec<String> = outputs.map(|(name, _)| name).chain(files).collect();
        (gave_up, left.join(" "))
    }

    #[test]
    fn what_was_missed_in_a_later_run_is_given_up_and_nothing_whose_name_its_words_hold() {
        let file = |path: &str| About::File(path.to_owned());
        let words = "what `data` holds on standard output and standard error";
        let missed = |about| left_after(&[Finding::missed(about, words)]);
        assert_eq!(missed(file("data")), (true, "out err a".to_owned()));
        assert_eq!(missed(About::Stdout), (true, "err a data".to_owned()));
        assert_eq!(missed(About::Exit), (false, "out err a data".to_owned()));
        // What the workload said when it failed was not expected to be anything.
        let said = [
            Finding::missed(About::Exit, "expected exit 0, got exit 1"),
            Finding::remark(About::Stderr, "standard error: no such file"),
        ];
        assert_eq!(left_after(&said), (false, "out err a data".to_owned()));
    }
}
