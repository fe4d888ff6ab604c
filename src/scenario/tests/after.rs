//! Faults in the baseline, in what is compared with it, and in what output must be.

use super::check;

#[test]
fn a_delta_without_a_baseline() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  delta: { openat: +1 }
",
        "
error: `delta` has no `baseline` to compare with
 --> x.yaml:4:3
  |
4 |   delta: { openat: +1 }
  |   ^^^^^
  |
  = help: give a second workload: `baseline: { run: [...] }`
",
    );
}

#[test]
fn a_baseline_without_a_delta() {
    check(
        "\
description: d
workload: { run: [ls] }
baseline: { run: [ls, -l] }
",
        "
error: nothing is compared with `baseline`
 --> x.yaml:3:1
  |
3 | baseline: { run: [ls, -l] }
  | ^^^^^^^^
  |
  = help: say what must differ: `expect: { delta: { openat: +1 } }`
",
    );
}

#[test]
fn a_baseline_of_nothing() {
    check(
        "\
description: d
workload: { run: [ls] }
baseline: {}
expect: { delta: { openat: 0 } }
",
        "
error: `baseline` is no other run than `workload`
 --> x.yaml:3:11
  |
3 | baseline: {}
  |           ^^
  |
  = help: what is not written is as in `workload`: write what differs
",
    );
}

#[test]
fn a_baseline_that_is_the_workload() {
    check(
        "\
description: d
workload: { run: [ls], timeout: 10s }
baseline:
  run: [ls]
expect: { delta: { openat: 0 } }
",
        "
error: `baseline` is no other run than `workload`
 --> x.yaml:3:1
  |
3 | baseline:
  | ^^^^^^^^
  |
  = help: what is not written is as in `workload`: write what differs
",
    );
}

#[test]
fn a_baseline_with_two_commands() {
    check(
        "\
description: d
workload: { run: [ls] }
baseline: { run: [ls], shell: ls }
expect: { delta: { openat: 0 } }
",
        "
error: `run` and `shell` exclude each other
 --> x.yaml:3:24
  |
3 | baseline: { run: [ls], shell: ls }
  |             ---        ^^^^^
  |             |
  |             the command is here already
",
    );
}

#[test]
fn a_fault_in_a_file_of_the_baseline() {
    check(
        "\
description: d
workload: { run: [ls] }
baseline: { files: { ../a: x } }
expect: { delta: { openat: 0 } }
",
        "
error: a path here cannot leave the working directory by `..`
 --> x.yaml:3:22
  |
3 | baseline: { files: { ../a: x } }
  |                      ^^^^
",
    );
}

#[test]
fn unknown_key_in_baseline() {
    check(
        "\
description: d
workload: { run: [ls] }
baseline: { runs: [ls] }
",
        "
error: unknown key `runs` in `baseline`
 --> x.yaml:3:13
  |
3 | baseline: { runs: [ls] }
  |             ^^^^
  |
  = help: did you mean `run`?
",
    );
}

#[test]
fn an_empty_delta() {
    check(
        "\
description: d
workload: { run: [ls] }
baseline: { run: [ls, -l] }
expect: { delta: {} }
",
        "
error: `expect.delta` is empty
 --> x.yaml:4:18
  |
4 | expect: { delta: {} }
  |                  ^^
  |
  = help: name an event, or leave it out
",
    );
}

#[test]
fn a_delta_that_is_no_number() {
    check(
        "\
description: d
workload: { run: [ls] }
baseline: { run: [ls, -l] }
expect: { delta: { openat: more } }
",
        "
error: `expect.delta.openat` must be a number, or a range such as `-1..=2`, `1..` or `..=0`, not `more`
 --> x.yaml:4:28
  |
4 | expect: { delta: { openat: more } }
  |                            ^^^^
",
    );
}

#[test]
fn a_delta_without_a_number_in_it() {
    check(
        r#"description: d
workload: { run: [ls] }
baseline: { run: [ls, -l] }
expect: { delta: { openat: "2..=1" } }
"#,
        r#"
error: `expect.delta.openat`: no number is in this range
 --> x.yaml:4:28
  |
4 | expect: { delta: { openat: "2..=1" } }
  |                            ^^^^^^^
"#,
    );
}

#[test]
fn a_delta_with_a_capture() {
    check(
        "\
description: d
workload: { run: [ls] }
baseline: { run: [ls, -l] }
expect:
  sequence: [{ openat: { returns: $fd } }]
  delta: [{ write: { fd: $fd }, times: +1 }]
",
        "
error: a capture cannot stand here: two runs share no descriptors and no tasks
 --> x.yaml:6:26
  |
6 |   delta: [{ write: { fd: $fd }, times: +1 }]
  |                          ^^^
  |
  = help: to take anything write `any`
",
    );
}

#[test]
fn a_blank_lenient() {
    check(
        r#"description: d
workload: { run: [ls] }
lenient: "  "
"#,
        r#"
error: `lenient` is empty
 --> x.yaml:3:10
  |
3 | lenient: "  "
  |          ^^^^
"#,
    );
}

#[test]
fn output_that_contains_an_empty_text() {
    check(
        r#"description: d
workload: { run: [ls] }
expect: { stdout: { contains: "" } }
"#,
        r#"
error: `expect.stdout.contains`: every text contains an empty one
 --> x.yaml:3:31
  |
3 | expect: { stdout: { contains: "" } }
  |                               ^^
  |
  = help: say what must be there, or for no text at all write "" in place of the mapping
"#,
    );
}

#[test]
fn output_that_matches_anything() {
    check(
        r#"description: d
workload: { run: [ls] }
expect: { stderr: { matches: "(?s)^.*$" } }
"#,
        r#"
error: `expect.stderr.matches`: even an empty text matches this
 --> x.yaml:3:30
  |
3 | expect: { stderr: { matches: "(?s)^.*$" } }
  |                              ^^^^^^^^^^
  |
  = help: say what must be there: `x+` in place of `x*`
"#,
    );
}
