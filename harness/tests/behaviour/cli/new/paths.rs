//! Names and folders of new scenarios, whatever they are.

use super::{here, new};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};
use std::process::Command;

#[test]
fn the_current_directory_is_laid_in_whole_where_it_is_named() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("a", "x\n");
    project.write("sub/b", "y\n");
    let words = ["new", "all", "-n", "2", "--file", ".", "--", "cat", "sub/b"];
    here(&project, &words).assert_status(0);
    let text = project.read("scenarios/all.yaml");
    for file in ["../a", "../sub/b"] {
        assert!(text.contains(file), "{text}");
    }
    project
        .harness(&["run", "scenarios/all.yaml"])
        .assert_status(0);
}

#[test]
fn the_command_that_runs_a_new_scenario_is_one_that_a_shell_takes() {
    require!(right_to_trace());
    let project = Project::new();
    for (name, word) in [
        ("sp ace/x y", "'scenarios/sp ace/x y.yaml'"),
        ("it's\n\u{1b}[2J", "$'scenarios/it\\'s\\012\\033[2J.yaml'"),
    ] {
        let run = new(&project, name, &["true"]);
        run.assert_status(0);
        let (_, word_of_it) = run.stdout.split_once("and run: harness run ").expect("it");
        let word_of_it = word_of_it.lines().next().unwrap_or_default();
        assert_eq!(word_of_it, word);
        let said = Command::new("bash")
            .args(["-c", &format!("printf %s {word}")])
            .output();
        let said = said.expect("bash").stdout;
        assert_eq!(said, format!("scenarios/{name}.yaml").into_bytes());
    }
}

#[test]
fn a_snapshot_of_a_scenario_beside_the_folder_is_not_told_to_be_of_none() {
    require!(right_to_trace());
    let project = Project::new();
    let beside = ["new", "-n", "5", "beside.yaml", "--", "true"];
    here(&project, &beside).assert_status(0);
    let stored = project.read("snapshots/beside.snap");
    new(&project, "inside", &["true"]).assert_status(0);
    project.write("snapshots/gone.snap", &stored);
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(0);
    assert_eq!(
        run.stderr,
        "warning: no scenario uses the snapshot `snapshots/gone.snap`\n"
    );
}

#[test]
fn a_folder_without_links_is_laid_in_by_its_own_name() {
    require!(right_to_trace());
    let project = Project::new();
    std::fs::create_dir_all(project.join("src/empty")).expect("a folder");
    project.write("src/a", "x\n");
    new(&project, "whole", &["rmdir", "src/empty", "src/a"]).assert_status(1);
    new(
        &project,
        "whole",
        &["sh", "-c", "rmdir src/empty; rm -r src"],
    )
    .assert_status(0);
    let files = |name: &str| {
        let scenario = project.read(&format!("scenarios/{name}.yaml"));
        let (_, files) = scenario.split_once("  files:\n").expect("files");
        let lines = files.lines().take_while(|line| line.starts_with("    "));
        lines
            .map(|line| format!("{}\n", line.trim()))
            .collect::<String>()
    };
    assert_eq!(files("whole"), "src: { from: ../src }\n");
    project.harness(&["run", "scenarios"]).assert_status(0);
    std::os::unix::fs::symlink("a", project.join("src/b")).expect("a link");
    new(&project, "single", &["sh", "-c", "rm -r src"]).assert_status(0);
    assert_eq!(
        files("single"),
        "src/a: { from: ../src/a }\nsrc/b: { from: ../src/b }\n"
    );
    project
        .harness(&["run", "scenarios/single.yaml"])
        .assert_status(0);
    // A file that has come to the folder has come to the scenario.
    project
        .harness(&["run", "scenarios/whole.yaml"])
        .assert_status(1);
}
