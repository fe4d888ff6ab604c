//! Faults in the values of the other keys.

use super::check;

#[test]
fn wrong_type_of_an_event() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { events: [[openat]] }
",
        "
error: `trace.events[0]` must be a string such as `sched:sched_switch`, or a mapping with `syscalls`, `event` or `count`, not a list
 --> x.yaml:3:19
  |
3 | trace: { events: [[openat]] }
  |                   ^^^^^^^^
",
    );
}

#[test]
fn wrong_type_of_an_exit() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { exit: SIGKILL }
",
        "
error: `expect.exit`: a signal stands in a mapping
 --> x.yaml:3:17
  |
3 | expect: { exit: SIGKILL }
  |                 ^^^^^^^
  |
  = help: write { signal: SIGKILL }
",
    );
}

#[test]
fn exit_status_out_of_range() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { exit: 256 }
",
        "
error: `expect.exit` must be a status from 0 to 255, or a mapping with `signal`, not `256`
 --> x.yaml:3:17
  |
3 | expect: { exit: 256 }
  |                 ^^^
",
    );
}

#[test]
fn wrong_type_of_an_output() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { stdout: [a] }
",
        "
error: `expect.stdout` must be a string, or a mapping with `contains` or `matches`, not a list
 --> x.yaml:3:19
  |
3 | expect: { stdout: [a] }
  |                   ^^^
",
    );
}

#[test]
fn wrong_type_of_a_snapshot() {
    check(
        "\
description: d
workload: { run: [ls] }
snapshot: yes
",
        "
error: `snapshot` must be `true`, `false`, or a mapping with `level`, `levels`, `by`, `hide`, `show`, `contents`, `temporary` or `section`, not `yes`
 --> x.yaml:3:11
  |
3 | snapshot: yes
  |           ^^^
",
    );
}

#[test]
fn wrong_type_of_requires() {
    check(
        "\
description: d
workload: { run: [ls] }
requires: [python3]
",
        "
error: `requires` must be a mapping, not a list
 --> x.yaml:3:11
  |
3 | requires: [python3]
  |           ^^^^^^^^^
",
    );
}

#[test]
fn the_whole_file_is_a_list() {
    check(
        "\
- a
- b
",
        "
error: the scenario must be a mapping, not a list
 --> x.yaml:1:1
  |
1 | - a
  | ^^^
",
    );
}

#[test]
fn blank_description() {
    check(
        r#"description: ""
workload: { run: [ls] }
"#,
        r#"
error: `description` is empty
 --> x.yaml:1:14
  |
1 | description: ""
  |              ^^
"#,
    );
}

#[test]
fn blank_expect_failure() {
    check(
        r#"description: d
workload: { run: [ls] }
expect_failure: " "
"#,
        r#"
error: `expect_failure` is empty
 --> x.yaml:3:17
  |
3 | expect_failure: " "
  |                 ^^^
"#,
    );
}

#[test]
fn bad_size() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { ring: { size: 1MB } }
",
        "
error: `trace.ring.size` must be a size in bytes such as `65536`, `64KiB` or `1MiB`, not `1MB`
 --> x.yaml:3:24
  |
3 | trace: { ring: { size: 1MB } }
  |                        ^^^
",
    );
}

#[test]
fn zero_size() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { ring: { size: 0 } }
",
        "
error: `trace.ring.size`: a size must be larger than zero
 --> x.yaml:3:24
  |
3 | trace: { ring: { size: 0 } }
  |                        ^
",
    );
}

#[test]
fn negative_size() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { ring: { size: -1 } }
",
        "
error: `trace.ring.size` must be a size in bytes such as `65536`, `64KiB` or `1MiB`, not `-1`
 --> x.yaml:3:24
  |
3 | trace: { ring: { size: -1 } }
  |                        ^^
",
    );
}

#[test]
fn bad_signal() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { exit: { signal: KILL } }
",
        "
error: `expect.exit.signal`: unknown signal `KILL`
 --> x.yaml:3:27
  |
3 | expect: { exit: { signal: KILL } }
  |                           ^^^^
  |
  = help: did you mean `SIGKILL`?
",
    );
}

#[test]
fn bad_signal_without_a_neighbour() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { exit: { signal: SIGFROBNICATE } }
",
        "
error: `expect.exit.signal`: unknown signal `SIGFROBNICATE`
 --> x.yaml:3:27
  |
3 | expect: { exit: { signal: SIGFROBNICATE } }
  |                           ^^^^^^^^^^^^^
",
    );
}

#[test]
fn bad_regex() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  stderr: { matches: "warning: (.*" }
"#,
        r#"
error: `expect.stderr.matches`: no regular expression: unclosed group
 --> x.yaml:4:22
  |
4 |   stderr: { matches: "warning: (.*" }
  |                      ^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn output_said_twice() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  stderr: { matches: a, contains: b }
",
        "
error: `expect.stderr`: `contains` and `matches` exclude each other
 --> x.yaml:4:11
  |
4 |   stderr: { matches: a, contains: b }
  |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn bad_count() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { count: { openat: 1..4 } }
