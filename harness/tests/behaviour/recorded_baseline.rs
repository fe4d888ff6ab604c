//! A baseline of which perf's recording is judged.

use super::replay::judged;
use super::support::project::Project;
use super::support::require::{program, require, right_to_trace};
use std::process::Command;

#[test]
fn a_recorded_baseline_of_which_the_end_is_not_known_is_no_baseline_that_ended_well() {
    require!(right_to_trace());
    let perf = require!(program("perf"));
    let project = Project::new();
    let record = |file: &str, command: &str| {
        let recorded = Command::new(&perf)
            .args(["record", "-q", "-e"])
            .arg("raw_syscalls:sys_enter,raw_syscalls:sys_exit")
            .args(["-o", file, "sh", "-c", command])
            .current_dir(project.path())
            .output();
        recorded.expect("perf");
    };
    let scenario = |baseline: &str| {
        let text = format!(
            "workload: {{ run: [sh, -c, \"mkdir a; exit 0\"] }}\nbaseline: {{ run: [sh, -c, {baseline:?}] }}\n\
             expect: {{ delta: {{ mkdir: 0 }} }}\nsnapshot: false"
        );
        project.scenario("delta", &text);
        judged(&project, &["--from", "run.data", "scenarios/delta.yaml"])
    };
    record("run.data", "mkdir a; exit 0");
    record("run.baseline.data", "mkdir b; exit 0");
    let known = scenario("mkdir b; exit 0");
    assert_eq!(known[0].1, "pass", "{known:?}");
    // Killed, it makes no call that says so.
    let killed = "mkdir b; kill -9 $$";
    record("run.baseline.data", killed);
    let unknown = scenario(killed);
    assert_eq!(unknown[0].1, "incomplete", "{unknown:?}");
    let why = "the baseline: the recording does not say how the workload ended";
    assert!(unknown[0].2[0].contains(why), "{unknown:?}");
}
