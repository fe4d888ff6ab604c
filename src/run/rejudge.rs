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
use perf_live::units::Limit;
use std::path::Path;
use std::time::Duration;

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
        let laid = given::laid(plan);
        return match laid.is_empty() {
            true => Ok(()),
            false => unknown(format!(
                "the recording does not say whether its run was given the same {}: `harness run --save` keeps that",
                quoted(&laid).join(", ")
            )),
        };
    };
    let is = match given::to_lay_out(plan, file) {
        Ok(is) => is,
        Err(error) => return unknown(chain(&error)),
    };
    let others = given::differences(was, &is);
    if others.is_empty() {
        return Ok(());
    }
    unknown(format!(
        "the recording is of a run with another {}: record the scenario again (`--save`)",
        quoted(&others).join(", another ")
    ))
}

fn quoted<T: std::fmt::Display>(places: &[T]) -> Vec<String> {
    places.iter().map(|place| format!("`{place}`")).collect()
}

/// Holds a recorded run to the time that a scenario gives it, which may be another than it had.
fn in_time(run: Run<()>, then: Option<Duration>, plan: &Plan) -> Result<Run<()>, NoRun> {
    let limit = plan.workload.timeout;
    let unknown =
        |text: String| Err(Finding::unknown(About::Limit("timeout".to_owned()), text).into());
    let is_otherwise =
        |is: fn(&Duration, &Duration) -> bool| then.is_none_or(|then| is(&limit, &then));
    let untold = "the recording does not say how long the run took";
    // What it did behind that end is no part of the run that the scenario expects.
    let is_as_expected = match run.timed_out {
        _ if plan.expect.limit != Some(Limit::Timeout) => true,
        Known::Yes(true) => then == Some(limit),
        Known::Yes(false) if !is_otherwise(Duration::lt) => true,
        _ => run.took.is_some_and(|took| took <= limit),
    };
    Ok(match run.timed_out {
        // What it would have done until then is not known, nor how it would have ended.
        Known::Yes(true) if is_otherwise(Duration::gt) => {
            return unknown(format!(
                "the recorded run was ended at its limit{}, and the scenario gives it {limit:?}",
                then.map_or_else(String::new, |then| format!(" of {then:?}"))
            ));
        }
        _ if !is_as_expected => {
            let took = match (then, run.took) {
                (Some(then), _) if run.timed_out == Known::Yes(true) => {
                    format!("the recorded run was ended at its limit of {then:?}")
                }
                (_, Some(took)) => format!("the recorded run took {took:?}"),
                (_, None) => untold.to_owned(),
            };
            return unknown(format!(
                "{took}, and the scenario expects its end at {limit:?}: what it had done by then \
                 cannot be told"
            ));
        }
        Known::Yes(false) if is_otherwise(Duration::lt) => match run.took {
            Some(took) if took <= limit => run,
            Some(took) => Run {
                timed_out: Known::Yes(true),
                outlasted: Some(took),
                ..run
            },
            None => Run {
                timed_out: Known::No(untold.to_owned()),
                ..run
            },
        },
        _ => run,
    })
}

fn replay(bench: &Bench<'_>, plan: &Plan, recording: &RecordedRun) -> Result<Run, NoRun> {
    let mut collector = Collector::new(plan);
    let run = recording.replay(&plan.events, &mut collector)?;
    let mut run = in_time(run, recording.timeout(), plan)?;
    if let Some(kept) = recording.changes() {
        let (before, witnessed) = crash::kept(kept);
        let left = run.left.clone();
        let ended = std::mem::take(&mut collector.ended).all;
        crash::conclude(plan, &mut run, |_| left, (before, witnessed, ended));
    }
    let (run, _) = collector.finish(run, &bench.signatures)?;
    Ok(run)
}
