//! Makes mutants of a scenario's run, and counts how many its expectations and its snapshot let
//! through.

use crate::matching::{add_spans, remove_spans};
use crate::mutate::{Mutant, Mutants, Recorded, Thread};
use crate::plan::Plan;
use crate::run::overwritten::OVERWRITTEN;
use crate::run::ready::Ready;
use crate::run::scenario::stored;
use crate::run::side_by_side::side_by_side;
use crate::run::study::told::Told;
use crate::run::{Bench, Control, Extras, Item, RunError, Subject, Suite, attempt, lay_out};
use crate::trace::{Block, Deed, Normalised};
use crate::verdict::{self, About, Finding, Run, Verdict};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use syscall_model::ThreadId;

/// Percent of its mutants that a scenario must refuse, unless it says why it does not.
pub const LEAST_KILLED: usize = 95;

/// How many events all mutants of a run may have together: some seconds' work.
const MOST_EVENTS: usize = 4_000_000;

/// How many mutants of a large run are tried, however many events it has.
const FEWEST: usize = 100;

/// How mutants are made and judged.
#[derive(Clone, Copy, Debug)]
pub struct MutationOptions {
    /// The most mutants of one run.
    pub most: usize,
    /// Whether only expectations are judged, as if there were no snapshot.
    pub without_snapshot: bool,
    /// Whether also what no expectation tells of is changed, where no snapshot is judged.
    pub all: bool,
    /// How many scenarios are worked on side by side.
    pub jobs: usize,
    /// Whether a skip is a failure (`HARNESS_REQUIRE=all`).
    pub require_all: bool,
}

impl MutationOptions {
    /// What becomes of a scenario whose requirements are not met here.
    fn unmet(&self, findings: Vec<Finding>) -> Surveyed {
        let verdict = match self.require_all {
            true => Verdict::Skipped.required(),
            false => Verdict::Skipped,
        };
        Err((verdict, findings))
    }
}

/// The report on the mutants of one scenario.
#[derive(Clone, Debug)]
pub struct MutationReport {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// How long it took.
    pub duration: Duration,
    /// The survey; or the verdict on a run that no mutants can be made of, with the findings.
    pub result: Result<Survey, (Verdict, Vec<Finding>)>,
}

/// How the mutants of a run were judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// How many were judged.
    pub n_mutants: usize,
    /// How many more changes were possible and not tried.
    pub untried: usize,
    /// How many changes were left out, as no expectation tells of what they change.
    pub untold: usize,
    /// How many the expectations alone refuse.
    pub by_expectations: usize,
    /// How many only the snapshot refuses.
    pub by_snapshot: usize,
    /// The mutants that passed.
    pub survivors: Vec<Mutant>,
    /// Why they may pass, in the author's words.
    pub lenient: Option<String>,
}

/// What refuses a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killer {
    /// The expectations, whatever the snapshot says.
    Expectations,
    /// Only the snapshot.
    Snapshot,
}

/// How strict a scenario is, by its mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It lets few through.
    Tight,
    /// It lets many through, and says why.
    Lenient,
    /// It lets many through, and does not say why.
    Loose,
    /// It says why it lets many through, but lets few through.
    Needless,
}

impl Standing {
    /// All of them, in the order of a summary.
    pub const ALL: [Self; 4] = [Self::Tight, Self::Lenient, Self::Loose, Self::Needless];

    /// Returns its word in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tight => "tight",
            Self::Lenient => "lenient",
            Self::Loose => "loose",
            Self::Needless => "needless",
        }
    }

    /// Whether the scenario may stay as it is.
    #[must_use]
    pub fn is_good(self) -> bool {
        matches!(self, Self::Tight | Self::Lenient)
    }
}

impl Survey {
    /// Returns how many mutants are refused.
    #[must_use]
    pub fn killed(&self) -> usize {
        self.by_expectations.saturating_add(self.by_snapshot)
    }

    /// Returns how strict the scenario is.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let is_enough =
            self.killed().saturating_mul(100) >= self.n_mutants.saturating_mul(LEAST_KILLED);
        // Who tells of nothing lets everything through.
        let is_tight = is_enough && (self.n_mutants > 0 || self.untold == 0);
        match (is_tight, &self.lenient) {
            (true, None) => Standing::Tight,
            (true, Some(_)) => Standing::Needless,
            (false, None) => Standing::Loose,
            (false, Some(_)) => Standing::Lenient,
        }
    }
}

