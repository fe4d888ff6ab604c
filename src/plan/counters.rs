//! Plans what a scenario counts without records, and what it expects of the counts.

use super::counted::CountedEvent;
use super::error::EventsError;
use super::{Facts, Lack, PlanError, Reach, RecordWish, invalid, placed};
use crate::scenario::{CountRange, EventSpec, KeyPath, SandboxSpec, Scenario};
use perf_live::events::EventRequest;
use perf_live::host::Catalogue;
use perf_live::sandbox::WorldSpec;
use perf_records::attr::Source;
use std::collections::BTreeSet;

/// Where it is found out what can be counted.
#[derive(Clone, Copy)]
pub enum Counting<'a> {
    /// On this machine: returns why it does not count an event, `None` if it does.
    Live(&'a dyn Fn(&EventRequest) -> Option<String>),
    /// A recorded run, in which these were counted.
    Recorded(&'a [String]),
}

/// What is counted of a run, from the workload's exec on and of all that it starts.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// What is opened for it; nothing for a run that is recorded already.
    pub events: Vec<CountedEvent>,
    /// The names that may be expected.
    pub names: BTreeSet<String>,
    /// How often each must have happened.
    pub expect: Vec<(String, CountRange)>,
}

/// Plans the counters, or says why this machine cannot count them.
pub(super) fn counters(
    scenario: &Scenario,
    facts: &Facts<'_>,
    catalogue: &dyn Catalogue,
) -> Result<Result<Counters, Lack>, PlanError> {
    let specs = scenario.trace.events.iter().enumerate();
    let specs = specs.filter_map(|(at, spec)| match spec {
        EventSpec::Counted(counted) => Some((at, counted)),
        _ => None,
    });
    let mut counters = Counters::default();
    for (at, spec) in specs {
        let path = KeyPath::root().key("trace").key("events").index(at);
        let path = path.key("count");
        let cannot_check = match facts.counting {
            Counting::Recorded(names) => {
                counters.names.extend(spec.names.iter().cloned());
                counters.names.extend(names.iter().cloned());
                continue;
            }
            Counting::Live(cannot) => cannot,
        };
        let words = spec.names.iter();
        let wish = RecordWish {
            words: words.map(|name| (name.clone(), None)).collect(),
            inherit: true,
            on_exec: true,
            ..RecordWish::default()
        };
        let mut events = match wish.counters(catalogue) {
            Ok(events) => events,
            Err(EventsError::NoSource {
                name,
                nearest: None,
                ..
            }) => {
                let text = format!("needs a source of events `{name}`");
                return Ok(Err(Lack::of_kernel(text)));
            }
            Err(error) => return Err(at_word(scenario, &path, spec.is_group, error)),
        };
        for event in &mut events {
            event.group = spec.is_group.then_some(at);
            for part in &event.parts {
                // Without the right to see it, events in the kernel would be missing from the
                // count.
                let sees_all = facts.reach == Reach::Everything;
                if !sees_all && !part.attr.modes.exclude_kernel {
                    let name = &event.name;
                    return Ok(Err(Lack::of_machine(format!(
                        "needs the right to trace everything, to count `{name}` in the kernel as well"
                    ))));
                }
                let is_known = matches!(part.attr.source, Source::Tracepoint(_));
                if !is_known && let Some(why) = cannot_check(part) {
                    let text = format!("needs `{}`: {why}", event.name);
                    return Ok(Err(Lack::of_machine(text)));
                }
            }
            if event.for_all_on.is_some() {
                let message = format!(
                    "`{}` counts for the whole machine, and cannot count for one run",
                    event.name
                );
                return Err(invalid(scenario.complaint(&path, message, None)));
            }
            if !counters.names.insert(event.name.clone()) {
                let message = format!("`{}` is counted twice", event.name);
                let help = "one counter of it is enough".to_owned();
                return Err(invalid(scenario.complaint(&path, message, Some(help))));
            }
        }
        counters.events.append(&mut events);
    }
    refuse_other_users(scenario, &counters)?;
    for spec in &scenario.expect.events.count {
        if spec.step.fields.is_empty() && counters.names.contains(&spec.step.event) {
            counters.expect.push((spec.step.event.clone(), spec.times));
        }
    }
    Ok(Ok(counters))
}

/// The kernel takes events off a task that is not root at the execve of a set-user-ID program, and
/// no counter would tell.
fn refuse_other_users(scenario: &Scenario, counters: &Counters) -> Result<(), PlanError> {
    match &scenario.sandbox {
        SandboxSpec::Own(WorldSpec { user: Some(_), .. }) if !counters.names.is_empty() => {
            let message = "what another user does cannot be counted: the kernel ends the counters at a set-user-ID program";
            let help = "leave `user` out, or record the events: `event` in place of `count`";
            let at = KeyPath::root().key("sandbox").key("user");
            Err(invalid(scenario.complaint(
                &at,
                message,
                Some(help.to_owned()),
            )))
        }
        _ => Ok(()),
    }
}

/// Places a complaint at the word that is wrong.
fn at_word(scenario: &Scenario, path: &KeyPath, is_list: bool, error: EventsError) -> PlanError {
    let at = match &error {
        EventsError::Tracepoint { at, .. }
        | EventsError::Unknown { at, .. }
        | EventsError::NoSource { at, .. }
        | EventsError::NoEvent { at, .. }
        | EventsError::Terms { at, .. }
        | EventsError::Cannot { at, .. }
        | EventsError::Syscall { at: (at, _), .. } => *at,
        _ => return placed(scenario, error),
    };
    let path = match is_list {
        true => path.clone().index(at),
        false => path.clone(),
    };
    let message = perf_live::errors::chain(&error);
    invalid(scenario.complaint(&path, message, error.hint()))
}
