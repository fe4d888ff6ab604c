//! Judges limits.

use super::finding::{About, Finding, Kind};
use super::{Known, Run};
use crate::plan::Plan;
use perf_live::units::Limit;
use std::time::Duration;

/// Returns findings on limits that were reached and not expected, the timeout first.
pub(super) fn unexpected(plan: &Plan, run: &Run) -> Vec<Finding> {
    let mut findings = Vec::new();
    let limit = plan.workload.timeout;
    match &run.timed_out {
        _ if plan.expect.limit == Some(Limit::Timeout) => {}
        Known::Yes(false) => {}
        Known::Yes(true) => {
            let text = match run.outlasted {
                None => format!("the workload did not end within {limit:?} and was killed"),
                Some(took) => too_long(took, limit),
            };
            findings.push(Finding::new(Kind::TooLong, about(Limit::Timeout), text));
        }
        Known::No(why) => {
            let text = match run.took {
                Some(took) if took <= limit => None,
                Some(took) => Some(too_long(took, limit)),
                None => Some(why.clone()),
            };
            findings.extend(text.map(|text| Finding::unknown(about(Limit::Timeout), text)));
        }
    }
    for struck in run
        .strikes()
        .filter(|struck| plan.expect.limit != Some(struck.limit))
    {
        let used = run.usage.said(struck.limit);
        let used = used.map_or_else(String::new, |used| format!(" ({used})"));
        let text = format!(
            "the limit of {} was reached: {}{used}",
            named(plan, struck.limit),
            struck.how
        );
        let kind = match struck.limit {
            Limit::Timeout | Limit::Cpu => Kind::TooLong,
            _ => Kind::Missed,
        };
        findings.push(Finding::new(kind, about(struck.limit), text));
    }
    findings
}

fn too_long(took: Duration, limit: Duration) -> String {
    format!("the workload took {took:?}, and the scenario gives it {limit:?}")
}

fn about(limit: Limit) -> About {
    About::Limit(limit.word().to_owned())
}

/// Judges a limit that the run was expected to reach: that it did not, or why it is not known.
pub(super) fn missed(plan: &Plan, run: &Run) -> Option<Finding> {
    let wanted = plan.expect.limit;
    let wanted = wanted.filter(|wanted| !reached(run, *wanted))?;
    let used = run.usage.said(wanted);
    let used = used.map_or_else(String::new, |used| format!(" ({used})"));
    let name = named(plan, wanted);
    Some(match untold(run, wanted) {
        Some(why) => {
            let text = format!("whether the limit of {name} was reached cannot be told: {why}");
            Finding::unknown(about(wanted), text)
        }
        None => {
            let text = format!("expected the limit of {name} to be reached, and it was not{used}");
            Finding::missed(about(wanted), text)
        }
    })
}

/// Returns findings on limits that may have caused a failure: whether they were reached is not
/// known.
pub(super) fn unknown(plan: &Plan, run: &Run) -> Vec<Finding> {
    let limits = run.untold.iter();
    let limits =
        limits.filter(|(limit, _)| plan.expect.limit != Some(*limit) && !reached(run, *limit));
    limits
        .map(|(limit, why)| {
            let name = named(plan, *limit);
            let text = format!("whether the limit of {name} was reached cannot be told: {why}");
            Finding::remark(about(*limit), text)
        })
        .collect()
}

/// Whether a run reached a limit.
pub(super) fn reached(run: &Run, limit: Limit) -> bool {
    (limit == Limit::Timeout && run.has_timed_out())
        || run.strikes().any(|struck| struck.limit == limit)
}

fn untold(run: &Run, wanted: Limit) -> Option<&str> {
    let mut all = run.untold.iter();
    let why = all.find_map(|(limit, why)| (*limit == wanted).then_some(why.as_str()));
    why.or(match wanted {
        Limit::Timeout => run.timed_out.no(),
        _ => run.struck.no(),
    })
}

/// `memory (64 MiB)`.
fn named(plan: &Plan, limit: Limit) -> String {
    let value = match limit {
        Limit::Timeout => Some(format!("{:?}", plan.workload.timeout)),
        _ => plan.limits().said(limit),
    };
    value.map_or_else(
        || limit.to_string(),
        |value| format!("{} ({value})", limit.word().replace('_', " ")),
    )
}
