//! The run that a scenario's own is compared with.

use super::once::once;
use super::scenario::not_executed;
use super::{Bench, Control, Extras, Outcome, RunError, SnapshotOutcome, StoreOptions, lay_out};
use crate::matching::{Matcher, Scene, tally};
use crate::plan::{Delta, Plan};
use crate::trace::Normalised;
use crate::verdict::{self, Counted, Ended, Finding, Judgement, Verdict};
use perf_live::sandbox::LaunchError;
use std::path::{Path, PathBuf};

/// Runs a baseline in a directory of its own, of which nothing is left, and gives its trace; or the
/// outcome of the scenario where it did not end as it should, as there is nothing to compare with.
///
/// # Errors
/// [`RunError`], where the harness could not do its work.
pub(super) fn run(
    bench: &Bench<'_>,
    plan: &Plan,
    file: &Path,
    control: &mut dyn Control,
    save: Option<(&Path, &StoreOptions)>,
) -> Result<Result<Normalised, Box<Outcome>>, RunError> {
    let dir = lay_out(bench, plan, file)?;
    let save = save.map(|(file, about)| (recorded_in(file), about));
    let extras = Extras {
        save: save.as_ref().map(|(file, about)| (file.as_path(), *about)),
        ..Extras::default()
    };
    let ran = once(bench, plan, control, extras, &dir);
    dir.remove()?;
    match ran {
        Err(RunError::Launch(LaunchError::NotExecuted(error))) => {
            Ok(Err(of_baseline(not_executed(&error))))
        }
        ran => {
            let (ended, trace, findings) = ran?;
            Ok(judged(plan, &ended, trace, findings))
        }
    }
}

/// Where the baseline's records are whose scenario's own are in this file: `x.baseline.data` beside
/// `x.data`.
pub(super) fn recorded_in(file: &Path) -> PathBuf {
    file.with_extension("baseline.data")
}

/// A baseline's trace; or the outcome of the scenario where it did not end as it should.
pub(super) fn judged(
    plan: &Plan,
    ended: &Ended,
    trace: Normalised,
    findings: Vec<Finding>,
) -> Result<Normalised, Box<Outcome>> {
    let mut judgement = verdict::judge(plan, ended, &trace.counts(), &trace.in_order());
    judgement.add(findings);
    if ended.interrupted {
        judgement = Judgement::of(Finding::broken("interrupted"));
    }
    match judgement.verdict() {
        Verdict::Pass => Ok(trace),
        _ => Err(of_baseline(outcome(ended, judgement))),
    }
}

fn of_baseline(mut outcome: Outcome) -> Box<Outcome> {
    for Finding { text, .. } in &mut outcome.findings {
        text.insert_str(0, "the baseline: ");
    }
    Box::new(outcome)
}

fn outcome(ended: &Ended, judgement: Judgement) -> Outcome {
    Outcome {
        verdict: judgement.verdict(),
        findings: judgement.findings,
        interrupted: ended.interrupted,
        events: 0,
        lost: ended.account.lost(),
        remarks: ended.account.remarks(),
        usage: ended.usage,
        struck: ended.struck(),
        text: None,
        snapshot: SnapshotOutcome::NotCompared,
        only_snapshot: false,
        shown: None,
        run: None,
    }
}

/// Compares a run with that of its baseline.
pub(super) fn compare(base: &Normalised, delta: &[Delta], run: &Normalised) -> Vec<Finding> {
    verdict::delta(delta, &counter(base), &counter(run))
}

fn counter(trace: &Normalised) -> impl Fn(&Matcher) -> Counted + '_ {
    let (counts, deeds) = (trace.counts(), trace.in_order());
    let scene = Scene::new(&deeds);
    move |matcher| {
        if !matcher.fields.is_empty() {
            return tally(matcher, &scene);
        }
        let names = matcher.names.iter();
        let count = names
            .filter_map(|name| counts.get(name).or_else(|| trace.counted.get(name)))
            .sum();
        (count, count)
    }
}
