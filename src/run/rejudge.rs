//! A recorded run, judged by a scenario.

use super::RecordedRun;
use super::baseline;
use super::given;
use super::once::Collector;
use super::scenario::{NoRun, Outcome, judged};
use super::{Bench, Control, RunError, Subject, crash};
use crate::plan::{CrashPlan, Plan};
use crate::verdict::{About, Finding, Known, Run};
use perf_live::errors::chain;
use std::path::Path;

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
    control: &mut dyn Control,
) -> Result<Outcome, RunError> {
    let run = replayed(bench, (plan, subject.file), recording, control);
    judged(plan, subject.stored, run)
}

/// Returns a recorded run of a scenario in a file, with that of its baseline.
pub(super) fn replayed(
    bench: &Bench<'_>,
    (plan, file): (&Plan, &Path),
    recording: &RecordedRun,
    control: &mut dyn Control,
) -> Result<Run, NoRun> {
    is_of(recording, (plan, file), About::Run, "")?;
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
                    (&baseline.plan, file),
                    About::Baseline,
                    "the baseline: ",
                )?;
                let run = replay(bench, &baseline.plan, &recording);
                Some(Known::Yes(baseline::judged(&baseline.plan, run)?))
            }
        },
    };
    let mut run = replay(bench, plan, recording)?;
    if let Some(plan) = &plan.crash {
        recover(bench, plan, &mut run, control)?;
    }
    Ok(match base {
        Some(base) => Run { base, ..run },
        None => run,
    })
}

/// Runs the recoveries of a recorded run here. What power cuts leave is known of the recording;
/// what comes of that, a run alone can tell.
fn recover(
    bench: &Bench<'_>,
    plan: &CrashPlan,
    run: &mut Run,
    control: &mut dyn Control,
) -> Result<(), NoRun> {
    if run.changes.is_none() {
        return Ok(());
    }
    let here = match bench.reach() {
        Ok(reach) => {
            let here = plan.here(reach, bench.reader().0, bench);
            here.map_err(|error| chain(&error))
        }
        Err(error) => Err(chain(&error)),
    };
    match here {
        Ok(plan) => crash::explore(bench, &plan, run, control),
        Err(why) => {
            run.crash = Known::No(format!("the recovery cannot be run here: {why}"));
            Ok(())
        }
    }
}

/// Refuses a recording of another command, or of a run that was given something else: it says
/// nothing about this scenario.
fn is_of(
    recording: &RecordedRun,
    (plan, file): (&Plan, &Path),
    about: About,
    of: &str,
) -> Result<(), NoRun> {
    let unknown = |why: String| Err(Finding::unknown(about, format!("{of}{why}")).into());
    if let Some(why) = recording.of_another(&plan.workload.command.argv()) {
        return unknown(why);
    }
    let Some(was) = recording.given() else {
        return Ok(());
    };
    let is = match given::to_lay_out(plan, file) {
        Ok(is) => is,
        Err(error) => return unknown(chain(&error)),
    };
    let others = given::differences(was, &is);
    if others.is_empty() {
        return Ok(());
    }
    let places: Vec<_> = others.iter().map(|place| format!("`{place}`")).collect();
    unknown(format!(
        "the recording is of a run with another {}: record the scenario again (`--save`)",
        places.join(", another ")
    ))
}

fn replay(bench: &Bench<'_>, plan: &Plan, recording: &RecordedRun) -> Result<Run, NoRun> {
    let mut collector = Collector::new(plan);
    let mut run = recording.replay(&plan.events, &mut collector)?;
    if let Some(kept) = recording.changes() {
        let (before, witnessed) = crash::kept(kept);
        let left = run.left.clone();
        let ended = std::mem::take(&mut collector.ended);
        crash::conclude(plan, &mut run, |_| left, (before, witnessed, ended));
    }
    let (run, _) = collector.finish(run, &bench.signatures)?;
    Ok(run)
}
