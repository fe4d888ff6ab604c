//! How strict a snapshot can be is found out and written.

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use perf_live::host::Host;
use std::time::Duration;
use trace_harness::calibrate::Condition;
use trace_harness::run::Undisturbed;
use trace_harness::run::{Bench, Calibrating, Control, Suite, discover};

/// It asks for its parent another number of times in each run, a hundred times at least.
const VARIES: &str = "# why it varies\n\
    workload: { run: [perl, -e, \"getppid() for 0..100 + rand 1000\"] }   # chance\n\
    trace: { events: [{ syscalls: [getppid, getuid, geteuid, getgid] }] }";

/// It makes a folder of another name in each run.
const MAKES_UP: &str = "workload: { run: [perl, -e, \"mkdir 'x' . int(1e5 + rand 9e5)\"] }\n\
    trace: { events: [{ syscalls: [mkdir] }] }";

#[test]
fn the_level_that_held_is_written_with_its_snapshot_and_nothing_else_is_changed() {
    require!(right_to_trace());
    require!(program("perl"));
    let project = Project::with("x", VARIES);
    let before = project.read("scenarios/x.yaml");
    let run = project.harness(&["calibrate", "scenarios/x.yaml", "-n", "15"]);
    run.assert_status(0);
    assert!(
        run.stdout
            .contains("perl: level sequence; set of getppid\n"),
        "{}",
        run.stdout
    );
    let line = "snapshot: { levels: { perl: { set: [getppid] } } }\n";
    let after = project.read("scenarios/x.yaml");
    assert_eq!(after.replace(line, ""), before);
    assert!(after.contains(line), "{after}");
    let snapshot = project.read("snapshots/x.snap");
    assert!(
        snapshot.ends_with("\n\nP1, not in sequence\n  getppid\n"),
        "{snapshot}"
    );
    let repeated = project.harness(&["run", "--repeat", "5", "scenarios"]);
    repeated.assert_status(0);
    // What was found before is found again, and not added to.
    project
        .harness(&["calibrate", "scenarios/x.yaml", "-n", "15"])
        .assert_status(0);
    assert_eq!(project.read("scenarios/x.yaml"), after);
    project.assert_nothing_left();
}

#[test]
fn a_name_that_is_made_up_in_each_run_becomes_a_temporary_one() {
    require!(right_to_trace());
    require!(program("perl"));
    let project = Project::with("x", MAKES_UP);
    project
        .harness(&["calibrate", "scenarios/x.yaml", "-n", "15"])
        .assert_status(0);
    let after = project.read("scenarios/x.yaml");
    assert!(
        after.contains("snapshot: { temporary: [\"x[0-9]*\"] }\n"),
        "{after}"
    );
    let snapshot = project.read("snapshots/x.snap");
    assert!(
        snapshot.contains("  mkdir(\"<temporary:1>\", 0777) = 0\n"),
        "{snapshot}"
    );
    project
        .harness(&["run", "--repeat", "5", "scenarios"])
        .assert_status(0);
}

#[test]
fn a_program_that_cargo_built_is_calibrated_and_its_reference_stays() {
    require!(right_to_trace());
    let perl = require!(program("perl"));
    let made = MAKES_UP.replace("run: [perl,", "run: [\"${CARGO_BIN_EXE_made}\",");
    assert_ne!(made, MAKES_UP);
    let project = Project::with("x", &made);
    let built = [("CARGO_BIN_EXE_made", perl.to_str().expect("text"))];
    let calibrate = ["calibrate", "scenarios/x.yaml", "-n", "15"];
    project.harness_with(&built, &calibrate).assert_status(0);
    let after = project.read("scenarios/x.yaml");
    assert!(after.starts_with("description: "), "{after}");
    let wanted = made.trim_end().lines().last().unwrap_or_default();
    assert!(after.contains(wanted), "{after}");
    assert!(
        after.contains("snapshot: { temporary: [\"x[0-9]*\"] }\n"),
        "{after}"
    );
    let run = ["run", "--repeat", "5", "scenarios"];
    project.harness_with(&built, &run).assert_status(0);
}

