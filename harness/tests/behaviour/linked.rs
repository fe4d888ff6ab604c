//! A scenario as a test of a program that links the library.

use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};
use std::panic::catch_unwind;
use trace_harness::Scenario;
use trace_harness::run::{Options, Update};

#[test]
fn a_scenario_that_passes_is_asserted_in_one_line() {
    require!(right_to_trace());
    let project = Project::with(
        "reads",
        "workload: { run: [cat, a], files: { a: x } }\ntrace: { events: [{ syscalls: [read] }] }\n\
         expect: { sequence: [{ read: { returns: 1 } }] }\nsnapshot: false",
    );
    let scenario = Scenario::open(project.join("scenarios/reads.yaml")).unwrap();
    scenario.run().unwrap().assert();
    let kept = Options {
        repeat: 2,
        ..Options::default()
    };
    scenario.with(kept).run().unwrap().assert();
}

#[test]
fn a_failure_and_a_skip_panic_with_what_the_command_line_prints() {
    require!(right_to_trace());
    let project = Project::with(
        "fails",
        "matrix: { file: [a, b] }\nworkload: { run: [cat, \"${file}\"], files: { a: x } }\n\
         trace: { events: [{ syscalls: [fsync] }] }\nexpect: { never: [fsync] }\nsnapshot: false",
    );
    project.scenario(
        "newer",
        "requires: { kernel: \">= 99.0\" }\nworkload: { run: [\"true\"] }\nsnapshot: false",
    );
    let said = |path: &str| {
        let outcome = Scenario::open(project.join(path)).unwrap().run().unwrap();
        assert!(!outcome.is_pass());
        let n_reports = outcome.reports().len();
        let panicked = catch_unwind(|| outcome.assert()).unwrap_err();
        (n_reports, panicked.downcast::<String>().unwrap())
    };
    let (n_reports, text) = said("scenarios/fails.yaml");
    assert_eq!(n_reports, 2);
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("pass  fails[file=a]  (")),
        "{text}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("fail  fails[file=b]  (")),
        "{text}"
    );
    let (n_reports, text) = said("scenarios");
    assert_eq!(n_reports, 3);
    assert!(text.contains("skipped  newer: "), "{text}");
}

#[test]
fn nothing_is_written_unless_that_is_wanted() {
    require!(right_to_trace());
    let project = Project::with(
        "snapped",
        "workload: { run: [\"true\"] }\ntrace: { events: [{ syscalls: [exit_group] }] }",
    );
    let scenario = Scenario::open(project.join("scenarios/snapped.yaml")).unwrap();
    let outcome = scenario.run().unwrap();
    assert!(
        !outcome.is_pass() && outcome.to_string().contains("no snapshot"),
        "{outcome}"
    );
    assert_eq!(project.snapshots(), [""; 0]);
    let accepting = Options {
        update: Update::Accept,
        ..Options::default()
    };
    scenario.clone().with(accepting).run().unwrap().assert();
    assert_eq!(project.snapshots(), ["snapshots/snapped.snap"]);
    scenario.run().unwrap().assert();
}
