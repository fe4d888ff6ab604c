//! What `harness run` says: for a person, as JSON lines, as JUnit XML.

use std::collections::BTreeSet;

use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use serde_json::Value;

use super::{BROKEN, FAILS, PASSES, SKIPPED, UNEXPECTED};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

fn five() -> Project {
    let project = Project::new();
    let scenarios = [
        ("a", PASSES),
        ("b", FAILS),
        ("c", SKIPPED),
        ("d/e", BROKEN),
        ("d/f", UNEXPECTED),
    ];
    for (name, yaml) in scenarios {
        project.scenario(name, yaml);
    }
    project
}

fn members(value: &Value) -> BTreeSet<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn json_lines_have_the_agreed_members_and_end_with_the_summary() {
    require!(right_to_trace());
    let run = five().harness(&["run", "--format", "json", "scenarios"]);
    let lines = run.json();
    let (summary, reports) = lines.split_last().expect("a summary");
    assert_eq!(reports.len(), 5);
    let release = nix::sys::utsname::uname()
        .expect("uname")
        .release()
        .to_owned();
    for report in reports {
        let expected = [
            "type",
            "name",
            "file",
            "verdict",
            "duration_ms",
            "reasons",
            "findings",
            "events",
            "lost",
            "kernel",
            "usage",
            "struck",
        ];
        assert_eq!(members(report), BTreeSet::from(expected), "{report}");
        let name = report["name"].as_str().expect("a name");
        assert_eq!(report["type"], "scenario");
        assert_eq!(report["file"], format!("scenarios/{name}.yaml"));
        assert_eq!(report["kernel"], release.to_str().expect("text"));
        assert!(
            report["duration_ms"].is_u64() && report["reasons"].is_array(),
            "{report}"
        );
        assert_eq!(report["lost"], 0);
        let ran = !["c", "d/e"].contains(&name);
        assert_eq!(
            report["events"].as_u64().is_some_and(|events| events > 10),
            ran,
            "{report}"
        );
    }
    let expected = serde_json::json!({
        "type": "summary", "pass": 1, "fail": 1, "incomplete": 0, "timeout": 0, "leak": 0,
        "skipped": 1, "broken": 1, "unexpected_pass": 1,
    });
    assert_eq!(summary, &expected);
}

#[test]
fn junit_tells_failures_from_errors_and_skips() {
    require!(right_to_trace());
    let run = five().harness(&["run", "--format", "junit", "scenarios"]);
    run.assert_status(99);
    let report = Report::deserialize_from_str(&run.stdout).expect("JUnit XML");
    assert_eq!((report.tests, report.failures, report.errors), (5, 2, 1));
    let [suite] = report.test_suites.as_slice() else {
        panic!("not one suite: {report:?}")
    };
    let mut seen = Vec::new();
    for case in &suite.test_cases {
        let (kind, message) = match &case.status {
            TestCaseStatus::Success { .. } => ("pass", String::new()),
            TestCaseStatus::Skipped { message, .. } => ("skip", format!("{message:?}")),
            TestCaseStatus::NonSuccess {
                kind: NonSuccessKind::Failure,
                message,
                ty,
                ..
            } => ("failure", format!("{message:?} {ty:?}")),
            TestCaseStatus::NonSuccess {
                kind: NonSuccessKind::Error,
                message,
                ty,
                ..
            } => ("error", format!("{message:?} {ty:?}")),
        };
        seen.push((case.name.as_str(), kind, message));
    }
    let expected = [
        ("a", "pass", ""),
        ("b", "failure", "exit status 1"),
        ("c", "skip", "no-such-command"),
        ("d/e", "error", "cannot lay `aaaa"),
        ("d/f", "failure", "unexpected_pass"),
    ];
    assert_eq!(seen.len(), expected.len());
    for (seen, expected) in seen.iter().zip(expected) {
        assert_eq!((seen.0, seen.1), (expected.0, expected.1));
        assert!(seen.2.contains(expected.2), "{seen:?}");
    }
}

