//! Captures: each is bound by a step, and used once more at least.
//!
//! What `expect` itself binds is known in its sections, too; what a section binds is known in that
//! section alone. What an element of `between` binds is known in that element alone.

use std::collections::{BTreeMap, BTreeSet};

use super::File;
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::key_path::KeyPath;
use crate::scenario::steps::{Expectations, StepSpec};

/// One place at which a capture stands.
#[derive(Clone)]
struct Use {
    name: String,
    at: KeyPath,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The first event that is met there binds it.
    Binds,
    /// It must be bound before: below `not`, or as one of several.
    Compares,
    /// It is looked at when all steps have been found: in `never`, `only`, `count` and `between`.
    Judges,
}

const STEPS: &str = "a step of `sequence` or `any_order`";

/// Refuses captures that nothing binds, and those that nothing else looks at.
pub(super) fn check(
    file: &File<'_>,
    events: &Expectations,
    sections: &BTreeMap<String, Expectations>,
) -> Result<(), Diagnostic> {
    let mut outer = uses(events);
    let of_run = bound(&outer);
    outer.extend(of_elements(file, events, &of_run)?);
    for section in sections.values() {
        let is_known = |name: &str| {
            let mut outer = outer.iter();
            outer.any(|used| used.name == name && used.kind == Kind::Binds)
        };
        let (known, own): (Vec<_>, Vec<_>) = uses(section)
            .into_iter()
            .partition(|used| is_known(&used.name));
        let mut all = bound(&own);
        let own_names = all.clone();
        all.extend(of_run.iter().cloned());
        let elements = of_elements(file, section, &all)?.into_iter();
        let (of_own, of_outer): (Vec<_>, Vec<_>) =
            elements.partition(|used| own_names.contains(&used.name));
        judge(file, &[own, of_own].concat(), STEPS)?;
        outer.extend(known.into_iter().chain(of_outer));
    }
    judge(file, &outer, STEPS)
}

/// Refuses captures in a step that stands for itself; `why` says so.
pub(super) fn refuse(file: &File<'_>, step: &StepSpec, why: &str) -> Result<(), Diagnostic> {
    let mut uses = Vec::new();
    add_step(&mut uses, step, None);
    match uses.first() {
        Some(used) => {
            let message = format!("a capture cannot stand here: {why}");
            let complaint = file.complaint(&used.at, message);
            Err(complaint.with_help("to take anything write `any`"))
        }
        None => Ok(()),
    }
}

/// `binders` are the steps that may bind a capture here.
fn judge(file: &File<'_>, uses: &[Use], binders: &str) -> Result<(), Diagnostic> {
    for (index, used) in uses.iter().enumerate() {
        let name = &used.name;
        let same = || uses.iter().filter(|other| other.name == *name);
        let Some(binding) = same().find(|other| other.kind == Kind::Binds) else {
            let message = format!("nothing binds `${name}`");
            let help = format!(
                "{binders} must have it as the value of a field; to take anything write `any`"
            );
            return Err(file.complaint(&used.at, message).with_help(help));
        };
        if same().count() == 1 {
            let message = format!("`${name}` is used only here");
            let complaint = file.complaint(&used.at, message);
            return Err(complaint.with_help("to take anything write `any`"));
        }
        let is_early = |other: &Use| std::ptr::eq(other, binding);
        if used.kind == Kind::Compares && !uses.iter().take(index).any(is_early) {
            let message = format!("`${name}` is not known yet here");
            let complaint = file.complaint(&used.at, message);
            let at = file.places.range_of(file.source, &binding.at);
            return Err(complaint.with_related(at, "it is bound only here"));
        }
    }
    Ok(())
}

/// The names that are bound by steps.
fn bound(uses: &[Use]) -> BTreeSet<String> {
    let binding = uses.iter().filter(|used| used.kind == Kind::Binds);
    binding.map(|used| used.name.clone()).collect()
}

/// The captures of the elements of `between` that are `known` outside of them. The others are an
/// element's own, and are refused here.
fn of_elements(
    file: &File<'_>,
    expectations: &Expectations,
    known: &BTreeSet<String>,
) -> Result<Vec<Use>, Diagnostic> {
    let mut all = Vec::new();
    for element in &expectations.between {
        let mut uses = Vec::new();
        for step in element.steps() {
            add_step(&mut uses, step, None);
        }
        let (outer, own): (Vec<_>, Vec<_>) = uses
            .into_iter()
            .partition(|used| known.contains(&used.name));
        judge(file, &own, "`first` or `then`, or a step of `sequence`,")?;
        all.extend(outer.into_iter().map(|used| Use {
            kind: Kind::Judges,
            ..used
        }));
    }
    Ok(all)
}

/// All captures but those of `between`, in the order in which events are looked for.
fn uses(expectations: &Expectations) -> Vec<Use> {
    let mut uses = Vec::new();
    let roles = expectations.roles().into_iter();
    for (role, step) in roles.filter(|(role, _)| !role.is_of_between()) {
        add_step(&mut uses, step, (!role.binds()).then_some(Kind::Judges));
    }
    uses
}

/// The captures of a step; where `kind` is `None`, by what they do there.
fn add_step(uses: &mut Vec<Use>, step: &StepSpec, kind: Option<Kind>) {
    for (field, test) in &step.fields {
        for (name, binds) in test.captures() {
            let own = if binds { Kind::Binds } else { Kind::Compares };
            uses.push(Use {
                name: name.to_owned(),
                at: step.field_at(field),
                kind: kind.unwrap_or(own),
            });
        }
    }
}
