//! A recorded run, judged by a scenario.

use super::RecordedRun;
use super::baseline;
use super::once::Collector;
use super::scenario::{NoRun, Outcome, judged};
use super::{Bench, RunError, Subject};
use crate::plan::Plan;
use crate::verdict::{About, Finding, Known, Run};

/// Judges a recorded run as [`attempt`](super::attempt) judges a live one. What the recording does
/// not say is neither met nor failed.
///
/// # Errors
/// [`RunError`].
pub(super) fn rejudge(
    bench: &Bench<'_>,
    plan: &Plan,
    subject: Subject<'_>,
    recording: &RecordedRun,
) -> Result<Outcome, RunError> {
    judged(plan, subject.stored, replayed(bench, plan, recording))
}

/// Returns a recorded run of a scenario, with that of its baseline.
pub(super) fn replayed(
    bench: &Bench<'_>,
    plan: &Plan,
    recording: &RecordedRun,
) -> Result<Run, NoRun> {
    is_of(recording, plan, About::Run, "")?;
    let base = match &plan.baseline {
        None => None,
        Some(baseline) => match recording.baseline() {
            None => Some(Known::No(
                "the recording holds no run of the baseline".to_owned(),
            )),
            Some(recording) => {
                let recording = recording?;
                is_of(
                    &recording,
                    &baseline.plan,
                    About::Baseline,
                    "the baseline: ",
                )?;
                let run = replay(bench, &baseline.plan, &recording);
                Some(Known::Yes(baseline::judged(&baseline.plan, run)?))
            }
        },
    };
    let run = replay(bench, plan, recording)?;
    Ok(match base {
        Some(base) => Run { base, ..run },
        None => run,
    })
}

/// Refuses a recording of another command, which says nothing about this scenario.
fn is_of(recording: &RecordedRun, plan: &Plan, about: About, of: &str) -> Result<(), NoRun> {
    match recording.of_another(&plan.workload.command.argv()) {
        None => Ok(()),
        Some(why) => Err(Finding::unknown(about, format!("{of}{why}")).into()),
    }
}

fn replay(bench: &Bench<'_>, plan: &Plan, recording: &RecordedRun) -> Result<Run, NoRun> {
    let mut collector = Collector::new(plan);
    let run = recording.replay(&plan.events, &mut collector)?;
    let (run, _) = collector.finish(run, &bench.signatures)?;
    Ok(run)
}
