//! The output's form, and counts that are known beforehand.

use std::collections::BTreeMap;

use crate::support::command::Place;
use crate::support::harness::{Syscall, trace, trace_with};
use crate::support::oracle;
use crate::support::require::{self, require};

/// As many calls as each thread says it made, and nothing lost.
fn counts_are_true(words: &[&str], kind: &str, id: &str) {
    require!(require::right_to_trace());
    let oracle = oracle::path();
    let command: Vec<&str> = std::iter::once(oracle.as_str())
        .chain(words.iter().copied())
        .collect();
    let traced = trace(&command);
    for fact in traced.facts().all(kind) {
        let made = traced.successes(fact.id(id), fact.word("call"));
        assert_eq!(made, fact.number("count"), "{fact:?}");
    }
    assert_eq!(traced.summary.lost, 0);
}

#[test]
fn every_call_of_a_flood_is_there() {
    counts_are_true(&["flood", "20000"], "thread", "tid");
}

#[test]
fn every_call_of_a_flood_from_four_threads_is_there() {
    counts_are_true(&["flood-threads", "4", "5000"], "thread", "tid");
}

#[test]
fn each_thread_has_its_own_calls() {
    counts_are_true(&["threads", "8"], "thread", "tid");
}

#[test]
fn each_process_of_a_tree_has_its_own_calls() {
    counts_are_true(&["fork-tree"], "process", "pid");
}

#[test]
fn arguments_have_the_kernels_names_and_a_meaning() {
    require!(require::right_to_trace());
    let traced = trace(&["cat", "a.txt"]);
    // The last that it opens is the file.
    let opened = traced
        .calls
        .iter()
        .rfind(|call| call.name == "openat" && call.ret.is_some());
    let opened = opened.expect("an openat of the file");
    let names: Vec<&str> = opened
        .args
        .iter()
        .map(|argument| argument.name.as_str())
        .collect();
    // Nothing is made, so that the kernel does not look at the mode.
    assert_eq!(names, ["dfd", "filename", "flags"]);
    let [directory, filename, ..] = &opened.args[..] else {
        panic!("no arguments");
    };
    // AT_FDCWD is -100, and glibc passes an int: the upper half of the register is not part of it.
    assert_eq!(
        (directory.value & 0xffff_ffff, directory.text.as_str()),
        (0xffff_ff9c, "AT_FDCWD")
    );
    assert_eq!(filename.text, "\"a.txt\"");
    assert!(opened.ret.is_some_and(|descriptor| descriptor > 2));
    assert_eq!(opened.comm, "cat");
}

#[test]
fn within_a_thread_calls_stand_in_the_order_of_entry() {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "threads", "4"]);
    let mut latest: BTreeMap<i32, &Syscall> = BTreeMap::new();
    for call in &traced.calls {
        let before = latest.insert(call.tid, call);
        if let Some(before) = before {
            let end = before.time_ns + before.duration_ns.unwrap_or(0);
            assert!(end <= call.time_ns, "{before:?} overlaps {call:?}");
        }
    }
    assert_eq!(latest.len(), 5, "the main thread and four more");
}

#[test]
fn names_are_those_of_the_abi() {
    require!(require::right_to_trace());
    // The tracepoints of these are called newfstat and newuname.
    let traced = trace(&["uname"]);
    let has = |name: &str| traced.calls.iter().any(|call| call.name == name);
    assert!(has("uname") && !has("newuname"));
    assert!(has("newfstatat") || has("fstat"));
    assert!(!has("newfstat"));
}

#[test]
fn what_the_workload_prints_passes_through() {
    require!(require::right_to_trace());
    let traced = trace(&[&oracle::path(), "spam-stdout", "300001"]);
    assert_eq!(traced.output.stdout.len(), 300_001);
    assert!(traced.output.status.success());
}

/// The caller leaves an open descriptor and ignored signals behind.
const UNTIDY: [&str; 4] = [
    "sh",
    "-c",
    "exec 7</dev/null; trap '' USR1 PIPE; exec \"$@\"",
    "sh",
];

#[test]
fn the_workload_gets_the_descriptors_and_the_signals_that_it_was_handed() {
    require!(require::right_to_trace());
    let traced = trace_with(&Place::new(), "", (&UNTIDY, &[]), &[&oracle::path(), "fds"]);
    let facts = traced.facts();
    let open: Vec<i64> = facts
        .all("fd")
        .iter()
        .map(|fact| fact.number("number"))
        .collect();
    // As from a shell: the one that is open for it, and none of the harness.
    assert_eq!(open, [0, 1, 2, 7]);
    let signals = |stdout: &[u8]| -> Vec<String> {
        let said = String::from_utf8_lossy(stdout);
        let lines = said.lines().filter(|line| line.starts_with("signals "));
        lines.map(str::to_owned).collect()
    };
    let path = oracle::path();
    let words = [&UNTIDY[..], &[&path, "fds"]].concat();
    let alone = signals(&Place::new().run("", &words).stdout);
    assert_eq!(alone.len(), 3, "{alone:?}");
    assert_eq!(signals(&traced.output.stdout), alone);
}
