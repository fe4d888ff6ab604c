//! `harness matrix --bisect`, over names of this machine's kernel: what stands for each puts another
//! program in place, as another kernel would answer otherwise.

use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};
use serde_json::{Value, json};
use std::fmt::Write;

/// What stands for a kernel: `dead` does not come up, `varies` fails in every second run.
const AS: &str = r#"#!/bin/sh
kind=$1
shift
[ "$kind" = dead ] && { echo "there is no such kernel" >&2; exit 3; }
cp "programs/$kind" program
exec "$@"
"#;

/// A list of such kernels, `v1` and so on, and a scenario of the program.
fn project(kinds: &[&str]) -> Project {
    let project = Project::new();
    project.write("as", AS);
    let seen = project.join("seen").display().to_string();
    let varies =
        format!("if test -e '{seen}'; then rm '{seen}'; exit 0; fi; : > '{seen}'; exit 1\n");
    for (kind, text) in [
        ("good", "exit 0\n"),
        ("bad", "exit 1\n"),
        ("killed", "kill -SEGV $$\n"),
        ("slow", "sleep 1000\n"),
        ("varies", &varies),
    ] {
        project.write(&format!("programs/{kind}"), text);
    }
    project.write("program", "");
    let files = "files: { program: { from: ../program } }";
    project.scenario(
        "it",
        &format!(
            "sandbox: {{ root: host }}\nworkload: {{ run: [sh, program], {files}, timeout: 900s }}\nsnapshot: false"
        ),
    );
    project.scenario("other", "workload: { run: [\"true\"] }\nsnapshot: false");
    let mut list = String::new();
    for (number, kind) in (1..).zip(kinds) {
        let entry = format!("v{number}: {{ host: true, under: [sh, ./as, {kind}] }}");
        writeln!(list, "{entry}").expect("text");
    }
    project.write("kernels.yaml", &list);
    project
}

fn words<'a>(ends: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let first = [
        "matrix",
        "--guests",
        "1",
        "--kernels",
        "kernels.yaml",
        "--bisect",
        ends,
    ];
    [&first[..], more, &["scenarios"]].concat()
}

/// The last line of JSON, and how often a kernel was tried.
fn bisected(run: &Run) -> (Value, Vec<(String, String)>) {
    let lines = run.json();
    let tried = lines.iter().filter(|line| line["type"] == "tried");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tried = tried.map(|line| (text(&line["kernel"]), text(&line["sign"])));
    let tried = tried.collect();
    (lines.last().expect("a line").clone(), tried)
}

#[test]
fn the_first_bad_kernel_is_found_between_good_ones_that_do_not_come_up() {
    require!(right_to_trace());
    let kinds = [
        "good", "good", "dead", "good", "dead", "good", "bad", "bad", "bad",
    ];
    let project = project(&kinds);
    let run = project.harness(&words("v1..v9", &["--format", "json", "--report", "r.txt"]));
    run.assert_status(0);
    let (last, tried) = bisected(&run);
    assert_eq!(
        (&last["first_bad"], &last["last_good"]),
        (&json!("v7"), &json!("v6"))
    );
    assert_eq!(last["scenarios"], json!(["it"]));
    assert!(tried.len() < kinds.len(), "{tried:?}");
    assert_eq!(tried[0], ("v1".to_owned(), "good".to_owned()));
    assert_eq!(tried[1], ("v9".to_owned(), "bad".to_owned()));
    let text = project.read("r.txt");
    let result = "v7 is the first bad kernel; v6, right before it in the list, is good\n";
    assert!(text.ends_with(result), "{text}");
    assert!(
        text.contains("v5 -> v6") || text.contains("v6 -> v7: 1 difference"),
        "{text}"
    );
}

