//! Compares what was done to calls with what the trace says was meant.
//!
//! A fault is decided by what procfs says of a call while it is held; expectations go by the
//! tables that the records fill. Where these two differ, it is not known which call was meant.

use super::looked;
use crate::matching::is_meant;
use crate::plan::{FaultPlan, guards};
use crate::scenario::{Per, When};
use crate::trace::{Deed, Normalised, Value};
use crate::verdict::{DoneTo, FaultOutcome, Faults, Looked, MOST_TOLD};
use perf_records::units::{Nanos, count_of};
use std::collections::{BTreeMap, HashMap, HashSet};
use syscall_model::{Answer, ThreadId};

/// A call in the trace, and the first moment at which it may have been counted.
#[derive(Clone, Copy)]
struct Counted<'a> {
    deed: &'a Deed,
    earliest: Nanos,
}

/// Adds what is not known of the faults to `told`, and how many of the calls that they were done to
/// are not among those that are judged. `whole` has all calls that faults are about.
pub(in crate::run) fn prove(
    faults: &[FaultPlan],
    told: &mut Faults,
    whole: &Normalised,
    judged: &Normalised,
) {
    let calls = calls(whole);
    let looked_at = std::mem::take(&mut told.looked_at);
    let mut unknown = Vec::new();
    let is_injected = |deed: &&Deed| !deed.injected.is_nothing();
    let shown = judged.blocks.iter().flat_map(|block| &block.deeds);
    let shown = shown.filter(is_injected).map(|deed| (place(deed), deed));
    let shown: HashMap<_, &Deed> = shown.collect();
    let (mut attributed, mut done_to) = (HashSet::new(), Vec::new());
    let mut elsewhere = vec![Vec::new(); faults.len()];
    for (number, (fault, outcome)) in faults.iter().zip(&mut told.outcomes).enumerate() {
        let mut groups: BTreeMap<u32, Vec<Counted<'_>>> = BTreeMap::new();
        let (mut n_unclear, mut n_answered) = (0, 0);
        for call in calls.iter().filter(|it| is_about(fault, it.deed)) {
            match is_meant(call.deed, &fault.matcher) {
                Some(false) => {
                    if let Some(others) = elsewhere.get_mut(number) {
                        others.extend(other_callers(fault, call.deed, others));
                    }
                }
                _ if call.deed.is_unentered() => n_answered += 1,
                None => n_unclear += 1,
                Some(true) => {
                    let group = match fault.per {
                        Per::Run => 0,
                        Per::Process => call.deed.task.process,
                        Per::Thread => call.deed.thread.0,
                    };
                    groups.entry(group).or_default().push(*call);
                }
            }
        }
        let matched: usize = groups.values().map(Vec::len).sum();
        let made = outcome.seen.saturating_sub(outcome.unmade);
        let word = &fault.matcher.word;
        if n_answered > 0 {
            unknown.push(format!(
                "a seccomp filter, of the workload's own or of a policy, answered or refused {} \
                 that the fault for `{word}` may be meant for: the harness could not hold {}",
                count_of(n_answered, "call"),
                if n_answered == 1 { "it" } else { "them" }
            ));
        }
        let differs = || difference((number, fault), &calls, &looked_at);
        if n_unclear > 0 {
            unknown.push(format!(
                "the trace does not tell of {} whether the fault for `{word}` was meant for {}{}",
                count_of(n_unclear, "call"),
                if n_unclear == 1 { "it" } else { "them" },
                differs()
            ));
        } else if matched as u64 != made {
            unknown.push(format!(
                "the fault for `{word}` counted {}, and {matched} of the trace are meant{}",
                count_of(made, "call"),
                differs()
            ));
        }
        let (mut done, mut n_wrong) = (Vec::new(), 0);
        for group in groups.values() {
            n_wrong += wrong((number, faults), outcome, group, &mut done);
        }
        if n_wrong > 0 && n_unclear == 0 {
            unknown.push(format!(
                "the fault for `{word}` was not done to just the calls that `when` names: \
                 {n_wrong} are others by the trace"
            ));
        }
        if (done.len() as u64) < outcome.fired.saturating_sub(outcome.unmade_fired) {
            unknown.push(format!(
                "the fault for `{word}` was done to {}, and the trace has {} of them",
                count_of(outcome.fired, "call"),
                done.len()
            ));
        }
        // One that was never made is not in the trace, and came.
        let are_told = outcome.come_unmade == 0;
        let early = done
            .iter()
            .filter(|deed| are_told && is_early(fault, deed, &calls));
        let n_early = early.count();
        if n_early > 0 {
            unknown.push(format!(
                "by the trace {} that the fault for `{word}` blocked went on before the other came",
                count_of(n_early as u64, "call")
            ));
        }
        let outside = done.iter().filter(|deed| !shown.contains_key(&place(deed)));
        outcome.outside = outside.count() as u64;
        done_to.push(tell(fault, &mut done, &shown));
        attributed.extend(done.into_iter().map(place));
    }
    let mut injected = calls.iter().map(|call| call.deed).filter(is_injected);
    let is_stray = |deed: &Deed| !attributed.contains(&place(deed)) && !guards(deed);
    if let Some(stray) = injected.find(|deed| is_stray(deed)) {
        unknown.push(format!(
            "by the trace no fault was meant for a call that one was done to: {}",
            stray.line()
        ));
    }
    told.unknown.extend(unknown);
    (told.done_to, told.elsewhere, told.of_start) = (done_to, elsewhere, of_start(faults, whole));
}

