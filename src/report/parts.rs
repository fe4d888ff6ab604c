//! The parts of a suite that ran apart from each other: what a part says of itself, and their merge
//! into one result.
//!
//! A merge is believed like a run: what is missing, doubled, cut off or of another set is an error.
//! Each part says what the whole set is, so that no part has to be trusted about the others.

mod merge;
#[cfg(test)]
mod tests;

pub use merge::{MergeError, Merged, merge};

use super::json::object_line;
use crate::run::{ScenarioReport, Shard, Whole};
use crate::verdict::{FaultTold, Finding, Verdict};
use perf_live::units::{Limit, Usage};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// How a part was made: what parts of one result have in common besides their set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The run of CI, or whatever else was named, that it belongs to.
    pub run: Option<String>,
    /// What changes the meaning of a verdict, as it is written on the command line.
    pub options: Vec<String>,
}

/// Appends the first line of a shard: which one it is, how it was made, the whole set with a sum
/// over each scenario's file, and which of the set are its own.
pub fn shard_json(
    out: &mut String,
    shard: Shard,
    version: &str,
    made: &Made,
    whole: &Whole,
    share: &BTreeSet<String>,
) {
    object_line(out, "shard", |line| {
        line.put("shard", shard.number());
        line.put("of", shard.count());
        line.put("version", version);
        line.put("made", made);
        line.put("scenarios", whole);
        line.put("share", share);
    });
}

#[derive(Debug, Deserialize)]
struct Head {
    shard: usize,
    of: usize,
    version: String,
    made: Made,
    scenarios: Whole,
    share: BTreeSet<String>,
}

/// A line of a scenario, with all that a report shows.
#[derive(Deserialize)]
struct Line {
    name: String,
    file: PathBuf,
    verdict: String,
    duration_ms: u64,
    findings: Vec<Finding>,
    events: u64,
    lost: u64,
    kernel: String,
    usage: Used,
    struck: Vec<String>,
    faults: Option<Vec<FaultTold>>,
    #[serde(default)]
    notes: Vec<String>,
    trace: Option<String>,
    #[serde(default)]
    only_snapshot: bool,
    kept: Option<PathBuf>,
    dump: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Used {
    cpu_us: Option<u64>,
    memory_peak: Option<u64>,
    largest_process: Option<u64>,
    processes_peak: Option<u64>,
    context_switches: Option<u64>,
}

/// A line, by its type.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Any {
    Machine {},
    Unfinished {},
    Shard(Head),
    Scenario(Box<Line>),
    Summary(BTreeMap<String, u64>),
}

/// A part that is whole in itself.
#[derive(Debug)]
pub struct Part {
    file: PathBuf,
    shard: Shard,
    head: Head,
    reports: Vec<ScenarioReport>,
}

/// Why a file is no whole part.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// A line is none of `harness run --format json`.
    #[error("line {line} is none of `harness run --format json`")]
    Line {
        /// Its number.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A line says something that no run says.
    #[error("line {line} {what}")]
    Wrong {
        /// Its number.
        line: usize,
        /// What it says.
        what: String,
    },
    /// The run was not one of a shard.
    #[error("it was not made by `harness run --shard`: its first line says of no shard")]
    NoShard,
    /// The end is missing.
    #[error("it is cut off: {said}")]
    CutOff {
        /// How that is known.
        said: &'static str,
    },
    /// Scenarios of its share have no result.
    #[error("it has no result of {}", quoted(.names))]
    Missing {
        /// Their names.
        names: BTreeSet<String>,
    },
    /// Its summary counts other verdicts than its lines have.
    #[error("its summary counts {said} `{verdict}`, and its lines {found}")]
    Miscounted {
        /// The verdict.
        verdict: Verdict,
        /// How many the summary has.
        said: u64,
        /// How many there are.
        found: u64,
    },
}

fn quoted(names: &BTreeSet<String>) -> String {
    const MOST: usize = 10;
    let first = names.iter().take(MOST).map(|name| format!("`{name}`"));
    let mut all: Vec<String> = first.collect();
    let more = names.len().saturating_sub(MOST);
    all.extend((more > 0).then(|| format!("{more} more")));
    all.join(", ")
}

