//! `harness trace -c`: the numbers are those of `strace -c`, and those of a run that lost something
//! say so.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::oracle;
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};
use crate::support::unread::Unread;

/// Calls and errors by name.
pub(crate) type Counts = BTreeMap<String, (u64, u64)>;

/// Calls that do not return: strace counts calls when they return.
const ENDLESS: [&str; 2] = ["exit", "exit_group"];

/// Processes one after the other, of programs whose calls do not depend on how fast their children
/// are: no shell, no `xargs`.
pub(crate) const CAT_EACH: [&str; 9] = [
    "find", "tree", "-name", "*.txt", "-exec", "cat", "{}", "missing", ";",
];

/// A folder with something to look at.
pub(crate) fn laid_out() -> Project {
    let project = Project::new();
    project.write("tree/a.txt", &"needle\n".repeat(3000));
    project.write("tree/sub/b.txt", "two\none\n");
    project.write("tree/sub/deeper/c.txt", "");
    project.write("out/empty", "");
    project
}

/// What `strace -c` counts, with these options.
pub(crate) fn by_strace(project: &Project, options: &[&str], command: &[&str]) -> Counts {
    let strace = [
        "strace",
        "-f",
        "-c",
        "-U",
        "calls,errors,name",
        "-o",
        "table",
    ];
    let words = [&strace, options, &["setarch", "-R"], command].concat();
    project.run(&[], &words);
    let table = project.read("table");
    let rows = table.lines().filter(|line| !line.ends_with("total"));
    rows.filter_map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let number = |word: &str| word.parse().ok();
        match words.as_slice() {
            [calls, name] => Some(((*name).to_owned(), (number(calls)?, 0))),
            [calls, errors, name] => Some(((*name).to_owned(), (number(calls)?, number(errors)?))),
            _ => None,
        }
    })
    .collect()
}

/// What harness counts, with these options.
pub(crate) fn by_harness(project: &Project, options: &[&str], command: &[&str]) -> Counts {
    let trace = ["trace", "-c", "--format", "json", "-o", "rows"];
    let words = [&trace, options, &["--", "setarch", "-R"], command].concat();
    let run = project.harness(&words);
    let rows = json(&project.read("rows"));
    let (last, rows) = rows.split_last().unwrap_or_else(|| panic!("{run:?}"));
    assert_eq!(
        (&last["type"], &last["complete"]),
        (&"summary".into(), &true.into())
    );
    let counted: u64 = rows.iter().map(|row| number(row, "calls")).sum();
    assert_eq!(last["events"], counted);
    let counts = rows.iter().map(|row| {
        let errnos = row["errnos"].as_object().expect("errors by name");
        let by_name: u64 = errnos.values().filter_map(Value::as_u64).sum();
        assert_eq!(number(row, "errors"), by_name, "{row}");
        let name = row["name"].as_str().expect("a name").to_owned();
        (name, (number(row, "calls"), by_name))
    });
    counts
        .filter(|(name, _)| !ENDLESS.contains(&name.as_str()))
        .collect()
}

fn json(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn number(row: &Value, member: &str) -> u64 {
    row[member]
        .as_u64()
        .unwrap_or_else(|| panic!("no {member}: {row}"))
}

#[test]
fn calls_and_errors_are_those_that_strace_counts() {
    require!(right_to_trace());
    require!(program("strace"));
    let project = laid_out();
    let oracle = oracle::path();
    let commands: [&[&str]; 8] = [
        &["true"],
        &["cat", "tree/a.txt", "missing"],
        &["ls", "-lR", "tree"],
        &["sort", "tree/a.txt", "-o", "out/sorted"],
        &["du", "-a", "tree", "missing"],
        &["tar", "cf", "out/archive", "tree", "missing"],
        &CAT_EACH,
        &[&oracle, "flood", "5000"],
    ];
    for command in commands {
        let strace = by_strace(&project, &[], command);
        assert!(strace.len() > 5, "{command:?}: {strace:?}");
        assert_eq!(by_harness(&project, &[], command), strace, "{command:?}");
    }
    project.assert_nothing_left();
}

/// The numbers of a row of the first table, by their heads.
fn row<'a>(table: &'a str, call: &str) -> Vec<&'a str> {
    let row = table
        .lines()
        .find(|line| line.ends_with(&format!(" {call}")));
    let row = row.unwrap_or_else(|| panic!("no {call}:\n{table}"));
    row.split_whitespace().collect()
}

