//! What begins and what ends becomes a span: by its key, the last begun first.

use super::*;
use crate::trace::{Block, Normalised, View};
use std::collections::{BTreeMap, BTreeSet};

/// A rule of these two, in the form of steps; with pairs of fields that must be equal.
fn rule(begin: &str, end: &str, key: &[(&str, &str, SharedBy)]) -> SpanRule {
    let matcher = |step: &str| {
        let steps = expected(&format!("never: [{step}]"));
        steps.never.into_iter().next().expect("a step")
    };
    let key = key.iter().map(|(begin, end, by)| SharedField {
        begin: (*begin).to_owned(),
        end: (*end).to_owned(),
        by: *by,
    });
    SpanRule {
        name: "span:s".into(),
        begin: matcher(begin),
        end: matcher(end),
        key: key.collect(),
    }
}

fn run(text: &str) -> Normalised {
    let mut blocks: Vec<Block> = Vec::new();
    for deed in deeds(text) {
        let known = blocks.iter().position(|block| block.task == deed.task);
        let place = known.unwrap_or_else(|| {
            blocks.push(Block {
                task: deed.task,
                program: "program".to_owned(),
                parent: None,
                deeds: Vec::new(),
                tally: Default::default(),
                answered: Default::default(),
            });
            blocks.len() - 1
        });
        blocks[place].deeds.push(deed);
    }
    let mut run = Normalised {
        blocks,
        unread: 0,
        unled: BTreeMap::new(),
        counted: std::collections::BTreeMap::new(),
        handed: BTreeSet::new(),
        view: View::default(),
        rules: BTreeSet::new(),
    };
    run.recount();
    run
}

/// The spans of a run: whose, and their lines with their lengths.
#[track_caller]
fn check(rule: &SpanRule, text: &str, spans: &[&str]) -> Normalised {
    let mut run = run(text);
    add_spans(std::slice::from_ref(rule), &mut run);
    let found: Vec<String> = run
        .in_order()
        .into_iter()
        .filter(|deed| deed.ends.is_some())
        .map(|deed| {
            let duration = deed.part("duration").expect("a duration");
            format!("{} {} {}", deed.task, deed.line(), duration.text)
        })
        .collect();
    assert_eq!(found, spans);
    let counted = run.counts().get("span:s").copied().unwrap_or_default();
    assert_eq!(counted, spans.len() as u64);
    run
}

const BY_THREAD: (&str, &str, SharedBy) = ("thread", "thread", SharedBy::Task);

#[test]
fn a_thread_ends_what_it_began_last() {
    let rule = rule("'a:on'", "'a:off'", &[BY_THREAD]);
    check(
        &rule,
        "P1 10-10 a:on n=1\nP1 20-20 a:on n=2\nP2 25-25 a:off n=9\nP1 30-30 a:off n=3\nP1 50-50 a:off n=4",
        &["P1 span:s 40ns", "P1 span:s 10ns", "P2 span:s unbegun ?"],
    );
}

#[test]
fn a_key_is_compared_whoever_has_it_and_under_whatever_name() {
    let key = [
        ("dev", "dev", SharedBy::Number),
        ("from", "to", SharedBy::Task),
    ];
    let rule = rule("'a:on'", "'a:off'", &key);
    check(
        &rule,
        "P1 10-10 a:on dev=8 from=P3\nP1 20-20 a:on dev=9 from=P3\nP2 30-30 a:off to=P3 dev=8\nP2 31-31 a:off to=P4 dev=9",
        &[
            "P1 span:s dev=8 from=P3 20ns",
            "P1 span:s dev=9 from=P3 unfinished ?",
            "P2 span:s dev=9 from=P4 unbegun ?",
        ],
    );
}