/// For each fault, whether it may be for the call that begins the workload.
fn of_start(faults: &[FaultPlan], whole: &Normalised) -> Vec<bool> {
    let start = whole.in_order().into_iter().find(|deed| is_start(deed));
    let is_for = |fault: &FaultPlan| {
        start.is_some_and(|deed| {
            is_about(fault, deed) && is_meant(deed, &fault.matcher) != Some(false)
        })
    };
    faults.iter().map(is_for).collect()
}

/// Whether it is the workload's own start, which is before the clock of the records.
fn is_start(deed: &Deed) -> bool {
    deed.clock.0 == Nanos(0)
}

/// The first call of which it was decided otherwise while it was held than by the trace, for what
/// is said.
fn difference(
    (number, fault): (usize, &FaultPlan),
    calls: &[Counted<'_>],
    looked_at: &[Looked],
) -> String {
    let differs = |call: &Counted<'_>| {
        let looked = looked::of(looked_at, call.deed, call.earliest);
        let is_it = is_meant(call.deed, &fault.matcher);
        let counted = looked.map(|it| it.counted.contains(&number));
        let is_other = is_it.is_none() || counted.is_some() && counted != is_it;
        is_other.then(|| format!(": {}", looked::difference(call.deed, looked)))
    };
    let mut asked = calls.iter().filter(|it| is_about(fault, it.deed));
    asked.find_map(differs).unwrap_or_default()
}

/// So many chains are told of calls that came from elsewhere.
const MOST_ELSEWHERE: usize = 3;

/// The functions that led to a call, where it would have been meant with others above it, and these
/// are not told yet.
fn other_callers(fault: &FaultPlan, deed: &Deed, told: &[String]) -> Option<String> {
    if !fault.asks_callers() || told.len() >= MOST_ELSEWHERE {
        return None;
    }
    let functions = deed.stack.as_ref()?.text.clone();
    let without = Deed {
        stack: None,
        ..deed.clone()
    };
    let is_like = is_meant(&without, &fault.matcher) != Some(false);
    (is_like && !told.contains(&functions)).then_some(functions)
}

/// The first calls that a fault was done to, in the order of the run, as what is judged shows them.
fn tell(
    fault: &FaultPlan,
    done: &mut [&Deed],
    shown: &HashMap<(ThreadId, Nanos), &Deed>,
) -> Vec<DoneTo> {
    done.sort_by_key(|deed| deed.entered);
    let tell = |deed: &&Deed| {
        let judged = shown.get(&place(deed));
        let deed = judged.unwrap_or(deed);
        DoneTo {
            task: deed.task.to_string(),
            program: deed.program.as_ref().to_owned(),
            line: deed.line(),
            stack: match fault.asks_callers() {
                true => deed.functions(),
                false => Vec::new(),
            },
            judged: judged.is_some(),
        }
    };
    done.iter().take(MOST_TOLD).map(tell).collect()
}

