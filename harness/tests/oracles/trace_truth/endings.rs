//! How the workload ends, and how `harness trace` ends then.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use crate::support::calls::Outcome;
use crate::support::command::Place;
use crate::support::harness::{self, Exit, trace};
use crate::support::oracle;
use crate::support::require::{self, require};

/// The status of the program under test, what its summary says, and the main thread's last call.
fn ends(words: &[&str], status: i32, exit: &Exit, last_call: &str) {
    require!(require::right_to_trace());
    let oracle = oracle::path();
    let command: Vec<&str> = std::iter::once(oracle.as_str())
        .chain(words.iter().copied())
        .collect();
    let traced = trace(&command);
    assert_eq!(traced.output.status.code(), Some(status), "{words:?}");
    assert_eq!(&traced.summary.exit, exit, "{words:?}");
    let last = traced.calls.last().expect("calls");
    assert_eq!(last.name, last_call, "{words:?}");
}

fn killed_by(signal: &str) -> Exit {
    Exit::Signal(signal.to_owned())
}

#[test]
fn the_workloads_status_is_the_status() {
    ends(&["exit", "0"], 0, &Exit::Code(0), "exit_group");
    ends(&["exit", "3"], 3, &Exit::Code(3), "exit_group");
    ends(&["exit", "255"], 255, &Exit::Code(255), "exit_group");
}

#[test]
fn a_status_that_looks_like_a_signal_is_still_a_status() {
    ends(&["exit", "137"], 137, &Exit::Code(137), "exit_group");
    ends(&["exit", "127"], 127, &Exit::Code(127), "exit_group");
}

#[test]
fn a_signal_is_128_and_its_number() {
    ends(&["signal", "SIGKILL"], 137, &killed_by("SIGKILL"), "kill");
    ends(&["signal", "SIGTERM"], 143, &killed_by("SIGTERM"), "kill");
    ends(&["signal", "SIGSEGV"], 139, &killed_by("SIGSEGV"), "kill");
}

#[test]
fn a_call_that_never_returns_has_no_result() {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "exit", "3"]);
    let last = traced.calls.last().expect("calls");
    assert_eq!(
        (last.name.as_str(), last.outcome()),
        ("exit_group", Outcome::Never)
    );
    let others = traced
        .calls
        .iter()
        .filter(|call| call.outcome() == Outcome::Never);
    assert_eq!(others.count(), 1, "every other call returned");
}

/// Runs what cannot be executed; the workload has no trace then, so the output is not read.
fn refused(place: &Place, program: &str) -> Output {
    let file = place.beside("harness");
    let file = file.to_str().expect("a path of letters");
    place.run(
        "",
        &[
            harness::PATH,
            "trace",
            "--format",
            "json",
            "-o",
            file,
            "--",
            program,
        ],
    )
}

/// What cannot be executed, and the status that says so.
fn unexecutables(place: &Place) -> [(PathBuf, i32); 4] {
    let file = |name: &str, contents: &str, mode: u32| {
        let path = place.beside(name);
        fs::write(&path, contents).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        path
    };
    let folder = place.beside("folder");
    fs::create_dir(&folder).expect("a folder");
    [
        (place.beside("missing"), 127),
        (file("not-executable", "#!/bin/sh\n", 0o644), 126),
        (
            file("bad-interpreter", "#!/nonexistent/interpreter\n", 0o755),
            126,
        ),
        (folder, 126),
    ]
}

#[test]
fn what_cannot_be_executed_is_told_apart() {
    require!(require::right_to_trace());
    let place = Place::new();
    let mut complaints = BTreeSet::new();
    for (path, status) in unexecutables(&place) {
        let path = path.to_str().expect("a path of letters");
        let output = refused(&place, path);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{path}: {complaint}");
        assert!(complaint.contains(path), "{path}: {complaint}");
        complaints.insert(complaint.replace(path, ""));
    }
    assert_eq!(
        complaints.len(),
        4,
        "each has its own words: {complaints:#?}"
    );
}

#[test]
fn a_name_without_a_slash_that_is_nowhere_is_not_found() {
    require!(require::right_to_trace());
    let output = refused(&Place::new(), "no-such-program-anywhere");
    assert_eq!(output.status.code(), Some(127), "{output:?}");
}
