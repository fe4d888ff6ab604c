//! Which errors calls are failed with, and what an ignored one is.

use std::collections::BTreeSet;

use super::{all_are, python, runs, sweep};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// A program that syncs its file, and does this where it cannot.
fn syncs(otherwise: &str) -> Project {
    let script = format!(
        "import os, sys\nnew = os.open('new', os.O_CREAT | os.O_WRONLY)\nos.write(new, b'milk')\n\
         try: os.fsync(new)\nexcept OSError: {otherwise}\n"
    );
    let expect = "expect: { files_after: { new: milk } }\nsnapshot: false";
    python(&script, "fsync", expect)
}

#[test]
fn a_failed_sync_that_the_program_does_not_tell_of_is_silent() {
    require!(right_to_trace());
    require!(program("python3"));
    all_are("silent", &sweep(&syncs("pass"), 1, &[]));
    let says = syncs("print('not safe', file=sys.stderr)");
    all_are("handled message", &sweep(&says, 0, &[]));
    all_are("handled status", &sweep(&syncs("sys.exit(1)"), 0, &[]));
    // What it prints is new in each run, and says nothing of the sync.
    let clock = syncs("pass\nimport time; print(time.time_ns())");
    all_are("unknown", &sweep(&clock, 1, &[]));
}

#[test]
fn a_fault_that_was_done_to_the_call_for_another_file_is_handled_by_nobody() {
    require!(right_to_trace());
    require!(program("python3"));
    // By its path a call cannot be counted beside those of descriptors, and the order is chance.
    let script = "import os, random\nos.fstat(0)\nfor name in random.sample('abcdefgh', 8):\n\
                  \x20   try: os.stat(name)\n    except OSError: pass\n";
    let project = python(script, "newfstatat, statx, stat", "snapshot: false");
    let text = project.read("scenarios/it.yaml");
    let files = "script.py: { from: ../script.py }";
    let more: Vec<String> = ('a'..='h').map(|name| format!("{name}: ''")).collect();
    let text = text
        .replace(files, &format!("{files}, {}", more.join(", ")))
        .replace("trace: { ", "trace: { since: main, ");
    project.write("scenarios/it.yaml", &text);
    let run = project.harness(&[
        "sweep",
        "--format",
        "json",
        "--errors",
        "ENOENT",
        "scenarios/it.yaml",
    ]);
    let lines = run.json();
    let file = |line: &serde_json::Value| {
        let line = line.as_str()?;
        Some(line.split('"').nth(1)?.to_owned())
    };
    let of_ours: Vec<_> = runs(&lines)
        .into_iter()
        .filter(|run| file(&run["line"]).is_some_and(|name| name.len() == 1))
        .collect();
    assert!(!of_ours.is_empty(), "{lines:#?}");
    for run in of_ours {
        let is_same = file(&run["line"]) == file(&run["done_to"]);
        let is_unknown = run["class"] == "unknown";
        assert_eq!(is_unknown, !is_same, "{run}");
    }
}

#[test]
fn the_status_of_an_open_file_is_failed_as_no_path_is() {
    require!(right_to_trace());
    let project = Project::with(
        "it",
        "workload: { run: [cat, a], files: { a: b } }\n\
         trace: { events: [{ syscalls: [newfstatat, fstat] }], since: main }\nsnapshot: false",
    );
    let run = project.harness(&["sweep", "--format", "json", "scenarios/it.yaml"]);
    let lines = run.json();
    let errors: BTreeSet<&str> = runs(&lines)
        .iter()
        .filter_map(|run| run["error"].as_str())
        .collect();
    assert_eq!(errors, BTreeSet::from(["EIO"]), "{lines:#?}");
}

#[test]
fn a_crash_of_a_child_shows_in_a_scenario_that_names_no_events() {
    require!(right_to_trace());
    let project = Project::with(
        "it",
        "workload: { shell: \"mkdir a || sh -c 'kill -SEGV $$'; exit 0\" }\nsnapshot: false",
    );
    let lines = sweep(&project, 1, &["-e", "mkdir", "--errors", "ENOSPC"]);
    all_are("crashed", &lines);
    // A crash in place of another one, and in spite of the scenario's own event.
    let project = Project::with(
        "it",
        "workload: { shell: \"sh -c 'mkdir a && kill -SEGV $$ || kill -ABRT $$'; exit 0\" }\n\
         trace: { events: [{ syscalls: [mkdir] }, { event: \"signal:signal_deliver\", filter: \"sig == 15\" }] }\n\
         snapshot: false",
    );
    let lines = sweep(&project, 1, &["-e", "mkdir", "--errors", "ENOSPC"]);
    all_are("crashed", &lines);
}
