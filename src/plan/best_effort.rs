//! Reduces a scenario to what this machine can show.
//!
//! The rest can still be judged: an expectation that would hold or fail only because an event is
//! not seen is taken out, and a note says so.

use super::Lack;
use crate::matching::SPAN;
use crate::scenario::{
    EventSpec, EventWish, Expectations, Mark, Pattern, Scenario, Since, SnapshotSpec, StepSpec,
};
use std::collections::BTreeSet;

/// Returns the scenario without the absent tracepoints; notes say what is not judged.
///
/// # Errors
/// Why nothing of the scenario can be judged here.
pub(super) fn without(
    scenario: &Scenario,
    absent: &BTreeSet<String>,
    notes: &mut Vec<String>,
) -> Result<Scenario, Lack> {
    let mut scenario = scenario.clone();
    if !matches!(scenario.snapshot, SnapshotSpec::Off) {
        scenario.snapshot = SnapshotSpec::Off;
        notes.push("the snapshot is not compared".to_owned());
    }
    let speaks_of = |step: &StepSpec| absent.contains(&step.event);
    if let Since::Mark(Mark::Step(step)) = &scenario.trace.since
        && speaks_of(step)
    {
        return Err(Lack::of_kernel(format!(
            "needs tracepoint `{}`, at which its trace begins",
            step.event
        )));
    }
    for event in &mut scenario.trace.events {
        // An empty list of calls asks for nothing, and keeps the places of the other events.
        if matches!(event, EventSpec::Event(EventWish { name, .. }) if absent.contains(name)) {
            *event = EventSpec::Syscalls(Vec::new());
        }
    }
    let asks = |event: &EventSpec| !matches!(event, EventSpec::Syscalls(words) if words.is_empty());
    if !scenario.trace.events.is_empty() && !scenario.trace.events.iter().any(asks) {
        let text = "needs one of its tracepoints, to record anything";
        return Err(Lack::of_kernel(text));
    }
    let mut absent = absent.clone();
    scenario.trace.spans.retain(|span| {
        let is_lost = speaks_of(&span.begin) || speaks_of(&span.end);
        if is_lost {
            absent.insert(format!("{SPAN}{}", span.name));
        }
        !is_lost
    });
    let absent = &absent;
    let mut reduction = Reduction { absent, notes };
    let expect = &mut scenario.expect;
    let lost = reduction.reduce(&mut expect.events, "", &BTreeSet::new());
    let unmarked = |mark: &Mark| matches!(mark, Mark::Step(step) if absent.contains(&step.event));
    let sections = &scenario.sections;
    expect.sections.retain(|name, expectations| {
        let marks = sections.get(name);
        if marks.is_some_and(|section| unmarked(&section.from) || unmarked(&section.to)) {
            reduction.note(&format!("sections.{name}"));
            return false;
        }
        reduction.reduce(expectations, &format!("sections.{name}."), &lost);
        true
    });
    let left = &expect.sections;
    scenario.sections.retain(|name, _| left.contains_key(name));
    let n_deltas = expect.delta.len();
    expect
        .delta
        .retain(|delta| !reduction.is_lost(&delta.step, &lost));
    if expect.delta.len() < n_deltas {
        reduction.note("delta");
    }
    Ok(scenario)
}

struct Reduction<'a> {
    absent: &'a BTreeSet<String>,
    notes: &'a mut Vec<String>,
}

impl Reduction<'_> {
    fn note(&mut self, what: &str) {
        self.notes
            .push(format!("`{what}` is not judged, or not all of it"));
    }

    /// Takes out the steps that cannot be judged, and returns the captures that no step binds any
    /// more. `outer` are those of the whole run.
    fn reduce(
        &mut self,
        expectations: &mut Expectations,
        label: &str,
        outer: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        let before = bound(expectations);
        let mut lost = outer.clone();
        // A capture that one list binds may be used in the other.
        for _ in 0..2 {
            for (key, patterns) in [
                ("sequence", &mut expectations.sequence),
                ("any_order", &mut expectations.any_order),
            ] {
                let steps = patterns.iter().flat_map(Pattern::steps);
                if steps.into_iter().any(|step| self.is_lost(step, &lost)) {
                    patterns.clear();
                    self.note(&format!("{label}{key}"));
                }
            }
            let after = bound(expectations);
            lost.extend(before.difference(&after).cloned());
            lost.retain(|name| !after.contains(name));
        }
        let sizes = (expectations.never.len(), expectations.count.len());
        expectations.never.retain(|step| !self.is_lost(step, &lost));
        expectations
            .count
            .retain(|spec| !self.is_lost(&spec.step, &lost));
        if expectations.never.len() < sizes.0 {
            self.note(&format!("{label}never"));
        }
        if expectations.count.len() < sizes.1 {
            self.note(&format!("{label}count"));
        }
        // An absent event occurs nowhere: an expectation about many names keeps its meaning without
        // it.
        let absent = self.absent;
        expectations
            .only
            .retain(|step| !absent.contains(&step.event));
        if expectations.only.iter().any(|step| uses(step, &lost)) {
            expectations.only.clear();
            self.note(&format!("{label}only"));
        }
        let n_between = expectations.between.len();
        expectations.between.retain(|between| {
            let mut steps = between.steps().into_iter();
            !steps.any(|step| self.is_lost(step, &lost))
        });
        if expectations.between.len() < n_between {
            self.note(&format!("{label}between"));
        }
        lost
    }

    /// Whether a step cannot be judged: its event is not seen, or it needs a capture that no step
    /// binds.
    fn is_lost(&self, step: &StepSpec, lost: &BTreeSet<String>) -> bool {
        self.absent.contains(&step.event) || uses(step, lost)
    }
}

fn uses(step: &StepSpec, lost: &BTreeSet<String>) -> bool {
    let mut captures = step.fields.iter().flat_map(|(_, test)| test.captures());
    captures.any(|(name, _)| lost.contains(name))
}

/// Returns the captures that the ordered lists bind.
fn bound(expectations: &Expectations) -> BTreeSet<String> {
    let roles = expectations.roles().into_iter();
    let steps = roles.filter(|(role, _)| role.binds());
    let tests = steps.flat_map(|(_, step)| step.fields.iter().map(|(_, test)| test));
    tests
        .flat_map(|test| test.captures())
        .filter(|(_, binds)| *binds)
        .map(|(name, _)| name.to_owned())
        .collect()
}