#[test]
fn a_descriptor_is_that_of_one_opening_though_its_number_comes_again() {
    let key = [("returns", "fd", SharedBy::File)];
    let rule = rule("openat", "close", &key);
    let run = check(
        &rule,
        "P1 10-12 openat(filename:path=p\"a\") = <3 a #1>\nP2 13-14 close(fd=<3 b #7>) = 0\nP1 15-16 openat(filename:path=p\"c\") = ENOENT\n\
         P1 20-25 close(fd=<3 a #1>) = 0\nP1 30-31 openat(filename:path=p\"b\") = <3 b #2>",
        &[
            "P1 span:s returns=<a> 15ns",
            "P2 span:s returns=<b> unbegun ?",
            "P1 span:s returns=<b> unfinished ?",
        ],
    );
    let spans = run.in_order();
    let span = spans
        .iter()
        .find(|deed| deed.ends.is_some())
        .expect("a span");
    let text = |word: &str| span.part(word).map(|part| part.text.clone());
    assert_eq!(text("begin.path").as_deref(), Some("\"a\""));
    assert_eq!(text("end.returns").as_deref(), Some("0"));
    assert_eq!(text("state").as_deref(), Some("finished"));
    assert_eq!(text("begin.nothing"), None);
    assert_eq!((span.entered, span.left), (10, 25));
}

#[test]
fn what_ends_one_may_begin_the_next() {
    let rule = rule("'a:tick'", "'a:tick'", &[BY_THREAD]);
    check(
        &rule,
        "P1 10-10 a:tick n=1\nP1 20-20 a:tick n=2\nP1 50-50 a:tick n=3",
        &["P1 span:s 10ns", "P1 span:s 30ns", "P1 span:s unfinished ?"],
    );
}

#[test]
fn fields_say_what_begins_where_a_name_is_not_enough() {
    let rule = rule(
        "{ 'a:it': { on: 1 } }",
        "{ 'a:it': { on: 0 } }",
        &[BY_THREAD],
    );
    check(
        &rule,
        "P1 10-10 a:it on=1\nP1 20-20 a:it on=7\nP1 50-50 a:it on=0",
        &["P1 span:s 40ns"],
    );
}

/// What is expected of a run with its spans: `failed`, `unknown`, or nothing.
fn judged_with(rule: &SpanRule, text: &str, wanted: &str) -> Vec<&'static str> {
    let mut run = run(text);
    add_spans(std::slice::from_ref(rule), &mut run);
    let scene = Scene::new(&run.in_order());
    let judgement = judge(
        &expected(wanted),
        &scene,
        None,
        &Bindings::default(),
        MOST_TRIES,
    );
    let word = |finding: &Finding| match finding {
        Finding::Failed(_) => "failed",
        Finding::Unknown(_) => "unknown",
        Finding::GaveUp(_) => "gave up",
        Finding::Remark(_) => "remarked",
    };
    judgement.findings.iter().map(word).collect()
}

#[test]
fn spans_are_steps_but_neither_next_nor_among_all_that_may_be() {
    let rule = rule("'a:on'", "'a:off'", &[BY_THREAD]);
    let text = "P1 10-10 a:on n=1\nP1 20-20 a:off n=2\nP1 30-30 a:last n=3\nP2 40-40 a:on n=1";
    for (wanted, said) in [
        (
            "sequence: [{ 'span:s': { state: finished } }, 'a:last']",
            vec![],
        ),
        (
            "sequence: ['a:last', { 'span:s': { state: finished } }]",
            vec!["failed"],
        ),
        ("sequence: ['a:on', { next: { 'a:off': {} } }]", vec![]),
        ("only: ['a:on', 'a:off', 'a:last']", vec![]),
        ("count: { 'span:s': 2 }", vec![]),
        ("count: { 'span:s': { state: finished, times: 1 } }", vec![]),
        ("never: [{ 'span:s': { begin.n: 2 } }]", vec![]),
        ("never: [{ 'span:s': { end.n: 2 } }]", vec!["failed"]),
    ] {
        assert_eq!(judged_with(&rule, text, wanted), said, "{wanted}");
    }
}

