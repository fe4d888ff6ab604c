//! What a workload is given to start with, whatever the harness was given.

use std::fs::File;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{SigSet, Signal};
use perf_live::sandbox::launch;

use super::{end_of, workload, worlds};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};
use crate::support::{PATIENCE, oracle};

#[test]
fn a_workload_gets_three_descriptors_and_no_trace_of_the_harness_signals() {
    require!(right_to_trace());
    // What a careless library leaves open and blocked.
    let open = File::open("/dev/zero").expect("/dev/zero");
    let high = fcntl(&open, FcntlArg::F_DUPFD(100)).expect("fcntl");
    fcntl(&open, FcntlArg::F_SETFD(FdFlag::empty())).expect("fcntl");
    let blocked: SigSet = [Signal::SIGUSR1, Signal::SIGTERM].into_iter().collect();
    blocked.thread_block().expect("a mask");
    for world in worlds() {
        let corked = launch(&workload(&[&oracle::path(), "fds"], &world)).expect("a cork");
        let exited = end_of(corked.uncork(PATIENCE).expect("a running workload"));
        let [stdout, _] = exited.outputs.expect("outputs");
        let said = String::from_utf8(stdout.bytes).expect("text");
        assert_clean_start(&said);
    }
    blocked.thread_unblock().expect("a mask");
    nix::unistd::close(high).expect("close");
}

/// Only the standard descriptors, nothing blocked, nothing ignored, nothing pending.
fn assert_clean_start(said: &str) {
    assert_eq!(
        oracle::fact(said, "fd", "number"),
        ["0", "1", "2"],
        "{said}"
    );
    assert_eq!(
        oracle::fact(said, "signals", "kind"),
        ["blocked", "ignored", "pending"],
        "{said}"
    );
    assert_eq!(
        oracle::fact(said, "signals", "mask"),
        ["0000000000000000"; 3],
        "{said}"
    );
}

/// Starts the program with signals ignored and blocked, and with descriptors left open.
const UNTIDY: [&str; 8] = [
    "env",
    "--ignore-signal=INT,USR1",
    "--block-signal=TERM,USR2,CHLD",
    "sh",
    "-c",
    "exec 5</dev/zero 9>&1; exec \"$@\"",
    "sh",
    env!("CARGO_BIN_EXE_harness"),
];

#[test]
fn an_untidy_start_of_the_program_does_not_reach_the_workload() {
    require!(right_to_trace());
    let project = Project::with(
        "fds",
        &format!(
            "sandbox: {{ root: host }}\nworkload: {{ run: [{:?}, fds] }}\nsnapshot: false\nexpect: {{ stdout: \"shown\" }}",
            oracle::path()
        ),
    );
    let run = |words: &[&str]| project.run(&[], &[&UNTIDY, words].concat());
    let traced = run(&["trace", "-o", "trace", &oracle::path(), "fds"]);
    traced.assert_status(0);
    // On the bare host descriptors and signals are what a shell hands to any command.
    let (_, around) = UNTIDY.split_last().expect("words");
    let alone = project.run(&[], &[around, &[&oracle::path(), "fds"]].concat());
    let masks = oracle::fact(&alone.stdout, "signals", "mask");
    assert_eq!(oracle::fact(&traced.stdout, "signals", "mask"), masks);
    assert_ne!(masks, ["0000000000000000"; 3]);
    let opened = oracle::fact(&traced.stdout, "fd", "number");
    assert!(
        ["0", "1", "2", "5", "9"]
            .iter()
            .all(|number| opened.contains(number)),
        "{opened:?}"
    );
    // The scenario fails, and quotes what its workload said.
    let report = run(&["run", "--format", "json", "scenarios"]);
    report.assert_status(1);
    let (_, reason) = &report.verdicts()["fds"];
    let (_, quoted) = reason.split_once("got ").expect("what was said");
    let said: String = serde_json::from_str(quoted).expect("a quoted text");
    assert_clean_start(&said);
    project.assert_nothing_left();
}
