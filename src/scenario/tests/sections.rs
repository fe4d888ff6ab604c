//! Faults in marks and sections.

use super::check;

#[test]
fn a_section_that_is_not_declared() {
    check(
        r#"description: d
workload: { run: [ls] }
sections:
  save: { from: ">save", to: "<save" }
expect:
  sections:
    svae: { never: [connect] }
"#,
        "
error: unknown section `svae`
 --> x.yaml:7:5
  |
7 |     svae: { never: [connect] }
  |     ^^^^
  |
  = help: did you mean `save`?
",
    );
}

#[test]
fn a_section_without_any_declared() {
    check(
        "\
description: d
workload: { run: [ls] }
expect:
  sections: { save: { never: [connect] } }
",
        "
error: unknown section `save`
 --> x.yaml:4:15
  |
4 |   sections: { save: { never: [connect] } }
  |               ^^^^
  |
  = help: declare it under `sections`, with its marks `from` and `to`
",
    );
}

#[test]
fn a_section_that_nobody_speaks_of() {
    check(
        r#"description: d
workload: { run: [ls] }
sections:
  save: { from: ">save", to: "<save" }
"#,
        r#"
error: nothing is expected of the section `save`
 --> x.yaml:4:3
  |
4 |   save: { from: ">save", to: "<save" }
  |   ^^^^
  |
  = help: name it under `expect.sections` or as `snapshot.section`, or leave it out
"#,
    );
}

#[test]
fn no_sections() {
    check(
        "\
description: d
workload: { run: [ls] }
sections: {}
",
        "
error: `sections` is empty
 --> x.yaml:3:11
  |
3 | sections: {}
  |           ^^
  |
  = help: name a section and its marks, or leave it out
",
    );
}

#[test]
fn no_expected_sections() {
    check(
        "\
description: d
workload: { run: [ls] }
expect: { sections: {} }
",
        "
error: `expect.sections` is empty
 --> x.yaml:3:21
  |
3 | expect: { sections: {} }
  |                     ^^
  |
  = help: name a section, or leave it out
",
    );
}

#[test]
fn a_section_of_which_nothing_is_expected() {
    check(
        r#"description: d
workload: { run: [ls] }
sections: { save: { from: ">save", to: "<save" } }
expect: { sections: { save: {} } }
"#,
        "
error: `expect.sections.save` is empty
 --> x.yaml:4:29
  |
4 | expect: { sections: { save: {} } }
  |                             ^^
  |
  = help: say what is expected of the events of the section
",
    );
}

