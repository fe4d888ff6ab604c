//! A recorded run, judged by a scenario.

use super::once::Collector;
use super::replay::{RecordedRun, Replayed};
use super::scenario::{Outcome, Subject, judge, not_judged};
use super::{Bench, RunError, baseline};
use crate::matching::{add_spans, forget_begins};
use crate::plan::Plan;
use crate::trace::Normalised;
use crate::verdict::{self, About, Finding, Kind};

/// Judges a recorded run as [`attempt`](super::attempt) judges one that takes place. What the
/// recording does not say is neither met nor failed.
///
/// # Errors
/// [`RunError`].
pub(super) fn rejudge(
    bench: &Bench<'_>,
    plan: &Plan,
    subject: Subject<'_>,
    recording: &RecordedRun,
) -> Result<Outcome, RunError> {
    // What another command did says nothing of this one.
    if let Some(why) = recording.of_another(&plan.workload.command.argv()) {
        return Ok(not_judged(Finding::unknown(About::Run, why)));
    }
    let base = match &plan.baseline {
        None => None,
        Some(baseline) => match recording.baseline() {
            None => Some(Err("the recording holds no run of the baseline".to_owned())),
            Some(recording) => {
                let recording = recording?;
                let argv = baseline.plan.workload.command.argv();
                if let Some(why) = recording.of_another(&argv) {
                    let why = format!("the baseline: {why}");
                    return Ok(not_judged(Finding::unknown(About::Baseline, why)));
                }
                let (replayed, trace, findings) = replay(bench, &baseline.plan, &recording)?;
                match baseline::judged(&baseline.plan, &replayed.ended, trace, findings) {
                    Ok(trace) => Some(Ok((trace, baseline.delta.as_slice()))),
                    Err(outcome) => return Ok(*outcome),
                }
            }
        },
    };
    let (mut replayed, trace, mut findings) = replay(bench, plan, recording)?;
    let overwritten = plan.events.overwritten(&replayed.ended.account);
    let of_baseline = |why| Finding::unknown(About::Baseline, why);
    if !overwritten.is_empty() {
        // A mark that was not found may have been there.
        for finding in &mut findings {
            finding.kind = Kind::Unknown;
        }
    }
    let expected = &plan.expect.files_after;
    if !expected.is_empty() {
        findings.extend(verdict::files_after(expected, &replayed.left));
    }
    match base {
        None => {}
        Some(Ok(_)) if !overwritten.is_empty() => {
            let why = "what was overwritten is compared with no baseline";
            findings.push(of_baseline(why.to_owned()));
        }
        Some(Err(why)) => findings.push(of_baseline(why)),
        Some(Ok((base, delta))) => findings.extend(baseline::compare(&base, delta, &trace)),
    }
    if let (false, Some(limit)) = (replayed.knows_limits, plan.expect.limit) {
        let why = "the recording does not say which limits the workload reached";
        replayed.ended.untold.push((limit, why.to_owned()));
    }
    let stored = Some(subject.stored);
    Ok(judge(plan, stored, &replayed.ended, &trace, findings))
}

/// A recorded run and its trace.
fn replay(
    bench: &Bench<'_>,
    plan: &Plan,
    recording: &RecordedRun,
) -> Result<(Replayed, Normalised, Vec<Finding>), RunError> {
    let mut collector = Collector::new(plan);
    let mut replayed = recording.replay(&plan.events, &mut collector)?;
    let main_pid = replayed.ended.main_pid;
    let directory = replayed.directory.take();
    let (trace, view, mut findings) = collector.finish(main_pid, directory, &bench.signatures)?;
    let untold = std::mem::take(&mut replayed.untold).into_iter();
    findings.extend(untold.map(|why| Finding::unknown(About::Run, why)));
    let mut trace = trace.normalise(&view, &bench.signatures);
    add_spans(&plan.spans, &mut trace);
    trace.counted = replayed.ended.account.counts();
    let overwritten = plan.events.overwritten(&replayed.ended.account);
    forget_begins(&plan.spans, &mut trace, &overwritten);
    Ok((replayed, trace, findings))
}
