//! What a machine lacks: what skips a scenario, what fails it, and what it does without.

use super::*;
use crate::scenario::Architecture;

fn resolve_text(rest: &str) -> Resolved {
    let text = format!("description: d\nworkload: {{ run: [a] }}\n{rest}\n");
    resolved(&text).unwrap_or_else(|error| panic!("{rest}: {error:?}"))
}

fn planned(rest: &str) -> Box<Plan> {
    match resolve_text(rest) {
        Resolved::Plan(plan) => plan,
        other => panic!("{rest}: {other:?}"),
    }
}

const EVENTS: &str =
    "trace: { events: [{ syscalls: [fsync, close] }, 'sched:gone', 'sched:sched_process_exec'] }";

#[test]
fn what_is_not_met_skips_fails_or_is_noted() {
    let lacking = "kernel: '< 6.1', tracepoints: ['sched:gone'], commands: [nonesuch], features: [bpf, uprobes]";
    let expected = [
        "needs kernel < 6.1, this is 6.1.0-18-amd64",
        "needs tracepoint `sched:gone`",
        "needs command `nonesuch`",
        "needs uprobes: there is no source",
    ];
    match resolve_text(&format!("requires: {{ {lacking} }}")) {
        Resolved::Unmet(lacks) => {
            let of: Vec<LackOf> = lacks.iter().map(|lack| lack.of).collect();
            let (kernel, machine) = (LackOf::Kernel, LackOf::Machine);
            assert_eq!(of, [kernel, kernel, machine, kernel]);
            assert_eq!(texts(lacks), expected);
        }
        other => panic!("{other:?}"),
    }
    match resolve_text(&format!("requires: {{ hard: {{ {lacking} }} }}")) {
        Resolved::Refused(lacks) => assert_eq!(texts(lacks), expected),
        other => panic!("{other:?}"),
    }
    let plan = planned(&format!("requires: {{ best_effort: {{ {lacking} }} }}"));
    assert!(plan.view.is_none());
    let mut notes = expected
        .map(|needs| needs.replace("needs", "runs without"))
        .to_vec();
    notes.push("the snapshot is not compared".to_owned());
    assert_eq!(plan.notes, notes);
    // Where a scenario makes no sense, what else is missing is of no interest.
    let both = "requires: { commands: [nonesuch], hard: { features: [uprobes] } }";
    assert!(matches!(resolve_text(both), Resolved::Unmet(_)));
}

#[test]
fn a_scenario_of_another_architecture_is_skipped() {
    let mut all = Architecture::ALL.into_iter();
    let other = all.find(|it| *it != Architecture::OWN).unwrap().word();
    let own = Architecture::OWN.word();
    match resolve_text(&format!("requires: {{ arch: {other} }}")) {
        Resolved::Unmet(lacks) => {
            assert_eq!(lacks[0].of, LackOf::Architecture);
            assert_eq!(texts(lacks), [format!("needs {other}, this is {own}")]);
        }
        found => panic!("{found:?}"),
    }
    let plan = planned(&format!("requires: {{ arch: {own} }}"));
    assert!(plan.notes.is_empty());
}

#[test]
fn what_is_met_changes_nothing() {
    let plan = planned(
        "requires: { features: [bpf], hard: { commands: ['true'] }, best_effort: { kernel: '>= 6.1', features: [root] } }",
    );
    assert!(plan.notes.is_empty());
    assert!(plan.view.is_some());
}

#[test]
fn a_tracepoint_that_is_done_without_is_neither_recorded_nor_judged() {
    let plan = planned(&format!(
        "{EVENTS}
requires: {{ best_effort: {{ tracepoints: ['sched:gone'] }} }}
expect:
  sequence: [ fsync, close ]
  any_order: [ fsync, 'sched:gone' ]
  never: [ 'sched:gone', {{ fsync: {{ returns: -1 }} }} ]
  only: [ fsync, 'sched:gone' ]
  count: {{ 'sched:gone': 1, close: 2 }}
  between:
  - {{ first: fsync, then: 'sched:gone', there_is: close }}
  - {{ first: fsync, then: fsync, there_is: close }}"
    ));
    let names: Vec<&str> = plan.events.named.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["sched:sched_process_exec"]);
    let expected = &plan.expected;
    assert_eq!((expected.sequence.len(), expected.any_order.len()), (2, 0));
    let words = |matchers: &[crate::matching::Matcher]| -> Vec<String> {
        matchers
            .iter()
            .map(|matcher| matcher.word.clone())
            .collect()
    };
    assert_eq!(words(&expected.never), ["fsync"]);
    assert_eq!(words(&expected.only), ["fsync"]);
    assert_eq!((expected.count.len(), expected.between.len()), (1, 1));
    assert_eq!(
        plan.notes,
        [
            "runs without tracepoint `sched:gone`",
            "the snapshot is not compared",
            "`any_order` is not judged, or not all of it",
            "`never` is not judged, or not all of it",
            "`count` is not judged, or not all of it",
            "`between` is not judged, or not all of it",
        ]
    );
}

#[test]
fn what_hangs_on_a_capture_that_is_no_longer_bound_is_not_judged_either() {
    let plan = planned(&format!(
        "{EVENTS}
snapshot: false
requires: {{ best_effort: {{ tracepoints: ['sched:gone'] }} }}
expect:
  sequence: [ {{ 'sched:gone': {{ process: $p }} }}, {{ fsync: {{ fd: $f }} }} ]
  any_order: [ {{ fsync: {{ fd: $f }} }} ]
  never: [ {{ close: {{ process: $p }} }}, {{ close: {{ fd: $f }} }} ]
  only: [ {{ fsync: {{ process: $p }} }}, close ]
  between: [ {{ first: close, then: {{ fsync: {{ process: $p }} }}, there_is: close }} ]"
    ));
    let expected = &plan.expected;
    assert_eq!((expected.sequence.len(), expected.any_order.len()), (0, 1));
    assert_eq!((expected.never.len(), expected.only.len()), (1, 0));
    assert!(expected.between.is_empty());
    assert_eq!(expected.never[0].fields[0].0, "fd");
}

#[test]
fn places_of_other_events_stay_what_they_are_in_the_file() {
    let text = "description: d\nworkload: { run: [a] }\ntrace: { events: ['sched:gone', 'sched:sched_switsh'] }\n\
                requires: { best_effort: { tracepoints: ['sched:gone'] } }\n";
    let (line, column, message) = complaint(text);
    assert_eq!((line, column), (3, 33), "{message}");
}

#[test]
fn a_scenario_that_would_record_nothing_is_skipped() {
    let only = "trace: { events: ['sched:gone'] }\nrequires: { best_effort: { tracepoints: ['sched:gone'] } }";
    match resolve_text(only) {
        Resolved::Unmet(reasons) => {
            assert_eq!(
                texts(reasons),
                ["needs one of its tracepoints, to record anything"]
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn requirements_that_are_not_met_are_named_all_of_them() {
    let text = "description: d\nworkload: { run: [a] }\nrequires: { kernel: '>= 6.12', tracepoints: ['sched:gone'], commands: ['true', nonesuch] }\n";
    match resolved(text) {
        Ok(Resolved::Unmet(reasons)) => assert_eq!(
            texts(reasons),
            [
                "needs kernel >= 6.12, this is 6.1.0-18-amd64",
                "needs tracepoint `sched:gone`",
                "needs command `nonesuch`"
            ]
        ),
        other => panic!("{other:?}"),
    }
}