#[test]
fn a_section_without_an_end() {
    check(
        r#"description: d
workload: { run: [ls] }
sections: { save: { from: ">save" } }
"#,
        r#"
error: `sections.save` lacks the key `to`
 --> x.yaml:3:19
  |
3 | sections: { save: { from: ">save" } }
  |                   ^^^^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn a_section_that_is_a_list() {
    check(
        "\
description: d
workload: { run: [ls] }
sections: { save: [a, b] }
",
        "
error: `sections.save` must be a mapping with `from` and `to`, not a list
 --> x.yaml:3:19
  |
3 | sections: { save: [a, b] }
  |                   ^^^^^^
",
    );
}

#[test]
fn a_section_without_a_name() {
    check(
        r#"description: d
workload: { run: [ls] }
sections: { "": { from: a, to: b } }
"#,
        r#"
error: the name of a section is empty
 --> x.yaml:3:13
  |
3 | sections: { "": { from: a, to: b } }
  |             ^^
"#,
    );
}

#[test]
fn unknown_key_in_a_section() {
    check(
        "\
description: d
workload: { run: [ls] }
sections: { save: { from: a, till: b } }
",
        "
error: unknown key `till` in `sections.save`
 --> x.yaml:3:30
  |
3 | sections: { save: { from: a, till: b } }
  |                              ^^^^
  |
  = help: the keys here are `from`, `to`
",
    );
}

#[test]
fn unknown_key_in_an_expected_section() {
    check(
        "\
description: d
workload: { run: [ls] }
sections: { save: { from: a, to: b } }
expect: { sections: { save: { exit: 0 } } }
",
        "
error: unknown key `exit` in `expect.sections.save`
 --> x.yaml:4:31
  |
4 | expect: { sections: { save: { exit: 0 } } }
  |                               ^^^^
  |
  = help: the keys here are `sequence`, `any_order`, `never`, `only`, `count`, `between`
",
    );
}

#[test]
fn an_empty_list_in_a_section() {
    check(
        "\
description: d
workload: { run: [ls] }
sections: { save: { from: a, to: b } }
expect: { sections: { save: { only: [] } } }
",
        "
error: `expect.sections.save.only` is empty
 --> x.yaml:4:37
  |
4 | expect: { sections: { save: { only: [] } } }
  |                                     ^^
  |
  = help: name an event, or leave it out
",
    );
}

#[test]
fn an_empty_mark() {
    check(
        r#"description: d
workload: { run: [ls] }
sections: { save: { from: "\n", to: b } }
"#,
        r#"
error: `sections.save.from`: an empty text marks nothing
 --> x.yaml:3:27
  |
3 | sections: { save: { from: "\n", to: b } }
  |                           ^^^^
  |
  = help: name what the workload writes: ">save"
"#,
    );
}

#[test]
fn a_mark_that_is_a_number() {
    check(
        "\
description: d
workload: { run: [ls] }
sections: { save: { from: 1, to: b } }
",
        "
error: `sections.save.from` must be a string that is written then, or a mapping with an event: { openat: { path: start } }, not `1`
 --> x.yaml:3:27
  |
3 | sections: { save: { from: 1, to: b } }
  |                           ^
",
    );
}

#[test]
fn a_mark_of_two_events() {
    check(
        "\
description: d
workload: { run: [ls] }
sections: { save: { from: { openat: {}, close: {} }, to: b } }
",
        "
error: `sections.save.from`: an element names one event, not both `openat` and `close`
 --> x.yaml:3:27
  |
3 | sections: { save: { from: { openat: {}, close: {} }, to: b } }
  |                           ^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: fields stand in a mapping below the event: { fsync: { returns: 0 } }
",
    );
}

#[test]
fn a_mark_with_a_capture() {
    check(
        "\
description: d
workload: { run: [ls] }
sections: { save: { from: { openat: { returns: $fd } }, to: { close: { fd: $fd } } } }
",
        "
error: a capture cannot stand here: marks are looked for before everything else
 --> x.yaml:3:48
  |
3 | sections: { save: { from: { openat: { returns: $fd } }, to: { close: { fd: $fd } } } }
  |                                                ^^^
  |
  = help: to take anything write `any`
",
    );
}

#[test]
fn the_same_mark_twice() {
    check(
        r#"description: d
workload: { run: [ls] }
sections:
  save:
    from: save
    to: "save\n"
"#,
        r#"
error: both marks are the same
 --> x.yaml:6:9
  |
5 |     from: save
  |           ---- the section begins with it
6 |     to: "save\n"
  |         ^^^^^^^^
  |
  = help: each is written once: let the workload write another one at the end
"#,
    );
}

#[test]
fn a_capture_of_another_section() {
    check(
        "\
description: d
workload: { run: [ls] }
sections: { a: { from: b, to: c }, d: { from: e, to: f } }
expect:
  sections:
    a: { sequence: [{ openat: { returns: $fd } }, { close: { fd: $fd } }] }
    d: { never: [{ write: { fd: $fd } }] }
",
        "
error: nothing binds `$fd`
 --> x.yaml:7:33
  |
7 |     d: { never: [{ write: { fd: $fd } }] }
  |                                 ^^^
  |
  = help: a step of `sequence` or `any_order` must have it as the value of a field; to take anything write `any`
",
    );
}

#[test]
fn an_unknown_start() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { since: mian }
",
        "
error: `trace.since`: unknown start `mian`
 --> x.yaml:3:17
  |
3 | trace: { since: mian }
  |                 ^^^^
  |
  = help: did you mean `main`?
",
    );
}

#[test]
fn a_text_as_a_start() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { since: ready to go }
",
        r#"
error: `trace.since`: unknown start `ready to go`
 --> x.yaml:3:17
  |
3 | trace: { since: ready to go }
  |                 ^^^^^^^^^^^
  |
  = help: for what the workload writes: { written: "ready to go" }
"#,
    );
}

#[test]
fn two_kinds_of_start() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { since: { written: go, step: fsync } }
",
        "
error: `trace.since`: `written` and `step` exclude each other
 --> x.yaml:3:17
  |
3 | trace: { since: { written: go, step: fsync } }
  |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
",
    );
}

#[test]
fn no_kind_of_start() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { since: {} }
",
        "
error: `trace.since`: one of `written` and `step` is needed
 --> x.yaml:3:17
  |
3 | trace: { since: {} }
  |                 ^^
",
    );
}

#[test]
fn an_empty_start() {
    check(
        r#"description: d
workload: { run: [ls] }
trace: { since: { written: "" } }
"#,
        r#"
error: `trace.since.written`: an empty text marks nothing
 --> x.yaml:3:28
  |
3 | trace: { since: { written: "" } }
  |                            ^^
  |
  = help: name what the workload writes: ">save"
"#,
    );
}

#[test]
fn unknown_key_of_a_start() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { since: { wrote: go } }
",
        "
error: unknown key `wrote` in `trace.since`
 --> x.yaml:3:19
  |
3 | trace: { since: { wrote: go } }
  |                   ^^^^^
  |
  = help: the keys here are `written`, `step`
",
    );
}

#[test]
fn a_start_with_a_capture() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { since: { step: { openat: { path: $p } } } }
",
        "
error: a capture cannot stand here: marks are looked for before everything else
 --> x.yaml:3:43
  |
3 | trace: { since: { step: { openat: { path: $p } } } }
  |                                           ^^
  |
  = help: to take anything write `any`
",
    );
}

#[test]
fn a_snapshot_of_a_section_that_is_not_declared() {
    check(
        "\
description: d
workload: { run: [ls] }
sections: { save: { from: a, to: b } }
snapshot: { section: svae }
",
        "
error: unknown section `svae`
 --> x.yaml:4:22
  |
4 | snapshot: { section: svae }
  |                      ^^^^
  |
  = help: did you mean `save`?
",
    );
}
