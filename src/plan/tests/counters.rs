//! What is counted without records.

use super::*;
use perf_records::attr::{Sampling, Source};

fn resolve_text(rest: &str) -> Resolved {
    let text = format!("description: d\nworkload: {{ run: [a] }}\nsnapshot: false\n{rest}\n");
    resolved(&text).unwrap_or_else(|error| panic!("{rest}: {error:?}"))
}

fn planned(rest: &str) -> Box<Plan> {
    match resolve_text(rest) {
        Resolved::Plan(plan) => plan,
        other => panic!("{rest}: {other:?}"),
    }
}

fn refused(rest: &str) -> (String, Option<String>) {
    let text = format!("description: d\nworkload: {{ run: [a] }}\nsnapshot: false\n{rest}\n");
    match resolved(&text) {
        Err(PlanError::Invalid(complaint)) => (
            format!(
                "{}:{} {}",
                complaint.line, complaint.column, complaint.message
            ),
            complaint.help,
        ),
        other => panic!("{rest}: {other:?}"),
    }
}

#[test]
fn what_is_counted_is_opened_without_records_and_is_no_event() {
    let plan = planned(
        "trace: { events: [{ count: page-faults }, { count: ['cs:k', 'sched:sched_process_exec'] }, { syscalls: [fsync] }] }
expect: { count: { page-faults: '..=500', fsync: 2 } }",
    );
    let shown: Vec<_> = plan
        .counters
        .events
        .iter()
        .map(|event| (event.name.as_str(), event.group))
        .collect();
    assert_eq!(
        shown,
        [
            ("page-faults", None),
            ("cs:k", Some(1)),
            ("sched:sched_process_exec", Some(1))
        ]
    );
    for part in plan.counters.events.iter().flat_map(|event| &event.parts) {
        assert_eq!(part.attr.sampling, Sampling::Never);
        assert!(part.attr.inherit && part.attr.enable_on_exec);
    }
    let first = &plan.counters.events[0].parts[0];
    assert_eq!(first.attr.source, Source::Software(2));
    // What is only counted is expected of the counter, and all else of the events.
    let [(name, range)] = plan.counters.expect.as_slice() else {
        panic!("{:?}", plan.counters);
    };
    assert_eq!(
        (name.as_str(), range.to_string().as_str()),
        ("page-faults", "..=500")
    );
    assert_eq!(plan.expected.count.len(), 1);
    assert!(!plan.events.names().contains("page-faults"));
}

#[test]
fn to_count_alone_records_no_calls() {
    let plan = planned(
        "trace: { events: [{ count: page-faults }] }\nexpect: { count: { page-faults: 1.. } }",
    );
    assert!(plan.events.selection.is_none() && plan.events.named.is_empty());
}

#[test]
fn the_baseline_is_counted_as_well_and_nothing_is_expected_of_it() {
    let plan = planned(
        "baseline: { run: [b] }
trace: { events: [{ count: page-faults }] }
expect: { delta: { page-faults: 100 }, count: { page-faults: 1.. } }",
    );
    let baseline = plan.baseline.as_ref().unwrap();
    let [delta] = baseline.delta.as_slice() else {
        panic!("{baseline:?}");
    };
    assert!(delta.step.names.contains("page-faults"));
    assert_eq!(baseline.plan.counters.events, plan.counters.events);
    assert!(baseline.plan.counters.expect.is_empty());
    assert!(baseline.plan.expected.count.is_empty());
}

#[test]
fn a_name_that_is_neither_counted_nor_recorded_is_refused_where_it_stands() {
    let events = "trace: { events: [{ count: page-faults }] }";
    for (expect, said, help) in [
        (
            "{ count: { page-fault: 1 } }",
            "5:20 unknown system call `page-fault`",
            "did you mean `page-faults`?",
        ),
        (
            "{ never: [page-faults] }",
            "5:19 `page-faults` is only counted, over all of the run",
            "its name stands in `expect.count` and `expect.delta` alone, without fields; an event is recorded by `event`",
        ),
        (
            "{ count: [{ page-faults: { returns: 0 }, times: 1 }] }",
            "5:21 `page-faults` is only counted, over all of the run",
            "its name stands in `expect.count` and `expect.delta` alone, without fields; an event is recorded by `event`",
        ),
    ] {
        let refused = refused(&format!("{events}\nexpect: {expect}"));
        assert_eq!(
            refused,
            (said.to_owned(), Some(help.to_owned())),
            "{expect}"
        );
    }
}

#[test]
fn what_cannot_be_counted_is_refused_or_skips() {
    for (count, said) in [
        ("page-fault", "4:28 there is no event `page-fault`"),
        ("[cs, page-fault]", "4:33 there is no event `page-fault`"),
        (
            "page-faults/period=5/",
            "4:28 the terms of `page-faults/period=5/` are wrong",
        ),
        ("[cs, cs]", "4:28 `cs` is counted twice"),
        (
            "'sched:gone'",
            "4:28 this kernel has no tracepoint `sched:gone`",
        ),
    ] {
        let (message, _) = refused(&format!("trace: {{ events: [{{ count: {count} }}] }}"));
        assert!(message.starts_with(said), "{message}");
    }
    match resolve_text("trace: { events: [{ count: 'cpu/cycles/' }] }") {
        Resolved::Unmet(reasons) => {
            assert_eq!(texts(reasons), ["needs a source of events `cpu`"]);
        }
        other => panic!("{other:?}"),
    }
}
