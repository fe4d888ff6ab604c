//! What is expected of single events.

use super::{Ended, Verdict, sections};
use crate::matching::{self, Bindings, Finding, Scene};
use crate::plan::Plan;
use crate::trace::Deed;
use std::collections::BTreeMap;

/// A reason for each expectation that was not met, and the word for it.
pub(super) fn judge(
    plan: &Plan,
    ended: &Ended,
    counts: &BTreeMap<String, u64>,
    deeds: &[&Deed],
) -> Vec<(Verdict, String)> {
    if !plan.keeps_order() || ended.is_cut_short() {
        return numbers(plan, counts);
    }
    let asked_for = deeds
        .iter()
        .copied()
        .filter(|deed| sections::asks_for(plan, deed));
    let asked_for: Vec<&Deed> = asked_for.collect();
    let judgement = matching::judge(
        &plan.expected,
        &Scene::new(&asked_for),
        "expect",
        &Bindings::default(),
        matching::MOST_TRIES,
    );
    let of_sections = sections::judge(plan, deeds, &judgement.bindings);
    let of_run = judgement.findings.into_iter().map(named);
    of_run.chain(of_sections).collect()
}

/// A finding and its word: what nobody knows is not judged, and what takes too long is the harness' own failure.
pub(super) fn named(finding: Finding) -> (Verdict, String) {
    match finding {
        Finding::Failed(text) => (Verdict::Fail, text),
        Finding::Unknown(text) => (Verdict::Incomplete, text),
        Finding::GaveUp(text) => (Verdict::Broken, text),
    }
}

/// Where only numbers were kept, or the end of the run was anywhere.
fn numbers(plan: &Plan, counts: &BTreeMap<String, u64>) -> Vec<(Verdict, String)> {
    let counted = plan.expected.count.iter();
    let by_name = counted.filter(|(matcher, _)| matcher.fields.is_empty());
    let wrong = by_name.filter_map(|(matcher, range)| {
        let names = matcher.names.iter();
        let count: u64 = names.filter_map(|name| counts.get(name)).sum();
        let word = &matcher.word;
        let reason = format!("expected {range} of `{word}`, got {count}");
        (!range.contains(count)).then_some((Verdict::Fail, reason))
    });
    wrong.collect()
}
