//! Texts that are no YAML, or YAML that no scenario needs.

use super::check;

#[test]
fn kernel_unquoted() {
    check(
        "\
description: d
workload: { run: [ls] }
requires:
  kernel: >= 5.10
",
        "
error: not valid YAML: while scanning a block scalar, did not find expected comment or line break
 --> x.yaml:4:11
  |
4 |   kernel: >= 5.10
  |           ^
  |
  = help: a string that begins with `>` must be quoted
",
    );
}

#[test]
fn kernel_unquoted_within_brackets() {
    check(
        "\
description: d
workload: { run: [ls] }
requires: { kernel: >= 5.10 }
",
        "
error: not valid YAML: a block cannot stand within brackets
 --> x.yaml:3:21
  |
3 | requires: { kernel: >= 5.10 }
  |                     ^
  |
  = help: a string that begins with `>` must be quoted
",
    );
}

#[test]
fn unterminated_string() {
    check(
        r#"description: "d
workload: { run: [ls] }
"#,
        r#"
error: not valid YAML: invalid indentation in quoted scalar
 --> x.yaml:1:14
  |
1 | description: "d
  |              ^
"#,
    );
}

#[test]
fn unclosed_bracket() {
    check(
        "\
description: d
workload:
  run: [ls, -l
  stdin: x
expect:
  exit: 0
",
        "
error: not valid YAML: illegal placement of ':' indicator
 --> x.yaml:4:8
  |
3 |   run: [ls, -l
  |        - this bracket is still open
4 |   stdin: x
  |        ^
",
    );
}

#[test]
fn colon_in_a_plain_string() {
    check(
        "\
description: it says: hello
workload: { run: [ls] }
",
        "
error: not valid YAML: mapping values are not allowed in this context
 --> x.yaml:1:21
  |
1 | description: it says: hello
  |                     ^
",
    );
}

#[test]
fn unquoted_class() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { events: [{ syscalls: [%file] }] }
",
        "
error: not valid YAML: unexpected character: `%'
 --> x.yaml:3:32
  |
3 | trace: { events: [{ syscalls: [%file] }] }
  |                                ^
  |
  = help: a string that begins with `%` must be quoted
",
    );
}

#[test]
fn unquoted_negation() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { events: [{ syscalls: [openat, !futex] }] }
",
        r#"
error: a YAML tag: scenarios have none
 --> x.yaml:3:40
  |
3 | trace: { events: [{ syscalls: [openat, !futex] }] }
  |                                        ^^^^^^
  |
  = help: a string that begins with `!` is quoted: "!futex"
"#,
    );
}

#[test]
fn unquoted_glob() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { events: [{ syscalls: [*stat] }] }
",
        "
error: not valid YAML: while parsing node, found unknown anchor
 --> x.yaml:3:32
  |
3 | trace: { events: [{ syscalls: [*stat] }] }
  |                                ^
  |
  = help: a string that begins with `*` must be quoted
",
    );
}

#[test]
fn a_tag() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { exit: !signal SIGKILL }
",
        "
error: a YAML tag: scenarios have none
 --> x.yaml:3:17
  |
3 | expect: { exit: !signal SIGKILL }
  |                 ^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn two_documents() {
    check(
        "\
description: d
workload: { run: [ls] }
---
description: d
workload: { run: [ls] }
",
        "
error: a second document: a file holds one scenario
 --> x.yaml:3:1
  |
3 | ---
  | ^^^
",
    );
}

#[test]
fn tab_indentation() {
    check(
        "description: d\nworkload:\n\trun: [ls]\n",
        "
error: not valid YAML: a tab in the indentation
 --> x.yaml:3:1
  |
3 |     run: [ls]
  | ^
  |
  = help: indent with spaces
",
    );
}

#[test]
fn control_character() {
    check(
        "description: \u{7}\nworkload: { run: [ls] }\n",
        r#"
error: the character U+0007 cannot stand in YAML as it is
 --> x.yaml:1:14
  |
1 | description: ␇
  |              ^
  |
  = help: write \u0007 between double quotes
"#,
    );
}

#[test]
fn deep_nesting() {
    check(
        "\
description: d
workload: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
",
        "
error: lists and mappings are nested more than 64 deep
 --> x.yaml:2:74
  |
2 | workload: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
  |                                                                          ^
",
    );
}

#[test]
fn alias_bomb() {
    check(
        "\
a: &a [x, x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
d: [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
",
        "
error: aliases make the file more than 8 times as long
 --> x.yaml:4:4
  |
4 | d: [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
  |    ^
",
    );
}

#[test]
fn alias_to_itself() {
    check(
        "workload: &w { run: [*w] }\n",
        "
error: an alias inside of the value that it stands for
 --> x.yaml:1:22
  |
1 | workload: &w { run: [*w] }
  |                      ^^
",
    );
}

#[test]
fn empty_file() {
    check(
        "",
        "
error: the file is empty
 --> x.yaml:1:1
  |
1 |
  | ^
",
    );
}

#[test]
fn only_a_comment() {
    check(
        "# nothing yet\n\n",
        "
error: the file is empty
 --> x.yaml:1:14
  |
1 | # nothing yet
  |              ^
",
    );
}

#[test]
fn empty_document() {
    check(
        "---\n",
        "
error: the file is empty
 --> x.yaml:1:4
  |
1 | ---
  |    ^
",
    );
}

#[test]
fn after_multibyte_characters() {
    check(
        r#"description: "größer 日本 🎉"
workload: { run: [ls], env: { Ü: "日本", LANGUÄGE: 1 }, stdin: é }
"#,
        r#"
error: `workload.env["LANGUÄGE"]` must be a string, not `1`
 --> x.yaml:2:50
  |
2 | workload: { run: [ls], env: { Ü: "日本", LANGUÄGE: 1 }, stdin: é }
  |                                                    ^
  |
  = help: quote it: "1"
"#,
    );
}
