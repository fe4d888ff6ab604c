//! What all options of `trace` together want.

use super::form::call_chain;
use super::{Arguments, Trouble, chosen, delivered, events, options, sched, spans};
use perf_live::host::Catalogue;
use trace_harness::plan::Wanted;

/// What all options together want, where `-e` has these sets besides those that inject, and whether
/// signals are among it. As strace and perf trace do, signals and faults come beside all calls if
/// nothing else is named.
pub(super) fn wanted(
    arguments: &Arguments,
    sets: &[String],
    catalogue: &dyn Catalogue,
) -> Result<(Vec<Wanted>, bool), Trouble> {
    let (mut words, signals) = delivered::split(sets).map_err(Trouble::Usage)?;
    words.retain(|set| !chosen::is_choice(set));
    let mut wanted = events::wanted(&words, call_chain(arguments), catalogue)?;
    let faults = arguments
        .faults
        .into_iter()
        .flat_map(options::Faults::wants);
    let beside: Vec<Wanted> = faults.chain(signals.iter().cloned()).collect();
    if words.is_empty() && !beside.is_empty() {
        wanted.push(Wanted::Syscalls(vec!["all".to_owned()]));
    }
    wanted.extend(beside);
    wanted.extend(arguments.sched.then(sched::wants).into_iter().flatten());
    wanted.extend(arguments.spans.iter().flat_map(spans::Rule::wants));
    Ok((wanted, !signals.is_empty()))
}

/// Whether a set of `-e` names events: others choose among calls, or want signals.
pub(super) fn names_events(set: &str) -> bool {
    !delivered::is_of_signals(set) && !chosen::is_choice(set)
}
