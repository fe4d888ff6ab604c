//! Faults in the key `workload`.

use super::check;

#[test]
fn wrong_type_where_a_mapping_belongs() {
    check(
        "\
description: d
workload: ls -l
",
        "
error: `workload` must be a mapping with `run` or `shell`, not `ls -l`
 --> x.yaml:2:11
  |
2 | workload: ls -l
  |           ^^^^^
",
    );
}

#[test]
fn wrong_type_where_a_list_belongs() {
    check(
        "\
description: d
workload: { run: ls -l }
",
        "
error: `workload.run` must be a list, not `ls -l`
 --> x.yaml:2:18
  |
2 | workload: { run: ls -l }
  |                  ^^^^^
  |
  = help: a list is written `[one, two]`, or as lines that begin with `- `
",
    );
}

#[test]
fn wrong_type_where_a_string_belongs() {
    check(
        "\
description: d
workload:
  run: [sleep, 1]
",
        r#"
error: `workload.run[1]` must be a string, not `1`
 --> x.yaml:3:16
  |
3 |   run: [sleep, 1]
  |                ^
  |
  = help: quote it: "1"
"#,
    );
}

#[test]
fn environment_values_are_quoted() {
    check(
        "\
description: d
workload: { run: [ls], env: { DEBUG: true } }
",
        r#"
error: `workload.env.DEBUG` must be a string, not `true`
 --> x.yaml:2:38
  |
2 | workload: { run: [ls], env: { DEBUG: true } }
  |                                      ^^^^
  |
  = help: quote it: "true"
"#,
    );
}

#[test]
fn wrong_type_of_a_file() {
    check(
        "\
description: d
workload:
  run: [ls]
  files: { a: 1 }
",
        r#"
error: `workload.files.a` must be a string, or a mapping with `content` or `from`, not `1`
 --> x.yaml:4:15
  |
4 |   files: { a: 1 }
  |               ^
  |
  = help: quote it: "1"
"#,
    );
}

#[test]
fn run_and_shell() {
    check(
        "\
description: d
workload:
  run: [ls]
  timeout: 1s
  shell: ls
",
        "
error: `run` and `shell` exclude each other
 --> x.yaml:5:3
  |
3 |   run: [ls]
  |   --- the command is here already
4 |   timeout: 1s
5 |   shell: ls
  |   ^^^^^
",
    );
}

#[test]
fn empty_run() {
    check(
        "\
description: d
workload: { run: [] }
",
        "
error: `run` is empty
 --> x.yaml:2:18
  |
2 | workload: { run: [] }
  |                  ^^
  |
  = help: name a program and its arguments: [ls, -l]
",
    );
}

#[test]
fn empty_program() {
    check(
        r#"description: d
workload: { run: ["", a] }
"#,
        r#"
error: the name of the program is empty
 --> x.yaml:2:19
  |
2 | workload: { run: ["", a] }
  |                   ^^
"#,
    );
}

#[test]
fn empty_shell() {
    check(
        r#"description: d
workload: { shell: " " }
"#,
        r#"
error: `shell` is empty
 --> x.yaml:2:20
  |
2 | workload: { shell: " " }
  |                    ^^^
"#,
    );
}

#[test]
fn nul_in_an_argument() {
    check(
        r#"description: d
workload: { run: [ls, "a\0b"] }
"#,
        r#"
error: `workload.run[1]` holds a NUL byte
 --> x.yaml:2:23
  |
2 | workload: { run: [ls, "a\0b"] }
  |                       ^^^^^^
"#,
    );
}

#[test]
fn bad_duration() {
    check(
        "\
description: d
workload: { run: [ls], timeout: 10 }
",
        "
error: `workload.timeout` must be a duration such as `500ms`, `10s` or `2m`, not `10`
 --> x.yaml:2:33
  |
2 | workload: { run: [ls], timeout: 10 }
  |                                 ^^
",
    );
}

#[test]
fn bad_duration_unit() {
    check(
        "\
description: d
workload: { run: [ls], timeout: 1h }
",
        "
error: `workload.timeout` must be a duration such as `500ms`, `10s` or `2m`, not `1h`
 --> x.yaml:2:33
  |
2 | workload: { run: [ls], timeout: 1h }
  |                                 ^^
",
    );
}

#[test]
fn zero_duration() {
    check(
        "\
description: d
workload: { run: [ls], timeout: 0s }
",
        "
error: `workload.timeout`: a timeout must be longer than zero
 --> x.yaml:2:33
  |
2 | workload: { run: [ls], timeout: 0s }
  |                                 ^^
",
    );
}

#[test]
fn absolute_file() {
    check(
        "\
description: d
workload: { run: [ls], files: { /etc/passwd: x } }
",
        "
error: a path here is relative to the working directory, so it cannot begin with `/`
 --> x.yaml:2:33
  |
2 | workload: { run: [ls], files: { /etc/passwd: x } }
  |                                 ^^^^^^^^^^^
",
    );
}

#[test]
fn file_outside() {
    check(
        "\
description: d
workload: { run: [ls], files: { a/../../b: x } }
",
        "
error: a path here cannot leave the working directory by `..`
 --> x.yaml:2:33
  |
2 | workload: { run: [ls], files: { a/../../b: x } }
  |                                 ^^^^^^^^^
",
    );
}

#[test]
fn file_with_dots() {
    check(
        "\
description: d
workload: { run: [ls], files: { ./a: x } }
",
        "
error: a path here has neither `.` nor empty components
 --> x.yaml:2:33
  |
2 | workload: { run: [ls], files: { ./a: x } }
  |                                 ^^^
",
    );
}

#[test]
fn file_inside_of_a_file() {
    check(
        "\
description: d
workload: { run: [ls], files: { a: x, a/b: y } }
",
        "
error: `a` is a file here, not a folder
 --> x.yaml:2:39
  |
2 | workload: { run: [ls], files: { a: x, a/b: y } }
  |                                       ^^^
",
    );
}

#[test]
fn file_without_source() {
    check(
        r#"description: d
workload: { run: [ls], files: { a: { mode: "0644" } } }
"#,
        r#"
error: `workload.files.a`: one of `content` and `from` is needed
 --> x.yaml:2:36
  |
2 | workload: { run: [ls], files: { a: { mode: "0644" } } }
  |                                    ^^^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn file_from_two_sources() {
    check(
        "\
description: d
workload: { run: [ls], files: { a: { content: x, from: y } } }
",
        "
error: `workload.files.a`: `content` and `from` exclude each other
 --> x.yaml:2:36
  |
2 | workload: { run: [ls], files: { a: { content: x, from: y } } }
  |                                    ^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn file_from_an_absolute_path() {
    check(
        "\
description: d
workload: { run: [ls], files: { a: { from: /etc/passwd } } }
",
        "
error: `workload.files.a.from`: the path is relative to the scenario file, so it cannot begin with `/`
 --> x.yaml:2:44
  |
2 | workload: { run: [ls], files: { a: { from: /etc/passwd } } }
  |                                            ^^^^^^^^^^^
",
    );
}

#[test]
fn bad_variable() {
    check(
        "\
description: d
workload: { run: [ls], env: { A=B: x } }
",
        "
error: `A=B` is no variable's name
 --> x.yaml:2:31
  |
2 | workload: { run: [ls], env: { A=B: x } }
  |                               ^^^
",
    );
}
