//! Faults in what a field must be.

use super::check;

#[test]
fn an_unknown_operator() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence:
    - openat: { path: { perfix: /etc } }
",
        "
error: unknown key `perfix` in `expect.sequence[0].openat.path`
 --> x.yaml:5:25
  |
5 |     - openat: { path: { perfix: /etc } }
  |                         ^^^^^^
  |
  = help: did you mean `prefix`?
",
    );
}

#[test]
fn two_operators() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  sequence:
    - openat: { path: { prefix: /etc, glob: "*.conf" } }
"#,
        r#"
error: `expect.sequence[0].openat.path`: `prefix` and `glob` exclude each other
 --> x.yaml:5:23
  |
5 |     - openat: { path: { prefix: /etc, glob: "*.conf" } }
  |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn no_operator() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: {} } }]
",
        "
error: `expect.never[0].openat.path`: the mapping is empty
 --> x.yaml:4:29
  |
4 |   never: [{ openat: { path: {} } }]
  |                             ^^
  |
  = help: to take anything write `any`
",
    );
}

#[test]
fn a_truth_value() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: true } }]
",
        "
error: `expect.never[0].openat.path` must be a string, a number, a list of what it may be, or a mapping such as { contains: O_CREAT }, not `true`
 --> x.yaml:4:29
  |
4 |   never: [{ openat: { path: true } }]
  |                             ^^^^
",
    );
}

#[test]
fn a_number_with_a_fraction() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ write: { count: 1.5 } }]
",
        "
error: `expect.never[0].write.count` must be a string, a number, a list of what it may be, or a mapping such as { contains: O_CREAT }, not `1.5`
 --> x.yaml:4:29
  |
4 |   never: [{ write: { count: 1.5 } }]
  |                             ^^^
",
    );
}

#[test]
fn a_field_without_a_value() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never:
    - write:
        fd:
",
        "
error: `expect.never[0].write.fd` has no value: it must be a string, a number, a list of what it may be, or a mapping such as { contains: O_CREAT }
 --> x.yaml:6:9
  |
6 |         fd:
  |         ^^
",
    );
}

#[test]
fn an_empty_list_of_values() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: [] } }]
",
        "
error: `expect.never[0].openat.path`: nothing is one of an empty list
 --> x.yaml:4:29
  |
4 |   never: [{ openat: { path: [] } }]
  |                             ^^
  |
  = help: to take anything write `any`
",
    );
}

#[test]
fn any_among_others() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: { one_of: [a, any] } } }]
",
        "
error: `expect.never[0].openat.path.one_of`: `any` makes the others of the list pointless
 --> x.yaml:4:39
  |
4 |   never: [{ openat: { path: { one_of: [a, any] } } }]
  |                                       ^^^^^^^^
  |
  = help: write `any` alone, or { equals: any } for the word itself
",
    );
}

#[test]
fn not_any() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: { not: any } } }]
",
        "
error: `expect.never[0].openat.path`: nothing is not `any`
 --> x.yaml:4:29
  |
4 |   never: [{ openat: { path: { not: any } } }]
  |                             ^^^^^^^^^^^^
  |
  = help: for the word itself write { equals: any }
",
    );
}

#[test]
fn any_that_is_false() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: { any: false } } }]
",
        "
error: `expect.never[0].openat.path.any` must be `true`, not `false`
 --> x.yaml:4:36
  |
4 |   never: [{ openat: { path: { any: false } } }]
  |                                    ^^^^^
",
    );
}

#[test]
fn an_empty_prefix() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: { prefix: "" } } }]
"#,
        r#"
error: `expect.never[0].openat.path.prefix`: every text has an empty one in it
 --> x.yaml:4:39
  |
4 |   never: [{ openat: { path: { prefix: "" } } }]
  |                                       ^^
  |
  = help: to take anything write `any`
"#,
    );
}

#[test]
fn an_empty_part() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: { contains: [a, ""] } } }]
"#,
        r#"
error: `expect.never[0].openat.path.contains[1]`: every text has an empty one in it
 --> x.yaml:4:45
  |
4 |   never: [{ openat: { path: { contains: [a, ""] } } }]
  |                                             ^^
  |
  = help: to take anything write `any`
