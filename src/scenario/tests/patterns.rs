//! Faults in patterns and counts.

use super::check;

#[test]
fn an_empty_sequence() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { sequence: [] }
",
        "
error: `expect.sequence` is empty
 --> x.yaml:3:21
  |
3 | expect: { sequence: [] }
  |                     ^^
  |
  = help: name an event, or leave it out
",
    );
}

#[test]
fn an_empty_any_order() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - fsync
    - any_order: []
",
        "
error: `expect.sequence[1].any_order` is empty
 --> x.yaml:6:18
  |
6 |     - any_order: []
  |                  ^^
  |
  = help: name an event, or leave it out
",
    );
}

#[test]
fn an_empty_never() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { never: [] }
",
        "
error: `expect.never` is empty
 --> x.yaml:3:18
  |
3 | expect: { never: [] }
  |                  ^^
  |
  = help: name an event, or leave it out
",
    );
}

#[test]
fn an_empty_only() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { only: [] }
",
        "
error: `expect.only` is empty
 --> x.yaml:3:17
  |
3 | expect: { only: [] }
  |                 ^^
  |
  = help: name an event, or leave it out
",
    );
}

#[test]
fn an_empty_count() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { count: {} }
",
        "
error: `expect.count` is empty
 --> x.yaml:3:18
  |
3 | expect: { count: {} }
  |                  ^^
  |
  = help: name an event, or leave it out
",
    );
}

#[test]
fn an_empty_list_between_two_steps() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence: [fsync, never: [], rename]
",
        "
error: `expect.sequence[1].never` is empty
 --> x.yaml:4:28
  |
4 |   sequence: [fsync, never: [], rename]
  |                            ^^
  |
  = help: name an event, or leave it out
",
    );
}

#[test]
fn a_sequence_that_demands_nothing() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - never: connect
",
        "
error: `expect.sequence` demands no event
 --> x.yaml:4:3
  |
4 |   sequence:
  |   ^^^^^^^^
  |
  = help: for what must not come at all write `never` beside it
",
    );
}

#[test]
fn a_step_with_two_events() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - fsync: { fd: 3 }
      rename: {}
",
        "
error: `expect.sequence[0]`: an element names one event, not both `fsync` and `rename`
 --> x.yaml:5:7
  |
5 |     - fsync: { fd: 3 }
  |       ^^^^^^^^^^^^^^^^
  |
  = help: fields stand in a mapping below the event: { fsync: { returns: 0 } }
",
    );
}

#[test]
fn a_field_beside_its_event() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - fsync:
      fd: 3
",
        "
error: `expect.sequence[0].fsync` has no value: it must be a mapping of fields such as { returns: 0 }
 --> x.yaml:5:7
  |
5 |     - fsync:
  |       ^^^^^
",
    );
}

#[test]
fn a_step_with_a_value_in_place_of_fields() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { sequence: [{ fsync: 3 }] }
",
        "
error: `expect.sequence[0].fsync` must be a mapping of fields such as { returns: 0 }, not `3`
 --> x.yaml:3:31
  |
3 | expect: { sequence: [{ fsync: 3 }] }
  |                               ^
",
    );
}

#[test]
fn a_step_that_names_nothing() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { sequence: [{}] }
",
        "
error: `expect.sequence[0]`: the mapping names no event
 --> x.yaml:3:22
  |
3 | expect: { sequence: [{}] }
  |                      ^^
  |
  = help: write { fsync: {} }, or the name alone
",
    );
}

#[test]
fn an_event_without_a_name() {
    check(
        r#"description: d
workload: { run: [ls] }
expect: { never: [""] }
"#,
        r#"
error: `expect.never[0]`: the name of an event is empty
 --> x.yaml:3:19
  |
3 | expect: { never: [""] }
  |                   ^^
"#,
    );
}

#[test]
fn a_step_that_is_a_number() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { only: [3] }
",
        "
error: `expect.only[0]` must be an event such as `fsync`, or a mapping with one: { fsync: { returns: 0 } }, not `3`
 --> x.yaml:3:18
  |
3 | expect: { only: [3] }
  |                  ^
",
    );
}

#[test]
fn a_sequence_that_is_no_list() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { sequence: fsync }
",
        "
error: `expect.sequence` must be a list, not `fsync`
 --> x.yaml:3:21
  |
3 | expect: { sequence: fsync }
  |                     ^^^^^
  |
  = help: a list is written `[one, two]`, or as lines that begin with `- `
",
    );
}

#[test]
fn a_duplicate_field() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - openat: { path: a, returns: 3, path: b }
",
        "
error: duplicate key `path`
 --> x.yaml:5:38
  |
