//! How a workload ended, as the reports tell it.

use crate::support::oracle;
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

#[test]
fn four_ways_to_end_are_four_things_in_every_report() {
    require!(right_to_trace());
    let project = Project::new();
    let oracle = oracle::path();
    let (exit, signal) = (format!("[{oracle:?}, exit"), format!("[{oracle:?}, signal"));
    let cases = [
        ("three", format!("{exit}, \"3\"]"), "got exit status 3"),
        ("many", format!("{exit}, \"255\"]"), "got exit status 255"),
        (
            "killed",
            format!("{signal}, SIGKILL]"),
            "got killed by SIGKILL",
        ),
        (
            "absent",
            "[./gone]".to_owned(),
            "`./gone` could not be executed: no such file",
        ),
        (
            "nowhere",
            "[no-such-program]".to_owned(),
            "`no-such-program` could not be executed: no such file",
        ),
    ];
    for (name, run, _) in &cases {
        project.scenario(
            name,
            &format!("sandbox: {{ root: host }}\nworkload: {{ run: {run} }}\nsnapshot: false"),
        );
    }
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    run.assert_status(1);
    let verdicts = run.verdicts();
    for (name, _, expected) in &cases {
        let (verdict, reason) = &verdicts[*name];
        assert_eq!(verdict, "fail", "{name}: {reason}");
        assert!(reason.ends_with(expected), "{name}: {reason}");
        assert_eq!(
            reason.starts_with("expected exit status 0, "),
            !reason.contains("executed")
        );
    }
    let status = |words: &[&str]| {
        let words = [&["trace", "--format", "json", "-o", "trace"], words].concat();
        project.harness(&words).status
    };
    let exit = || {
        let trace = project.read("trace");
        let last = trace.lines().last().expect("a summary").to_owned();
        serde_json::from_str::<serde_json::Value>(&last).expect("JSON")["exit"].to_string()
    };
    assert_eq!(
        (status(&[&oracle, "exit", "3"]), exit()),
        (3, r#"{"code":3}"#.to_owned())
    );
    assert_eq!(
        (status(&[&oracle, "exit", "255"]), exit()),
        (255, r#"{"code":255}"#.to_owned())
    );
    let killed = (status(&[&oracle, "signal", "SIGKILL"]), exit());
    assert_eq!(killed, (137, r#"{"signal":"SIGKILL"}"#.to_owned()));
    assert_eq!(
        (status(&["./gone"]), status(&["no-such-program"])),
        (127, 127)
    );
    assert_eq!((status(&["/etc/passwd"]), status(&["/etc"])), (126, 126));
    project.assert_nothing_left();
}

#[test]
fn an_expected_end_is_met_by_that_end_and_by_no_other() {
    require!(right_to_trace());
    let project = Project::new();
    let ends = [
        ("3", "exit, \"3\""),
        ("137", "exit, \"137\""),
        ("{ signal: SIGKILL }", "signal, SIGKILL"),
    ];
    for (row, (expected, _)) in ends.iter().enumerate() {
        for (column, (_, end)) in ends.iter().enumerate() {
            project.scenario(
                &format!("{row}{column}"),
                &format!(
                    "sandbox: {{ root: host }}\nworkload: {{ run: [{:?}, {end}] }}\nsnapshot: false\nexpect: {{ exit: {expected} }}",
                    oracle::path()
                ),
            );
        }
    }
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    for (name, (verdict, reason)) in run.verdicts() {
        let expected = if ["00", "11", "22"].contains(&name.as_str()) {
            "pass"
        } else {
            "fail"
        };
        assert_eq!(verdict, expected, "{name}: {reason}");
    }
}
