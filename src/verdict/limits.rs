//! What limits say of a run.

use super::Ended;
use crate::plan::Plan;
use perf_live::units::Limit;

/// The limits that it ran into and was not meant to, a sentence each, the timeout first.
pub(super) fn unexpected(plan: &Plan, ended: &Ended) -> Vec<String> {
    let mut reasons = Vec::new();
    if ended.timed_out && plan.expect.limit != Some(Limit::Timeout) {
        let limit = plan.workload.timeout;
        reasons.push(format!(
            "the workload did not end within {limit:?} and was killed"
        ));
    }
    let struck = ended.struck.iter();
    for struck in struck.filter(|struck| plan.expect.limit != Some(struck.limit)) {
        let used = ended.usage.said(struck.limit);
        let used = used.map_or_else(String::new, |used| format!(" ({used})"));
        reasons.push(format!(
            "the limit of {} was reached: {}{used}",
            named(plan, struck.limit),
            struck.how
        ));
    }
    reasons
}

/// Adds what is to be said of a limit that it was meant to run into: that it did not, or why that is not known.
pub(super) fn missed(
    plan: &Plan,
    ended: &Ended,
    reasons: &mut Vec<String>,
    unknown: &mut Vec<String>,
) {
    let wanted = plan.expect.limit;
    let Some(wanted) = wanted.filter(|wanted| !reached(ended, *wanted)) else {
        return;
    };
    let used = ended.usage.said(wanted);
    let used = used.map_or_else(String::new, |used| format!(" ({used})"));
    let name = named(plan, wanted);
    match untold(ended, wanted) {
        Some(why) => unknown.push(format!(
            "whether the limit of {name} was reached cannot be told: {why}"
        )),
        None => reasons.push(format!(
            "expected the limit of {name} to be reached, and it was not{used}"
        )),
    }
}

/// What may have been the reason of a failure, and nobody can tell.
pub(super) fn unknown(plan: &Plan, ended: &Ended) -> Vec<String> {
    let limits = ended.untold.iter();
    let limits =
        limits.filter(|(limit, _)| plan.expect.limit != Some(*limit) && !reached(ended, *limit));
    limits
        .map(|(limit, why)| {
            let name = named(plan, *limit);
            format!("whether the limit of {name} was reached cannot be told: {why}")
        })
        .collect()
}

/// Whether a run ran into a limit.
pub(super) fn reached(ended: &Ended, limit: Limit) -> bool {
    (limit == Limit::Timeout && ended.timed_out)
        || ended.struck.iter().any(|struck| struck.limit == limit)
}

fn untold(ended: &Ended, wanted: Limit) -> Option<&str> {
    let mut all = ended.untold.iter();
    all.find_map(|(limit, why)| (*limit == wanted).then_some(why.as_str()))
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