impl Suite<'_> {
    /// Runs each scenario once and makes mutants of the run, `jobs` scenarios at a time; hands over
    /// each report when it is done. Writes nothing.
    pub fn mutate<'c>(
        &self,
        options: &MutationOptions,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
        report: &(dyn Fn(MutationReport) + Sync),
    ) {
        let work = |(item, _): &(Item, Ready)| self.mutate_one(item, options, control);
        side_by_side(&self.scenarios, options.jobs, &work, report);
    }

    /// Makes and judges the mutants of one of the suite's scenarios.
    pub fn mutate_one<'c>(
        &self,
        item: &Item,
        options: &MutationOptions,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
    ) -> MutationReport {
        let start = Instant::now();
        let broken = |text: String| Err((Verdict::Broken, vec![Finding::broken(text)]));
        let found = self.scenarios.iter().find(|(known, _)| known == item);
        let result = match found {
            None => broken("it is no scenario of this suite".to_owned()),
            Some((_, Ready::Unmet(findings))) => options.unmet(findings.clone()),
            Some((_, Ready::Refused(findings))) => Err((Verdict::Fail, findings.clone())),
            Some((_, Ready::Plan(plan, _))) if plan.events.overwrites() => skipped(OVERWRITTEN),
            Some((item, Ready::Plan(plan, _))) => {
                let work = || survey(self.bench, plan, item, options, &mut *control());
                let caught = catch_unwind(AssertUnwindSafe(work));
                let worked =
                    caught.unwrap_or_else(|_| Ok(broken("the harness panicked".to_owned())));
                worked.unwrap_or_else(|error| match error.unmet() {
                    Some(lack) => options.unmet(vec![lack]),
                    None => broken(error.with_hint()),
                })
            }
        };
        MutationReport {
            name: item.name.clone(),
            file: item.file.clone(),
            duration: start.elapsed(),
            result,
        }
    }
}

/// The survey of the mutants, or why there are none.
type Surveyed = Result<Survey, (Verdict, Vec<Finding>)>;

fn skipped(why: &str) -> Surveyed {
    Err((Verdict::Skipped, vec![Finding::remark(About::Run, why)]))
}

fn survey(
    bench: &Bench<'_>,
    plan: &Plan,
    item: &Item,
    options: &MutationOptions,
    control: &mut dyn Control,
) -> Result<Surveyed, RunError> {
    if plan.expect_failure.is_some() {
        let why = "it is known to fail: its expectations let no run through";
        return Ok(skipped(why));
    }
    let mut plan = Plan {
        keeps_all: true,
        ..plan.clone()
    };
    let dir = lay_out(bench, &plan, &item.file)?;
    let subject = Subject {
        file: &item.file,
        stored: &stored(bench, &plan, item)?,
    };
    let outcome = attempt(bench, &plan, subject, control, Extras::default(), &dir)?;
    let (verdict, mut findings) = (outcome.verdict, outcome.findings);
    let Some(run) = outcome.run.filter(|_| verdict == Verdict::Pass) else {
        let why = "mutants are made of a run that passes, and this one does not";
        findings.insert(0, Finding::remark(About::Run, why));
        return Ok(Err((verdict, findings)));
    };
    if run.is_cut_short() {
        return Ok(skipped(
            "its run is ended by a limit: what it has come to by then is another in each run",
        ));
    }
    let mut run = *run;
    remove_spans(&mut run.trace);
    // Mutants change what the run did, not what it left behind.
    plan.expect.files_after.clear();
    let mut judge = Judge {
        plan: &plan,
        run,
        text: outcome.text.filter(|_| !options.without_snapshot),
    };
    let threads = threads(&plan, &judge.run.trace);
    let absent = absent(&plan, &judge.run.trace);
    let chosen_by = chosen_by(&plan);
    let told = Told::of(&plan, &judge.run.trace);
    let is_all_told = options.all || judge.text.is_some() || plan.confinement.is_some();
    let recorded = Recorded {
        threads: &threads,
        absent: &absent,
        chosen_by: &chosen_by,
        tells: (!is_all_told).then_some(&told),
        signatures: &bench.signatures,
    };
    let n_events: usize = threads.iter().map(|thread| thread.deeds.len()).sum();
    let affordable = MOST_EVENTS.checked_div(n_events).unwrap_or(MOST_EVENTS);
    let most = options.most.min(affordable.max(FEWEST));
    let mut survey = Survey {
        lenient: plan.lenient.clone(),
        ..Survey::default()
    };
    let mut mutants = Mutants::of(&recorded);
    let mut through = Vec::new();
    for mut mutant in mutants.by_ref().take(most) {
        survey.n_mutants += 1;
        match judge.killer(std::mem::take(&mut mutant.changed)) {
            Some(Killer::Expectations) => survey.by_expectations += 1,
            Some(Killer::Snapshot) => survey.by_snapshot += 1,
            None => through.push(mutant),
        }
    }
    survey.untried = mutants.n_left();
    survey.untold = mutants.n_untold();
    through.sort_by_key(|mutant| mutant.place);
    survey.survivors = through;
    Ok(Ok(survey))
}