#[test]
fn what_cannot_tell_at_the_border_leaves_a_range_and_is_named_with_its_reason() {
    require!(right_to_trace());
    let project = project(&["good", "good", "dead", "varies", "bad", "bad"]);
    let run = project.harness(&words("v1..v6", &["--format", "json"]));
    run.assert_status(1);
    let (last, tried) = bisected(&run);
    assert_eq!(last["first_bad"], Value::Null);
    assert_eq!(last["last_good"], "v2");
    assert_eq!(last["left"], json!(["v3", "v4", "v5"]));
    for kernel in ["v3", "v4"] {
        assert!(
            tried.contains(&(kernel.to_owned(), "unclear".to_owned())),
            "{tried:?}"
        );
    }
    let lines = run.json();
    let why = |kernel: &str| {
        let mut tried = lines.iter().filter(|line| line["type"] == "tried");
        tried.find(|line| line["kernel"] == kernel).expect("it")["why"].to_string()
    };
    assert!(
        why("v3").contains("ended with status 3, and no word of the harness came"),
        "{}",
        why("v3")
    );
    assert!(
        why("v4").contains("not the same in all runs: pass, fail"),
        "{}",
        why("v4")
    );
    // It is no pass in the table either.
    let mut cells = lines.iter().filter(|line| line["type"] == "cell");
    let is_it = |line: &&Value| line["kernel"] == "v4" && line["scenario"] == "it";
    let cell = cells.find(is_it).expect("a cell");
    assert_eq!(
        (&cell["verdict"], &cell["verdicts"]),
        (&json!("fail"), &json!(["pass", "fail"]))
    );
}

#[test]
fn a_first_bad_kernel_that_fails_otherwise_than_the_bad_end_is_told_with_both_ends() {
    require!(right_to_trace());
    let project = project(&["good", "bad", "killed"]);
    let run = project.harness(&words("v1..v3", &["--report", "r.jsonl"]));
    run.assert_status(0);
    let result = "v2 is the first bad kernel; v1, right before it in the list, is good\n\
                  it fails otherwise on v2 than on v3: it may not be the same failure\n";
    assert!(run.stdout.ends_with(result), "{}", run.stdout);
    let end = "   behaviour  it ends otherwise: killed by SIGSEGV instead of exit status 1\n";
    assert!(run.stdout.contains(end), "{}", run.stdout);
    let json = project.read("r.jsonl");
    let last = json.lines().last().expect("a line");
    let last: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(last["otherwise"], json!(["it"]));
}

#[test]
fn ends_that_are_not_what_they_are_called_are_told_and_nothing_is_searched_for() {
    require!(right_to_trace());
    for (kinds, said, status) in [
        (["bad", "good", "bad"], "v1 is not good: it fails there", 1),
        (
            ["good", "bad", "good"],
            "v3 is not bad: all scenarios pass there",
            1,
        ),
        (
            ["dead", "good", "bad"],
            "it cannot be told whether v1 is good: ",
            99,
        ),
        (
            ["good", "good", "dead"],
            "it cannot be told whether v3 is bad: ",
            99,
        ),
        (["good", "bad", "varies"], "in every further run", 1),
    ] {
        let project = project(&kinds);
        let run = project.harness(&words("v1..v3", &[]));
        run.assert_status(status);
        let last = run.stdout.lines().last().expect("a line");
        let begins = last.starts_with("nothing was searched for: ");
        assert!(begins && last.contains(said), "{kinds:?}: {last}");
        assert!(!run.stderr.contains("v2"), "{}", run.stderr);
    }
}

#[test]
fn wrong_ends_are_wrong_usage() {
    let project = project(&["good", "bad"]);
    for (ends, said) in [
        ("v2..v1", "must stand before"),
        ("v1..v1", "must stand before"),
        ("v1", "is not GOOD..BAD"),
        ("v1..v3", "no kernel `v3` in the list"),
        ("..v2", "no kernel `` in the list"),
    ] {
        let run = project.harness(&words(ends, &[]));
        run.assert_status(2);
        assert!(run.stderr.contains(said), "{ends}: {}", run.stderr);
    }
    let run = project.harness(&words("v1..v2", &["--kernel", "v1"]));
    run.assert_status(2);
}
