//! Unknown, duplicate, missing and empty keys.

use super::check;

#[test]
fn unknown_key_at_the_top() {
    check(
        "\
description: d
workload: { run: [ls] }
expct: { exit: 0 }
",
        "
error: unknown key `expct` in the scenario
 --> x.yaml:3:1
  |
3 | expct: { exit: 0 }
  | ^^^^^
  |
  = help: did you mean `expect`?
",
    );
}

#[test]
fn unknown_key_without_a_neighbour() {
    check(
        "\
description: d
workload: { run: [ls] }
network: none
",
        "
error: unknown key `network` in the scenario
 --> x.yaml:3:1
  |
3 | network: none
  | ^^^^^^^
  |
  = help: the keys here are `description`, `workload`, `sandbox`, `trace`, `sections`, `baseline`, `faults`, `crash`, `expect`, `snapshot`, `requires`, `on_failure`, `expect_failure`, `lenient`, `matrix`
",
    );
}

#[test]
fn unknown_key_in_workload() {
    check(
        "\
description: d
workload:
  run: [ls]
  timeuot: 10s
",
        "
error: unknown key `timeuot` in `workload`
 --> x.yaml:4:3
  |
4 |   timeuot: 10s
  |   ^^^^^^^
  |
  = help: did you mean `timeout`?
",
    );
}

#[test]
fn unknown_key_in_a_file() {
    check(
        "\
description: d
workload:
  run: [ls]
  files:
    a: { contents: x }
",
        "
error: unknown key `contents` in `workload.files.a`
 --> x.yaml:5:10
  |
5 |     a: { contents: x }
  |          ^^^^^^^^
  |
  = help: did you mean `content`?
",
    );
}

#[test]
fn unknown_key_in_trace() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { event: [] }
",
        "
error: unknown key `event` in `trace`
 --> x.yaml:3:10
  |
3 | trace: { event: [] }
  |          ^^^^^
  |
  = help: did you mean `events`?
",
    );
}

#[test]
fn unknown_key_in_an_event() {
    check(
        "\
description: d
workload: { run: [ls] }
trace:
  events:
    - event: sched:sched_switch
      fliter: prev_pid > 1
",
        "
error: unknown key `fliter` in `trace.events[0]`
 --> x.yaml:6:7
  |
6 |       fliter: prev_pid > 1
  |       ^^^^^^
  |
  = help: did you mean `filter`?
",
    );
}

#[test]
fn unknown_key_in_ring() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { ring: { pages: 4 } }
",
        "
error: unknown key `pages` in `trace.ring`
 --> x.yaml:3:18
  |
3 | trace: { ring: { pages: 4 } }
  |                  ^^^^^
  |
  = help: the keys here are `size`, `mode`
",
    );
}

#[test]
fn unknown_key_in_expect() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { exit_code: 0 }
",
        "
error: unknown key `exit_code` in `expect`
 --> x.yaml:3:11
  |
3 | expect: { exit_code: 0 }
  |           ^^^^^^^^^
  |
  = help: the keys here are `exit`, `stdout`, `stderr`, `sequence`, `any_order`, `never`, `only`, `count`, `between`, `confined`, `sections`, `delta`, `files_after`, `limit`
",
    );
}

#[test]
fn unknown_key_in_exit() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { exit: { signl: SIGKILL } }
",
        "
error: unknown key `signl` in `expect.exit`
 --> x.yaml:3:19
  |
3 | expect: { exit: { signl: SIGKILL } }
  |                   ^^^^^
  |
  = help: did you mean `signal`?
",
    );
}

#[test]
fn unknown_key_in_output() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { stdout: { contain: x } }
",
        "
error: unknown key `contain` in `expect.stdout`
 --> x.yaml:3:21
  |
3 | expect: { stdout: { contain: x } }
  |                     ^^^^^^^
  |
  = help: did you mean `contains`?
",
    );
}

#[test]
fn unknown_key_in_snapshot() {
    check(
        "\
description: d
workload: { run: [ls] }
snapshot: { levl: set }
",
        "
error: unknown key `levl` in `snapshot`
 --> x.yaml:3:13
  |
3 | snapshot: { levl: set }
  |             ^^^^
  |
  = help: did you mean `level`?
",
    );
}

#[test]
fn unknown_key_in_requires() {
    check(
        r#"description: d
workload: { run: [ls] }
requires: { kernels: ">= 5.10" }
"#,
        r#"
error: unknown key `kernels` in `requires`
 --> x.yaml:3:13
  |
3 | requires: { kernels: ">= 5.10" }
  |             ^^^^^^^
  |
  = help: did you mean `kernel`?
"#,
    );
}

#[test]
fn duplicate_key_at_the_top() {
    check(
        "\
description: d
workload: { run: [ls] }
description: again
",
        "
error: duplicate key `description`
 --> x.yaml:3:1
  |
1 | description: d
  | ----------- it is here already
2 | workload: { run: [ls] }
3 | description: again
  | ^^^^^^^^^^^
",
    );
}

#[test]
fn duplicate_key_in_workload() {
    check(
        "\
description: d
workload:
  run: [ls]
  stdin: a
  run: [ls, -l]
",
        "
error: duplicate key `run`
 --> x.yaml:5:3
  |
3 |   run: [ls]
  |   --- it is here already
4 |   stdin: a
5 |   run: [ls, -l]
  |   ^^^
",
    );
}

