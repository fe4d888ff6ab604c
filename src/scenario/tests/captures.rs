//! Faults in captures.

use super::check;

#[test]
fn used_only_once() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - openat: { path: a, returns: $fd }
    - fsync: { fd: $fd }
    - openat: { path: b, returns: $other }
",
        "
error: `$other` is used only here
 --> x.yaml:7:35
  |
7 |     - openat: { path: b, returns: $other }
  |                                   ^^^^^^
  |
  = help: to take anything write `any`
",
    );
}

#[test]
fn bound_by_nothing() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never:
    - write: { fd: $fd }
    - fsync: { fd: $fd }
",
        "
error: nothing binds `$fd`
 --> x.yaml:5:20
  |
5 |     - write: { fd: $fd }
  |                    ^^^
  |
  = help: a step of `sequence` or `any_order` must have it as the value of a field; to take anything write `any`
",
    );
}

#[test]
fn used_only_once_in_an_element_of_between() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  between:
    - { first: { write: { fd: $fd } }, then: sendto, there_is: { fsync: { fd: $fd } } }
    - { first: write, then: sendto, there_is: { fsync: { fd: $fd } } }
",
        "
error: `$fd` is used only here
 --> x.yaml:6:62
  |
6 |     - { first: write, then: sendto, there_is: { fsync: { fd: $fd } } }
  |                                                              ^^^
  |
  = help: to take anything write `any`
",
    );
}

#[test]
fn bound_by_an_element_of_between_alone() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  between:
    - { first: { write: { fd: $fd } }, then: sendto, there_is: { fsync: { fd: $fd } } }
  never: [{ close: { fd: $fd } }]
",
        "
error: nothing binds `$fd`
 --> x.yaml:6:26
  |
6 |   never: [{ close: { fd: $fd } }]
  |                          ^^^
  |
  = help: a step of `sequence` or `any_order` must have it as the value of a field; to take anything write `any`
",
    );
}

#[test]
fn only_in_a_never_between_steps() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - fsync
    - never: [{ write: { fd: $fd } }, { close: { fd: $fd } }]
    - rename
",
        "
error: nothing binds `$fd`
 --> x.yaml:6:30
  |
6 |     - never: [{ write: { fd: $fd } }, { close: { fd: $fd } }]
  |                              ^^^
  |
  = help: a step of `sequence` or `any_order` must have it as the value of a field; to take anything write `any`
",
    );
}

#[test]
fn only_compared() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - write: { fd: { not: $fd } }
    - fsync: { fd: [$fd, 3] }
",
        "
error: nothing binds `$fd`
 --> x.yaml:5:20
  |
5 |     - write: { fd: { not: $fd } }
  |                    ^^^^^^^^^^^^
  |
  = help: a step of `sequence` or `any_order` must have it as the value of a field; to take anything write `any`
",
    );
}

#[test]
fn compared_before_it_is_bound() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - write: { fd: { not: $fd } }
    - openat: { returns: $fd }
",
        "
error: `$fd` is not known yet here
 --> x.yaml:5:20
  |
5 |     - write: { fd: { not: $fd } }
  |                    ^^^^^^^^^^^^
6 |     - openat: { returns: $fd }
  |                          --- it is bound only here
",
    );
}
