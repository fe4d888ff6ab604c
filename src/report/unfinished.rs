//! Writes what stands in a report's place until it is whole: a run that dies leaves no older
//! result there.

use super::json::object_line;
use crate::run::ScenarioReport;
use crate::verdict::{Finding, Verdict};
use perf_live::units::Usage;
use std::path::PathBuf;
use std::time::Duration;

const WHY: &str = "the run has not finished";

/// A broken result, for the forms that have results only.
#[must_use]
pub fn unfinished() -> ScenarioReport {
    ScenarioReport {
        needs: None,
        name: "harness".to_owned(),
        file: PathBuf::new(),
        row: String::new(),
        verdict: Verdict::Broken,
        duration: Duration::ZERO,
        findings: vec![Finding::broken(WHY)],
        notes: Vec::new(),
        events: 0,
        lost: 0,
        usage: Usage::default(),
        struck: Vec::new(),
        faults: None,
        kernel: String::new(),
        kept: None,
        dumped: None,
        only_snapshot: false,
        is_command: false,
        trace: None,
        whole: None,
    }
}

/// Appends the only line of JSON lines that have no summary yet.
pub fn unfinished_json(out: &mut String) {
    object_line(out, "unfinished", |line| line.put("reason", WHY));
}