#[test]
fn duplicate_key_in_env() {
    check(
        r#"description: d
workload: { run: [ls], env: { A: x, B: y, "A": z } }
"#,
        r#"
error: duplicate key `A`
 --> x.yaml:2:43
  |
2 | workload: { run: [ls], env: { A: x, B: y, "A": z } }
  |                               -           ^^^
  |                               |
  |                               it is here already
"#,
    );
}

#[test]
fn duplicate_key_in_files() {
    check(
        "\
description: d
workload:
  run: [ls]
  files:
    a: x
    b: y
    a: z
",
        "
error: duplicate key `a`
 --> x.yaml:7:5
  |
5 |     a: x
  |     - it is here already
6 |     b: y
7 |     a: z
  |     ^
",
    );
}

#[test]
fn duplicate_key_in_count() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  count: { openat: 1, openat: 2 }
",
        "
error: duplicate key `openat`
 --> x.yaml:4:23
  |
4 |   count: { openat: 1, openat: 2 }
  |            ------     ^^^^^^
  |            |
  |            it is here already
",
    );
}

#[test]
fn missing_workload() {
    check(
        "description: d\n",
        "
error: the scenario lacks the key `workload`
 --> x.yaml:1:1
  |
1 | description: d
  | ^^^^^^^^^^^^^^
",
    );
}

#[test]
fn rules_for_a_command_are_no_scenario() {
    check(
        "expect: { exit: 0 }\n",
        "
error: the scenario lacks the key `description`
 --> x.yaml:1:1
  |
1 | expect: { exit: 0 }
  | ^^^^^^^^^^^^^^^^^^^
  |
  = help: without `workload` these are rules for a command: harness check FILE -- COMMAND
",
    );
}

#[test]
fn missing_description() {
    check(
        "workload: { run: [ls] }\n",
        "
error: the scenario lacks the key `description`
 --> x.yaml:1:1
  |
1 | workload: { run: [ls] }
  | ^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn missing_command() {
    check(
        "\
description: d
workload:
  stdin: x
",
        "
error: `workload` needs `run` or `shell`
 --> x.yaml:2:1
  |
2 | workload:
  | ^^^^^^^^
",
    );
}

#[test]
fn missing_signal() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { exit: {} }
",
        "
error: `expect.exit` lacks the key `signal`
 --> x.yaml:3:17
  |
3 | expect: { exit: {} }
  |                 ^^
",
    );
}

#[test]
fn no_value() {
    check(
        "\
description: d
workload: { run: [ls] }
trace:
expect: { exit: 0 }
",
        "
error: `trace` has no value
 --> x.yaml:3:1
  |
3 | trace:
  | ^^^^^
  |
  = help: give it one, or leave it out
",
    );
}

#[test]
fn no_value_in_a_list() {
    check(
        "\
description: d
workload: { run: [ls] }
trace:
  events:
    -
",
        "
error: `trace.events[0]` has no value: it must be a string such as `sched:sched_switch`, or a mapping with `syscalls`, `event` or `count`
 --> x.yaml:5:6
  |
5 |     -
  |      ^
",
    );
}

#[test]
fn null_where_a_string_belongs() {
    check(
        "\
description: d
workload: { run: [ls], env: { A: ~ } }
",
        r#"
error: `workload.env.A` must be a string, not `~`
 --> x.yaml:2:34
  |
2 | workload: { run: [ls], env: { A: ~ } }
  |                                  ^
  |
  = help: quote it: "~"
"#,
    );
}

#[test]
fn keys_that_are_no_strings() {
    check(
        "\
description: d
workload: { run: [ls], env: { 1: x } }
",
        r#"
error: a key must be a string, not `1`
 --> x.yaml:2:31
  |
2 | workload: { run: [ls], env: { 1: x } }
  |                               ^
  |
  = help: quote it: "1"
"#,
    );
}

#[test]
fn merge_key() {
    check(
        "\
description: d
workload: &w { run: [ls] }
trace: { <<: *w }
",
        "
error: unknown key `<<` in `trace`
 --> x.yaml:3:10
  |
3 | trace: { <<: *w }
  |          ^^
  |
  = help: the keys here are `events`, `spans`, `since`, `ring`
",
    );
}

#[test]
fn key_in_backticks() {
    check(
        "\
description: d
workload: { run: [ls] }
a`b: 1
",
        "
error: unknown key `a`b` in the scenario
 --> x.yaml:3:1
  |
3 | a`b: 1
  | ^^^
  |
  = help: the keys here are `description`, `workload`, `sandbox`, `trace`, `sections`, `baseline`, `faults`, `crash`, `expect`, `snapshot`, `requires`, `on_failure`, `expect_failure`, `lenient`, `matrix`
",
    );
}

#[test]
fn a_key_quoted_and_unquoted_is_the_same_key() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { stdout: 'x' }
'expect':
   {}
",
        "
error: duplicate key `expect`
 --> x.yaml:4:1
  |
3 | expect: { stdout: 'x' }
  | ------ it is here already
4 | 'expect':
  | ^^^^^^^^
",
    );
}
