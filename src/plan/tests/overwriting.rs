//! Which events are overwritten, and what is refused of such.

use super::*;
use crate::scenario::Last;
use perf_live::events::{Account, EventAccount};
use std::time::Duration;

fn scenario(trace: &str, rest: &str) -> String {
    format!("description: d\nworkload: {{ run: [a] }}\ntrace: {{ {trace} }}\n{rest}\n")
}

fn planned(trace: &str, rest: &str) -> Box<Plan> {
    match resolved(&scenario(trace, rest)) {
        Ok(Resolved::Plan(plan)) => plan,
        other => panic!("{other:?}"),
    }
}

const OFF: &str = "snapshot: false";

/// The events whose rings are overwritten.
fn overwritten(plan: &Plan) -> Vec<&str> {
    let requests = plan.events.requests.iter();
    let overwritten = requests.filter(|request| request.overwrites.is_some());
    overwritten.map(|request| request.name.as_str()).collect()
}

#[test]
fn the_mode_is_for_all_events_that_say_nothing_else() {
    let events = "events: [{ syscalls: [openat] }, \"sched:sched_switch\", { event: \"sched:sched_process_*\", ring: RING }]";
    let plan = |mode: &str, ring: &str| {
        let events = events.replace("RING", ring);
        planned(&format!("ring: {{ mode: {mode} }}, {events}"), OFF)
    };
    let calls = ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"];
    let processes = ["sched:sched_process_exec", "sched:sched_process_fork"];
    assert_eq!(overwritten(&plan("stream", "stream")), [""; 0]);
    assert_eq!(overwritten(&plan("stream", "flight")), processes);
    assert_eq!(
        overwritten(&plan("flight", "stream")),
        [calls[0], calls[1], "sched:sched_switch"]
    );
    assert_eq!(overwritten(&plan("flight", "flight")).len(), 5);
    assert!(plan("flight", "stream").events.overwrites_calls());
    assert!(!plan("stream", "flight").events.overwrites_calls());
}

#[test]
fn an_event_that_is_asked_for_with_two_rings_is_streamed() {
    for rings in [["flight", "stream"], ["stream", "flight"]] {
        let wish = |ring: &str, filter: &str| {
            format!("{{ event: \"sched:sched_switch\", filter: \"{filter}\", ring: {ring} }}")
        };
        let [one, other] = [
            wish(rings[0], "prev_prio > 1"),
            wish(rings[1], "prev_prio < 9"),
        ];
        let plan = planned(&format!("events: [{one}, {other}]"), OFF);
        assert_eq!(overwritten(&plan), [""; 0], "{rings:?}");
    }
}

#[test]
fn perf_has_little_to_write_but_calls_where_the_author_chose_no_other_events() {
    let little = |events: &str| {
        planned(&format!("events: {events}"), OFF)
            .events
            .leaves_perf_little()
    };
    assert!(little("[{ syscalls: [openat] }]"));
    assert!(little("[{ syscalls: [all] }]"));
    assert!(!little("[{ syscalls: [openat] }, \"sched:sched_switch\"]"));
    assert!(!little(
        "[{ syscalls: [openat] }, { event: cpu-clock, freq: 99 }]"
    ));
    assert!(!little("[\"sched:sched_switch\"]"));
}

#[test]
fn what_is_sampled_goes_where_nothing_is_overwritten_whatever_the_mode() {
    let events = "events: [{ event: cpu-clock, freq: 99 }, cs]";
    let plan = planned(&format!("ring: {{ mode: flight }}, {events}"), OFF);
    let names = overwritten(&plan);
    assert!(!names.contains(&"software:cpu-clock"), "{names:?}");
    assert!(names.contains(&"software:context-switches"), "{names:?}");
}

#[test]
fn the_size_is_that_of_the_ring_of_the_mode() {
    let plan = planned("ring: { size: 64KiB, mode: flight }", OFF);
    let pages = plan.events.requests[0].overwrites.unwrap();
    let stream = planned("ring: { size: 64KiB }", OFF);
    assert_eq!(pages, stream.ring_pages);
    assert!(plan.ring_pages > pages, "names and tasks have room");
}

#[test]
fn what_is_kept_of_a_run_is_what_rings_held_or_five_seconds() {
    let dump = "snapshot: false\non_failure: dump";
    assert_eq!(planned("", OFF).on_failure, None);
    assert_eq!(
        planned("", dump).on_failure,
        Some(Last::Time(Duration::from_secs(5)))
    );
    assert_eq!(
        planned("ring: { mode: flight }", dump).on_failure,
        Some(Last::All)
    );
}

#[test]
fn what_a_missing_beginning_makes_senseless_is_refused_at_its_place() {
    let flight = "ring: { mode: flight }, events: [{ syscalls: [write] }, { event: \"sched:sched_switch\", ring: stream }]";
    let at = |trace: &str, rest: &str| {
        let (line, column, message) = complaint(&scenario(trace, rest));
        (line, column, message.split(':').next().unwrap().to_owned())
    };
    let shown = at(flight, "");
    assert_eq!(
        shown,
        (
            3,
            24,
            "the snapshot shows `write`, whose ring is overwritten".to_owned()
        )
    );
    planned(flight, "snapshot: { hide: [write] }");
    planned(flight, "expect_failure: it is known");
    let mark = "this mark may be overwritten before it is read";
    let section = "snapshot: false\nsections: { s: { from: MARK, to: end } }\nexpect: { sections: { s: { count: { write: 1 } } } }";
    assert_eq!(
        at(flight, &section.replace("MARK", "start")),
        (5, 24, mark.to_owned())
    );
    let switch = "{ \"sched:sched_switch\": {} }";
    let stream = section
        .replace("MARK", switch)
        .replace("end", "{ \"sched:sched_switch\": { prev_prio: 1 } }");
    planned(flight, &stream);
    assert_eq!(
        at(&format!("{flight}, since: {{ written: go }}"), OFF).2,
        mark
    );
    let baseline = "snapshot: false\nbaseline: { run: [b] }\nexpect: { delta: { write: 1 } }";
    assert_eq!(
        at(flight, baseline),
        (
            5,
            1,
            "a run whose ring is overwritten cannot be compared with another".to_owned()
        )
    );
}

#[test]
fn an_event_that_fired_no_more_often_than_is_there_is_known() {
    let plan = planned(
        "ring: { mode: flight }, events: [{ syscalls: [openat] }, \"sched:sched_switch\"]",
        OFF,
    );
    let account = |calls: u64, switches: u64| {
        let event = |name: &str, overwritten| EventAccount {
            name: name.to_owned(),
            counted: 9,
            delivered: 9 - overwritten,
            said_lost: Some(0),
            overwritten,
            sampled: false,
        };
        Account {
            events: vec![
                event("raw_syscalls:sys_enter", calls),
                event("raw_syscalls:sys_exit", 0),
                event("sched:sched_switch", switches),
            ],
            ..Account::default()
        }
    };
    let names = |calls, switches| {
        let mut names = plan.events.overwritten(&account(calls, switches));
        names.retain(|name| plan.events.names().contains(name));
        names.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(names(0, 0), [""; 0]);
    assert_eq!(names(0, 3), ["sched:sched_switch"]);
    assert_eq!(names(3, 0), ["openat"]);
    assert!(plan.events.forgot_calls(&account(3, 0)));
    assert!(!plan.events.forgot_calls(&account(0, 3)));
}