#[test]
fn a_person_reads_tables_instead_of_lines_or_behind_them() {
    require!(right_to_trace());
    let project = laid_out();
    let command = ["--", "sh", "-c", "cat missing; sleep 0.2; :"];
    let run = project.harness(&[&["trace", "-c", "-o", "table"], &command[..]].concat());
    run.assert_status(0);
    let table = project.read("table");
    let heads = table.lines().next().expect("a line");
    assert_eq!(
        heads
            .split("  ")
            .map(str::trim)
            .filter(|head| !head.is_empty())
            .collect::<Vec<_>>(),
        [
            "% time", "total ms", "min us", "avg us", "max us", "calls", "errors", "call"
        ]
    );
    // A clock that is not the processor's: the sleep is in it.
    let slept = row(&table, "clock_nanosleep");
    let total: f64 = slept[1].parse().expect("a time");
    assert!((200.0..60_000.0).contains(&total), "{slept:?}");
    assert_eq!(slept[5..], ["1", "clock_nanosleep"]);
    // It never returned.
    assert_eq!(row(&table, "exit_group")[2..6], ["-", "-", "-", "3"]);
    // `cat` looked for what is not there; every error is in the second table.
    let (_, errors) = table.split_once("\n\n").expect("a second table");
    assert!(
        errors
            .lines()
            .any(|line| line.ends_with("  ENOENT            openat")),
        "{table}"
    );
    let counts = errors
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let counted: u64 = counts.filter_map(|count| count.parse::<u64>().ok()).sum();
    assert_eq!(row(&table, "total")[6], counted.to_string());
    let run = project.harness(&[&["trace", "-C", "-o", "both"], &command[..]].concat());
    run.assert_status(0);
    let both = project.read("both");
    let (lines, table) = both.split_once("\n\n% time ").expect("lines and a table");
    let calls = lines.lines().count().to_string();
    assert_eq!(row(table, "total")[5], calls);
}

#[test]
fn each_process_has_its_table_where_that_is_asked_for() {
    require!(right_to_trace());
    let project = laid_out();
    let words = [
        "trace",
        "-c",
        "--summary-by",
        "thread",
        "-o",
        "table",
        "sh",
        "-c",
        "cat tree/a.txt; :",
    ];
    project.harness(&words).assert_status(0);
    let table = project.read("table");
    let whose: Vec<_> = table
        .lines()
        .filter_map(|line| line.strip_prefix("process ")?.split_once(' '))
        .map(|(_, name)| name)
        .collect();
    assert_eq!(whose, ["sh", "cat"]);
}

/// How many records the complaint says are lost.
fn lost(run: &Run) -> &str {
    let complaint = run.stderr.lines().find_map(|line| {
        line.strip_prefix("harness: the trace is incomplete: ")?
            .strip_suffix(" records lost")
    });
    complaint.unwrap_or_else(|| panic!("{run:?}"))
}

#[test]
fn the_summary_of_a_run_that_lost_records_says_so_and_is_no_success() {
    require!(right_to_trace());
    let project = laid_out();
    let mut unread = Unread::new(&project);
    let script = unread.shell(&format!("{} flood 100000", oracle::path()));
    let flood = ["-m", "1MiB", "--", "sh", "-c", &script];
    let words = [&["trace", "-c", "-o", "table"], &flood[..]].concat();
    let run = unread.run(&mut project.program(&words));
    run.assert_status(125);
    let heading = format!(
        "INCOMPLETE: {} records lost; there was more than these tables count\n  `raw_syscalls:sys_enter`: ",
        lost(&run)
    );
    let table = project.read("table");
    assert!(table.starts_with(&heading), "{table}");
    let counted: u64 = row(&table, "getppid")[5].parse().expect("a number");
    assert!((1..100_000).contains(&counted), "{table}");

    let options = ["trace", "-c", "--format", "json", "-o", "rows"];
    let words = [&options, &flood[..]].concat();
    let run = unread.run(&mut project.program(&words));
    run.assert_status(125);
    let rows = json(&project.read("rows"));
    let last = rows.last().expect("a line");
    assert_eq!(
        (&last["type"], &last["complete"]),
        (&"summary".into(), &false.into())
    );
    assert_eq!(last["lost"].to_string(), lost(&run));
}
