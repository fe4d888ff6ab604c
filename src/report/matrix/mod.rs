//! Reports on the same scenarios on several kernels: as text, JSON lines, JUnit and HTML.

mod human;
mod json;
mod junit;
mod steps;
#[cfg(test)]
pub(super) mod tests;

use super::kcidb::Submission;
use super::{html, kcidb};
use crate::matrix::{Cell, Column, Explained, Matrix, Seen, Step};
use crate::upgrade::{Class, Within};
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

/// The results of scenarios on several kernels, and the differences from each kernel to the next.
#[derive(Debug)]
pub struct MatrixReport<'a> {
    pub(super) matrix: &'a Matrix,
    pub(super) steps: Vec<Step>,
    /// When it was made.
    pub(super) made: Option<SystemTime>,
    /// Whether the page has the trace of each scenario, and not only of those with more to tell.
    pub(super) shows_traces: bool,
}

/// A change in one scenario.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) step: &'a Step,
    pub(super) change: &'a Explained,
    pub(super) seen: &'a Seen,
}

/// What came of a scenario on a kernel: of what had not ended when the harness was asked to end
/// there is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Told(Verdict),
    Interrupted,
}

impl Outcome {
    pub(super) fn of(column: &Column, scenario: &str) -> Self {
        match column.interrupted && column.answers(scenario).is_empty() {
            true => Self::Interrupted,
            false => Self::Told(column.verdict(scenario)),
        }
    }

    pub(super) fn words(self) -> String {
        match self {
            Self::Told(verdict) => words(verdict),
            Self::Interrupted => "interrupted".to_owned(),
        }
    }

    /// The verdict whose colour it has.
    pub(super) fn like(self) -> Verdict {
        match self {
            Self::Told(verdict) => verdict,
            Self::Interrupted => Verdict::Broken,
        }
    }
}

impl<'a> MatrixReport<'a> {
    /// Compares the kernels, once for all forms of the report.
    #[must_use]
    pub fn of(matrix: &'a Matrix) -> Self {
        Self {
            matrix,
            steps: matrix.steps(),
            made: None,
            shows_traces: false,
        }
    }

    /// Says when it was made.
    #[must_use]
    pub fn made(mut self, when: SystemTime) -> Self {
        self.made = Some(when);
        self
    }

    /// Puts the trace of each scenario into the page.
    #[must_use]
    pub fn with_traces(mut self) -> Self {
        self.shows_traces = true;
        self
    }

    /// Appends the table, the results that are no plain pass, the kernels without results, then
    /// each upgrade. Coloured with ANSI sequences on request.
    pub fn human(&self, out: &mut String, color: bool) {
        human::write(out, self, color);
        steps::write(out, self, color);
    }

    /// Appends an object for each scenario on each kernel, for each difference, for each change
    /// from a kernel to the next, and at the end one for each kernel, each with a line feed.
    pub fn json(&self, out: &mut String) {
        json::write(out, self);
    }

    /// Appends one XML document with a suite for each kernel.
    pub fn junit(&self, out: &mut String) {
        junit::write(out, self);
    }

    /// Appends one object, as KCIDB takes it.
    pub fn kcidb(&self, out: &mut String, by: &Submission) {
        kcidb::of_matrix(out, self, by);
    }

    /// Appends one page of HTML, which needs no other file.
    pub fn html(&self, out: &mut String) {
        html::write(out, self);
    }

    /// The changes by scenario, in the order of the steps.
    pub(super) fn by_scenario(&self) -> BTreeMap<&str, Vec<Found<'_>>> {
        let mut all: BTreeMap<&str, Vec<Found<'_>>> = BTreeMap::new();
        for step in &self.steps {
            for change in &step.changes {
                for seen in &change.seen {
                    let found = Found { step, change, seen };
                    all.entry(&seen.scenario).or_default().push(found);
                }
            }
        }
        all
    }

    /// How often each outcome came on these kernels, where it did.
    pub(super) fn counts(&self, columns: &[Column]) -> BTreeMap<Outcome, usize> {
        let mut counts = BTreeMap::new();
        for column in columns {
            for name in &self.matrix.scenarios {
                let count: &mut usize = counts.entry(Outcome::of(column, name)).or_default();
                *count = count.saturating_add(1);
            }
        }
        counts
    }

    /// Returns how much was compared and with which result, as half a sentence; `None` for a single
    /// kernel.
    pub(super) fn compared(&self) -> Option<String> {
        if self.steps.is_empty() {
            let is_one = self.matrix.columns.len() < 2;
            let is_interrupted = self.matrix.columns.iter().any(|it| it.interrupted);
            let why = match is_interrupted {
                true => "nothing was compared, as it was interrupted",
                false => "nothing was compared, as no two kernels came to their end",
            };
            return (!is_one).then(|| why.to_owned());
        }
        let real = self.steps.iter().flat_map(real);
        let scenarios: BTreeSet<&str> = real.clone().flat_map(scenarios).collect();
        let n = real.count();
        let differences = match n {
            0 => "no difference".to_owned(),
            n => format!(
                "{} in {}",
                plural(n, "difference"),
                plural(scenarios.len(), "scenario")
            ),
        };
        Some(match (self.pairs(), n) {
            (0, _) => format!("{differences}; verdicts alone were compared, no traces"),
            (pairs, 0) => format!("{differences} in {} of traces", plural(pairs, "pair")),
            (pairs, _) => format!(
                "{differences}, nothing else in {} of traces",
                plural(pairs, "pair")
            ),
        })
    }

    /// Whether a scenario has no result because its kernel did not finish, which is reported once
    /// for all scenarios.
    pub(super) fn is_untold(&self, kernel: &str, scenario: &str) -> bool {
        let mut columns = self.matrix.columns.iter();
        let column = columns.find(|column| column.kernel == kernel);
        column.is_some_and(|it| it.trouble.is_some() && it.answers(scenario).is_empty())
    }

    /// Returns how many pairs of traces were compared.
    fn pairs(&self) -> usize {
        let has_trace = |kernel: &str, scenario: &str| {
            let mut columns = self.matrix.columns.iter();
            let column = columns.find(|column| column.kernel == kernel);
            let answer = column.and_then(|column| column.answers(scenario).first());
            answer.is_some_and(|answer| !answer.trace.is_empty())
        };
        let both = |step: &Step| {
            let scenarios = self.matrix.scenarios.iter();
            scenarios
                .filter(|name| has_trace(&step.from, name) && has_trace(&step.to, name))
                .count()
        };
        self.steps.iter().map(both).sum()
    }

    /// Returns the classes that occur, the gravest first.
    pub(super) fn classes(&self) -> Vec<Class> {
        let changes = self.steps.iter().flat_map(|step| &step.changes);
        let found: BTreeSet<Class> = changes.map(|change| change.class).collect();
        found.into_iter().collect()
    }
}

