//! A matrix that is interrupted while a guest is at work.

use super::{HARNESS, NEW, OLD, can_tell, list, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Ends at once on the older kernel, and never on the newer one.
const WAITS: &str = "description: a test
workload:
  shell: |
    case $(uname -r) in 5.10.*) exit 0;; esac
    exec sleep 1000
  timeout: 150s
snapshot: false
";

#[test]
fn what_had_ended_in_a_guest_keeps_its_verdict_and_the_reports_are_written() {
    if !can_tell() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::create_dir(at.join("scenarios")).expect("a folder");
    std::fs::write(at.join("scenarios/waits.yaml"), WAITS).expect("a scenario");
    let mut child = Command::new(HARNESS)
        .args(["matrix", "--guests", "1", "-k", OLD, "-k", NEW])
        .args([
            "--report",
            "m.jsonl",
            "--report",
            "m.html",
            "scenarios",
            "--kernels",
        ])
        .arg(list())
        .current_dir(at)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the harness runs");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
    let up = format!("harness: {NEW}: ");
    let mut told = String::new();
    while !told
        .lines()
        .any(|line| line.starts_with(&up) && line.contains(" is up after "))
    {
        assert_ne!(said.read_line(&mut told).expect("text"), 0, "{told}");
    }
    let pid = i32::try_from(child.id()).expect("a pid");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("a signal");
    said.read_to_string(&mut told).expect("text");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130), "{told}");
    let summary = format!("{OLD}: 1 of 1 scenarios had ended, {NEW}: 0 of 1 scenarios had ended");
    assert!(told.contains(&summary), "{told}");
    let table = text(&output.stdout);
    let table = table
        .lines()
        .take(2)
        .map(|line| line.split_whitespace().collect());
    let table: Vec<Vec<&str>> = table.collect();
    assert_eq!(
        table,
        [["scenario", OLD, NEW], ["waits", "pass", "interrupted"]]
    );
    let lines = std::fs::read_to_string(at.join("m.jsonl")).expect("a report");
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    let cell = |kernel: &str| {
        let mut cells = lines.iter().filter(|line| line["type"] == "cell");
        let cell = cells.find(|line| line["kernel"] == kernel);
        cell.expect("a cell").clone()
    };
    assert_eq!(cell(OLD)["verdict"], "pass");
    assert_eq!(cell(NEW)["reasons"], serde_json::json!(["interrupted"]));
    let kernels = lines.iter().filter(|line| line["type"] == "kernel");
    let interrupted: Vec<&serde_json::Value> = kernels.map(|line| &line["interrupted"]).collect();
    assert_eq!(interrupted, [false, true]);
    let page = std::fs::read_to_string(at.join("m.html")).expect("a page");
    assert!(page.ends_with("</html>\n") && !page.contains("the run has not finished"));
}
