//! What is reported of a scenario's runs.

use super::{Item, Outcome};
use crate::policy::Needs;
use crate::verdict::{FaultTold, Finding, Known, Verdict};
use perf_live::units::{Limit, Usage};
use std::path::PathBuf;
use std::time::Duration;

/// The report on one scenario.
#[derive(Clone, Debug)]
pub struct ScenarioReport {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// The label of its row of `matrix`; empty without one.
    pub row: String,
    /// The verdict.
    pub verdict: Verdict,
    /// How long it took, all repetitions together.
    pub duration: Duration,
    /// The findings in the order in which they are shown, or why it was skipped.
    pub findings: Vec<Finding>,
    /// What this machine lacks, and what was not judged for that reason.
    pub notes: Vec<String>,
    /// Calls and events of the (last) run.
    pub events: u64,
    /// Missing records of the (last) run.
    pub lost: u64,
    /// What the (last) run used.
    pub usage: Usage,
    /// The limits that the (last) run ran into.
    pub struck: Vec<Limit>,
    /// What became of its faults in the (last) run; `None` without faults or without a run.
    pub faults: Option<Vec<FaultTold>>,
    /// The kernel's release.
    pub kernel: String,
    /// Where the directory of the (last) run was kept.
    pub kept: Option<PathBuf>,
    /// The file with the end of the (last) run, if it was no pass and its scenario asks for such a
    /// file.
    pub dumped: Option<PathBuf>,
    /// Whether it fails by its snapshot alone.
    pub only_snapshot: bool,
    /// Whether it is of a command that was held to rules, and of no scenario.
    pub is_command: bool,
    /// What all its runs together needed of the kernel, where every call was recorded.
    /// `None` without a run.
    pub needs: Option<Known<Needs>>,
    /// What kernels are compared by, of the (last) run ([`Outcome::shown`](super::Outcome::shown)).
    pub trace: Option<String>,
    /// The whole trace of the (last) run, if its scenario has no snapshot.
    pub whole: Option<String>,
}

impl ScenarioReport {
    /// One of a run that has not been made.
    pub(super) fn of(item: &Item, kernel: &str) -> Self {
        Self {
            name: item.name.clone(),
            file: item.file.clone(),
            row: item.row.clone(),
            verdict: Verdict::Broken,
            duration: Duration::ZERO,
            findings: Vec::new(),
            notes: Vec::new(),
            events: 0,
            lost: 0,
            usage: Usage::default(),
            struck: Vec::new(),
            faults: None,
            kernel: kernel.to_owned(),
            kept: None,
            dumped: None,
            only_snapshot: false,
            is_command: false,
            needs: None,
            trace: None,
            whole: None,
        }
    }

    /// Takes what a run came to.
    pub(super) fn take(&mut self, outcome: &mut Outcome) {
        self.verdict = outcome.verdict;
        self.findings = std::mem::take(&mut outcome.findings);
        self.trace = outcome.shown.take();
        self.whole = outcome.whole.take();
        (self.events, self.lost) = (outcome.events, outcome.lost);
        let needs = std::mem::replace(&mut outcome.needs, Known::No(String::new()));
        match (&mut self.needs, needs) {
            (Some(Known::Yes(all)), Known::Yes(needs)) => all.add(&needs),
            // What one run did not tell, no other tells for it.
            (Some(Known::No(_)), _) => {}
            (own, needs) => *own = Some(needs),
        }
        self.usage = outcome.usage;
        self.struck = std::mem::take(&mut outcome.struck);
        self.faults = outcome.faults.take();
        let mut remarks = std::mem::take(&mut outcome.remarks);
        remarks.retain(|remark| !self.notes.contains(remark));
        self.notes.append(&mut remarks);
        self.only_snapshot = outcome.only_snapshot && outcome.verdict == Verdict::Fail;
    }
}