/// Returns the changes that are no noise.
pub(super) fn real(step: &Step) -> impl Iterator<Item = &Explained> + Clone {
    let changes = step.changes.iter();
    changes.filter(|change| change.class != Class::Noise)
}

pub(super) fn noise(step: &Step) -> impl Iterator<Item = &Explained> + Clone {
    let changes = step.changes.iter();
    changes.filter(|change| change.class == Class::Noise)
}

pub(super) fn scenarios(change: &Explained) -> impl Iterator<Item = &str> {
    change.seen.iter().map(|seen| seen.scenario.as_str())
}

/// Returns the evidence for a change in a scenario, without lines that repeat it, and without the
/// reasons of a verdict if only the verdict differs.
pub(super) fn evidence<'a>(change: &'a Explained, seen: &'a Seen) -> impl Iterator<Item = &'a str> {
    let is_told = is_of_verdict(change);
    let lines = seen.evidence.iter().flat_map(|text| text.lines());
    lines.filter(move |line| {
        let said = line.trim_start_matches(['-', '+', ' ']);
        let is_reason = is_told && line.starts_with(['-', '+']);
        !is_reason && !change.what.contains(said)
    })
}

/// Whether only the verdict differs, which its reasons explain.
pub(super) fn is_of_verdict(change: &Explained) -> bool {
    change.within == Within::Verdicts
}

/// `3 differences in 5 scenarios`, `nothing differs`; noise is no difference.
pub(super) fn title(step: &Step) -> String {
    let names: BTreeSet<&str> = real(step).flat_map(scenarios).collect();
    match real(step).count() {
        0 => "nothing differs".to_owned(),
        n => format!(
            "{} in {}",
            plural(n, "difference"),
            plural(names.len(), "scenario")
        ),
    }
}

/// Groups the scenarios of a change by their verdicts; those that passed on neither kernel come
/// first.
pub(super) fn by_verdicts(change: &Explained) -> Vec<(String, Vec<&Seen>)> {
    let mut groups: Vec<(&[BTreeSet<Verdict>; 2], Vec<&Seen>)> = Vec::new();
    for seen in &change.seen {
        match groups.iter_mut().find(|group| *group.0 == seen.runs) {
            Some((_, known)) => known.push(seen),
            None => groups.push((&seen.runs, vec![seen])),
        }
    }
    let is_pass = |verdicts: &BTreeSet<Verdict>| verdicts.iter().all(|it| *it == Verdict::Pass);
    groups.sort_by_key(|(verdicts, _)| verdicts.iter().all(is_pass));
    let worded = groups.into_iter();
    worded
        .map(|(verdicts, seen)| (both(verdicts), seen))
        .collect()
}

/// `pass on both`, `pass, then fail`, `pass, then pass or fail`.
pub(super) fn both([before, after]: &[BTreeSet<Verdict>; 2]) -> String {
    if before == after {
        format!("{} on both", all_words(before))
    } else {
        format!("{}, then {}", all_words(before), all_words(after))
    }
}

/// `pass`; `pass or fail` where runs differ.
pub(super) fn all_words(verdicts: &BTreeSet<Verdict>) -> String {
    let each: Vec<String> = verdicts.iter().map(|verdict| words(*verdict)).collect();
    each.join(" or ")
}

/// The words for the result of a scenario on a kernel, in all of its runs.
pub(super) fn in_cell(column: &Column, scenario: &str, cell: &Cell) -> String {
    match Outcome::of(column, scenario) {
        Outcome::Told(_) => all_words(cell.verdicts()),
        it @ Outcome::Interrupted => it.words(),
    }
}

pub(super) fn words(verdict: Verdict) -> String {
    verdict.word().replace('_', " ")
}

/// `1 scenario`, `2 scenarios`.
pub(super) fn plural(n: usize, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {what}{s}")
}
