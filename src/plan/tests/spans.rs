//! Pairing rules against what is recorded: what they become, and what is refused.

use super::*;
use crate::matching::SharedBy;
use perf_live::events::{Account, EventAccount};

/// A rule of these ends and this key, and what is expected.
fn scenario(rule: &str, expect: &str) -> String {
    format!(
        "description: d\nworkload: {{ run: [a] }}\nsnapshot: false\ntrace:\n  events: [{{ syscalls: [openat, close, rename, kill] }}, \
         'sched:sched_process_*']\n  spans:\n    s: {{ {rule} }}\nexpect:\n  {expect}\n"
    )
}

fn resolved_with(rule: &str, expect: &str) -> Result<Resolved, PlanError> {
    resolved_on(&Kernel::with_io_uring(), None, &scenario(rule, expect))
}

fn shared(rule: &str) -> Vec<SharedBy> {
    match resolved_with(rule, "count: { 'span:s': 1 }") {
        Ok(Resolved::Plan(plan)) => plan.spans[0].key.iter().map(|field| field.by).collect(),
        other => panic!("{rule}: {other:?}"),
    }
}

#[test]
fn what_two_fields_have_in_common_follows_from_what_they_are() {
    for (rule, by) in [
        ("begin: openat, end: close", SharedBy::Task),
        ("begin: openat, end: close, key: process", SharedBy::Task),
        (
            "begin: openat, end: close, key: { begin: returns, end: fd }",
            SharedBy::File,
        ),
        (
            "begin: openat, end: rename, key: { begin: path, end: from }",
            SharedBy::Bytes,
        ),
        (
            "begin: openat, end: kill, key: { begin: flags, end: sig }",
            SharedBy::Number,
        ),
        (
            "begin: kill, end: 'sched:sched_process_exec', key: pid",
            SharedBy::Task,
        ),
    ] {
        assert_eq!(shared(rule), [by], "{rule}");
    }
}

#[test]
fn a_plan_with_spans_keeps_every_event_and_reads_what_is_compared() {
    let rule = "begin: openat, end: rename, key: { begin: path, end: from }";
    match resolved_with(rule, "count: { 'span:s': 1 }") {
        Ok(Resolved::Plan(plan)) => {
            assert!(plan.keeps_order());
            assert!(plan.events.memory.paths);
        }
        other => panic!("{other:?}"),
    }
}

/// Where the rule has an `@`, or where what is expected has one, the complaint points.
#[track_caller]
fn refused(rule: &str, expect: &str, message: &str, help: Option<&str>) {
    let (line, column) = match (rule.find('@'), expect.find('@')) {
        (Some(at), _) => (7, at + 10),
        (None, Some(at)) => (9, at + 3),
        (None, None) => panic!("no place"),
    };
    let result = resolved_with(&rule.replacen('@', "", 1), &expect.replacen('@', "", 1));
    let Err(PlanError::Invalid(diagnostic)) = result else {
        panic!("{rule}: {result:?}")
    };
    assert_eq!(
        (&*diagnostic.message, diagnostic.help.as_deref()),
        (message, help)
    );
    assert_eq!(
        (diagnostic.line, diagnostic.column),
        (line, column),
        "{rule} {expect}"
    );
}

#[test]
fn what_could_never_be_a_span_is_refused() {
    let one = "count: { 'span:s': 1 }";
    refused(
        "begin: @fsync, end: close",
        one,
        "`fsync` is not among the events of this scenario, so it can never occur",
        None,
    );
    refused(
        "begin: openat, end: close, key: @fd",
        one,
        "`openat` has no field `fd`",
        Some("did you mean `dfd`?"),
    );
    refused(
        "begin: openat, end: close, key: { begin: returns, end: @path }",
        one,
        "`close` has no field `path`",
        Some("its fields are `fd`, `returns`, `process`, `program`"),
    );
    refused(
        "begin: openat, end: close, key: { begin: path, end: @fd }",
        one,
        "`path` of `openat` is a path and `fd` of `close` is a descriptor, so they are never equal",
        None,
    );
    refused(
        "begin: @'span:s', end: close",
        one,
        "a span cannot stand here: a span begins and ends with an event",
        Some("name the event that begins it, or the one that ends it"),
    );
}

