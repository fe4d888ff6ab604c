//! Calls that a seccomp filter of the workload's own answered in place of the kernel.

use super::*;

const SAVE: &str = "P1 write(fd=<3 $DIR/a #1>, count=5) = 5\nP1 fsync(?) = 0\nP1 rename() = 0\n";
const REAL: &str = "P1 fsync(fd=<3 $DIR/a #1>) = 0\n";

#[track_caller]
fn check(expected: &str, trace: &str, answer: &[&str]) {
    assert_eq!(judged(expected, trace), answer, "{expected}");
}

#[test]
fn a_call_that_a_filter_answered_is_no_certain_step() {
    for expected in [
        "sequence: [write, fsync, rename]",
        "sequence: [write, { fsync: { returns: 0 } }, rename]",
        "sequence: [write, { next: fsync }]",
        "any_order: [fsync]",
        "count: { fsync: 1 }",
        "count: { fsync: 1.. }",
        "between: [{ first: write, then: rename, there_is: fsync }]",
        "between: [{ first: write, then: fsync, there_is: fsync, times: 0.. }]",
        "between: [{ first: fsync, then: rename, there_is: rename }]",
    ] {
        check(expected, SAVE, &["unknown"]);
    }
    // Where the kernel made one as well, there is one.
    let both = format!("{SAVE}{REAL}P1 rename() = 0\n");
    check("sequence: [write, fsync, rename]", &both, &[]);
    check("any_order: [fsync, fsync]", &both, &["unknown"]);
    check("count: { fsync: 1.. }", &both, &[]);
    check("count: { fsync: 2 }", &both, &["unknown"]);
}

#[test]
fn a_call_that_a_filter_answered_was_asked_for() {
    for expected in [
        "never: [fsync]",
        "never: [{ fsync: { returns: 0 } }]",
        "only: [write, rename]",
        "count: { fsync: 0 }",
        "sequence: [write, { never: fsync }, rename]",
        "sequence: [fsync, fsync]",
        "sequence: [{ fsync: { returns: EIO } }]",
    ] {
        check(expected, SAVE, &["failed"]);
    }
    check("only: [write, fsync, rename]", SAVE, &[]);
    check("never: [{ fsync: { returns: EIO } }]", SAVE, &[]);
    check("never: [{ fsync: { fd: a } }]", SAVE, &["unknown"]);
}

#[test]
fn a_call_that_a_filter_refused_with_an_error_has_that_result() {
    let refused = "P1 fsync(?) = EPERM\n";
    check("sequence: [{ fsync: { returns: EPERM } }]", refused, &[]);
    check(
        "count: { fsync: { returns: EPERM, times: 1 } }",
        refused,
        &[],
    );
    check(
        "any_order: [{ fsync: { returns: 0 } }]",
        refused,
        &["failed"],
    );
}

#[test]
fn what_is_not_known_of_a_call_that_a_filter_answered_says_which_call_and_why() {
    let told = |expected: &str| {
        let findings = judgement(expected, SAVE).findings;
        let [finding] = findings.as_slice() else {
            panic!("{findings:?}");
        };
        finding.text().to_owned()
    };
    let why = "its entry is in no record: a seccomp filter, of the workload's own or of a \
               policy, answered it, and the kernel did not make it";
    for expected in [
        "sequence: [write, fsync]",
        "count: { fsync: 1 }",
        "between: [{ first: write, then: rename, there_is: fsync }]",
        "between: [{ first: fsync, then: rename, there_is: rename, times: 1.. }]",
    ] {
        let told = told(expected);
        assert!(told.contains("fsync(?) = 0"), "{told}");
        assert!(told.contains(why), "{told}");
    }
}