/// Returns the run's threads with the deeds that the author asked for.
fn threads(plan: &Plan, trace: &Normalised) -> Vec<Thread> {
    let thread = |block: &Block| Thread {
        task: block.task,
        thread: block.deeds.first().map_or(ThreadId(0), |deed| deed.thread),
        program: block.program.as_str().into(),
        deeds: split(plan, &block.deeds, true),
    };
    trace.blocks.iter().map(thread).collect()
}

/// Returns the deeds that the author asked for, or those that were recorded for marks only.
fn split(plan: &Plan, deeds: &[Deed], is_asked_for: bool) -> Vec<Deed> {
    let is_mark = |deed: &Deed| plan.marks.hidden.contains(&*deed.name);
    let deeds = deeds.iter().filter(|deed| is_mark(deed) != is_asked_for);
    deeds.cloned().collect()
}

/// Returns the names of the events that the author asked for and that did not occur.
fn absent(plan: &Plan, trace: &Normalised) -> Vec<String> {
    let occurred = trace.counts();
    let mut names = plan.events.names();
    names.retain(|name| !occurred.contains_key(name) && !plan.marks.hidden.contains(name));
    names.into_iter().collect()
}

/// Returns the fields that filters name, each after its event's name.
fn chosen_by(plan: &Plan) -> BTreeSet<(String, String)> {
    let mut fields = BTreeSet::new();
    for request in &plan.events.requests {
        let filter = request.filter.as_deref().unwrap_or_default();
        for word in filter.split(|c: char| !c.is_alphanumeric() && c != '_') {
            fields.insert((request.name.clone(), word.to_owned()));
        }
    }
    fields
}

/// A run that passed, and what it passed by.
struct Judge<'a> {
    plan: &'a Plan,
    run: Run,
    /// The snapshot's text, if it is judged.
    text: Option<String>,
}

impl Judge<'_> {
    /// Returns what refuses a run in which these threads did these deeds; `None` if it passes.
    fn killer(&mut self, changed: Vec<(usize, Vec<Deed>)>) -> Option<Killer> {
        let mut before = Vec::new();
        for (place, mut deeds) in changed {
            if let Some(block) = self.run.trace.blocks.get_mut(place) {
                deeds.extend(split(self.plan, &block.deeds, false));
                deeds.sort_by_key(|deed| deed.entered);
                let tally = block.tally.clone();
                before.push((place, std::mem::replace(&mut block.deeds, deeds), tally));
                block.recount();
            }
        }
        // Spans must be those of the mutant, not of the run.
        add_spans(&self.plan.spans, &mut self.run.trace);
        let killer = self.killer_of_trace();
        if !self.plan.spans.is_empty() {
            remove_spans(&mut self.run.trace);
        }
        for (place, deeds, tally) in before {
            if let Some(block) = self.run.trace.blocks.get_mut(place) {
                (block.deeds, block.tally) = (deeds, tally);
            }
        }
        killer
    }

    fn killer_of_trace(&self) -> Option<Killer> {
        if verdict::judge(self.plan, &self.run).verdict() != Verdict::Pass {
            return Some(Killer::Expectations);
        }
        let stored = self.text.as_ref()?;
        (self.run.trace.text() != *stored).then_some(Killer::Snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nineteen_of_twenty_are_enough_and_who_has_them_needs_no_excuse() {
        let standing = |n_mutants, by_expectations, by_snapshot, is_lenient: bool| {
            let survey = Survey {
                n_mutants,
                by_expectations,
                by_snapshot,
                lenient: is_lenient.then(|| "a race".to_owned()),
                ..Survey::default()
            };
            survey.standing()
        };
        assert_eq!(standing(20, 19, 0, false), Standing::Tight);
        assert_eq!(standing(20, 10, 9, false), Standing::Tight);
        assert_eq!(standing(1000, 949, 0, false), Standing::Loose);
        assert_eq!(standing(1000, 949, 0, true), Standing::Lenient);
        assert_eq!(standing(20, 19, 0, true), Standing::Needless);
        assert_eq!(standing(0, 0, 0, false), Standing::Tight);
        let silent = Survey {
            untold: 1,
            ..Survey::default()
        };
        assert_eq!(silent.standing(), Standing::Loose);
    }
}
