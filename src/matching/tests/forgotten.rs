//! Of some names only the last deeds are there: what is found holds, and what is absent is not
//! known.

use super::*;
use std::collections::BTreeSet;

const TRACE: &str = "
    P1 sched:fork pid=1
    P1 sched:fork pid=2
    P1 openat(filename:path=p\"a\", flags=O_RDWR) = <3 $DIR/a #1>
    P1 sched:fork pid=3
    P1 close(fd=<3 $DIR/a #1>) = 0
";

#[track_caller]
fn check(text: &str, answer: &[&str]) {
    check_of(text, false, answer);
}

#[track_caller]
fn check_of(text: &str, may_be_any: bool, answer: &[&str]) {
    let deeds = deeds(TRACE);
    let deeds: Vec<&Deed> = deeds.iter().collect();
    let names = ["openat", "close", "unlink"].map(str::to_owned);
    let scene = Scene::new(&deeds).forgetting(&BTreeSet::from(names), may_be_any);
    let judgement = judge(
        &expected(text),
        &scene,
        None,
        &Bindings::default(),
        MOST_TRIES,
    );
    let words: Vec<&str> = judgement
        .findings
        .iter()
        .map(|finding| match finding {
            Finding::Failed(_) => "failed",
            Finding::Unknown(_) => "unknown",
            Finding::GaveUp(_) => "gave up",
            Finding::Remark(_) => "remarked",
        })
        .collect();
    assert_eq!(words, answer, "{text}: {:?}", judgement.findings);
}

#[test]
fn what_is_found_holds() {
    check("sequence: [ openat: {path: a}, close: {} ]", &[]);
    check("any_order: [ close: {}, openat: {} ]", &[]);
    check("never: [ openat: {} ]", &["failed"]);
    check("count: { close: 0 }", &["failed"]);
    check("count: { close: \"1..\" }", &[]);
    check("only: [ openat: {}, close: {} ]", &["failed"]);
}

#[test]
fn of_what_is_sampled_nothing_is_known_to_be_absent_behind_its_first_record_either() {
    let between = "sequence: [ openat: {}, never: [unlink], close: {} ]";
    check_of(between, false, &[]);
    check_of(between, true, &["unknown"]);
    check_of("sequence: [ openat: {}, close: {} ]", true, &[]);
}

#[test]
fn what_is_absent_is_not_known() {
    check("sequence: [ unlink: {}, close: {} ]", &["unknown"]);
    check("any_order: [ unlink: {} ]", &["unknown"]);
    check("never: [ unlink: {} ]", &["unknown"]);
    check("never: [ openat: {path: b} ]", &["unknown"]);
    check("count: { close: 1 }", &["unknown"]);
    check("count: { close: \"..=1\" }", &["unknown"]);
    check("count: { close: \"2..\" }", &["unknown"]);
    let all = "only: [ openat: {path: a}, close: {}, \"sched:fork\": {} ]";
    check(all, &["unknown"]);
    let all = "only: [ \"openat|unlink\": {}, close: {}, \"sched:fork\": {} ]";
    check(all, &[]);
}

#[test]
fn names_of_which_all_is_there_are_judged_as_ever() {
    check("never: [ \"sched:exit\": {} ]", &[]);
    check("count: { \"sched:fork\": 3 }", &[]);
    check("count: { \"sched:fork\": 2 }", &["failed"]);
    check("sequence: [ \"sched:exit\": {} ]", &["failed"]);
}

#[test]
fn between_steps_all_is_known_from_the_first_that_is_remembered() {
    let between =
        |from: &str, to: &str| format!("sequence: [ {from}, never: [unlink: {{}}], {to} ]");
    check(&between("openat: {}", "close: {}"), &[]);
    check(&between("openat: {}", "\"sched:fork\": {pid: 3}"), &[]);
    check(
        &between("\"sched:fork\": {pid: 1}", "\"sched:fork\": {pid: 2}"),
        &["unknown"],
    );
    check(
        &between("\"sched:fork\": {pid: 1}", "close: {}"),
        &["unknown"],
    );
    check("sequence: [ never: [unlink: {}], close: {} ]", &["unknown"]);
    // What is not there at all is not there, whatever lay between.
    check(
        &between("\"sched:fork\": {pid: 1}", "\"sched:exit\": {}"),
        &["failed"],
    );
}

#[test]
fn the_very_next_is_known_from_there_too() {
    check("sequence: [ openat: {}, next: {\"sched:fork\": {}} ]", &[]);
    check(
        "sequence: [ \"sched:fork\": {pid: 1}, next: {\"sched:fork\": {pid: 2}} ]",
        &["unknown"],
    );
}
