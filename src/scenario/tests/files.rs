//! Faults in what a run leaves.

use super::check;

#[test]
fn no_files_after() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: {} }
",
        "
error: `expect.files_after` is empty
 --> x.yaml:3:24
  |
3 | expect: { files_after: {} }
  |                        ^^
  |
  = help: name a file, or leave it out
",
    );
}

#[test]
fn a_file_of_which_nothing_is_said() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { out: {} } }
",
        "
error: `expect.files_after.out`: this says nothing of the file
 --> x.yaml:3:31
  |
3 | expect: { files_after: { out: {} } }
  |                               ^^
  |
  = help: write { exists: true } or { exists: false }
",
    );
}

#[test]
fn a_file_that_is_not_there_and_holds_something() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  files_after:
    out: { exists: false, content: x }
",
        "
error: `expect.files_after.out`: `exists: false` and `content` exclude each other
 --> x.yaml:5:10
  |
5 |     out: { exists: false, content: x }
  |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn a_file_with_two_contents() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  files_after:
    out: { content: x, matches: y }
",
        "
error: `expect.files_after.out`: `content` and `matches` exclude each other
 --> x.yaml:5:10
  |
5 |     out: { content: x, matches: y }
  |          ^^^^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn a_link_with_a_content() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { out: { contains: x, target: y } } }
",
        "
error: `expect.files_after.out`: `contains` and `target` exclude each other
 --> x.yaml:3:31
  |
3 | expect: { files_after: { out: { contains: x, target: y } } }
  |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn a_directory_with_a_size() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { out: { kind: directory, size: 4096 } } }
",
        "
error: `expect.files_after.out`: `kind: directory` and `size` exclude each other
 --> x.yaml:3:31
  |
3 | expect: { files_after: { out: { kind: directory, size: 4096 } } }
  |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn a_link_with_a_mode() {
    check(
        r#"description: d
workload: { run: [ls] }
expect: { files_after: { out: { kind: symlink, mode: "0777" } } }
"#,
        r#"
error: `expect.files_after.out`: `kind: symlink` and `mode` exclude each other
 --> x.yaml:3:31
  |
3 | expect: { files_after: { out: { kind: symlink, mode: "0777" } } }
  |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn a_size_beside_the_content() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { out: { content: x, size: 1 } } }
",
        "
error: `expect.files_after.out`: `content` tells the size already: leave `size` out
 --> x.yaml:3:31
  |
3 | expect: { files_after: { out: { content: x, size: 1 } } }
  |                               ^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn an_unknown_kind_of_file() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { out: { kind: simlink } } }
",
        "
error: `expect.files_after.out.kind`: unknown kind `simlink`
 --> x.yaml:3:39
  |
3 | expect: { files_after: { out: { kind: simlink } } }
  |                                       ^^^^^^^
  |
  = help: did you mean `symlink`?
",
    );
}

#[test]
fn a_size_of_any_number() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { out: { size: 0.. } } }
",
        "
error: `expect.files_after.out.size`: every number is in this range
 --> x.yaml:3:39
  |
3 | expect: { files_after: { out: { size: 0.. } } }
  |                                       ^^^
  |
  = help: give it another end, or leave it out
",
    );
}

#[test]
fn a_file_that_contains_an_empty_text() {
    check(
        r#"description: d
workload: { run: [ls] }
expect: { files_after: { out: { contains: "" } } }
"#,
        r#"
error: `expect.files_after.out.contains`: every text contains an empty one
 --> x.yaml:3:43
  |
3 | expect: { files_after: { out: { contains: "" } } }
  |                                           ^^
  |
  = help: say what must be there, or for no text at all write "" in place of the mapping
"#,
    );
}

#[test]
fn a_file_that_matches_anything() {
    check(
        r#"description: d
workload: { run: [ls] }
expect: { files_after: { out: { matches: ".*" } } }
"#,
        r#"
error: `expect.files_after.out.matches`: even an empty text matches this
 --> x.yaml:3:42
  |
3 | expect: { files_after: { out: { matches: ".*" } } }
  |                                          ^^^^
  |
  = help: say what must be there: `x+` in place of `x*`
"#,
    );
}

#[test]
fn a_mode_that_is_a_number() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { out: { mode: 644 } } }
",
        r#"
error: `expect.files_after.out.mode` must be a string of octal digits such as "0755", not `644`
 --> x.yaml:3:39
  |
3 | expect: { files_after: { out: { mode: 644 } } }
  |                                       ^^^
"#,
    );
}

#[test]
fn a_path_out_of_the_directory() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { /etc/passwd: { exists: true } } }
",
        "
error: a path here is relative to the working directory, so it cannot begin with `/`
 --> x.yaml:3:26
  |
3 | expect: { files_after: { /etc/passwd: { exists: true } } }
  |                          ^^^^^^^^^^^
",
    );
}

#[test]
fn a_path_in_two_spellings() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { ./out: { exists: true } } }
",
        "
error: a path here has neither `.` nor empty components
 --> x.yaml:3:26
  |
3 | expect: { files_after: { ./out: { exists: true } } }
  |                          ^^^^^
",
    );
}

#[test]
fn a_file_in_what_is_no_folder() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  files_after:
    a: "text"
    a/b/c: { exists: true }
"#,
        r#"
error: `a` is no folder here
 --> x.yaml:6:5
  |
5 |     a: "text"
  |     - what it is stands here
6 |     a/b/c: { exists: true }
  |     ^^^^^
"#,
    );
}

#[test]
fn a_file_in_a_folder_that_is_gone() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  files_after: { a/b: { exists: true }, a: { exists: false } }
",
        "
error: `a` is no folder here
 --> x.yaml:4:18
  |
4 |   files_after: { a/b: { exists: true }, a: { exists: false } }
  |                  ^^^                    - what it is stands here
",
    );
}

#[test]
fn a_glob_that_gets_nothing() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  files_after:
    "**": { exists: false }
    "*.log": { exists: true }
"#,
        r#"
error: `**` before it takes every path that no key names
 --> x.yaml:6:5
  |
6 |     "*.log": { exists: true }
  |     ^^^^^^^
  |
  = help: put `**` last
"#,
    );
}

#[test]
fn unknown_key_of_a_file() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { out: { contents: x } } }
",
        "
error: unknown key `contents` in `expect.files_after.out`
 --> x.yaml:3:33
  |
3 | expect: { files_after: { out: { contents: x } } }
  |                                 ^^^^^^^^
  |
  = help: did you mean `content`?
",
    );
}

#[test]
fn wrong_type_of_a_file() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { files_after: { out: true } }
",
        "
error: `expect.files_after.out`: this stands in a mapping
 --> x.yaml:3:31
  |
3 | expect: { files_after: { out: true } }
  |                               ^^^^
  |
  = help: write { exists: true }
",
    );
}