"#,
    );
}

#[test]
fn an_empty_list_of_parts() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { flags: { contains: [] } } }]
",
        "
error: `expect.never[0].openat.flags.contains`: everything contains an empty list
 --> x.yaml:4:42
  |
4 |   never: [{ openat: { flags: { contains: [] } } }]
  |                                          ^^
  |
  = help: to take anything write `any`
",
    );
}

#[test]
fn a_part_that_is_a_number() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ write: { buf: { contains: 5 } } }]
",
        r#"
error: `expect.never[0].write.buf.contains` must be a string, or a list of strings, not `5`
 --> x.yaml:4:39
  |
4 |   never: [{ write: { buf: { contains: 5 } } }]
  |                                       ^
  |
  = help: quote it: "5"
"#,
    );
}

#[test]
fn a_glob_that_everything_matches() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: { glob: "**" } } }]
"#,
        r#"
error: `expect.never[0].openat.path.glob`: every text matches this
 --> x.yaml:4:37
  |
4 |   never: [{ openat: { path: { glob: "**" } } }]
  |                                     ^^^^
  |
  = help: to take anything write `any`
"#,
    );
}

#[test]
fn a_regular_expression_that_the_empty_text_matches() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: { regex: "x*" } } }]
"#,
        r#"
error: `expect.never[0].openat.path.regex`: even an empty text matches this
 --> x.yaml:4:38
  |
4 |   never: [{ openat: { path: { regex: "x*" } } }]
  |                                      ^^^^
  |
  = help: say what must be there: `x+` in place of `x*`
"#,
    );
}

#[test]
fn a_broken_regular_expression() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: { regex: "a(b" } } }]
"#,
        r#"
error: `expect.never[0].openat.path.regex`: no regular expression: unclosed group
 --> x.yaml:4:38
  |
4 |   never: [{ openat: { path: { regex: "a(b" } } }]
  |                                      ^^^^^
"#,
    );
}

#[test]
fn a_range_that_is_none() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  never: [{ write: { count: { range: "1..4" } } }]
"#,
        r#"
error: `expect.never[0].write.count.range` must be a range such as `1..=4`, `2..` or `..=3`, not `"1..4"`
 --> x.yaml:4:38
  |
4 |   never: [{ write: { count: { range: "1..4" } } }]
  |                                      ^^^^^^
"#,
    );
}

#[test]
fn a_range_without_a_number() {
    check(
        r#"description: d
workload: { run: [ls] }
expect:
  never: [{ write: { count: { range: "4..=1" } } }]
"#,
        r#"
error: `expect.never[0].write.count.range`: no number is in this range
 --> x.yaml:4:38
  |
4 |   never: [{ write: { count: { range: "4..=1" } } }]
  |                                      ^^^^^^^
"#,
    );
}

#[test]
fn a_capture_in_capitals() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sequence: [{ openat: { returns: $FD } }, { close: { fd: $FD } }]
",
        r#"
error: `expect.sequence[0].openat.returns`: `$FD` is no capture: its name has lower case letters, digits and `_` only
 --> x.yaml:4:35
  |
4 |   sequence: [{ openat: { returns: $FD } }, { close: { fd: $FD } }]
  |                                   ^^^
  |
  = help: for the text itself write { equals: "$FD" }
"#,
    );
}

#[test]
fn a_capture_with_a_dot() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: $name.tmp } }]
",
        r#"
error: `expect.never[0].openat.path`: `$name.tmp` is no capture: its name has lower case letters, digits and `_` only
 --> x.yaml:4:29
  |
4 |   never: [{ openat: { path: $name.tmp } }]
  |                             ^^^^^^^^^
  |
  = help: for the text itself write { equals: "$name.tmp" }
"#,
    );
}

#[test]
fn a_capture_as_a_prefix() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  never: [{ openat: { path: { prefix: $dir } } }]
",
        r#"
error: `expect.never[0].openat.path.prefix`: a capture is compared as a whole, so `$dir` cannot stand here
 --> x.yaml:4:39
  |
4 |   never: [{ openat: { path: { prefix: $dir } } }]
  |                                       ^^^^
  |
  = help: for the text itself write { regex: '\$dir' }
"#,
    );
}
