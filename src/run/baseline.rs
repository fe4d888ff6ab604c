//! The run that a scenario's own is compared with.

use super::once::once;
use super::scenario::not_executed;
use super::{Bench, Control, Fault, Outcome, RunError, SnapshotOutcome, lay_out};
use crate::matching::{Matcher, Scene, tally};
use crate::plan::{Delta, Plan};
use crate::sandbox::LaunchError;
use crate::trace::Normalised;
use crate::verdict::{self, Counted, Ended, Findings, Verdict};
use std::path::Path;

/// Runs a baseline in a directory of its own, of which nothing is left, and gives its trace; or the outcome of the scenario where it did not end
/// as it should, as there is nothing to compare with.
///
/// # Errors
/// [`RunError`], where the harness could not do its work.
pub(super) fn run(
    bench: &Bench<'_>,
    plan: &Plan,
    file: &Path,
    control: &mut dyn Control,
) -> Result<Result<Normalised, Box<Outcome>>, RunError> {
    let dir = lay_out(bench, plan, file)?;
    let ran = once(bench, plan, control, Fault::default(), &dir);
    dir.remove()?;
    let outcome = match ran {
        Err(RunError::Launch(LaunchError::NotExecuted(error))) => not_executed(&error),
        ran => {
            let (ended, trace, findings) = ran?;
            let (verdict, reasons) =
                verdict::judge(plan, &ended, &trace.counts(), &trace.in_order());
            let (verdict, reasons) = findings.joined(verdict, reasons);
            match (ended.interrupted, verdict) {
                (false, Verdict::Pass) => return Ok(Ok(trace)),
                (false, verdict) => outcome(&ended, verdict, reasons),
                (true, _) => outcome(&ended, Verdict::Broken, vec!["interrupted".to_owned()]),
            }
        }
    };
    let reasons = outcome.reasons.iter();
    Ok(Err(Box::new(Outcome {
        reasons: reasons
            .map(|reason| format!("the baseline: {reason}"))
            .collect(),
        ..outcome
    })))
}

fn outcome(ended: &Ended, verdict: Verdict, reasons: Vec<String>) -> Outcome {
    Outcome {
        verdict,
        reasons,
        events: 0,
        lost: ended.account.lost(),
        usage: ended.usage,
        struck: ended.struck(),
        text: None,
        snapshot: SnapshotOutcome::NotCompared,
        only_snapshot: false,
        run: None,
    }
}

/// Compares a run with that of its baseline.
pub(super) fn compare(base: &Normalised, delta: &[Delta], run: &Normalised) -> Findings {
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
        let count = names.filter_map(|name| counts.get(name)).sum();
        (count, count)
    }
}
