//! Judges sections.

use super::events::{Forgotten, named};
use super::finding::{About, Finding};
use crate::matching::{self, Bindings, Mark, Scene, Unmarked};
use crate::plan::Plan;
use crate::trace::{Deed, Stretch};

/// Returns the expectations of sections that were not met or could not be decided, and the marks
/// that do not occur exactly once. Captures of the whole run's expectations are bound in sections
/// too.
///
/// `forgotten` is what has no record.
pub(super) fn judge(
    plan: &Plan,
    deeds: &[&Deed],
    outer: &Bindings,
    forgotten: &Forgotten,
) -> Vec<Finding> {
    if plan.marks.sections.is_empty() {
        return Vec::new();
    }
    let whole = Scene::new(deeds);
    let mut findings = Vec::new();
    for (name, marks) in &plan.marks.sections {
        let about = || About::Section(name.clone());
        let stretch = match stretch(marks, &whole) {
            Ok(stretch) => stretch,
            Err(missing) => {
                let named = |unmarked| match unmarked {
                    // It may have been in overwritten records.
                    Unmarked::Not(why) if forgotten.names.is_empty() => {
                        Finding::unreached(about(), format!("section `{name}`: {why}"))
                    }
                    Unmarked::Not(why) | Unmarked::Unknown(why) => {
                        Finding::unknown(about(), format!("section `{name}`: {why}"))
                    }
                };
                findings.extend(missing.into_iter().map(named));
                continue;
            }
        };
        let Some(expected) = plan.sections.get(name) else {
            continue;
        };
        let held = deeds.iter().copied().filter(|deed| stretch.has(deed));
        let held: Vec<&Deed> = held.filter(|deed| asks_for(plan, deed)).collect();
        let judgement = matching::judge(
            expected,
            &Scene::new(&held).forgetting(&forgotten.names, forgotten.may_be_any),
            Some(name),
            outer,
            matching::MOST_TRIES,
        );
        let of_section = judgement.findings.into_iter();
        findings.extend(of_section.map(|finding| named(plan, finding, about())));
    }
    findings
}

/// Returns the stretches of the sections whose marks are there, by the sections' names.
#[must_use]
pub fn stretches<'p>(plan: &'p Plan, deeds: &[&Deed]) -> Vec<(&'p str, Stretch)> {
    let whole = Scene::new(deeds);
    let sections = plan.marks.sections.iter();
    let known =
        sections.filter_map(|(name, marks)| Some((name.as_str(), stretch(marks, &whole).ok()?)));
    known.collect()
}

/// Whether the author asked for such deeds; others were recorded for marks.
#[must_use]
pub fn asks_for(plan: &Plan, deed: &Deed) -> bool {
    !plan.marks.hidden.contains(&*deed.name)
}

fn stretch((from, to): &(Mark, Mark), whole: &Scene<'_>) -> Result<Stretch, Vec<Unmarked>> {
    let (from, to) = match (from.find(whole), to.find(whole)) {
        (Ok(from), Ok(to)) => (from, to),
        (from, to) => return Err([from.err(), to.err()].into_iter().flatten().collect()),
    };
    if to.entered < from.left {
        let why = format!(
            "its end (`{}` of {}) came before its beginning was over (`{}` of {})",
            to.name, to.task, from.name, from.task
        );
        return Err(vec![Unmarked::Not(why)]);
    }
    Ok(Stretch {
        after: from.left,
        before: Some(to.entered),
    })
}
