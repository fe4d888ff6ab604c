//! What is expected of single events.

use super::finding::{About, Finding, Kind};
use super::missing::{has_overwritten, overwritten};
use super::{Run, counts, dying, handed, sections};
use crate::matching::{self, Bindings, Scene};
use crate::plan::Plan;
use crate::trace::Deed;
use perf_live::events::Account;
use std::collections::{BTreeMap, BTreeSet};

/// Returns findings on expectations that were not met, or that could not be decided.
pub(super) fn judge(plan: &Plan, run: &Run) -> Vec<Finding> {
    let forgotten = Forgotten::of(plan, &run.account);
    let counts = counts(plan, &run.trace);
    let mut findings = if !plan.keeps_order() {
        numbers(plan, (&counts, &run.trace.answered()), &forgotten)
    } else {
        in_order(plan, &run.trace.in_order(), &forgotten)
    };
    findings.extend(handed::over(plan, &run.trace));
    findings.extend(dying::unseen(plan));
    findings.extend(confined(plan, run));
    let is_unknown = |finding: &Finding| finding.kind == Kind::Unknown;
    if !forgotten.names.is_empty() && findings.iter().any(is_unknown) {
        let said = overwritten(&run.account);
        findings.extend(said.map(|text| Finding::unknown(About::Events, text)));
    }
    findings
}

/// Judges what the run is confined to.
fn confined(plan: &Plan, run: &Run) -> Vec<Finding> {
    let Some(confinement) = &plan.confinement else {
        return Vec::new();
    };
    let forgets = has_overwritten(&run.account);
    let found = matching::confine(confinement, &run.trace, forgets).into_iter();
    let about = |realm: matching::Realm| About::Confined(realm.word().to_owned());
    found
        .map(|(realm, finding)| named(plan, finding, about(realm)))
        .collect()
}

/// What of the wanted events has no record.
#[derive(Debug, Default)]
pub(super) struct Forgotten {
    /// The names of which some deeds are missing.
    pub(super) names: BTreeSet<String>,
    /// Whether any deed of these names may be missing, and not the earlier ones alone.
    pub(super) may_be_any: bool,
}

impl Forgotten {
    fn of(plan: &Plan, account: &Account) -> Self {
        let mut overwritten = plan.events.overwritten(account);
        overwritten.extend(plan.events.copied(account));
        if overwritten.is_empty() {
            return Self::default();
        }
        let asked_for = plan.events.names();
        let mut names: BTreeSet<String> = overwritten.intersection(&asked_for).cloned().collect();
        let spans = plan.spans.iter().filter(|rule| rule.takes(&overwritten));
        names.extend(spans.map(|rule| rule.name.as_ref().to_owned()));
        Self {
            may_be_any: plan.events.misses_any_of(&names, &plan.spans, account),
            names,
        }
    }
}

/// Judges the order of every single event.
fn in_order(plan: &Plan, deeds: &[&Deed], forgotten: &Forgotten) -> Vec<Finding> {
    let asked_for = deeds
        .iter()
        .copied()
        .filter(|deed| sections::asks_for(plan, deed));
    let asked_for: Vec<&Deed> = asked_for.collect();
    let judgement = matching::judge(
        &plan.expected,
        &Scene::new(&asked_for).forgetting(&forgotten.names, forgotten.may_be_any),
        None,
        &Bindings::default(),
        matching::MOST_TRIES,
    );
    let of_sections = sections::judge(plan, deeds, &judgement.bindings, forgotten);
    let of_run = judgement.findings.into_iter();
    let of_run = of_run.map(|finding| named(plan, finding, About::Events));
    of_run.chain(of_sections).collect()
}

/// Makes a finding of what a search found: what is not known is not judged, and a search that takes
/// too long is a failure of the harness.
pub(super) fn named(plan: &Plan, finding: matching::Finding, about: About) -> Finding {
    let (kind, said) = match finding {
        matching::Finding::Failed(said) => (Kind::Missed, said),
        matching::Finding::Unknown(said) => (Kind::Unknown, said),
        matching::Finding::GaveUp(said) => (Kind::Broken, said),
        matching::Finding::Remark(said) => (Kind::Remark, said),
    };
    let mut finding = Finding::new(kind, about, said.text);
    finding.detail.tests = said.by;
    if let Some(told) = said.of {
        finding.place(&plan.positions, &told.at);
        finding.detail.step = told.step;
        finding.detail.event = Some(told.event);
        finding.detail.expected = Some(told.expected);
        finding.detail.got = told.got;
    }
    finding
}

/// Judges a run of which only the counts were kept.
fn numbers(
    plan: &Plan,
    (counts, answered): (&BTreeMap<String, u64>, &BTreeMap<String, u64>),
    forgotten: &Forgotten,
) -> Vec<Finding> {
    let counted = plan.expected.count.iter();
    let by_name = counted.filter(|count| count.step.fields.is_empty());
    let wrong = by_name.filter_map(|count| {
        let (matcher, range) = (&count.step, count.times);
        let names = || matcher.names.iter();
        let count: u64 = names().filter_map(|name| counts.get(name)).sum();
        let answered: u64 = names().filter_map(|name| answered.get(name)).sum();
        let word = &matcher.word;
        let reason = format!("expected {range} of `{word}`, got {count}");
        let is_too_many = range.max.is_some_and(|max| count > max);
        let is_met = count >= range.min && range.max.is_none();
        if !is_too_many && !is_met && !matcher.names.is_disjoint(&forgotten.names) {
            let reason = reason + ", and others have no record";
            return Some(Finding::unknown(About::Events, reason));
        }
        if range.contains(count) && count.saturating_sub(answered) < range.min {
            let reason = format!(
                "{reason}, of which a seccomp filter, of the workload's own or of a policy, answered {answered}: \
                 the kernel did not make these"
            );
            return Some(Finding::unknown(About::Events, reason));
        }
        (!range.contains(count)).then(|| {
            let mut finding = Finding::missed(About::Events, reason);
            finding.place(&plan.positions, &matcher.at);
            finding
                .of_event(word)
                .but(range.to_string(), count.to_string())
        })
    });
    wrong.collect()
}
