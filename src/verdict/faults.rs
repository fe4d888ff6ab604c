//! Judges what was done to calls.

use super::{About, Finding, Known, Run};
use crate::plan::{FaultPlan, Plan};
use serde::{Deserialize, Serialize};

/// What became of the faults of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// One for each fault, in the order of the file.
    pub outcomes: Vec<FaultOutcome>,
    /// What is to be known of a run that passes.
    pub remarks: Vec<String>,
    /// What is not known, so that nothing can be concluded.
    pub unknown: Vec<String>,
}

/// What became of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultOutcome {
    /// How many calls it might be done to.
    pub seen: u64,
    /// To how many it was done.
    pub fired: u64,
    /// Of how many it is not known whether they were meant.
    pub unknown: u64,
    /// How many of those that were seen were held to the end, neither made nor answered.
    #[serde(default)]
    pub unmade: u64,
    /// To how many of these it was done.
    #[serde(default)]
    pub unmade_fired: u64,
    /// How many calls that it was done to are no part of what is judged.
    #[serde(default)]
    pub outside: u64,
    /// How many calls it held to the end, as what they waited for never came.
    #[serde(default)]
    pub blocked: u64,
    /// How many calls that others waited for were never made.
    #[serde(default)]
    pub come_unmade: u64,
}

/// Returns a remark on each fault that blocked calls to the end.
pub(super) fn blocked<T>(plan: &Plan, run: &Run<T>) -> Vec<Finding> {
    let outcomes = run.faults.yes().into_iter();
    let outcomes = outcomes.flat_map(|faults| &faults.outcomes);
    let both = plan.faults.iter().zip(outcomes);
    let blocked = both.filter(|(_, outcome)| outcome.blocked > 0);
    let remark = |(fault, outcome): (&FaultPlan, &FaultOutcome)| {
        let text = never_came(fault, outcome.blocked);
        let mut finding = Finding::remark(About::Events, text).of_event(&fault.matcher.word);
        finding.place(&plan.positions, &fault.matcher.at);
        finding
    };
    blocked.map(remark).collect()
}

fn never_came(fault: &FaultPlan, blocked: u64) -> String {
    let word = &fault.matcher.word;
    let until = fault.until.as_ref().map_or("?", |until| &until.word);
    let calls = match blocked {
        1 => "a call".to_owned(),
        n => format!("{n} calls"),
    };
    format!("the fault for `{word}` blocked {calls} until `{until}` came, which it never did")
}

/// Whether it is not known to which calls the faults were done.
pub(super) fn are_in_doubt<T>(plan: &Plan, run: &Run<T>) -> bool {
    let is_known = |faults: &Faults| {
        faults.unknown.is_empty() && faults.outcomes.iter().all(|outcome| outcome.unknown == 0)
    };
    !plan.faults.is_empty() && !run.faults.yes().is_some_and(is_known)
}

/// Returns findings on faults: each must have fired.
pub(super) fn judge<T>(plan: &Plan, run: &Run<T>) -> Vec<Finding> {
    if plan.faults.is_empty() {
        return Vec::new();
    }
    let faults = match &run.faults {
        Known::Yes(faults) => faults,
        Known::No(why) => return vec![Finding::unknown(About::Events, why)],
    };
    let mut findings = Vec::new();
    for (fault, outcome) in plan.faults.iter().zip(&faults.outcomes) {
        let FaultOutcome {
            seen,
            fired,
            unknown,
            outside,
            blocked,
            ..
        } = *outcome;
        let word = &fault.matcher.word;
        let finding = if unknown > 0 {
            let text = format!(
                "it is not known of {unknown} calls whether the fault for `{word}` was meant for them"
            );
            Finding::unknown(About::Events, text)
        } else if blocked > 0 {
            let text = never_came(fault, blocked);
            match faults.unknown.is_empty() {
                true => Finding::missed(About::Events, text),
                false => Finding::unknown(About::Events, text),
            }
        } else if fired <= outside {
            let text = match seen {
                _ if fired > 0 => format!(
                    "the fault for `{word}` never fired in what is judged: it was done before \
                     `trace.since`, or while a program was loaded"
                ),
                0 => format!("the fault for `{word}` never fired: no call matched it"),
                1 => format!("the fault for `{word}` never fired: one call matched it"),
                n => format!("the fault for `{word}` never fired: {n} calls matched it"),
            };
            // Several faults may be for one call.
            let text = format!("{text} (line {})", fault.matcher.line);
            match faults.unknown.is_empty() {
                true => Finding::missed(About::Events, text),
                // What is not known may be that it did.
                false => Finding::unknown(About::Events, text),
            }
        } else {
            continue;
        };
        let mut finding = finding.of_event(word);
        finding.place(&plan.positions, &fault.matcher.at);
        findings.push(finding);
    }
    let unknown = faults.unknown.iter();
    findings.extend(unknown.map(|text| Finding::unknown(About::Events, text)));
    let remarks = faults.remarks.iter();
    findings.extend(remarks.map(|text| Finding::remark(About::Run, text)));
    findings
}
