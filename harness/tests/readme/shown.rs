//! What the README shows of this repository: a scenario, its snapshot, the report on a change, the
//! commands that CI runs too.

use std::fs;
use std::process::Command;

use crate::blocks::block_below;
use crate::{HARNESS, cannot_trace, read, without_times};

const README: &str = "README.md";
const SCENARIO: &str = "scenarios/durability/gzip-synchronous-syncs-before-it-unlinks.yaml";
const SNAPSHOT: &str = "snapshots/durability/gzip-synchronous-syncs-before-it-unlinks.snap";

/// A snapshot without its header, which names the kernel that it was taken on.
fn below_header(snapshot: &str) -> &str {
    let header = snapshot
        .strip_prefix("---\n")
        .and_then(|text| text.split_once("\n---\n"));
    header.expect("a snapshot with a header").1
}

#[test]
fn the_scenario_shown_is_the_file() {
    let shown = block_below(README, &format!("`{SCENARIO}`"));
    assert_eq!(shown.language, "yaml");
    let file = read(SCENARIO);
    // The first line is for editors.
    let (editors, scenario) = file.split_once('\n').expect("lines");
    assert!(editors.starts_with("# yaml-language-server: "), "{editors}");
    assert_eq!(
        shown.text, scenario,
        "README.md, and the file that it shows"
    );
}

#[test]
fn the_snapshot_shown_is_the_file() {
    let shown = block_below(README, &format!("`{SNAPSHOT}`"));
    let stored = read(SNAPSHOT);
    assert_eq!(
        shown.text,
        below_header(&stored),
        "README.md, and the file that it shows"
    );
}

#[test]
fn ci_runs_what_the_readme_tells_a_user_to_run() {
    let shown = block_below(README, "As root, on Linux");
    let commands: Vec<&str> = shown.text.lines().collect();
    assert_eq!(
        commands,
        ["cargo run --release -- run scenarios", "cargo test"]
    );
    let run = read(".ci/run").replace(" --locked", "");
    for command in commands {
        assert!(
            run.lines().any(|line| line == format!("step {command}")),
            ".ci/run does not run `{command}`"
        );
    }
}

#[test]
fn the_report_shown_is_what_the_change_gives() {
    if let Some(why) = cannot_trace() {
        return crate::skip(&why);
    }
    let place = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    let scenario = read(SCENARIO);
    let changed = scenario.replace("[gzip, --synchronous,", "[gzip,");
    assert_ne!(changed, scenario, "the change that README.md names");
    write(SCENARIO, &changed);
    write(SNAPSHOT, &read(SNAPSHOT));
    let mut run = Command::new(HARNESS);
    let output = run
        .args(["run", "scenarios"])
        .current_dir(&place)
        .env_remove("CI")
        .output()
        .expect("the program");
    let report = String::from_utf8_lossy(&output.stdout);
    let shown = block_below(README, "Without `--synchronous` the run says");
    assert_eq!(
        without_times(&report),
        without_times(&shown.text),
        "{output:?}"
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
