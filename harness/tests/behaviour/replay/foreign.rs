//! A recording of another tool may hold a part of what happened, and may be of another machine.

use super::judged;
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

const COMMAND: &str = "mkdir a; rmdir a";

fn record(project: &Project, words: &[&str]) {
    let harness = env!("CARGO_BIN_EXE_harness");
    let all = [
        &[harness, "record", "-o", "run.data"],
        words,
        &["--", "sh", "-c", COMMAND],
    ];
    project.run(&[], &all.concat()).assert_status(0);
}

fn scenario(project: &Project, expect: &str) {
    let text = format!(
        "workload: {{ run: [sh, -c, \"{COMMAND}\"] }}\nexpect: {{ {expect} }}\nsnapshot: false"
    );
    project.scenario("judges", &text);
}

#[test]
fn a_trace_of_a_recording_that_holds_a_part_is_not_complete_in_any_form_and_says_it_once() {
    require!(right_to_trace());
    let project = Project::new();
    let (enter, leave) = ("raw_syscalls:sys_enter", "raw_syscalls:sys_exit");
    let of_both = |terms: &str| format!("{enter}/{terms}/,{leave}/{terms}/");
    let (first, often) = (of_both("nr=4"), of_both("freq=2000"));
    let (both, alone) = (of_both("call-graph=no"), of_both("no-inherit"));
    for (words, said) in [
        (vec!["-e", &first], Some("holds the first records alone of")),
        (vec!["-e", &often], Some("does not hold every")),
        (vec!["-F", "500", "-e", &both], Some("does not hold every")),
        (
            vec!["--overwrite", "-e", &both],
            Some("older ones were overwritten"),
        ),
        (vec!["-e", &alone], Some("of the first process alone")),
        (vec!["-e", &both], None),
        // Each has its record, at any period.
        (vec!["-c", "3", "-e", &both], None),
    ] {
        record(&project, &words);
        let status = if said.is_some() { 125 } else { 0 };
        let trace = ["trace", "-i", "run.data", "-o", "again"];
        let text = project.harness(&[&trace[..], &["-c"]].concat());
        text.assert_status(status);
        let table = project.read("again");
        assert_eq!(
            table.contains("INCOMPLETE"),
            said.is_some(),
            "{words:?}: {table}"
        );
        let json = project.harness(&[&trace[..], &["--format", "json"]].concat());
        json.assert_status(status);
        let lines = project.read("again");
        let last = lines.lines().last().expect("a summary");
        let last: serde_json::Value = serde_json::from_str(last).expect("JSON");
        assert_eq!(last["complete"], said.is_none(), "{words:?}");
        if let Some(said) = said {
            assert!(json.stderr.contains(said), "{words:?}: {}", json.stderr);
            let lines = json.stderr.lines();
            let mut lines: Vec<_> = lines
                .map(|it| it.trim_start_matches("harness:").trim())
                .collect();
            lines.sort_unstable();
            let is_twice = lines.windows(2).any(|two| two[0] == two[1]);
            assert!(!is_twice, "{words:?}: {}", json.stderr);
        }
    }
}

#[test]
fn a_recording_of_another_architecture_is_refused_and_of_an_unknown_one_passes_nothing() {
    require!(right_to_trace());
    let project = Project::new();
    record(&project, &["-e", "raw_syscalls:*"]);
    scenario(&project, "count: { rmdir: 1 }");
    let from = ["--from", "run.data", "scenarios/judges.yaml"];
    assert_eq!(judged(&project, &from)[0].1, "pass");
    let path = project.join("run.data");
    let mut bytes = std::fs::read(&path).expect("the recording");
    let own = std::env::consts::ARCH.as_bytes();
    let named = [own, &[0]].concat();
    let mut places = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(&named));
    let (place, more) = (places.next().expect("its name"), places.next());
    assert_eq!(more, None, "it stands there once");
    bytes[place..place + own.len()].copy_from_slice(&b"mips64el"[..own.len()]);
    std::fs::write(&path, &bytes).expect("the file");
    let run = project.harness(&[&["run"][..], &from].concat());
    run.assert_status(2);
    let said = "is of mips64";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let trace = project.harness(&["trace", "-i", "run.data"]);
    trace.assert_status(125);
    assert!(trace.stderr.contains(said), "{}", trace.stderr);
    // Its length stands before the name.
    bytes[place - 4..place].copy_from_slice(&[0; 4]);
    std::fs::write(&path, &bytes).expect("the file");
    let is = judged(&project, &from);
    assert_eq!(is[0].1, "incomplete", "{is:?}");
    assert!(is[0].2.concat().contains("of which architecture"), "{is:?}");
}
