//! Faults in `between`.

use super::check;

#[test]
fn an_empty_between() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { between: [] }
",
        "
error: `expect.between` is empty
 --> x.yaml:3:20
  |
3 | expect: { between: [] }
  |                    ^^
  |
  = help: write { first: ..., then: ..., there_is: ... }, or leave it out
",
    );
}

#[test]
fn a_between_without_an_end() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  between:
    - { first: write, there_is: fsync }
",
        "
error: `expect.between[0]` lacks the key `then`
 --> x.yaml:5:7
  |
5 |     - { first: write, there_is: fsync }
  |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn a_between_with_a_pattern() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  between:
    - { first: { next: write }, then: sendto, there_is: fsync }
",
        "
error: `expect.between[0].first`: `next` cannot stand here
 --> x.yaml:5:16
  |
5 |     - { first: { next: write }, then: sendto, there_is: fsync }
  |                ^^^^^^^^^^^^^^^
  |
  = help: name an event: { fsync: { returns: 0 } }
",
    );
}
