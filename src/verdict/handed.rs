//! What was handed to the kernel in place of calls that expectations speak of.

use super::counts;
use super::finding::{About, Finding};
use crate::matching::{Confinement, Expected, Matcher};
use crate::plan::{Delta, Plan};
use crate::trace::Normalised;
use std::collections::BTreeSet;
use syscall_model::uring;

/// What is forbidden or counted, by one expectation.
struct Bound<'p> {
    /// The calls.
    names: BTreeSet<&'p str>,
    /// Where it asks for more than the call, its line.
    asks: Option<usize>,
}

impl<'p> Bound<'p> {
    fn of(matcher: &'p Matcher) -> Self {
        let names = matcher.names.iter().map(String::as_str);
        Self {
            names: names.collect(),
            asks: (!matcher.fields.is_empty()).then_some(matcher.line),
        }
    }

    /// Returns the first of its calls that what has this name may do.
    fn done_by(&self, name: &str) -> Option<&'p str> {
        let mut names = self.names.iter().copied();
        names.find(|call| uring::may_do(name, call))
    }
}

/// Finds operations of io_uring, and calls of `io_submit`, that may do what an expectation forbids
/// or counts.
///
/// An expectation that names what may do it tells the two apart. Where the other asks for fields as
/// well, that does not help: nothing tells what an operation was given.
pub(super) fn over(plan: &Plan, trace: &Normalised) -> Vec<Finding> {
    let all = || std::iter::once(&plan.expected).chain(plan.sections.values());
    let named = all().flat_map(Expected::steps);
    let named: BTreeSet<&str> = named.flat_map(names_of).collect();
    let bounds = all().flat_map(Expected::bounds).map(Bound::of);
    let closed = plan.confinement.iter().flat_map(Confinement::calls);
    let closed = Bound {
        names: closed.chain(plan.stated.iter().copied()).collect(),
        asks: None,
    };
    let is_doubtful =
        |bound: &&Bound<'_>, name: &str| bound.asks.is_some() || !named.contains(name);
    let bounds: Vec<Bound<'_>> = bounds.collect();
    let found = submitted(plan, trace).into_iter().filter_map(|name| {
        // What an expectation says of the operation says nothing of what it was done to.
        if let Some(call) = closed.done_by(&name) {
            let text = format!(
                "{}, which may do what `{call}` does, and what it was done to is in no record",
                said(&name)
            );
            return Some(Finding::unknown(About::Events, text));
        }
        let doubtful = bounds.iter().filter(|bound| is_doubtful(bound, &name));
        let (bound, call) = doubtful
            .filter_map(|bound| Some((bound, bound.done_by(&name)?)))
            .min_by_key(|(bound, _)| bound.asks.is_some())?;
        Some(match bound.asks {
            Some(line) if named.contains(&*name) => Finding::unknown(
                About::Events,
                format!(
                    "{}, which may do what `{call}` does, and whether as line {line} says is \
                     in no record",
                    said(&name)
                ),
            ),
            _ => unnamed(&name, call),
        })
    });
    found.collect()
}

/// Finds those of the two runs that a baseline's numbers may leave out.
pub(super) fn differing(
    plan: &Plan,
    deltas: &[Delta],
    (base, run): (&Normalised, &Normalised),
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let runs = [(run, true, ""), (base, false, "the baseline: ")];
    for (trace, is_run, of) in runs {
        for name in submitted(plan, trace) {
            // More in the run makes the difference greater, more in the baseline makes it smaller.
            let mut bounded = deltas.iter().filter(|delta| match is_run {
                true => delta.times.max.is_some(),
                false => delta.times.min.is_some(),
            });
            let call = bounded.find_map(|delta| Bound::of(&delta.step).done_by(&name));
            findings.extend(call.map(|call| {
                let text = format!(
                    "{of}{}, which may do what `{call}` does, and is not among those that \
                     `delta` compares",
                    said(&name)
                );
                Finding::unknown(About::Baseline, text)
            }));
        }
    }
    findings
}

/// The names of what a run handed over.
fn submitted(plan: &Plan, trace: &Normalised) -> BTreeSet<String> {
    let is_operation = |name: &String| name.starts_with(uring::PREFIX);
    let operations = counts(plan, trace).into_keys().filter(is_operation);
    operations.chain(trace.handed.iter().cloned()).collect()
}

fn names_of(matcher: &Matcher) -> impl Iterator<Item = &str> {
    matcher.names.iter().map(String::as_str)
}

fn unnamed(name: &str, call: &str) -> Finding {
    let text = format!(
        "{}, which may do what `{call}` does, and no expectation names it",
        said(name)
    );
    Finding::unknown(About::Events, text)
}

fn said(name: &str) -> String {
    match name == uring::AIO {
        true => format!("`{name}` was called"),
        false => format!("`{name}` was submitted"),
    }
}
