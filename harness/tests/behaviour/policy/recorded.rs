//! Policies of recordings: of every scenario and on every kernel that is given, or none.

use super::{object, policy, shell};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

fn two() -> Project {
    let project = Project::with("a", &shell("rm -f a", ""));
    project.scenario("b", &shell("mkdir d", ""));
    project
}

fn save(project: &Project, options: &[&str]) {
    let words = ["run", "--save", "saved"];
    let run = project.harness(&[&words, options, &["scenarios"]].concat());
    run.assert_status(0);
}

#[test]
fn recordings_of_every_call_make_the_policy_that_the_runs_made() {
    require!(right_to_trace());
    let project = two();
    policy(&project, &[]).assert_status(0);
    let (live, why) = (object(&project), project.read("p.json.why"));
    save(&project, &["--every-call"]);
    policy(&project, &["--from", "saved"]).assert_status(0);
    assert_eq!(object(&project), live);
    // Of one kernel nothing is marked.
    assert_eq!(project.read("p.json.why"), why);
    // The same folder as one of several kernels, and twice.
    project.run(&[], &["mkdir", "all"]).assert_status(0);
    project
        .run(&[], &["cp", "-r", "saved", "all/one"])
        .assert_status(0);
    project
        .run(&[], &["cp", "-r", "saved", "all/other"])
        .assert_status(0);
    policy(&project, &["--from", "all", "--from", "saved"]).assert_status(0);
    assert_eq!(object(&project), live);
    project.assert_nothing_left();
}

#[test]
fn a_folder_without_a_recording_of_each_scenario_makes_no_policy() {
    require!(right_to_trace());
    let project = two();
    save(&project, &["--every-call"]);
    project.run(&[], &["mkdir", "all"]).assert_status(0);
    for kernel in ["all/one", "all/other"] {
        project
            .run(&[], &["cp", "-r", "saved", kernel])
            .assert_status(0);
    }
    project
        .run(&[], &["rm", "all/other/b.data"])
        .assert_status(0);
    let run = policy(&project, &["--from", "all"]);
    run.assert_status(2);
    let said = "there is no recording `all/other/b.data` of `b`";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let empty = policy(&project, &["--from", "scenarios"]);
    empty.assert_status(2);
    assert!(
        empty.stderr.contains("there is no recording of"),
        "{}",
        empty.stderr
    );
    // One file is of one scenario.
    let run = policy(&project, &["--from", "saved/a.data"]);
    run.assert_status(2);
    assert!(
        project
            .files("")
            .keys()
            .all(|file| !file.starts_with("p.json"))
    );
}

#[test]
fn one_recording_of_few_calls_among_others_makes_no_policy() {
    require!(right_to_trace());
    let project = two();
    save(&project, &[]);
    project.run(&[], &["mkdir", "all"]).assert_status(0);
    project
        .run(&[], &["mv", "saved", "all/few"])
        .assert_status(0);
    save(&project, &["--every-call"]);
    project
        .run(&[], &["mv", "saved", "all/whole"])
        .assert_status(0);
    let run = policy(&project, &["--from", "all"]);
    run.assert_status(1);
    assert!(
        run.stderr.contains("does not hold all calls"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("there is no policy of runs"),
        "{}",
        run.stderr
    );
    policy(&project, &["--from", "all/whole"]).assert_status(0);
}

#[test]
fn a_policy_of_minijail_is_run_under_and_names_the_line_of_what_it_refuses() {
    require!(right_to_trace());
    let project = Project::with("it", &shell("rm -f a", ""));
    let made = project.harness(&["policy", "--format", "minijail", "scenarios"]);
    made.assert_status(0);
    project.write("it.policy", &made.stdout);
    let run = |file: &str| project.harness(&["run", "--policy", file, "scenarios"]);
    run("it.policy").assert_status(0);
    let check = |file: &str| project.harness(&["policy", "--check", file, "scenarios"]);
    check("it.policy").assert_status(0);
    let less = made.stdout.replace("\nunlinkat: 1\n", "\nunlink: 1\n");
    project.write("less.policy", &less);
    let refused = run("less.policy");
    refused.assert_status(1);
    let said = "the policy refuses `unlinkat`: less.policy:1 has no rule for it";
    assert!(refused.stdout.contains(said), "{}", refused.stdout);
    let drift = check("less.policy");
    drift.assert_status(1);
    let place = less
        .lines()
        .position(|line| line == "unlink: 1")
        .expect("a line");
    let unneeded = format!("-unlink  (line {}: no scenario needs it)\n", place + 1);
    assert_eq!(
        drift.stdout,
        format!("{unneeded}+unlinkat  (needed by it)\n")
    );
}
