//! What is written beside the scenarios, and when.

use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};

pub(super) const SHOWS_ONE: &str =
    "workload: { run: [\"true\"] }\nsnapshot: { level: set, show: [execve] }";
pub(super) const SHOWS_TWO: &str =
    "workload: { run: [\"true\"] }\nsnapshot: { level: set, show: [execve, exit_group] }";

pub(super) fn body(snapshot: &str) -> &str {
    snapshot
        .splitn(3, "---\n")
        .nth(2)
        .expect("a header and a body")
}

pub(super) fn run(project: &Project) -> Run {
    project.harness(&["run", "scenarios"])
}

/// A project whose snapshot has been accepted and is out of date.
fn outdated() -> Project {
    let project = Project::with("sub/x", SHOWS_ONE);
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    project.scenario("sub/x", SHOWS_TWO);
    project
}

#[test]
fn a_new_trace_waits_for_review_and_an_accepted_one_passes() {
    require!(right_to_trace());
    let project = Project::with("sub/x", SHOWS_ONE);
    let first = run(&project);
    first.assert_status(1);
    assert!(
        first
            .stdout
            .contains("there is no snapshot `snapshots/sub/x.snap` yet"),
        "{}",
        first.stdout
    );
    assert_eq!(project.snapshots(), ["snapshots/sub/x.snap.new"]);
    let pending = project.read("snapshots/sub/x.snap.new");
    assert!(
        body(&pending).contains("\nP1 true\n  execve\n"),
        "{pending}"
    );
    project.harness(&["review", "--accept"]).assert_status(0);
    assert_eq!(
        project.files("snapshots"),
        [("snapshots/sub/x.snap".to_owned(), pending.into_bytes())].into()
    );
    run(&project).assert_status(0);
    project.assert_nothing_left();
}

#[test]
fn update_writes_what_accepting_would_have_written() {
    require!(right_to_trace());
    let (updated, reviewed) = (Project::with("x", SHOWS_ONE), Project::with("x", SHOWS_ONE));
    updated
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    run(&reviewed).assert_status(1);
    reviewed.harness(&["review", "--accept"]).assert_status(0);
    assert_eq!(updated.files("snapshots"), reviewed.files("snapshots"));
}

#[test]
fn a_difference_is_shown_as_a_diff_and_put_aside() {
    require!(right_to_trace());
    let project = outdated();
    let stored = project.read("snapshots/sub/x.snap");
    let failed = run(&project);
    failed.assert_status(1);
    let shown: Vec<&str> = failed.stdout.lines().map(str::trim).collect();
    let start = shown
        .iter()
        .position(|line| *line == "--- stored")
        .expect("a diff");
    let diff = &shown[start..];
    assert!(
        diff.starts_with(&["--- stored", "+++ this run"]),
        "{diff:?}"
    );
    assert!(
        diff.contains(&"execve") && diff.contains(&"+  exit_group"),
        "{diff:?}"
    );
    assert!(
        !diff[2..].iter().any(|line| line.starts_with('-')),
        "nothing went: {diff:?}"
    );
    assert!(
        failed
            .stdout
            .contains("waits in `snapshots/sub/x.snap.new`: harness review\n")
    );
    // What it says to call is right where the caller stands.
    let above = project.path().parent().expect("a folder above");
    let folder = project
        .path()
        .file_name()
        .expect("a name")
        .to_string_lossy();
    let elsewhere = |words: &[&str]| {
        let mut program = project.program(words);
        program.current_dir(above).output().expect("harness")
    };
    let above = elsewhere(&["run", &format!("{folder}/scenarios")]);
    let said = String::from_utf8_lossy(&above.stdout).into_owned();
    let review = format!("harness review {folder}/snapshots\n");
    assert!(said.contains(&review), "{said}");
    assert_eq!(
        project.read("snapshots/sub/x.snap"),
        stored,
        "the stored one stays as it is"
    );
    assert_eq!(
        project.snapshots(),
        ["snapshots/sub/x.snap", "snapshots/sub/x.snap.new"]
    );
    // When the trace is right again, nothing waits any more.
    project.scenario("sub/x", SHOWS_ONE);
    run(&project).assert_status(0);
    assert_eq!(project.snapshots(), ["snapshots/sub/x.snap"]);
    project.assert_nothing_left();
}

