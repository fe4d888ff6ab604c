//! The result of one scenario on one kernel.

use crate::verdict::{Finding, Verdict};
use std::collections::BTreeSet;

/// The result of a scenario on a kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The verdict.
    verdict: Verdict,
    /// The findings, or why it was skipped.
    pub findings: Vec<Finding>,
    /// What the kernel lacks, and what was therefore not judged; and whether its runs differ.
    pub notes: Vec<String>,
    /// The notes of the run whose verdict it is.
    of_run: Vec<String>,
    /// The verdicts on all of its runs.
    verdicts: BTreeSet<Verdict>,
}

impl Cell {
    pub(super) fn of(verdict: Verdict, findings: Vec<Finding>, notes: Vec<String>) -> Self {
        Self {
            verdict,
            findings,
            of_run: notes.clone(),
            notes,
            verdicts: [verdict].into(),
        }
    }

    /// Its verdict: of several runs, that of the first that did not pass.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The verdicts on all of its runs, each once.
    #[must_use]
    pub fn verdicts(&self) -> &BTreeSet<Verdict> {
        &self.verdicts
    }

    pub(super) fn broken(why: &str) -> Self {
        Self::of(Verdict::Broken, vec![Finding::broken(why)], Vec::new())
    }

    /// Adds a further run: what did not pass in each of them is no pass.
    pub(super) fn again(&mut self, run: Self) {
        let mut verdicts = std::mem::take(&mut self.verdicts);
        verdicts.extend(run.verdicts.iter().copied());
        let tells_more = match self.verdict {
            Verdict::Pass => run.verdict != Verdict::Pass,
            Verdict::Skipped => !matches!(run.verdict, Verdict::Pass | Verdict::Skipped),
            _ => false,
        };
        if tells_more {
            *self = run;
        }
        self.verdicts = verdicts;
        self.notes.clone_from(&self.of_run);
        if self.verdicts.len() > 1 {
            let words: Vec<&str> = self.verdicts.iter().map(|it| it.word()).collect();
            let words = words.join(", ");
            self.notes
                .push(format!("not the same in all runs: {words}"));
        }
    }

    /// Makes it a pass in all runs.
    pub(super) fn accept(&mut self) {
        let notes = std::mem::take(&mut self.of_run);
        *self = Self::of(Verdict::Pass, Vec::new(), notes);
    }

    /// Whether one word tells it all.
    pub(super) fn is_plain(&self) -> bool {
        self.verdict() == Verdict::Pass && self.notes.is_empty()
    }
}
