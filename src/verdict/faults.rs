//! Judges what was done to calls.

use super::injected::Words;
use super::{About, Finding, Known, Run};
use crate::plan::{FaultPlan, Plan};
use perf_records::units::{Nanos, count_of};
use serde::{Deserialize, Serialize};

/// What became of the faults of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// One for each fault, in the order of the file.
    pub outcomes: Vec<FaultOutcome>,
    /// The calls that each of them was done to, as far as the trace tells them; a recording has
    /// them in its trace.
    #[serde(skip)]
    pub done_to: Vec<Vec<DoneTo>>,
    /// For each of them, which functions led to calls that it would have been done to, had these
    /// been others: the first few, and only where the fault asks for functions.
    #[serde(skip)]
    pub elsewhere: Vec<Vec<String>>,
    /// For each of them, whether it may be for the `execve` that begins the workload, which is not
    /// held.
    #[serde(skip)]
    pub of_start: Vec<bool>,
    /// The calls that were held, as it was decided on them, until they are compared with the trace.
    #[serde(skip)]
    pub looked_at: Vec<Looked>,
    /// Whether a filter of the workload's own may have ended a single thread at a call that a fault
    /// may be meant for: of such a call there is no record.
    #[serde(default)]
    pub may_end_threads: bool,
    /// What is to be known of a run that passes.
    pub remarks: Vec<String>,
    /// What is not known, so that nothing can be concluded.
    pub unknown: Vec<String>,
}

/// A call as it was decided on while it was held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// When it was received, by the clock of the records.
    pub time: Nanos,
    /// Its name.
    pub call: Box<str>,
    /// Its files: the field of each, how the call names it, and what it is called.
    pub files: Vec<(Box<str>, Vec<u8>, String)>,
    /// The faults that counted it, by their places.
    pub counted: Vec<usize>,
}

/// What became of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultOutcome {
    /// How many calls it might be done to.
    pub seen: u64,
    /// How many of these `when` names, whether it was done to them or not: an earlier fault may
    /// have been, and a call may be no longer than a shorter one.
    pub due: u64,
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

/// A call that a fault was done to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneTo {
    /// The task that made it: `P1`, `P2.T2`.
    pub task: String,
    /// The program that its process ran.
    pub program: String,
    /// Its line in the trace.
    pub line: String,
    /// The functions that led to it, the innermost first, where the fault asks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// Whether it is judged: no call before `trace.since` is, and none that loads a program.
    pub judged: bool,
}

/// A fault, and what became of it, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultTold {
    /// The call, as the scenario has it.
    pub call: String,
    /// The line of the scenario's file, from 1.
    pub line: usize,
    /// The column there, from 1.
    pub column: usize,
    /// What is done.
    pub injected: Words,
    /// How many calls it matched; `None`, here and below, where what became of it is not known.
    pub matched: Option<u64>,
    /// How many of these `when` names.
    pub due: Option<u64>,
    /// To how many of these it was done.
    pub done: Option<u64>,
    /// Of how many it is not known whether they were meant.
    pub unclear: Option<u64>,
    /// The calls that it was done to, in the order of the run: the first [`MOST_TOLD`] of them.
    pub done_to: Option<Vec<DoneTo>>,
}

/// Of more calls that a fault was done to, no more are told one by one.
pub const MOST_TOLD: usize = 1000;

/// Returns what became of the faults of a scenario; `None` if it has none.
#[must_use]
pub fn told<T>(plan: &Plan, run: &Run<T>) -> Option<Vec<FaultTold>> {
    let known = run.faults.yes();
    let told = |(place, fault): (usize, &FaultPlan)| {
        let outcome = known.and_then(|faults| faults.outcomes.get(place));
        let number = |of: fn(&FaultOutcome) -> u64| outcome.map(of);
        let (line, column) = plan.positions.get(&fault.matcher.at);
        FaultTold {
            call: fault.matcher.word.clone(),
            line,
            column,
            injected: fault.injected.into(),
            matched: number(|it| it.seen),
            due: number(|it| it.due),
            done: number(|it| it.fired),
            unclear: number(|it| it.unknown),
            done_to: known.and_then(|faults| faults.done_to.get(place).cloned()),
        }
    };
    let faults = plan.faults.iter().enumerate();
    (!plan.faults.is_empty()).then(|| faults.map(told).collect())
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
    if faults.outcomes.len() < plan.faults.len() {
        let text = format!(
            "it is known of {} faults what became of them, and the scenario has {}",
            faults.outcomes.len(),
            plan.faults.len()
        );
        return vec![Finding::unknown(About::Events, text)];
    }
    let mut findings = Vec::new();
    for (place, (fault, outcome)) in plan.faults.iter().zip(&faults.outcomes).enumerate() {
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
                "it is not known of {} whether the fault for `{word}` was meant for {}",
                count_of(unknown, "call"),
                if unknown == 1 { "it" } else { "them" }
            );
            Finding::unknown(About::Events, text)
        } else if blocked > 0 {
            let text = never_came(fault, blocked);
            match faults.unknown.is_empty() {
                true => Finding::unreached(About::Events, text),
                false => Finding::unknown(About::Events, text),
            }
        } else if fired <= outside {
            let text = match seen {
                _ if fired > 0 => format!(
                    "the fault for `{word}` never fired in what is judged: it was done before \
                     `trace.since`, or while a program was loaded"
                ),
                0 if faults.of_start.get(place) == Some(&true) => format!(
                    "the fault for `{word}` never fired: no call matched it but the one that \
                     begins the workload, which is made before anything is held"
                ),
                0 => format!("the fault for `{word}` never fired: no call matched it"),
                1 => format!("the fault for `{word}` never fired: one call matched it"),
                n => format!("the fault for `{word}` never fired: {n} calls matched it"),
            };
            // Several faults may be for one call.
            let text = format!("{text} (line {})", fault.matcher.line);
            let elsewhere = faults.elsewhere.get(place).map_or(&[][..], Vec::as_slice);
            let text = match elsewhere {
                [] => text,
                some => format!(
                    "{text}; calls like it came from {}",
                    some.join(", and from ")
                ),
            };
            match faults.unknown.is_empty() {
                true => Finding::unreached(About::Events, text),
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
