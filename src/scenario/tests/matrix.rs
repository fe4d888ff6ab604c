//! `matrix`: which rows there are, what stands for the names, and what is no table.

use std::path::Path;

use super::super::{Programs, labels, read_all};
use super::{FileSource, Scenario, check};

fn rows(text: &str) -> Vec<Scenario> {
    read_all(Path::new("x.yaml"), text, &Programs::default()).unwrap()
}

fn row_labels(text: &str) -> Vec<String> {
    let labels = labels(Path::new("x.yaml"), text).unwrap();
    let of_rows: Vec<String> = rows(text).iter().map(Scenario::label).collect();
    assert_eq!(labels, of_rows);
    labels
}

#[test]
fn a_mapping_of_lists_is_every_combination() {
    let text = "\
description: d
matrix: { mode: [delete, wal], sync: [FULL, \"OFF\"] }
workload: { run: [./db, \"--mode=${mode},${sync}\"], env: { LITERAL: \"${HOME} ${mode\" } }
";
    assert_eq!(
        row_labels(text),
        [
            "mode=delete,sync=FULL",
            "mode=delete,sync=OFF",
            "mode=wal,sync=FULL",
            "mode=wal,sync=OFF"
        ]
    );
    let third = &rows(text)[2];
    assert_eq!(third.workload.command.argv(), ["./db", "--mode=wal,FULL"]);
    assert_eq!(third.workload.env["LITERAL"], "${HOME} ${mode");
    assert_eq!(third.row[1], ("sync".to_owned(), "FULL".to_owned()));
}

#[test]
fn a_list_of_mappings_is_a_row_each_with_values_of_their_types() {
    let text = "\
description: d
workload: { shell: \"cp ${from} b\", files: { \"${from}\": \"${text}\" }, timeout: 1s }
expect: { exit: \"${status}\" }
matrix:
  - { from: a, text: \"1\", status: 0 }
  - { status: 1, from: x/y, text: \"${from}\" }
";
    assert_eq!(
        row_labels(text),
        [
            "from=a,text=1,status=0",
            "from=x%2Fy,text=%24%7Bfrom%7D,status=1"
        ]
    );
    let rows = rows(text);
    assert_eq!(rows[0].workload.command.argv()[2], "cp a b");
    // What stands for a name is not looked at again.
    let content = &rows[1].workload.files[Path::new("x/y")].source;
    assert_eq!(*content, FileSource::Content("${from}".to_owned()));
    assert_eq!(
        rows[1].expect.exit,
        Some(perf_live::units::ExitKind::Code(1))
    );
}

#[test]
fn without_a_matrix_there_is_one_scenario_without_a_label() {
    let text = "description: the matrix ${x}\nworkload: { run: [ls, \"${x}\"] }\n";
    assert_eq!(row_labels(text), [""]);
    assert_eq!(rows(text)[0].workload.command.argv(), ["ls", "${x}"]);
}

#[test]
fn a_long_value_is_cut_in_a_label_and_told_from_its_like() {
    let text = format!(
        "description: d\nmatrix: {{ n: [{0}1, {0}2] }}\nworkload: {{ run: [\"${{n}}\"] }}\n",
        "x".repeat(40)
    );
    let labels = row_labels(&text);
    let [one, two] = labels.as_slice() else {
        panic!("{labels:?}")
    };
    let start = format!("n={}~", "x".repeat(20));
    assert!(one.starts_with(&start) && two.starts_with(&start) && one != two);
    assert_eq!(one.len(), start.len() + 8);
}

#[test]
fn a_complaint_names_its_row_and_stands_where_the_value_does() {
    check(
        "\
description: d
matrix: { status: [0, 256] }
workload: { run: [\"true\"] }
expect:
  exit: ${status}
",
        "
error: `expect.exit` must be a status from 0 to 255, or a mapping with `signal`, not `${status}` (in the row `status=256` of `matrix`)
 --> x.yaml:5:9
  |
5 |   exit: ${status}
  |         ^^^^^^^^^
  |
  = help: a value is of the type that it has in `matrix`
",
    );
}

#[test]
fn a_complaint_after_reading_names_its_row_and_finds_a_replaced_key() {
    let text = "\
description: d
matrix: { call: [openat, clse] }
workload: { run: [\"true\"] }
expect: { count: { \"${call}\": 2 } }
";
    let scenario = &rows(text)[1];
    let complaint = scenario.complaint(&scenario.expect.events.count[0].step.at, "unknown", None);
    assert_eq!((complaint.line, complaint.column), (4, 20));
    assert_eq!(
        complaint.message,
        "unknown (in the row `call=clse` of `matrix`)"
    );
}

#[test]
fn a_name_that_nothing_holds() {
    check(
        "\
description: with ${mode}
matrix: { mode: [delete, wal] }
workload: { run: [./db, \"${mod}\"] }
",
        "
error: nothing that is run or expected holds `${mode}`
 --> x.yaml:2:11
  |
2 | matrix: { mode: [delete, wal] }
  |           ^^^^
  |
  = help: is `${mod}` meant for it?
",
    );
    check(
        "\
description: d
matrix:
  - { mode: delete }
  - { mode: wal }
workload: { run: [./db] }
",
        "
error: nothing that is run or expected holds `${mode}`
 --> x.yaml:3:7
  |
3 |   - { mode: delete }
  |       ^^^^
  |
  = help: all its rows are the same: use it, or leave it out
",
    );
}

/// A matrix that must be refused: the message, line and column, and the advice.
#[track_caller]
fn refused(matrix: &str, expected: (&str, usize, usize), help: Option<&str>) {
    let text = format!(
        "description: d\nmatrix:\n{matrix}\nworkload: {{ run: [\"${{mode}} ${{sync}}\"] }}\n"
    );
    let complaint =
        read_all(Path::new("x.yaml"), &text, &Programs::default()).expect_err("it must be refused");
    let place = (&*complaint.message, complaint.line, complaint.column);
    assert_eq!(place, expected);
    assert_eq!(complaint.help.as_deref(), help);
}

#[test]
fn what_is_no_table_is_refused() {
    let same_names = Some("all rows have the same names");
    let name = Some("a name is a letter from a to z, then such letters, digits and `_`");
    refused(
        "  wal",
        (
            "`matrix` must be a mapping of names to lists, or a list of mappings, not `wal`",
            2,
            1,
        ),
        None,
    );
    refused("  {}", ("`matrix` is empty", 2, 1), None);
    refused("  []", ("`matrix` is empty", 2, 1), None);
    refused(
        "  mode: wal",
        ("`matrix.mode` must be a list, not `wal`", 3, 9),
        None,
    );
    refused(
        "  mode: []",
        ("`matrix.mode` is empty, so that there is no row", 3, 9),
        None,
    );
    refused(
        "  mode: [a, [b]]",
        (
            "`matrix.mode[1]` must be a string, a number or a truth value, not a list",
            3,
            13,
        ),
        None,
    );
    refused(
        "  mode: [a, ~]",
        (
            "`matrix.mode[1]` must be a string, a number or a truth value, not `~`",
            3,
            13,
        ),
        None,
    );
    refused(
        "  mode: [1, \"1\"]",
        ("`matrix.mode[1]` is the same as `matrix.mode[0]`", 3, 13),
        None,
    );
    refused(
        "  Mode: [a]",
        ("`Mode` is no name for `${...}`", 3, 3),
        name,
    );
    refused(
        "  - { a-b: a }",
        ("`a-b` is no name for `${...}`", 3, 7),
        name,
    );
    refused(
        "  - wal",
        (
            "`matrix[0]` must be a mapping of names to values, not `wal`",
            3,
            5,
        ),
        None,
    );
    refused("  - {}", ("this row is empty", 3, 5), None);
    refused(
        "  - { mode: a, sync: b }\n  - { mode: a }",
        ("this row has no `sync`, which the first row has", 4, 5),
        same_names,
    );
    refused(
        "  - { mode: a }\n  - { mode: a, sync: b }",
        ("the first row has no `sync`", 4, 16),
        same_names,
    );
    refused(
        "  - { mode: a, sync: 1 }\n  - { sync: \"1\", mode: a }",
        ("`matrix[1]` is the same as `matrix[0]`", 4, 5),
        None,
    );
}

#[test]
fn a_matrix_is_no_way_to_more_rows_than_anyone_reads() {
    let numbers: Vec<String> = (0..17).map(|n| n.to_string()).collect();
    let numbers = numbers.join(", ");
    refused(
        &format!("  mode: [{numbers}]\n  sync: [{numbers}]"),
        ("`matrix` has more than 256 rows", 2, 1),
        None,
    );
    let long = "é/".repeat(15);
    let names: Vec<String> = (0..5)
        .map(|n| format!("{}{n}: \"{long}\"", "x".repeat(10)))
        .collect();
    let text = format!(
        "description: d\nmatrix: [{{ {} }}]\nworkload: {{ run: [a] }}\n",
        names.join(", ")
    );
    let complaint =
        read_all(Path::new("x.yaml"), &text, &Programs::default()).expect_err("it must be refused");
    assert!(
        complaint
            .message
            .ends_with("is too long for the name of a snapshot's file"),
        "{complaint}"
    );
}

#[test]
fn a_matrix_is_no_way_to_much_memory() {
    let text = format!(
        "description: d\nmatrix: {{ a: [{0}], b: [\"{1}\"] }}\nworkload: {{ run: [x, \"${{a}}{2}\"] }}\n",
        (0..256)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join(", "),
        "y".repeat(4000),
        "${b}".repeat(4000),
    );
    let complaint =
        read_all(Path::new("x.yaml"), &text, &Programs::default()).expect_err("it must be refused");
    assert!(
        complaint
            .message
            .starts_with("with all its rows the scenario takes more than 64 MiB"),
        "{}",
        complaint.message
    );
}

#[test]
fn two_keys_that_become_one_are_refused() {
    let text = "\
description: d
matrix: { name: [b, a] }
workload:
  run: [ls]
  files:
    a: x
    ${name}: y
";
    let complaint =
        read_all(Path::new("x.yaml"), text, &Programs::default()).expect_err("it must be refused");
    assert_eq!(
        (&*complaint.message, complaint.line, complaint.column),
        (
            "the key `a` stands here twice (in the row `name=a` of `matrix`)",
            7,
            5
        )
    );
}
