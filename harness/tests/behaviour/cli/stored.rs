//! Which run's trace is stored, waits for review, or is neither.

use super::variants::versions;
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// It replaces a file whole.
const REPLACES: &str = "workload: { shell: \"echo new > t && sync t && mv t db && sync .\", \
    files: { db: \"old\\n\" } }\n\
    trace: { events: [{ syscalls: [fsync, 'rename*'] }] }\n\
    crash: { recovers: { shell: \"case $(cat db) in old|new) ;; *) exit 1;; esac\" } }\n";

#[test]
fn a_scenario_with_a_power_cut_gets_its_snapshot_as_any_other() {
    require!(right_to_trace());
    let project = Project::with("it", REPLACES);
    let waits = project.harness(&["run", "scenarios"]);
    waits.assert_status(1);
    assert_eq!(project.snapshots(), ["snapshots/it.snap.new"]);
    let updated = project.harness(&["run", "--update", "scenarios"]);
    updated.assert_status(0);
    // What explains a run is told of one whose trace was stored as well.
    let said = "recovers after a power cut";
    assert!(updated.stdout.contains(said), "{}", updated.stdout);
    assert_eq!(project.snapshots(), ["snapshots/it.snap"]);
    project.harness(&["run", "scenarios"]).assert_status(0);
    project.harness(&["mutate", "scenarios"]).assert_status(0);
    project.assert_nothing_left();
}

#[test]
fn a_scenario_with_a_power_cut_is_calibrated_by_its_trace_alone() {
    require!(right_to_trace());
    let project = Project::with("it", REPLACES);
    let run = project.harness(&["calibrate", "-n", "5", "scenarios/it.yaml"]);
    run.assert_status(0);
    assert_eq!(project.snapshots(), ["snapshots/it.snap"]);
    project.assert_nothing_left();
}

#[test]
fn a_trace_that_waits_goes_when_a_later_run_fails_otherwise() {
    require!(right_to_trace());
    require!(program("cat"));
    let reads = |name: &str| {
        format!(
            "workload: {{ run: [cat, {name}], files: {{ a: x, b: y }} }}\n\
             trace: {{ events: [{{ syscalls: [openat] }}], since: main }}\n"
        )
    };
    let project = Project::with("it", &reads("a"));
    let update = project.harness(&["run", "--update", "scenarios"]);
    update.assert_status(0);
    project.scenario("it", &reads("b"));
    project.harness(&["run", "scenarios"]).assert_status(1);
    let waiting = ["snapshots/it.snap", "snapshots/it.snap.new"];
    assert_eq!(project.snapshots(), waiting);
    // It has another exit status and a third trace, and neither is what waits.
    project.scenario("it", &reads("c"));
    project.harness(&["run", "scenarios"]).assert_status(1);
    assert_eq!(project.snapshots(), ["snapshots/it.snap"]);
    project.assert_nothing_left();
}

#[test]
fn a_scenario_whose_snapshot_would_be_anothers_for_a_kernel_is_refused() {
    require!(right_to_trace());
    let project = Project::with("b", "workload: { run: [\"true\"] }");
    project.scenario("b@6.18", "workload: { run: [\"false\"] }");
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(2);
    let said = "`scenarios/b.yaml` and `scenarios/b@6.18.yaml` have the same name, and so the \
        same snapshot: rename one";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    // It is there, though it is not to be run.
    let of_this = format!("c@{}", versions().1);
    project.scenario("c", "workload: { run: [\"true\"] }");
    project.scenario(&of_this, "workload: { run: [\"false\"] }");
    for name in ["c", &*of_this] {
        let run = project.harness(&["run", &format!("scenarios/{name}.yaml")]);
        run.assert_status(2);
        assert!(run.stderr.contains("rename one"), "{}", run.stderr);
    }
    project.assert_nothing_left();
}

#[test]
fn what_grows_beyond_the_limit_of_a_files_size_is_an_error_and_nothing_half_is_left() {
    require!(right_to_trace());
    let writes = "workload: { shell: \"i=0; while [ $i -lt 200 ]; do echo; i=$((i+1)); done\" }\n\
        trace: { events: [{ syscalls: [write] }] }";
    let project = Project::with("it", writes);
    let program = env!("CARGO_BIN_EXE_harness");
    for words in [
        "run --update scenarios",
        "run --save saved --every-call scenarios",
        "run --report report.html scenarios",
        "trace -o traced -- ls -lR /etc",
        "record -o recorded -- true",
    ] {
        // Two KiB: blocks are of 512 bytes. What is printed goes into pipes.
        let limited = format!("ulimit -f 4; exec '{program}' {words}");
        let run = project.run(&[], &["sh", "-c", &limited]);
        assert!(matches!(run.status, 99 | 125), "{words}: {run:?}");
        let said = [&run.stdout, &run.stderr].map(|said| said.contains("file too large"));
        assert!(said.contains(&true), "{words}: {run:?}");
    }
    assert_eq!(project.snapshots(), [""; 0]);
    for name in ["saved/it.data", "report.html", "traced", "recorded"] {
        assert!(!project.join(name).exists(), "{name}");
    }
    project.assert_nothing_left();
}

#[test]
fn an_empty_folder_for_temporary_files_is_as_none() {
    require!(right_to_trace());
    let project = Project::with("it", "workload: { run: [\"true\"] }\nsnapshot: false");
    let run = project.harness_with(&[("TMPDIR", "")], &["run", "scenarios"]);
    run.assert_status(0);
    project.assert_nothing_left();
}