#[test]
fn a_person_reads_a_line_for_each_scenario_its_reasons_and_a_summary() {
    require!(right_to_trace());
    let run = five().harness(&["run", "scenarios"]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    let (summary, rest) = lines.split_last().expect("a summary");
    assert_eq!(
        *summary,
        "5 scenarios: 1 pass, 1 fail, 1 skipped, 1 broken, 1 unexpected pass"
    );
    let starts = |start: &str| rest.iter().any(|line| line.starts_with(start));
    for start in [
        "      pass  a  (",
        "      fail  b  (",
        "   skipped  c: needs command `no-such-command`",
        "    broken  d/e  (",
        "unexpected pass  d/f  (",
        "            expected exit status 0, got exit status 1",
    ] {
        assert!(
            starts(start),
            "no line starts with `{start}`:\n{}",
            run.stdout
        );
    }
    assert!(!run.stdout.contains('\u{1b}'), "colours in a pipe");
    let one = Project::with("a", PASSES).harness(&["run", "scenarios/a.yaml"]);
    assert!(
        one.stdout.ends_with("\n1 scenario: 1 pass\n"),
        "{}",
        one.stdout
    );
}

#[test]
fn a_report_makes_folders_below_the_working_directory_alone() {
    let project = Project::with("x", "workload: { run: [\"true\"] }\nsnapshot: false");
    let beside = Project::new();
    let mistyped = beside.join("mistyped/x.xml");
    let mistyped = mistyped.to_str().expect("text");
    let run = project.harness(&["run", "--report", mistyped, "scenarios"]);
    run.assert_status(2);
    assert!(
        run.stderr.contains("there is no folder `"),
        "{}",
        run.stderr
    );
    assert!(!beside.join("mistyped").exists());
    let own = project.join("out/of/x.xml");
    let run = project.harness(&["run", "--report", own.to_str().expect("text"), "scenarios"]);
    assert_ne!(run.status, 2, "{}", run.stderr);
    assert!(own.exists());
}

#[test]
fn a_filter_selects_by_name() {
    require!(right_to_trace());
    let project = five();
    let names = |filter: &str| -> Vec<String> {
        let run = project.harness(&["run", "--format", "json", "--filter", filter, "scenarios"]);
        run.verdicts().into_keys().collect()
    };
    assert_eq!(names("^d/"), ["d/e", "d/f"]);
    assert_eq!(names("[ac]"), ["a", "c"]);
    let files = project.harness(&[
        "run",
        "--format",
        "json",
        "scenarios/d/f.yaml",
        "scenarios/a.yaml",
    ]);
    assert_eq!(
        files.verdicts().into_keys().collect::<Vec<_>>(),
        ["a", "d/f"]
    );
}

#[test]
fn files_of_the_same_name_in_two_folders_are_two_scenarios() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("x/same.yaml", &format!("description: one\n{PASSES}\n"));
    project.write("y/same.yaml", &format!("description: two\n{FAILS}\n"));
    let run = project.harness(&["run", "--format", "json", "x/same.yaml", "y/same.yaml"]);
    run.assert_status(1);
    let mut seen: Vec<(Value, Value)> = run
        .json()
        .iter()
        .filter(|line| line["type"] == "scenario")
        .map(|line| (line["file"].clone(), line["verdict"].clone()))
        .collect();
    seen.sort_by_key(|(file, _)| file.to_string());
    let expected = [("x/same.yaml", "pass"), ("y/same.yaml", "fail")];
    assert_eq!(
        seen,
        expected.map(|(file, verdict)| (file.into(), verdict.into()))
    );
}

/// The number of calls is another in each run.
const VARIES: &str = r#"workload:
  run: [perl, -e, "getppid() for 1..int rand 500"]
snapshot: { level: counts, show: [getppid] }"#;

#[test]
fn repeated_runs_must_give_the_same_trace() {
    require!(right_to_trace());
    let project = Project::with("varies", VARIES);
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    let run = project.harness_with(&[("CI", "1")], &["run", "--repeat", "50", "scenarios"]);
    run.assert_status(1);
    assert!(run.stdout.contains("of 50"), "{}", run.stdout);
    let project = Project::with("steady", "workload: { run: [\"true\"] }");
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    project
        .harness(&["run", "--repeat", "10", "scenarios"])
        .assert_status(0);
    project.assert_nothing_left();
}

/// Two workloads that need each other run side by side, and one after the other they cannot.
#[test]
fn jobs_says_how_many_scenarios_run_side_by_side() {
    require!(right_to_trace());
    let project = super::needing_each_other("60s");
    project
        .harness(&["run", "--jobs", "2", "scenarios"])
        .assert_status(0);
    let project = super::needing_each_other("300ms");
    let run = project.harness(&["run", "--jobs", "1", "--format", "json", "scenarios"]);
    run.assert_status(1);
    let verdicts: Vec<String> = run
        .verdicts()
        .into_values()
        .map(|(verdict, _)| verdict)
        .collect();
    assert_eq!(verdicts, ["timeout", "timeout"]);
}

#[test]
fn a_page_names_the_calls_of_a_scenario_without_a_snapshot() {
    require!(right_to_trace());
    let project = Project::new();
    for (name, expect) in [
        ("counted", ""),
        ("ordered", "expect: { sequence: [uname] }\n"),
    ] {
        let yaml = "workload: { run: [uname] }\ntrace: { events: [{ syscalls: [uname] }] }\n";
        project.scenario(name, &format!("{yaml}{expect}snapshot: false\n"));
    }
    project
        .harness(&["run", "scenarios", "--report", "page.html"])
        .assert_status(0);
    let page = project.read("page.html");
    let traces: Vec<&str> = page.split("# trace ").skip(1).collect();
    assert_eq!(traces.len(), 2, "{page}");
    for trace in traces {
        let trace = trace.split("</pre>").next().unwrap_or_default();
        assert!(trace.contains("uname"), "{trace}");
        assert!(trace.replace("P1 uname", "").contains("uname"), "{trace}");
    }
}