5 |     - openat: { path: a, returns: 3, path: b }
  |                 ----                 ^^^^
  |                 |
  |                 it is here already
",
    );
}

#[test]
fn a_next_that_is_first() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - next: { close: {} }
    - fsync
",
        "
error: `next` has no step before it
 --> x.yaml:5:7
  |
5 |     - next: { close: {} }
  |       ^^^^
  |
  = help: it is the event that the thread of a step makes next: put that step before it
",
    );
}

#[test]
fn a_next_behind_any_order() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - any_order: [fsync, fdatasync]
    - next: close
",
        "
error: `next` has no step before it
 --> x.yaml:6:7
  |
6 |     - next: close
  |       ^^^^
  |
  = help: it is the event that the thread of a step makes next: put that step before it
",
    );
}

#[test]
fn a_next_in_any_order() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  any_order:
    - fsync
    - next: close
",
        "
error: `next` belongs into a sequence
 --> x.yaml:6:7
  |
6 |     - next: close
  |       ^^^^
  |
  = help: in any order nothing is next: write { sequence: [...] } as an element
",
    );
}

#[test]
fn a_never_in_any_order() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - any_order: [fsync, never: close]
",
        "
error: `never` belongs into a sequence, or beside `any_order`
 --> x.yaml:5:26
  |
5 |     - any_order: [fsync, never: close]
  |                          ^^^^^
  |
  = help: in any order nothing lies between: write { sequence: [...] } as an element
",
    );
}

#[test]
fn a_next_in_never() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ next: close }]
",
        "
error: `expect.never[0]`: `next` cannot stand here
 --> x.yaml:4:11
  |
4 |   never: [{ next: close }]
  |           ^^^^^^^^^^^^^^^
  |
  = help: name an event: { fsync: { returns: 0 } }
",
    );
}

#[test]
fn a_word_of_patterns_as_an_event() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence: [fsync, next]
",
        "
error: `expect.sequence[1]`: `next` is no event
 --> x.yaml:4:21
  |
4 |   sequence: [fsync, next]
  |                     ^^^^
  |
  = help: write a mapping: { next: ... }
",
    );
}

#[test]
fn a_count_of_any_number() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  count: { fsync: "0.." }
"#,
        r#"
error: `expect.count.fsync`: every number is in this range
 --> x.yaml:4:19
  |
4 |   count: { fsync: "0.." }
  |                   ^^^^^
  |
  = help: give it another end, or leave it out
"#,
    );
}

#[test]
fn a_count_without_times() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  count:
    - openat: { path: a }
",
        "
error: `expect.count[0]`: `times` is missing
 --> x.yaml:5:7
  |
5 |     - openat: { path: a }
  |       ^^^^^^^^^^^^^^^^^^^
  |
  = help: say how many: { fsync: { fd: 3 }, times: 2 }
",
    );
}

#[test]
fn a_count_without_an_event() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  count: [{ times: 2 }]
",
        "
error: `expect.count[0]`: an event is missing
 --> x.yaml:4:11
  |
4 |   count: [{ times: 2 }]
  |           ^^^^^^^^^^^^
  |
  = help: say of what: { fsync: { fd: 3 }, times: 2 }
",
    );
}

#[test]
fn a_count_of_two_events() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  count: [{ openat: {}, close: {}, times: 2 }]
",
        "
error: `expect.count[0]`: an element names one event, not both `openat` and `close`
 --> x.yaml:4:11
  |
4 |   count: [{ openat: {}, close: {}, times: 2 }]
  |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: fields stand in a mapping below the event: { fsync: { returns: 0 } }
",
    );
}

#[test]
fn a_count_that_is_a_name() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { count: fsync }
",
        "
error: `expect.count` must be a mapping of events to numbers, or a list of events with `times`, not `fsync`
 --> x.yaml:3:18
  |
3 | expect: { count: fsync }
  |                  ^^^^^
",
    );
}

#[test]
fn an_element_of_count_that_is_a_name() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { count: [fsync] }
",
        "
error: `expect.count[0]` must be a mapping with an event and `times`: { fsync: { fd: 3 }, times: 2 }, not `fsync`
 --> x.yaml:3:19
  |
3 | expect: { count: [fsync] }
  |                   ^^^^^
",
    );
}

#[test]
fn wrong_type_of_times() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  count: [{ openat: {}, times: many }]
",
        "
error: `expect.count[0].times` must be a number, or a range such as `1..=4`, `2..` or `..=3`, not `many`
 --> x.yaml:4:32
  |
4 |   count: [{ openat: {}, times: many }]
  |                                ^^^^
",
    );
}