#[test]
fn what_could_never_be_expected_of_a_span_is_refused() {
    let rule = "begin: openat, end: close, key: { begin: returns, end: fd }";
    for (expect, message, help) in [
        (
            "count: { @'span:t': 1 }",
            "there is no span `span:t`",
            Some("did you mean `span:s`?"),
        ),
        (
            "never: [{ 'span:s': { duration: @10ms } }]",
            "`duration` of `span:s` is a length of time, never exactly `10ms`",
            Some("a length of time is written \"..=10ms\", \"1s..\" or \"200us..=1ms\""),
        ),
        (
            "never: [{ 'span:s': { duration: @'2s..=1s' } }]",
            "no length of time is in this range",
            None,
        ),
        (
            "never: [{ 'span:s': { state: @ended } }]",
            "`state` of `span:s` is never `ended`",
            Some("it is finished, unfinished, unbegun"),
        ),
        (
            "never: [{ 'span:s': { @end.path: a } }]",
            "`span:s` has no field `end.path`",
            Some(
                "its fields are `returns`, `state`, `duration`, `begin.FIELD`, `end.FIELD`, `process`, `program`",
            ),
        ),
        (
            "only: [@'span:s']",
            "a span cannot stand here: `only` is said of events",
            Some("name the event that begins it, or the one that ends it"),
        ),
        (
            "sequence: [openat, { next: { @'span:s': {} } }]",
            "a span cannot stand here: what a thread does next is an event",
            Some("name the event that begins it, or the one that ends it"),
        ),
    ] {
        refused(rule, expect, message, help);
    }
}

#[test]
fn lengths_of_time_have_units() {
    let rule = "begin: openat, end: close, key: { begin: returns, end: fd }";
    for (text, wanted) in [
        ("..=10ms", "Range(None, Some(10000000))"),
        ("2us..=1s", "Range(Some(2000), Some(1000000000))"),
        ("1ns..", "Range(Some(1), None)"),
    ] {
        let expect = format!("never: [{{ 'span:s': {{ duration: '{text}' }} }}]");
        match resolved_with(rule, &expect) {
            Ok(Resolved::Plan(plan)) => {
                let (_, test) = &plan.expected.never[0].fields[0];
                assert_eq!(format!("{test:?}"), wanted);
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn what_fires_in_interrupts_ends_no_span_and_is_noted() {
    let completion = "block:block_rq_complete";
    let mut kernel = Kernel::with_io_uring();
    let format = Arc::clone(&kernel.0["sched:sched_switch"]);
    kernel.0.insert(completion.to_owned(), format);
    let yaml = |spans: &str| {
        format!(
            "description: d\nworkload: {{ run: [a] }}\nsnapshot: false\ntrace:\n  events: [{{ syscalls: [fsync] }}, '{completion}']\n{spans}\
             expect:\n  count: {{ fsync: 1 }}\n"
        )
    };
    match resolved_on(&kernel, None, &yaml("")) {
        Ok(Resolved::Plan(plan)) => {
            assert_eq!(
                plan.notes,
                [format!("of `{completion}` little is seen: {WHY_OF_NOBODY}")]
            );
            // It is chance which of them have a record.
            let account = Account {
                events: vec![EventAccount {
                    name: completion.to_owned(),
                    counted: 1,
                    delivered: 1,
                    said_lost: Some(0),
                    overwritten: 0,
                    sampled: false,
                }],
                ..Account::default()
            };
            let missed = plan.events.overwritten(&account);
            assert_eq!(missed.into_iter().collect::<Vec<_>>(), [completion]);
        }
        other => panic!("{other:?}"),
    }
    let spans = format!("  spans:\n    s: {{ begin: fsync, end: '{completion}' }}\n");
    let Err(PlanError::Invalid(diagnostic)) = resolved_on(&kernel, None, &yaml(&spans)) else {
        panic!("a span without a task")
    };
    assert_eq!((diagnostic.line, diagnostic.column), (7, 29));
    assert_eq!(
        diagnostic.message,
        format!("no span ends with `{completion}`: {WHY_OF_NOBODY}")
    );
}