#[test]
fn review_rejects_accepts_or_leaves_what_waits() {
    require!(right_to_trace());
    let project = outdated();
    let stored = project.files("snapshots");
    run(&project).assert_status(1);
    let waiting = project.files("snapshots");
    // No question is asked if there is no terminal to answer it.
    let skipped = project.harness(&["review"]);
    skipped.assert_status(1);
    assert!(
        skipped.stdout.contains("[1/1] snapshots/sub/x.snap\n"),
        "{}",
        skipped.stdout
    );
    assert!(
        skipped.stdout.contains("+  exit_group\n"),
        "{}",
        skipped.stdout
    );
    assert_eq!(project.files("snapshots"), waiting);
    project.harness(&["review", "--reject"]).assert_status(0);
    assert_eq!(project.files("snapshots"), stored);
    run(&project).assert_status(1);
    project
        .harness(&["review", "--accept", "--reject"])
        .assert_status(2);
    project
        .harness(&["review", "--accept", "snapshots"])
        .assert_status(0);
    assert_eq!(project.snapshots(), ["snapshots/sub/x.snap"]);
    run(&project).assert_status(0);
    assert_eq!(
        project.harness(&["review"]).assert_status(0).stdout,
        "nothing waits for review\n"
    );
}

#[test]
fn nothing_is_written_in_ci() {
    require!(right_to_trace());
    let project = outdated();
    let stored = project.files("snapshots");
    let ci = |arguments: &[&str]| project.harness_with(&[("CI", "true")], arguments);
    let failed = ci(&["run", "scenarios"]);
    failed.assert_status(1);
    assert!(
        failed.stdout.contains("+  exit_group"),
        "the diff is shown: {}",
        failed.stdout
    );
    let refused = ci(&["run", "--update", "scenarios"]);
    refused.assert_status(2);
    assert_eq!(
        (refused.stdout.as_str(), refused.stderr.as_str()),
        (
            "",
            "harness: nothing is written when CI is set; unset it to use --update\n"
        )
    );
    assert_eq!(project.files("snapshots"), stored);
    // Nor is anything taken away there.
    run(&project).assert_status(1);
    let waiting = project.files("snapshots");
    for arguments in [&["review", "--accept"], &["review", "--reject"]] {
        ci(arguments).assert_status(2);
    }
    project.scenario("sub/x", SHOWS_ONE);
    ci(&["run", "scenarios"]).assert_status(0);
    assert_eq!(project.files("snapshots"), waiting);
    // A word for no is no.
    let not_ci = project.harness_with(&[("CI", "false")], &["run", "--update", "scenarios"]);
    not_ci.assert_status(0);
}

#[test]
fn the_command_that_reviews_a_trace_is_right_in_a_shell() {
    require!(right_to_trace());
    let project = Project::new();
    project.write(
        "it's mine/x.yaml",
        &format!("description: it\n{SHOWS_ONE}\n"),
    );
    let run = project.harness(&["run", "it's mine"]);
    run.assert_status(1);
    let reviews = |line: &str| Some(line.split_once("harness review ")?.1.to_owned());
    let folder = run.stdout.lines().find_map(reviews).expect(&run.stdout);
    assert_eq!(folder, r"'it'\''s mine/snapshots'");
    let mut sh = project.command("sh");
    sh.args(["-c", &format!("\"$0\" review --accept {folder}")]);
    let accepted = sh.arg(env!("CARGO_BIN_EXE_harness")).status();
    assert!(accepted.expect("sh").success());
    assert!(project.join("it's mine/snapshots/x.snap").exists());
}

#[test]
fn update_of_the_unseen_writes_what_is_new_and_puts_aside_what_changed() {
    require!(right_to_trace());
    let project = Project::with("x", SHOWS_ONE);
    let update = ["run", "--update=unseen", "scenarios"];
    project.harness(&update).assert_status(0);
    assert_eq!(project.snapshots(), ["snapshots/x.snap"]);
    let stored = project.read("snapshots/x.snap");
    project.scenario("x", SHOWS_TWO);
    project.scenario("y", SHOWS_ONE);
    // Of several runs the last writes it.
    let words = ["run", "--update=unseen", "--repeat", "2", "scenarios"];
    project.harness(&words).assert_status(1);
    let files = [
        "snapshots/x.snap",
        "snapshots/x.snap.new",
        "snapshots/y.snap",
    ];
    assert_eq!(project.snapshots(), files);
    assert_eq!(project.read("snapshots/x.snap"), stored);
    project.assert_nothing_left();
}

#[test]
fn update_leaves_alone_what_fails_for_another_reason() {
    require!(right_to_trace());
    let project = Project::with(
        "x",
        "workload: { run: [\"false\"] }\nsnapshot: { show: [execve] }",
    );
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(1);
    assert!(
        !project.snapshots().contains(&"snapshots/x.snap".to_owned()),
        "a failure was accepted"
    );
}

