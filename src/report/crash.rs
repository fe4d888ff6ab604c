//! Reports on the states that a power cut may leave, as text and as JSON lines.

use super::json::object_line;
use super::matrix::plural;
use crate::run::{CrashStart, CrashStudy};
use crate::verdict::{Failure, joined};
use std::fmt::Write;
use std::path::Path;

/// So many states are told of in full.
const SHOWN: usize = 5;

/// So many lines of what was lost, and of what is left, are shown of each.
const LINES: usize = 8;

/// Appends what is going to be tried, as a JSON object and a line feed.
pub fn crash_json(out: &mut String, start: &CrashStart) {
    object_line(out, "crash", |line| {
        line.put("name", &start.item.name);
        line.put("file", start.item.file.to_string_lossy());
        line.put("calls", &start.calls);
        line.put("from", &start.from);
        line.put("durable_by", &start.durable_by);
        line.put("states", start.states);
        line.put("extent", &start.extent);
    });
}

/// Appends what became of a state, as a JSON object and a line feed.
pub fn state_json(out: &mut String, start: &CrashStart, tried: &Failure) {
    object_line(out, "state", |line| {
        line.put("name", &start.item.name);
        line.put("number", tried.state);
        line.put("moment", tried.moment);
        line.put("behind", &tried.behind);
        line.put("behind_from", &tried.behind_from);
        line.put("lost", &tried.lost);
        line.put("lost_from", &tried.lost_from);
        line.put("left", &tried.folder);
        line.put("verdict", tried.verdict.word());
        let reasons = tried.findings.iter().map(|finding| &finding.text);
        line.put("reasons", reasons.collect::<Vec<_>>());
    });
}

/// Appends the last line of a scenario as JSON.
pub fn crashed_json(out: &mut String, study: &CrashStudy, written: Option<&Path>) {
    object_line(out, "crashed", |line| {
        line.put("name", &study.item.name);
        line.put("model", &study.crashed.model);
        line.put("tried", study.crashed.tried);
        line.put("of_about_log2", study.crashed.of_about);
        line.put("seed", study.crashed.of_about.map(|_| study.crashed.seed));
        line.put("failed", study.crashed.failed);
        line.put("unknown", &study.crashed.unknown);
        line.put("worst", study.crashed.worst.as_ref().map(|it| it.state));
        line.put("blind", study.crashed.is_blind);
        line.put("written", written.map(Path::to_string_lossy));
        line.put("interrupted", study.interrupted);
    });
}

/// Appends a page with a timeline of the calls, and the states that failed.
pub fn crashed_html(out: &mut String, start: &CrashStart, study: &CrashStudy) {
    super::html::power_cuts::write(out, start, study);
}

/// Appends the log of a run: each call, and behind which it is durable.
pub fn crash_log(out: &mut String, start: &CrashStart) {
    for (step, call) in start.calls.iter().enumerate() {
        let by = start.durable_by.get(step).copied().flatten();
        // Writing to a string never fails.
        let _ = match by {
            Some(by) => writeln!(out, "{:>5}  {call}  durable by {}", step + 1, by + 1),
            None => writeln!(out, "{:>5}  {call}", step + 1),
        };
        if let Some(from) = start.from.get(step).and_then(Option::as_deref) {
            let _ = writeln!(out, "         from {from}");
        }
    }
}

/// Appends what became of all states, for people.
pub fn crashed_human(out: &mut String, study: &CrashStudy, written: Option<&Path>) {
    let crashed = &study.crashed;
    let mut failures: Vec<&Failure> = study.failures.iter().collect();
    failures.sort_by_key(|failure| (failure.lost.len(), failure.state));
    for failure in failures.iter().take(SHOWN) {
        failed(out, failure);
    }
    let _ = match failures.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(1) => writeln!(out, "  1 more fails"),
        Some(more) => writeln!(out, "  {more} more fail"),
        None => Ok(()),
    };
    for why in &crashed.unknown {
        let _ = writeln!(out, "  unknown: {why}");
    }
    if let Some(remark) = crashed.remark() {
        let _ = writeln!(out, "  {remark}");
    }
    if let Some(written) = written {
        let _ = writeln!(out, "  written: {}", written.display());
    }
    if let Some(kept) = &study.kept {
        let _ = writeln!(out, "  kept: {}", kept.display());
    }
    let passed = crashed.tried - crashed.failed - crashed.unknown.len().min(crashed.tried);
    let end = if study.interrupted {
        ", interrupted"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "{}: {passed} pass, {} fail{end}",
        plural(crashed.tried, "state"),
        crashed.failed
    );
}

fn failed(out: &mut String, failure: &Failure) {
    let behind = failure.behind_with_callers();
    let behind = behind.map_or("before the first change".to_owned(), |call| {
        format!("behind {call}")
    });
    let _ = writeln!(out, "  state {}: power cut {behind}", failure.state);
    for (head, lines, none) in [
        ("lost", &failure.lost_with_callers(), "nothing"),
        ("left", &failure.folder, "all as it was"),
    ] {
        for line in lines.iter().take(LINES) {
            let _ = writeln!(out, "    {head}: {line}");
        }
        if lines.is_empty() {
            let _ = writeln!(out, "    {head}: {none}");
        }
        if let Some(more) = lines.len().checked_sub(LINES).filter(|more| *more > 0) {
            let _ = writeln!(out, "    {head}: and {more} more");
        }
    }
    let said = joined(&failure.findings, "\n      ");
    let _ = writeln!(out, "    recovery: {}: {said}", failure.verdict);
}