",
        "
error: `expect.count.openat` must be a number, or a range such as `1..=4`, `2..` or `..=3`, not `1..4`
 --> x.yaml:3:28
  |
3 | expect: { count: { openat: 1..4 } }
  |                            ^^^^
",
    );
}

#[test]
fn impossible_count() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { count: { openat: 4..=1 } }
",
        "
error: `expect.count.openat`: no number is in this range
 --> x.yaml:3:28
  |
3 | expect: { count: { openat: 4..=1 } }
  |                            ^^^^^
",
    );
}

#[test]
fn bad_kernel() {
    check(
        r#"description: d
workload: { run: [ls] }
requires: { kernel: "5.10" }
"#,
        r#"
error: `requires.kernel` must be a string such as ">= 5.10" or ">= 5.10, < 6.12", not `"5.10"`
 --> x.yaml:3:21
  |
3 | requires: { kernel: "5.10" }
  |                     ^^^^^^
"#,
    );
}

#[test]
fn kernel_as_a_number() {
    check(
        "\
description: d
workload: { run: [ls] }
requires: { kernel: 5.10 }
",
        r#"
error: `requires.kernel` must be a string such as ">= 5.10" or ">= 5.10, < 6.12", not `5.10`
 --> x.yaml:3:21
  |
3 | requires: { kernel: 5.10 }
  |                     ^^^^
"#,
    );
}

#[test]
fn bad_required_tracepoint() {
    check(
        "\
description: d
workload: { run: [ls] }
requires: { tracepoints: [sched_switch] }
",
        "
error: `requires.tracepoints[0]` must be a string such as `sched:sched_switch`, not `sched_switch`
 --> x.yaml:3:27
  |
3 | requires: { tracepoints: [sched_switch] }
  |                           ^^^^^^^^^^^^
",
    );
}

#[test]
fn bad_level() {
    check(
        "\
description: d
workload: { run: [ls] }
snapshot: { level: count }
",
        "
error: `snapshot.level`: unknown level `count`
 --> x.yaml:3:20
  |
3 | snapshot: { level: count }
  |                    ^^^^^
  |
  = help: did you mean `counts`?
",
    );
}

#[test]
fn bad_level_without_a_neighbour() {
    check(
        "\
description: d
workload: { run: [ls] }
snapshot: { level: strict }
",
        "
error: `snapshot.level` must be `sequence`, `counts` or `set`, not `strict`
 --> x.yaml:3:20
  |
3 | snapshot: { level: strict }
  |                    ^^^^^^
",
    );
}

#[test]
fn syscall_in_place_of_a_tracepoint() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { events: [openat] }
",
        r#"
error: `trace.events[0]`: a tracepoint is named `system:event`
 --> x.yaml:3:19
  |
3 | trace: { events: [openat] }
  |                   ^^^^^^
  |
  = help: for syscalls write { syscalls: ["openat"] }
"#,
    );
}

#[test]
fn tracepoint_in_place_of_a_syscall() {
    check(
        r#"description: d
workload: { run: [ls] }
trace: { events: [{ syscalls: ["sched:sched_switch"] }] }
"#,
        r#"
error: `trace.events[0].syscalls[0]`: this is no syscall
 --> x.yaml:3:32
  |
3 | trace: { events: [{ syscalls: ["sched:sched_switch"] }] }
  |                                ^^^^^^^^^^^^^^^^^^^^
  |
  = help: a tracepoint is an element of `events` itself
"#,
    );
}

#[test]
fn filter_on_syscalls() {
    check(
        "\
description: d
workload: { run: [ls] }
trace:
  events:
    - syscalls: [openat]
      filter: ret < 0
",
        "
error: `trace.events[0]`: a `filter` belongs to an `event`
 --> x.yaml:5:7
  |
5 |     - syscalls: [openat]
  |       ^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn an_empty_list_of_events() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { events: [] }
",
        "
error: the list of `events` is empty
 --> x.yaml:3:18
  |
3 | trace: { events: [] }
  |                  ^^
  |
  = help: leave `events` out to record all syscalls
",
    );
}

#[test]
fn no_syscalls() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { events: [{ syscalls: [] }] }
",
        "
error: `trace.events[0]`: the list of `syscalls` is empty
 --> x.yaml:3:19
  |
3 | trace: { events: [{ syscalls: [] }] }
  |                   ^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn a_feature_that_is_none() {
    check(
        "\
description: d
workload: { run: [ls] }
requires: { hard: { features: [bpf, io_urin] } }
",
        "
error: `requires.hard.features[1]`: unknown feature `io_urin`
 --> x.yaml:3:37
  |
3 | requires: { hard: { features: [bpf, io_urin] } }
  |                                     ^^^^^^^
  |
  = help: did you mean `io_uring`?
",
    );
}

#[test]
fn a_tier_that_asks_for_nothing() {
    check(
        "\
description: d
workload: { run: [ls] }
requires: { best_effort: {} }
",
        "
error: `requires.best_effort` is empty
 --> x.yaml:3:26
  |
3 | requires: { best_effort: {} }
  |                          ^^
",
    );
}
