//! What the program writes is what cargo-insta reads: the same files are pending, and accepting
//! them by either hand comes to the same.

use std::path::Path;
use std::process::Command;

use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};

/// Runs `cargo insta` as a reviewer would.
fn cargo_insta(folder: &Path, arguments: &[&str]) -> Result<Run, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.arg("insta").args(arguments).current_dir(folder);
    for name in [
        "CI",
        "TF_BUILD",
        "INSTA_UPDATE",
        "INSTA_FORCE_PASS",
        "INSTA_WORKSPACE_ROOT",
    ] {
        command.env_remove(name);
    }
    command
        .output()
        .map(Run::from)
        .map_err(|error| format!("cannot run cargo: {error}"))
}

/// The subcommand is installed.
fn installed() -> Result<(), String> {
    let run = cargo_insta(Path::new("/"), &["--version"])?;
    match run.status {
        0 => Ok(()),
        _ => Err(
            "cargo-insta is not installed (cargo install cargo-insta --version 1.49.0)".to_owned(),
        ),
    }
}

/// A cargo project with a new trace that waits, and a changed one.
fn waiting() -> Project {
    let project = Project::new();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"reviewed\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
    );
    project.write("src/lib.rs", "");
    let shows = |calls: &str| {
        format!("workload: {{ run: [\"true\"] }}\nsnapshot: {{ level: set, show: [{calls}] }}")
    };
    project.scenario("sub/changed", &shows("execve"));
    project
        .harness(&["run", "--update", "scenarios"])
        .assert_status(0);
    project.scenario("sub/changed", &shows("execve, exit_group"));
    project.scenario("new", &shows("brk"));
    project.harness(&["run", "scenarios"]).assert_status(1);
    assert_eq!(
        project.snapshots(),
        [
            "snapshots/new.snap.new",
            "snapshots/sub/changed.snap",
            "snapshots/sub/changed.snap.new"
        ]
    );
    project
}

const ACCEPTED: [&str; 2] = ["snapshots/new.snap", "snapshots/sub/changed.snap"];

fn body(snapshot: &str) -> &str {
    snapshot
        .splitn(3, "---\n")
        .nth(2)
        .expect("a header and a body")
        .trim_end_matches('\n')
}

/// The snapshots that `cargo insta` says are to be reviewed.
fn pending(project: &Project) -> Vec<String> {
    let run = cargo_insta(project.path(), &["pending-snapshots", "--as-json"]).expect("cargo");
    run.assert_status(0);
    let lines = run.json();
    let paths = lines.iter().map(|line| {
        let path = Path::new(line["path"].as_str().expect("a path"));
        path.strip_prefix(project.path())
            .expect("a path in the project")
            .display()
            .to_string()
    });
    let mut paths: Vec<String> = paths.collect();
    paths.sort();
    paths
}

#[test]
fn cargo_insta_finds_what_waits() {
    require!(right_to_trace());
    require!(installed());
    let project = waiting();
    assert_eq!(pending(&project), ACCEPTED);
    project.harness(&["review", "--accept"]).assert_status(0);
    assert_eq!(pending(&project), [""; 0]);
}

#[test]
fn accepting_by_cargo_insta_is_accepting_by_review() {
    require!(right_to_trace());
    require!(installed());
    let (theirs, ours) = (waiting(), waiting());
    cargo_insta(theirs.path(), &["accept"])
        .expect("cargo")
        .assert_status(0);
    ours.harness(&["review", "--accept"]).assert_status(0);
    for project in [&theirs, &ours] {
        assert_eq!(project.snapshots(), ACCEPTED);
        project.harness(&["run", "scenarios"]).assert_status(0);
    }
    for file in ACCEPTED {
        let (theirs, ours) = (theirs.read(file), ours.read(file));
        assert_eq!(body(&theirs), body(&ours), "{file}");
        // What travels with the text is still there to be read.
        for line in ["description: a test", "kernel: "] {
            assert!(
                theirs.replace('"', "").contains(line),
                "{file}: no `{line}` in\n{theirs}"
            );
        }
    }
}

#[test]
fn rejecting_by_cargo_insta_is_rejecting_by_review() {
    require!(right_to_trace());
    require!(installed());
    let (theirs, ours) = (waiting(), waiting());
    cargo_insta(theirs.path(), &["reject"])
        .expect("cargo")
        .assert_status(0);
    ours.harness(&["review", "--reject"]).assert_status(0);
    assert_eq!(theirs.snapshots(), [ACCEPTED[1]]);
    assert_eq!(theirs.files("snapshots"), ours.files("snapshots"));
    assert_eq!(pending(&theirs), [""; 0]);
}