#[test]
fn a_span_is_between_two_events_of_its_thread_only_as_a_whole() {
    let rule = rule("'a:on'", "'a:off'", &[BY_THREAD]);
    let flushed = "between: [{ first: 'a:write', then: 'a:answer', there_is: 'span:s' }]";
    let synced = "between: [{ first: 'span:s', then: 'a:answer', there_is: 'a:sync' }]";
    for (wanted, order, said) in [
        (flushed, ["write", "on", "off", "answer"], vec![]),
        (flushed, ["write", "on", "answer", "off"], vec!["failed"]),
        (flushed, ["on", "write", "off", "answer"], vec!["failed"]),
        (flushed, ["write", "on", "answer", "sync"], vec!["failed"]),
        (synced, ["on", "off", "sync", "answer"], vec![]),
        (synced, ["on", "sync", "off", "answer"], vec!["failed"]),
    ] {
        let lines = order.iter().zip(1..);
        let lines = lines.map(|(name, at)| format!("P1 {at}0-{at}0 a:{name} n=1\n"));
        let text: String = lines.collect();
        assert_eq!(
            judged_with(&rule, &text, wanted),
            said,
            "{wanted} {order:?}"
        );
    }
}

#[test]
fn a_length_is_compared_and_what_has_none_passes_no_test_of_it() {
    let rule = rule("'a:on'", "'a:off'", &[BY_THREAD]);
    let text = "P1 10-10 a:on n=1\nP1 20-20 a:off n=2\nP1 30-30 a:on n=3";
    let within = |from, to| {
        let mut run = run(text);
        add_spans(std::slice::from_ref(&rule), &mut run);
        let mut matcher = expected("never: ['span:s']").never.remove(0);
        let test = crate::scenario::Test::Range(from, to);
        matcher.fields.push(("duration".to_owned(), test));
        tally(&matcher, &Scene::new(&run.in_order()))
    };
    assert_eq!(within(None, Some(10)), (1, 1));
    assert_eq!(within(Some(10), None), (1, 1));
    assert_eq!(within(None, Some(9)), (0, 0));
    assert_eq!(within(Some(11), None), (0, 0));
}

#[test]
fn what_was_not_read_may_be_any_key_so_that_nothing_is_known() {
    let rule = rule("openat", "unlink", &[("path", "path", SharedBy::Bytes)]);
    let text = "P1 10-12 openat(filename:path=p\"a\") = <3 a #1>\nP1 13-14 openat(filename:path=<unread>) = <4 a #2>\n\
         P1 20-25 unlink(pathname:path=p\"a\") = 0";
    for wanted in [
        "count: { 'span:s': 1 }",
        "sequence: [{ 'span:s': { state: finished } }]",
        "never: [{ 'span:s': { state: unfinished } }]",
    ] {
        assert_eq!(judged_with(&rule, text, wanted), ["unknown"], "{wanted}");
    }
    assert_eq!(
        judged_with(&rule, text, "never: ['a:b']"),
        Vec::<&str>::new()
    );
}

#[test]
fn an_end_whose_begin_may_have_been_overwritten_is_not_known() {
    let rule = rule("'a:on'", "'a:off'", &[BY_THREAD]);
    let mut run = run("P1 10-10 a:off n=1\nP1 20-20 a:on n=2\nP1 30-30 a:off n=3");
    let rules = std::slice::from_ref(&rule);
    add_spans(rules, &mut run);
    forget_begins(rules, &mut run, &BTreeSet::from(["a:on".to_owned()]));
    let lines: Vec<String> = run.in_order().iter().map(|deed| deed.line()).collect();
    let spans: Vec<&String> = lines.iter().filter(|line| line.contains("span")).collect();
    assert_eq!(spans, ["span:s unknown", "span:s"]);
}

#[test]
fn a_run_is_as_before_when_its_spans_are_taken_out() {
    let rule = rule("'a:on'", "'a:off'", &[BY_THREAD]);
    let text = "P1 10-10 a:on n=1\nP1 20-20 a:off n=2\nP1 30-30 a:off n=3";
    let mut with = run(text);
    add_spans(std::slice::from_ref(&rule), &mut with);
    assert_ne!(with, run(text));
    remove_spans(&mut with);
    assert_eq!(with, run(text));
}

#[test]
fn a_span_stands_behind_what_begins_it() {
    let rule = rule("'a:on'", "'a:off'", &[BY_THREAD]);
    let run = check(
        &rule,
        "P1 10-10 a:on n=1\nP1 20-20 a:off n=2",
        &["P1 span:s 10ns"],
    );
    let names: Vec<&str> = run.blocks[0].deeds.iter().map(|deed| &*deed.name).collect();
    assert_eq!(names, ["a:on", "span:s", "a:off"]);
}