impl Part {
    /// Reads what a shard printed.
    ///
    /// # Errors
    /// [`PartError`]: all of it must be there, once.
    pub fn read(file: PathBuf, text: &str) -> Result<Self, PartError> {
        let mut head: Option<(Shard, Head)> = None;
        let mut reports: Vec<ScenarioReport> = Vec::new();
        let mut summary = None;
        for (place, text) in text.lines().enumerate() {
            let line = place.saturating_add(1);
            let wrong = |what: String| PartError::Wrong { line, what };
            let any = serde_json::from_str(text);
            let any: Any = any.map_err(|source| PartError::Line { line, source })?;
            if summary.is_some() {
                let what = "stands behind the summary: are these several parts?".to_owned();
                return Err(wrong(what));
            }
            match (any, &head) {
                (Any::Machine {}, _) => {}
                (Any::Unfinished {}, _) => {
                    let said = "its run has not finished";
                    return Err(PartError::CutOff { said });
                }
                (Any::Shard(found), None) => {
                    let shard = Shard::new(found.shard, found.of);
                    let shard = shard.ok_or_else(|| {
                        wrong(format!("says shard {} of {}", found.shard, found.of))
                    })?;
                    let all = &found.scenarios;
                    if let Some(other) = found.share.iter().find(|it| !all.contains_key(*it)) {
                        return Err(wrong(format!("has `{other}`, which is none of its set")));
                    }
                    head = Some((shard, found));
                }
                (Any::Shard(_), Some(_)) => {
                    return Err(wrong("begins a second shard".to_owned()));
                }
                (_, None) => return Err(PartError::NoShard),
                (Any::Scenario(found), Some((_, head))) => {
                    let name = &found.name;
                    if !head.share.contains(name) {
                        return Err(wrong(format!("has `{name}`, which is none of this shard")));
                    }
                    if reports.iter().any(|report| report.name == *name) {
                        return Err(wrong(format!("has a second result of `{name}`")));
                    }
                    reports.push(report(*found).map_err(wrong)?);
                }
                (Any::Summary(counts), Some(_)) => summary = Some(counts),
            }
        }
        let (shard, head) = head.ok_or(PartError::NoShard)?;
        let summary = summary.ok_or(PartError::CutOff {
            said: "the summary is missing",
        })?;
        if !text.ends_with('\n') {
            let said = "its last line has no end";
            return Err(PartError::CutOff { said });
        }
        let found: BTreeSet<&String> = reports.iter().map(|report| &report.name).collect();
        let missing = head.share.iter().filter(|name| !found.contains(name));
        let names: BTreeSet<String> = missing.cloned().collect();
        if !names.is_empty() {
            return Err(PartError::Missing { names });
        }
        for verdict in Verdict::ALL {
            let found = reports.iter().filter(|report| report.verdict == verdict);
            let found = found.count() as u64;
            let said = summary.get(verdict.word()).copied().unwrap_or_default();
            if said != found {
                return Err(PartError::Miscounted {
                    verdict,
                    said,
                    found,
                });
            }
        }
        Ok(Self {
            file,
            shard,
            head,
            reports,
        })
    }
}

/// Reads how long each scenario took from JSON lines of `harness run`.
///
/// # Errors
/// [`PartError::Line`] for a line that is none of them, [`PartError::CutOff`] for a run that has
/// not finished.
pub fn durations(text: &str) -> Result<BTreeMap<String, Duration>, PartError> {
    let mut durations = BTreeMap::new();
    for (place, text) in text.lines().enumerate() {
        let any = serde_json::from_str(text);
        let any: Any = any.map_err(|source| PartError::Line {
            line: place.saturating_add(1),
            source,
        })?;
        match any {
            Any::Scenario(line) => {
                durations.insert(line.name, Duration::from_millis(line.duration_ms));
            }
            Any::Unfinished {} => {
                let said = "its run has not finished";
                return Err(PartError::CutOff { said });
            }
            _ => {}
        }
    }
    Ok(durations)
}

fn report(line: Line) -> Result<ScenarioReport, String> {
    let verdict = Verdict::ALL
        .into_iter()
        .find(|it| it.word() == line.verdict);
    let verdict = verdict.ok_or_else(|| format!("has the verdict `{}`", line.verdict))?;
    let limit = |word: &String| {
        let limit = Limit::ALL.into_iter().find(|it| it.word() == word);
        limit.ok_or_else(|| format!("has the limit `{word}`"))
    };
    Ok(ScenarioReport {
        needs: None,
        name: line.name,
        file: line.file,
        row: String::new(),
        verdict,
        duration: Duration::from_millis(line.duration_ms),
        findings: line.findings,
        notes: line.notes,
        events: line.events,
        lost: line.lost,
        usage: Usage {
            cpu: line.usage.cpu_us.map(Duration::from_micros),
            memory_peak: line.usage.memory_peak,
            largest_process: line.usage.largest_process,
            processes_peak: line.usage.processes_peak,
            context_switches: line.usage.context_switches,
        },
        struck: line.struck.iter().map(limit).collect::<Result<_, _>>()?,
        faults: line.faults,
        kernel: line.kernel,
        kept: line.kept,
        dumped: line.dump,
        only_snapshot: line.only_snapshot,
        is_command: false,
        trace: line.trace,
        whole: None,
    })
}
