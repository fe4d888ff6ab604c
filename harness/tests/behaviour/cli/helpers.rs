//! What the harness does when a process of its own cannot speak with it: here it runs itself.

use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// The verdict on a run of the harness that has this fault, and what that run said of its own
/// scenario.
fn inner(fault: &str) -> (String, String) {
    let project = Project::new();
    let tmp = project.join("tmp");
    project.write(
        "inner/it.yaml",
        "description: a test\nworkload: { run: [\"true\"] }\nsnapshot: false\n",
    );
    let words = [
        env!("CARGO_BIN_EXE_harness").to_owned(),
        "run".to_owned(),
        "--report".to_owned(),
        project.join("said.txt").display().to_string(),
        project.join("inner").display().to_string(),
    ];
    let yaml = format!(
        "workload: {{ run: {words:?}, env: {{ TMPDIR: {tmp:?} }}, timeout: 100s }}\n\
         sandbox: none\nfaults: [{fault}]\nsnapshot: false"
    );
    project.scenario("it", &yaml);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let (verdict, _) = run.verdicts()["it"].clone();
    project.assert_nothing_left();
    (verdict, project.read("said.txt"))
}

#[test]
fn a_starter_that_cannot_answer_ends_and_is_not_waited_for() {
    require!(right_to_trace());
    let (_, said) = inner("{ sendto: { fd: unix, when: 1, error: ECONNRESET } }");
    assert!(said.contains("`harness-starter`"), "{said}");
    assert!(said.contains(") has ended"), "{said}");
}

#[test]
fn a_janitor_that_cannot_be_told_to_leave_leaves_all_the_same() {
    require!(right_to_trace());
    let (verdict, said) = inner("{ write: { fd: pipe, length: 1, error: EPIPE } }");
    assert_ne!(verdict, "timeout", "{said}");
}
