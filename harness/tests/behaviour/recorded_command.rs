//! A command that was traced and saved, judged by a scenario.

use super::replay::judged;
use super::support::project::Project;
use super::support::require::{require, right_to_trace};

#[test]
fn a_traced_command_that_left_a_process_or_took_longer_than_the_scenario_has_is_no_pass() {
    require!(right_to_trace());
    let project = Project::new().in_time();
    let script = "sleep 0.5 & exit 0";
    let traced = [
        "trace", "-o", "live", "--save", "run.data", "--", "sh", "-c", script,
    ];
    project.harness(&traced).assert_status(0);
    for (sandbox, timeout, verdict) in [
        ("{ survivors: allowed }", "10s", "pass"),
        ("{}", "10s", "incomplete"),
        ("{ survivors: allowed }", "100ms", "incomplete"),
    ] {
        let yaml = format!(
            "workload: {{ run: [sh, -c, \"{script}\"], timeout: {timeout} }}\n\
             sandbox: {sandbox}\nsnapshot: false"
        );
        project.scenario("it", &yaml);
        let judged = judged(&project, &["--from", "run.data", "scenarios/it.yaml"]);
        assert_eq!(judged[0].1, verdict, "{sandbox} {timeout}: {judged:?}");
    }
}

#[test]
fn what_a_traced_command_wrote_and_left_was_not_kept_and_nothing_is_judged_by_it() {
    require!(right_to_trace());
    let project = Project::new();
    let traced = ["trace", "-o", "live", "--save", "run.data", "--", "true"];
    project.harness(&traced).assert_status(0);
    for (expect, verdict) in [
        ("exit: 0", "pass"),
        ("stdout: ''", "incomplete"),
        ("files_after: { gone: { exists: false } }", "incomplete"),
    ] {
        let yaml =
            format!("workload: {{ run: [\"true\"] }}\nexpect: {{ {expect} }}\nsnapshot: false");
        project.scenario("it", &yaml);
        let judged = judged(&project, &["--from", "run.data", "scenarios/it.yaml"]);
        assert_eq!(judged[0].1, verdict, "{expect}: {judged:?}");
    }
}

/// Not all kernels record it for one of them alone.
#[test]
fn a_wake_up_that_is_counted_for_two_tasks_asks_for_no_larger_rings() {
    require!(right_to_trace());
    let project = Project::new();
    let command = ["--", "sh", "-c", "(true); (true); true"];
    let recorded = |options: &[&str]| {
        let record = ["record", "-o", "it.data", "-e", "sched:sched_wakeup_new"];
        project.harness(&[&record, options, &command].concat())
    };
    let run = recorded(&[]);
    let said = &run.stderr;
    let is_for_two = said.contains("(these do not add up)");
    assert_eq!(said.contains("with -a each is counted once"), is_for_two);
    assert!(!said.contains("larger rings"), "{said}");
    run.assert_status(if is_for_two { 125 } else { 0 });
    recorded(&["-a"]).assert_status(0);
}

/// execve(2) enables events before there is a record of the program's name.
fn has_a_name_before(recording: &[&str]) {
    let project = Project::new();
    project.harness(recording).assert_status(0);
    let run = project.harness(&[
        "script",
        "--show-task-events",
        "-F",
        "comm,tid",
        "-i",
        "it.data",
    ]);
    run.assert_status(0);
    let named = |line: &&str| line.contains("PERF_RECORD_COMM");
    let names: Vec<&str> = run.stdout.lines().filter(named).collect();
    let [before, exec] = names[..] else {
        panic!("{}", run.stdout);
    };
    assert!(
        !before.contains("exec") && exec.contains("exec: true:"),
        "{names:?}"
    );
}

#[test]
fn a_command_has_a_name_before_its_program_begins() {
    require!(right_to_trace());
    has_a_name_before(&["record", "-o", "it.data", "-e", "getppid", "--", "true"]);
    has_a_name_before(&["trace", "--save", "it.data", "-e", "getppid", "--", "true"]);
}
