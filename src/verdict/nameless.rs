//! Calls whose numbers no table has a name for: who expects something of every call means them too.

use crate::matching::{Expected, Matcher};
use crate::plan::Plan;
use crate::trace::Normalised;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::convert::Infallible;
use syscall_model::select::is_match_all;

/// Returns the plan with the nameless calls of this run among those that `*` and `all` stand for.
pub(super) fn meant<'p>(plan: &'p Plan, trace: &Normalised) -> Cow<'p, Plan> {
    let mut all = plan.sections.values().chain([&plan.expected]);
    if !all.any(|expected| expected.steps().into_iter().any(is_of_all)) {
        return Cow::Borrowed(plan);
    }
    let names = trace.counts().into_keys();
    let nameless: BTreeSet<String> = names.filter(|name| is_nameless(name)).collect();
    if nameless.is_empty() {
        return Cow::Borrowed(plan);
    }
    let mut with = plan.clone();
    with.expected = expected(&with.expected, &nameless);
    for section in with.sections.values_mut() {
        *section = expected(section, &nameless);
    }
    Cow::Owned(with)
}

fn is_of_all(matcher: &Matcher) -> bool {
    is_match_all(&matcher.word)
}

/// Whether this is how a trace names a call by its number alone.
fn is_nameless(name: &str) -> bool {
    let number = name.strip_prefix("syscall_");
    number.is_some_and(|number| number.parse::<i32>().is_ok())
}

fn expected(of: &Expected, nameless: &BTreeSet<String>) -> Expected {
    let Ok(with) = of.try_map(|_, step| Ok::<_, Infallible>(matcher(step, nameless)));
    with
}

fn matcher(of: &Matcher, nameless: &BTreeSet<String>) -> Matcher {
    let mut with = of.clone();
    if is_of_all(of) {
        with.names.extend(nameless.iter().cloned());
    }
    with
}
