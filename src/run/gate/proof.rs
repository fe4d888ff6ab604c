//! Compares what was done to calls with what the trace says was meant.
//!
//! A fault is decided by what procfs says of a call while it is held; expectations go by the
//! tables that the records fill. Where these two differ, it is not known which call was meant.

mod numbers;

use super::looked;
use crate::matching::is_meant;
use crate::plan::{FaultPlan, guards};
use crate::scenario::Per;
use crate::trace::{Deed, Normalised, Value};
use crate::verdict::{DoneTo, FaultOutcome, Faults, Looked, MOST_TOLD};
use numbers::{Numbers, has_any, lacks_any};
use perf_records::units::{Nanos, count_of};
use std::collections::{BTreeMap, HashMap, HashSet};
use syscall_model::{Answer, ThreadId, moves_gathered};

/// Calls, each by its thread and when it was entered.
type Calls = HashSet<(ThreadId, Nanos)>;

/// A call in the trace, and the first moment at which it may have been counted.
#[derive(Clone, Copy)]
struct Counted<'a> {
    deed: &'a Deed,
    earliest: Nanos,
}

/// Adds what is not known of the faults to `told`, and how many of the calls that they were done to
/// are not among those that are judged. `whole` has all calls that faults are about; beside it is
/// how many threads ended without a reason in the calls of their process.
pub(in crate::run) fn prove(
    faults: &[FaultPlan],
    told: &mut Faults,
    (whole, n_vanished): (&Normalised, u64),
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
    let named = told.outcomes.iter().enumerate();
    let named = named.map(|(number, outcome)| named_by((number, faults), outcome, &calls));
    let named: Vec<_> = named.collect();
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
                    let group = group_of(fault, call.deed);
                    groups.entry(group).or_default().push(*call);
                }
            }
        }
        let matched: usize = groups.values().map(Vec::len).sum();
        let made = outcome.seen.saturating_sub(outcome.unmade);
        let word = &fault.matcher.word;
        if n_answered > 0 {
            unknown.push(answered(word, n_answered));
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
            n_wrong += wrong((number, faults), outcome, (group, &named), &mut done);
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
    unknown.extend(vanished(told, n_vanished));
    told.unknown.extend(unknown);
    (told.done_to, told.elsewhere, told.of_start) = (done_to, elsewhere, of_start(faults, whole));
}

/// Says of how many calls it is not known whether a fault was meant for them, as they never came to
/// the gate.
fn answered(word: &str, n_answered: u64) -> String {
    format!(
        "a seccomp filter, of the workload's own or of a policy, answered or refused {} that the \
         fault for `{word}` may be meant for: the harness could not hold {}; run it without that \
         filter",
        count_of(n_answered, "call"),
        if n_answered == 1 { "it" } else { "them" }
    )
}

/// Says so where threads may have been ended at calls of which there is no record.
fn vanished(told: &Faults, n_vanished: u64) -> Option<String> {
    (told.may_end_threads && n_vanished > 0).then(|| {
        format!(
            "{} ended without a call that ends threads, and a seccomp filter of the workload's own \
             may end one (`SECCOMP_RET_KILL_THREAD`) at a call that a fault is meant for, of which \
             there is no record: run it without that filter",
            count_of(n_vanished, "thread")
        )
    })
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

/// The calls that a fault is meant for, as they are counted.
fn counted<'a>(fault: &FaultPlan, calls: &[Counted<'a>]) -> BTreeMap<u32, Vec<Counted<'a>>> {
    let mut groups: BTreeMap<u32, Vec<Counted<'a>>> = BTreeMap::new();
    let asked = calls.iter().filter(|it| is_about(fault, it.deed));
    let meant = asked.filter(|it| is_meant(it.deed, &fault.matcher) == Some(true));
    for call in meant.filter(|it| !it.deed.is_unentered()) {
        groups
            .entry(group_of(fault, call.deed))
            .or_default()
            .push(*call);
    }
    groups
}

/// Among which calls one is counted.
fn group_of(fault: &FaultPlan, deed: &Deed) -> u32 {
    match fault.per {
        Per::Run => 0,
        Per::Process => deed.task.process,
        Per::Thread => deed.thread.0,
    }
}

/// The calls that a fault may name by `when`, where another fault does the same to calls.
fn named_by(
    (number, faults): (usize, &[FaultPlan]),
    outcome: &FaultOutcome,
    calls: &[Counted<'_>],
) -> Calls {
    let mut all = faults.iter().enumerate();
    let Some(fault) = faults.get(number) else {
        return HashSet::new();
    };
    if !all.any(|(other, it)| other != number && it.injected == fault.injected) {
        return HashSet::new();
    }
    let mut named = HashSet::new();
    for group in counted(fault, calls).values() {
        let numbers = Numbers::of(group, outcome);
        let is_named = |call: &&Counted<'_>| {
            let (first, last) = numbers.range(call);
            has_any(fault.when, first, last)
        };
        named.extend(group.iter().filter(is_named).map(|it| place(it.deed)));
    }
    named
}

/// How many calls of a group were treated otherwise than `when` says of every number that they may
/// have; adds those that the fault was done to. `named` has for each fault which calls it names.
fn wrong<'a>(
    (number, faults): (usize, &[FaultPlan]),
    outcome: &FaultOutcome,
    (group, named): (&[Counted<'a>], &[Calls]),
    done: &mut Vec<&'a Deed>,
) -> usize {
    let Some(fault) = faults.get(number) else {
        return 0;
    };
    let numbers = Numbers::of(group, outcome);
    let mut n_wrong = 0;
    for call in group {
        let (first, last) = numbers.range(call);
        let injected = call.deed.injected;
        let is_alike = !injected.is_nothing() && injected == fault.injected;
        let by_another = || {
            let mut earlier = faults.iter().take(number);
            let is_it = |it: &FaultPlan| it.injected == injected && is_about(it, call.deed);
            guards(call.deed) || !injected.is_nothing() && earlier.any(is_it)
        };
        // The same was to be done to it by another fault, and not by this one.
        let by_its_like = || {
            let both = faults.iter().zip(named).enumerate();
            let mut others = both.filter(|(other, _)| *other != number);
            others.any(|(_, (it, named))| {
                it.injected == injected && named.contains(&place(call.deed))
            })
        };
        let is_ours = is_alike && has_any(fault.when, first, last);
        let is_right = match is_alike {
            true => is_ours || by_its_like(),
            false => {
                lacks_any(fault.when, first, last) || is_too_short(fault, call.deed) || by_another()
            }
        };
        n_wrong += usize::from(!is_right);
        if is_ours {
            done.push(call.deed);
        }
    }
    n_wrong
}

/// Whether a shorter call would have been none. Of a vector the trace need not have all lengths:
/// what moved no more than the shorter call may move had the same outcome as that.
fn is_too_short(fault: &FaultPlan, deed: &Deed) -> bool {
    let returned = deed.returns.as_ref().map(|part| &part.value);
    let place = match &*deed.name {
        "sendfile" | "sendfile64" => 3,
        "copy_file_range" | "splice" => 4,
        _ => 2,
    };
    let length = match moves_gathered(&deed.name) {
        true => returned,
        false => deed.fields.get(place).map(|part| &part.value),
    };
    match (fault.injected.answer, length) {
        (Some(Answer::Short(most)), Some(Value::Number(length))) => *length <= i128::from(most),
        (Some(Answer::Short(_)), Some(Value::Error(_))) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