#[test]
fn a_snapshot_that_no_scenario_uses_is_reported() {
    require!(right_to_trace());
    let project = Project::with("x", SHOWS_ONE);
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    let stored = project.read("snapshots/x.snap");
    assert_eq!(run(&project).stderr, "");
    project.write("snapshots/gone.snap", &stored);
    project.write("snapshots/sub/gone@6.1.snap", &stored);
    let warned = run(&project);
    warned.assert_status(0);
    assert_eq!(
        warned.stderr,
        "warning: no scenario uses the snapshot `snapshots/gone.snap`\n\
         warning: no scenario uses the snapshot `snapshots/sub/gone@6.1.snap`\n"
    );
    project.write(
        "scenarios/sub/y.yaml",
        "description: y\nworkload: { run: [\"true\"] }\nsnapshot: false\n",
    );
    let part = project.harness(&["run", "scenarios/sub"]);
    part.assert_status(0);
    assert_eq!(
        part.stderr,
        "warning: no scenario uses the snapshot `snapshots/sub/gone@6.1.snap`\n"
    );
}

const MATRIX: &str = "\
matrix: { call: [execve, exit_group], word: [\"true\", \"a/b\"] }
workload: { run: [\"true\", \"${word}\"] }
snapshot: { level: set, show: [\"${call}\"] }";

#[test]
fn a_row_of_a_matrix_is_a_scenario_with_a_snapshot_of_its_own() {
    require!(right_to_trace());
    let project = Project::with("sub/x", MATRIX);
    let first = run(&project);
    first.assert_status(1);
    let rows = [
        "call=execve,word=a%2Fb",
        "call=execve,word=true",
        "call=exit_group,word=a%2Fb",
        "call=exit_group,word=true",
    ];
    let pending = rows.map(|row| format!("snapshots/sub/x,{row}.snap.new"));
    assert_eq!(project.snapshots(), pending);
    project.harness(&["review", "--accept"]).assert_status(0);
    let stored = project.read("snapshots/sub/x,call=exit_group,word=true.snap");
    assert!(
        body(&stored).ends_with("\nP1 true\n  exit_group\n"),
        "{stored}"
    );
    let (_, version) = super::variants::versions();
    project.write(
        &format!("snapshots/sub/x,call=execve,word=true@{version}.snap"),
        &stored,
    );
    project.write("snapshots/sub/x,call=execve.snap", &stored);
    let second = run(&project);
    second.assert_status(1);
    assert_eq!(
        second.stderr,
        "warning: no scenario uses the snapshot `snapshots/sub/x,call=execve.snap`\n"
    );
    for row in rows {
        let verdict = match row {
            "call=execve,word=true" => "fail",
            _ => "pass",
        };
        let line = second
            .stdout
            .lines()
            .find(|line| line.contains(&format!("sub/x[{row}]")));
        assert!(
            line.is_some_and(|line| line.contains(verdict)),
            "{}",
            second.stdout
        );
    }
    let one = project.harness(&[
        "run",
        "scenarios",
        "--filter",
        "exit_group,word=t",
        "--format",
        "json",
    ]);
    one.assert_status(0);
    assert!(
        one.stdout.contains("\"sub/x[call=exit_group,word=true]\""),
        "{}",
        one.stdout
    );
    assert!(!one.stdout.contains("word=a"), "{}", one.stdout);
}

#[test]
fn a_defect_of_a_file_is_said_once_for_all_its_rows() {
    require!(right_to_trace());
    let project = Project::with("x", &MATRIX.replace("exit_group", "exit_gruop"));
    let refused = run(&project);
    refused.assert_status(2);
    assert_eq!(
        refused.stderr.matches("error: ").count(),
        1,
        "{}",
        refused.stderr
    );
    assert!(
        refused
            .stderr
            .contains("(in the row `call=exit_gruop,word=a%2Fb` of `matrix`)"),
        "{}",
        refused.stderr
    );
}

#[test]
fn update_keeps_no_trace_that_another_of_the_runs_does_not_have() {
    require!(right_to_trace());
    let drawn = "workload: { shell: touch x.$(date +%N) }\nsnapshot: { show: [openat] }";
    let project = Project::with("x", SHOWS_ONE);
    let update = ["run", "--update", "--repeat", "2", "scenarios"];
    project.harness(&update).assert_status(0);
    let stored = project.read("snapshots/x.snap");
    project.scenario("x", drawn);
    let run = project.harness(&update);
    run.assert_status(1);
    assert!(run.stdout.contains("--- first run"), "{}", run.stdout);
    assert_eq!(project.read("snapshots/x.snap"), stored);
}