#[test]
fn a_dry_run_writes_nothing_and_in_ci_there_is_no_other() {
    require!(right_to_trace());
    require!(program("perl"));
    let project = Project::with("x", MAKES_UP);
    let before = project.files("scenarios");
    let ci = [("CI", "true")];
    let refused = project.harness_with(&ci, &["calibrate", "scenarios/x.yaml", "-n", "2"]);
    refused.assert_status(2);
    let dry = ["calibrate", "scenarios/x.yaml", "-n", "15", "--dry-run"];
    let dry = project.harness_with(&ci, &dry);
    dry.assert_status(0);
    assert!(dry.stdout.contains("temporary `x[0-9]*`"), "{}", dry.stdout);
    assert_eq!(project.files("scenarios"), before);
    assert!(project.snapshots().is_empty());
}

#[test]
fn a_scenario_that_fails_otherwise_is_not_calibrated() {
    require!(right_to_trace());
    let project = Project::with("x", "workload: { run: [\"false\"] }");
    let before = project.files("scenarios");
    let run = project.harness(&["calibrate", "scenarios/x.yaml", "-n", "5"]);
    run.assert_status(1);
    assert!(
        run.stderr.contains("fail in a run on the machine as it is"),
        "{}",
        run.stderr
    );
    assert_eq!(project.files("scenarios"), before);
    assert!(project.snapshots().is_empty());
    let skipped = "workload: { run: [\"true\"] }\nrequires: { commands: [no-such-command] }";
    project.scenario("x", skipped);
    project
        .harness(&["calibrate", "scenarios/x.yaml"])
        .assert_status(77);
    project
        .harness(&["calibrate", "scenarios"])
        .assert_status(2);
}

#[test]
fn a_calibration_that_is_out_of_time_has_run_under_each_condition() {
    require!(right_to_trace());
    let project = Project::with("x", "workload: { run: [\"true\"] }");
    let host = Host::running();
    let bench = Bench::new(&host).expect("a bench");
    let items = discover(&[project.join("scenarios")]).expect("scenarios");
    let suite = Suite::read(&bench, items).expect("a suite");
    let calibrating = Calibrating {
        patience: Some(Duration::ZERO),
        ..Calibrating::default()
    };
    let nobody = || -> Box<dyn Control> { Box::new(Undisturbed) };
    let calibration = suite.calibrate(&calibrating, &nobody, &|_, _| {});
    let n_runs = calibration.expect("a level").n_runs;
    let begun: Vec<Condition> = n_runs.keys().copied().collect();
    assert_eq!(begun, Condition::ALL);
    assert!(n_runs.values().sum::<u32>() < calibrating.n_runs);
}

#[test]
fn a_report_says_why_no_run_was_made_on_one_cpu() {
    require!(right_to_trace());
    let report = |calls: &str| {
        let text = format!(
            "workload: {{ run: ['true'] }}\ntrace: {{ events: [{{ syscalls: [{calls}] }}] }}\n"
        );
        let project = Project::with("x", &text);
        let words = ["calibrate", "scenarios/x.yaml", "-n", "10", "--dry-run"];
        let run = project.harness(&words);
        run.assert_status(0);
        run.stdout
    };
    let unrecorded = report("exit_group");
    assert!(
        unrecorded.contains("sched_getaffinity is not recorded\n"),
        "{unrecorded}"
    );
    assert!(!unrecorded.starts_with("10 runs: 2 on the machine as it is"));
    let recorded = report("exit_group, sched_getaffinity");
    assert!(recorded.contains(", 2 on one CPU, "), "{recorded}");
    assert!(!recorded.contains("sched_getaffinity"), "{recorded}");
}
