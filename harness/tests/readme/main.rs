//! What the documents show is what there is: the README, and those of `harness/docs`. Each is
//! followed as its reader would; the files of this repository that they show, the commands and the
//! options that they name are compared with what is there.

mod blocks;
mod commands;
mod followed;
mod reference;
mod shown;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
        .to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Why this machine cannot show it; `HARNESS_REQUIRE=all` makes a failure of that.
fn cannot_trace() -> Option<String> {
    let output = Command::new(HARNESS)
        .arg("doctor")
        .output()
        .expect("the program");
    if output.status.success() {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let required = std::env::var("HARNESS_REQUIRE").unwrap_or_default();
    assert_ne!(
        required, "all",
        "HARNESS_REQUIRE is set, and this machine cannot trace:\n{said}"
    );
    Some(said)
}

fn skip(why: &str) {
    // If stderr is gone, there is no reader to tell.
    let _gone = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Times differ from run to run, numbers of events from machine to machine, and documents have no
/// spaces at the ends of their lines.
fn without_times(report: &str) -> String {
    let mut text = String::new();
    for line in report.lines() {
        let line = match line.split_once(" ms, ") {
            Some((before, after)) => {
                let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
                let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
                format!("{before}N ms, N{after}")
            }
            None => match line.strip_suffix(" ms)") {
                Some(before) => {
                    let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
                    format!("{before}N ms)")
                }
                None => line.to_owned(),
            },
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