/// What no two calls share.
fn place(deed: &Deed) -> (ThreadId, Nanos) {
    (deed.thread, deed.clock.0)
}

fn is_about(fault: &FaultPlan, deed: &Deed) -> bool {
    fault.is_about(&deed.name) || fault.matcher.names.contains(&*deed.name)
}

/// Whether a call that was blocked was entered before any other until which it was may have come.
fn is_early(fault: &FaultPlan, deed: &Deed, calls: &[Counted<'_>]) -> bool {
    let Some(until) = &fault.until else {
        return false;
    };
    let may_have_come = |call: &Counted<'_>| {
        // What is held for a time comes behind it.
        let held = call.deed.injected.delay.unwrap_or(Nanos(0));
        call.earliest.0.saturating_add(held.0) <= deed.clock.0.0
            && place(call.deed) != place(deed)
            && fault.waits_for(&call.deed.name) | until.names.contains(&*call.deed.name)
            && is_meant(call.deed, until) != Some(false)
    };
    !calls.iter().any(may_have_come)
}

/// All calls but the workload's own start, in the order of their threads.
fn calls(whole: &Normalised) -> Vec<Counted<'_>> {
    let mut last: HashMap<ThreadId, Nanos> = HashMap::new();
    let mut calls = Vec::new();
    for deed in whole.in_order() {
        let before = last.insert(deed.thread, deed.clock.1);
        if is_start(deed) {
            continue;
        }
        let earliest = match deed.injected.answer {
            // Its entry is the moment at which it was received.
            Some(_) => deed.clock.0,
            None => before.unwrap_or(Nanos(0)),
        };
        calls.push(Counted { deed, earliest });
    }
    calls
}

/// How many calls of a group were treated otherwise than `when` says of every number that they may
/// have; adds those that the fault was done to.
fn wrong<'a>(
    (number, faults): (usize, &[FaultPlan]),
    outcome: &FaultOutcome,
    group: &[Counted<'a>],
    done: &mut Vec<&'a Deed>,
) -> usize {
    let Some(fault) = faults.get(number) else {
        return 0;
    };
    let mut entered: Vec<Nanos> = group.iter().map(|call| call.deed.clock.0).collect();
    let mut earliest: Vec<Nanos> = group.iter().map(|call| call.earliest).collect();
    entered.sort_unstable();
    earliest.sort_unstable();
    let mut n_wrong = 0;
    for call in group {
        // Calls of other threads may be counted in another order than they are entered in.
        let before = entered.partition_point(|it| *it < call.earliest) as u64;
        let until = earliest.partition_point(|it| *it <= call.deed.clock.0) as u64;
        let (first, last) = (before + 1, (until + outcome.unmade).max(before + 1));
        let injected = call.deed.injected;
        let is_ours = !injected.is_nothing() && injected == fault.injected;
        let by_another = || {
            let mut earlier = faults.iter().take(number);
            let is_it = |it: &FaultPlan| it.injected == injected && is_about(it, call.deed);
            guards(call.deed) || !injected.is_nothing() && earlier.any(is_it)
        };
        let is_right = if is_ours {
            has_any(fault.when, first, last)
        } else {
            lacks_any(fault.when, first, last) || is_too_short(fault, call.deed) || by_another()
        };
        n_wrong += usize::from(!is_right);
        if is_ours && is_right {
            done.push(call.deed);
        }
    }
    n_wrong
}

/// Whether one of these numbers is named.
fn has_any(when: When, first: u64, last: u64) -> bool {
    let behind = first.saturating_sub(when.first);
    let next = behind.div_ceil(when.step).checked_mul(when.step);
    let next = next.and_then(|next| next.checked_add(when.first));
    next.is_some_and(|next| next <= last && when.has(next))
}

/// Whether one of these numbers is not named.
fn lacks_any(when: When, first: u64, last: u64) -> bool {
    !when.has(first) || !when.has(last) || when.step > 1 && first < last
}

fn is_too_short(fault: &FaultPlan, deed: &Deed) -> bool {
    let length = deed.fields.get(2).map(|part| &part.value);
    match (fault.injected.answer, length) {
        (Some(Answer::Short(most)), Some(Value::Number(length))) => *length <= i128::from(most),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
