//! Pairing rules, and faults in them.

use super::{check, read_text};
use crate::scenario::Scenario;

fn with(spans: &str) -> Scenario {
    let text = format!(
        "description: d\nworkload: {{ run: [ls] }}\ntrace: {{ events: [\"a:on\", \"a:off\"], spans: {{ s: {spans} }} }}\n"
    );
    read_text(&text).expect("a scenario")
}

fn key(spans: &str) -> Vec<(String, String)> {
    let scenario = with(spans);
    let key = scenario.trace.spans[0].key.iter();
    key.map(|field| (field.begin.clone(), field.end.clone()))
        .collect()
}

#[test]
fn a_key_is_a_field_a_list_of_fields_or_the_thread() {
    let pair = |begin: &str, end: &str| (begin.to_owned(), end.to_owned());
    let ends = "begin: \"a:on\", end: { \"a:off\": { n: 1 } }";
    assert_eq!(key(&format!("{{ {ends} }}")), [pair("thread", "thread")]);
    assert_eq!(
        key(&format!("{{ {ends}, key: dev }}")),
        [pair("dev", "dev")]
    );
    assert_eq!(
        key(&format!("{{ {ends}, key: {{ begin: a, end: b }} }}")),
        [pair("a", "b")]
    );
    assert_eq!(
        key(&format!("{{ {ends}, key: [dev, {{ begin: a, end: b }}] }}")),
        [pair("dev", "dev"), pair("a", "b")]
    );
    let scenario = with(&format!("{{ {ends} }}"));
    let span = &scenario.trace.spans[0];
    assert_eq!((&*span.name, &*span.begin.event), ("s", "a:on"));
    assert_eq!(span.end.fields.len(), 1);
}

#[test]
fn a_span_without_an_end() {
    check(
        "\
description: d
workload: { run: [ls] }
trace:
  spans: { s: { begin: openat } }
",
        "
error: `trace.spans.s` lacks the key `end`
 --> x.yaml:4:15
  |
4 |   spans: { s: { begin: openat } }
  |               ^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn a_name_that_could_be_mistaken_for_something_else() {
    check(
        "\
description: d
workload: { run: [ls] }
trace:
  spans: { 'S:*': { begin: openat, end: close } }
",
        "
error: `S:*` is no name of a span: it has lower case letters, digits, `_` and `-` only
 --> x.yaml:4:12
  |
4 |   spans: { 'S:*': { begin: openat, end: close } }
  |            ^^^^^
",
    );
}

#[test]
fn a_capture_in_an_end_of_a_span() {
    check(
        "\
description: d
workload: { run: [ls] }
trace:
  spans: { s: { begin: { openat: { returns: $fd } }, end: close } }
",
        "
error: a capture cannot stand here: spans are made before everything else
 --> x.yaml:4:45
  |
4 |   spans: { s: { begin: { openat: { returns: $fd } }, end: close } }
  |                                             ^^^
  |
  = help: to take anything write `any`
",
    );
}

#[test]
fn a_key_of_nothing() {
    check(
        "\
description: d
workload: { run: [ls] }
trace:
  spans: { s: { begin: openat, end: close, key: [] } }
",
        "
error: `trace.spans.s.key`: a key of nothing pairs everything with everything
 --> x.yaml:4:49
  |
4 |   spans: { s: { begin: openat, end: close, key: [] } }
  |                                                 ^^
  |
  = help: leave it out to pair what one thread does
",
    );
}
