//! Snapshots of single kernels.

use super::snapshots::{SHOWS_ONE, SHOWS_TWO, body, run};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// `6.18.44-cloud` gives `6.18.44` and `6.18`.
pub(super) fn versions() -> (String, String) {
    let uname = nix::sys::utsname::uname().expect("uname");
    let release = uname.release().to_str().expect("text");
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).take(3);
    let mut next = || numbers.next().expect("a number");
    let (major, minor, patch) = (next(), next(), next());
    (
        format!("{major}.{minor}.{patch}"),
        format!("{major}.{minor}"),
    )
}

#[test]
fn the_most_specific_variant_for_this_kernel_is_compared_with() {
    require!(right_to_trace());
    let project = Project::with("x", SHOWS_ONE);
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    let right = project.read("snapshots/x.snap");
    let wrong = right.replace("execve", "something_else");
    let (exact, series) = versions();
    let (exact, series) = (
        format!("snapshots/x@{exact}.snap"),
        format!("snapshots/x@{series}.snap"),
    );
    project.write("snapshots/x@3.2.snap", &wrong);
    run(&project).assert_status(0);
    project.write("snapshots/x.snap", &wrong);
    project.write("snapshots/x@3.2.snap", &right);
    run(&project).assert_status(1);
    project.harness(&["review", "--reject"]).assert_status(0);
    project.write(&series, &right);
    run(&project).assert_status(0);
    project.write(&exact, &wrong.replace("something", "anything"));
    let failed = run(&project);
    failed.assert_status(1);
    assert!(
        failed.stdout.contains(&format!("differs from `{exact}`")),
        "{}",
        failed.stdout
    );
    // What is accepted goes where it was compared.
    project.harness(&["review", "--accept"]).assert_status(0);
    assert_eq!(body(&project.read(&exact)), body(&right));
    assert_eq!(body(&project.read("snapshots/x.snap")), body(&wrong));
}

#[test]
fn a_variant_for_no_kernel_is_said_with_the_name_that_is_meant() {
    require!(right_to_trace());
    let project = Project::with("x", SHOWS_ONE);
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    let other = project
        .read("snapshots/x.snap")
        .replace("execve", "something_else");
    project.write("snapshots/x@x86_64.snap", &other);
    let run = run(&project);
    run.assert_status(0);
    for said in [
        "no kernel uses the snapshot `snapshots/x@x86_64.snap`",
        "`x@amd64.snap`",
    ] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
}

#[test]
fn a_variant_equal_to_the_common_snapshot_is_an_error() {
    require!(right_to_trace());
    let project = Project::with("x", SHOWS_ONE);
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    let (_, series) = versions();
    for variant in [series.as_str(), "3.2"] {
        let file = format!("snapshots/x@{variant}.snap");
        project.write(&file, &project.read("snapshots/x.snap"));
        let run = run(&project);
        assert_ne!(run.status, 0, "{file} hides changes of the common one");
        assert!(
            run.stdout
                .contains(&format!("the variant `{file}` is equal")),
            "{}",
            run.stdout
        );
        std::fs::remove_file(project.join(&file)).expect("a file");
    }
}

#[test]
fn what_is_right_on_this_kernel_alone_becomes_a_variant_and_leaves_the_common_snapshot() {
    require!(right_to_trace());
    let project = Project::with("x", SHOWS_ONE);
    let update = ["run", "--update=kernel", "scenarios"];
    // What no kernel has a snapshot of is of all kernels.
    project.harness(&update).assert_status(0);
    assert_eq!(project.snapshots(), ["snapshots/x.snap"]);
    let elsewhere = project.read("snapshots/x.snap").replace("execve", "other");
    project.write("snapshots/x.snap", &elsewhere);
    run(&project).assert_status(1);
    project.harness(&update).assert_status(0);
    let (_, series) = versions();
    let variant = format!("snapshots/x@{series}.snap");
    assert_eq!(project.snapshots(), ["snapshots/x.snap", &variant]);
    assert_eq!(project.read("snapshots/x.snap"), elsewhere);
    run(&project).assert_status(0);
    // A variant that is there is brought up to date.
    project.scenario("x", SHOWS_TWO);
    project.harness(&update).assert_status(0);
    assert_eq!(project.snapshots(), ["snapshots/x.snap", &variant]);
    assert!(body(&project.read(&variant)).contains("exit_group"));
    assert_eq!(project.read("snapshots/x.snap"), elsewhere);
    project.assert_nothing_left();
}

#[test]
fn the_variant_of_another_kernel_survives_whatever_is_done_here() {
    require!(right_to_trace());
    let project = Project::with("x", SHOWS_ONE);
    let update = ["run", "--update", "scenarios"];
    project.harness(&update).assert_status(0);
    let other = "snapshots/x@3.2.snap";
    let text = project.read("snapshots/x.snap").replace("execve", "other");
    project.write(other, &text);
    project.scenario("x", SHOWS_TWO);
    let works: [&[&str]; 6] = [
        &["run", "scenarios"],
        &["review", "--reject"],
        &["run", "scenarios"],
        &["review", "--accept"],
        &update,
        &["run", "--update=kernel", "scenarios"],
    ];
    for work in works {
        let run = project.harness(work);
        assert!(!run.stderr.contains("no scenario uses"), "{}", run.stderr);
        assert_eq!(project.read(other), text, "{work:?}");
    }
    run(&project).assert_status(0);
}
