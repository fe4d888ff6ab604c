//! `harness run --keep`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

fn temporary(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.join("tmp")).expect("tmp").flatten();
    entries.map(|entry| entry.path()).collect()
}

const WRITES: &str = "workload: { shell: 'mkdir -p a/b; echo $$ > a/b/c', files: { laid: x } }\n\
                      snapshot: false";

#[test]
fn a_directory_that_is_kept_is_as_the_run_left_it_and_both_forms_say_where() {
    require!(right_to_trace());
    let project = Project::with("it", WRITES);
    let run = project.harness(&["run", "--keep", "--format", "json", "scenarios"]);
    let kept = run.assert_status(0).json()[0]["kept"].clone();
    let kept = Path::new(kept.as_str().expect("a path"));
    assert_eq!(temporary(&project), [kept], "and nothing else");
    assert_eq!(fs::read_to_string(kept.join("laid")).expect("a file"), "x");
    assert!(kept.join("a/b/c").is_file());
    let mode = fs::metadata(kept).expect("it").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "with what is set-user-ID in it");
    fs::remove_dir_all(kept).expect("it is the user's now");
    let run = project.harness(&["run", "--keep", "scenarios"]);
    let said = &run.assert_status(0).stdout;
    let line = format!(
        "\n            kept in {}\n",
        temporary(&project)[0].display()
    );
    assert!(said.contains(&line), "{said}");
}

#[test]
fn without_being_asked_nothing_is_kept() {
    require!(right_to_trace());
    let project = Project::with("it", WRITES);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    assert!(run.assert_status(0).json()[0].get("kept").is_none());
    project.assert_nothing_left();
}

#[test]
fn of_many_runs_the_last_is_kept_which_may_be_the_first_that_failed() {
    require!(right_to_trace());
    let project = Project::with("it", WRITES);
    let count = project.join("count");
    let fails = format!(
        "sandbox: {{ root: host }}\nworkload:\n  shell: echo x >> '{0}'; wc -l < '{0}' > n; test $(cat n) != 3\nsnapshot: false",
        count.display()
    );
    let keep = [
        "run",
        "--keep",
        "--format",
        "json",
        "--repeat",
        "5",
        "scenarios",
    ];
    project.harness(&keep).assert_status(0);
    assert_eq!(temporary(&project).len(), 1);
    fs::remove_dir_all(&temporary(&project)[0]).expect("it is the user's");
    project.scenario("it", &fails);
    project.harness(&keep).assert_status(1);
    let left = temporary(&project);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fs::read_to_string(left[0].join("n")).expect("n"), "3\n");
}

#[test]
fn what_could_not_be_laid_out_is_said_not_to_be_kept() {
    require!(right_to_trace());
    let project = Project::with("it", crate::cli::BROKEN);
    let run = project.harness(&["run", "--keep", "--format", "json", "scenarios"]);
    let report = &run.assert_status(99).json()[0];
    let reasons = report["reasons"].to_string();
    assert_eq!(report["verdict"], "broken", "{reasons}");
    assert!(reasons.contains("nothing is kept"), "{reasons}");
    assert!(report.get("kept").is_none(), "{report}");
    project.assert_nothing_left();
}
