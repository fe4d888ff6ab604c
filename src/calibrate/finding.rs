//! The result of a calibration.

use super::treated::{entry, level_of};
use super::{Condition, Reason, Varying};
use crate::scenario::{SnapshotBy, SnapshotSpec};
use crate::trace::{By, Level, View};
use perf_records::glob::escaped;
use std::collections::BTreeMap;
use std::fmt;

/// The strictest view in which all runs are the same.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The view.
    pub view: View,
    /// What varies, and how it is shown for that reason; nothing on processes that do the same in
    /// every run.
    pub findings: Vec<Finding>,
    /// Globs for names of files that differ from run to run, each with an example.
    pub temporary: Vec<(String, String)>,
    /// Whether the processes themselves differ from run to run.
    pub processes_vary: bool,
    /// How many runs there are under each condition.
    pub n_runs: BTreeMap<Condition, u32>,
    /// Why runs that were to be on one CPU were made on the machine as it is.
    pub unpinned: Option<Unpinned>,
    /// The text of the trace in this view, for each row of the matrix.
    pub texts: BTreeMap<String, String>,
}

/// Why a program is not run on one CPU: one that asks on how many it may run does something else
/// there, and not by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpinned {
    /// It asks.
    Asks,
    /// Whether it asks is not known: that call is not recorded.
    Unrecorded,
}

/// A process, or all processes of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    /// The process' number; `None` for all.
    pub process: Option<u32>,
    /// The program.
    pub program: String,
}

/// A process, or all processes of a program, whose runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The process or program.
    pub who: Who,
    /// The level that it is shown at.
    pub level: Level,
    /// The calls that are shown at a lower level, and that level; `None` for not at all.
    pub others: BTreeMap<String, Option<Level>>,
    /// The calls that vary; empty if only a similar process varies.
    pub varying: Vec<Varying>,
    /// The calls that are shown at a lower level for what may happen, though it did not in these
    /// runs, and why.
    pub expected: BTreeMap<String, Reason>,
    /// How many runs under each condition differ from the most common run, and how many there are.
    pub unlike: BTreeMap<Condition, (u32, u32)>,
}

/// Why there is no view in which all runs are the same.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unsettled {
    /// There is no complete run.
    #[error("there is no complete run")]
    NoRuns,
    /// Not every run executes this program.
    #[error("not every run executes `{0}`")]
    Programs(String),
    /// The runs of this process differ at every level.
    #[error("what `{0}` does differs at every level")]
    Remains(String),
}

impl Who {
    /// Returns its name in `levels`.
    #[must_use]
    pub fn pattern(&self) -> String {
        let program = escaped(&self.program);
        match self.process {
            Some(process) => format!("P{process} {program}"),
            None => program,
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(f, "P{process} {}", self.program),
            None => f.write_str(&self.program),
        }
    }
}

impl Finding {
    pub(super) fn of(who: &Who) -> Self {
        Self {
            who: who.clone(),
            level: Level::Sequence,
            others: BTreeMap::new(),
            varying: Vec::new(),
            expected: BTreeMap::new(),
            unlike: BTreeMap::new(),
        }
    }

    /// Returns the conditions under which runs differed from the most common one, each with the
    /// number of those and of all runs.
    pub fn provoked_by(&self) -> impl Iterator<Item = (Condition, u32, u32)> {
        let unlike = self.unlike.iter().filter(|(_, (unlike, _))| *unlike > 0);
        unlike.map(|(condition, (unlike, all))| (*condition, *unlike, *all))
    }
}

impl Calibration {
    /// Returns the key `snapshot` for this view, with all else that the author wrote in it.
    #[must_use]
    pub fn spec(&self, author: &SnapshotSpec) -> SnapshotSpec {
        let mut keys = author.keys().cloned().unwrap_or_default();
        keys.level = level_of(self.view.level);
        keys.levels = self.view.levels.iter().map(entry).collect();
        keys.by = match self.view.by {
            By::Process => SnapshotBy::Process,
            By::Program => SnapshotBy::Program,
        };
        let temporary = self.temporary.iter().map(|(glob, _)| glob.clone());
        keys.temporary.extend(temporary);
        SnapshotSpec::On(keys)
    }
}
