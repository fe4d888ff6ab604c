//! What a sandbox keeps from its workload, proved by what is seen from outside, beside what the
//! workload says.

mod reach;
mod world;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::oracle::example;
use crate::support::project::Project;

/// A project with the hostile program in it.
fn project() -> Project {
    let project = Project::new();
    fs::copy(example("hostile"), project.join("hostile")).expect("a copy");
    project
}

/// A scenario that runs the hostile program with those words, and expects that it achieves nothing.
fn attempt(words: &[&str], sandbox: &str) -> String {
    let words: String = words.iter().map(|word| format!(", {word:?}")).collect();
    format!(
        "workload:\n  run: [./hostile{words}]\n  files: {{ hostile: {{ from: ../hostile, mode: \"0755\" }} }}\n  timeout: 10m\n\
         trace: {{ events: [{{ syscalls: [exit_group] }}] }}\nsnapshot: false\nsandbox: {sandbox}\n\
         expect: {{ stdout: \"\" }}"
    )
}

/// A scenario that runs a shell's script and expects that output.
fn script(script: &str, sandbox: &str, stdout: &str) -> String {
    format!(
        "workload:\n  shell: {script:?}\ntrace: {{ events: [{{ syscalls: [exit_group] }}] }}\nsnapshot: false\n\
         sandbox: {sandbox}\nexpect: {{ stdout: {stdout:?} }}"
    )
}

/// All of the scenarios of the project pass, and nothing of their runs is left.
#[track_caller]
fn assert_pass(project: &Project) {
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let all = run.verdicts();
    let others: Vec<_> = all
        .iter()
        .filter(|(_, (verdict, _))| verdict != "pass")
        .collect();
    assert!(
        !all.is_empty() && others.is_empty(),
        "{others:#?}\n{}\n{}",
        run.stdout,
        run.stderr
    );
    project.assert_nothing_left();
}

/// A folder of the host's that is no temporary one of a sandbox, with a file in it.
fn bait() -> TempDir {
    let folder = TempDir::with_prefix_in("behaviour-", "/var/tmp").expect("a folder");
    fs::write(folder.path().join("bait"), "as it was").expect("a file");
    folder
}

/// The file is as it was, and nothing has come beside it.
#[track_caller]
fn assert_untouched(bait: &Path) {
    let read = fs::read_to_string(bait.join("bait")).expect("the bait");
    assert_eq!(read, "as it was");
    let names: Vec<_> = fs::read_dir(bait)
        .expect("the folder")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(names, ["bait"]);
}
