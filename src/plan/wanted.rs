//! What is asked for, by a scenario or on a command line.

use super::{chains, marks};
use crate::scenario::{EventSpec, EventWish, Scenario, Since};
use perf_live::units::Probe;
use perf_records::attr::{Chain, Sampling};

/// What an author asked for, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// System calls: names, globs, classes, each possibly taken away by `!`.
    Syscalls(Vec<String>),
    /// `system:name`, where the name may hold `*`; or operations of io_uring,
    /// `io_uring:IORING_OP_FSYNC`.
    Event(WantedEvent),
    /// To tell apart what a dynamic loader does to start a program. The first call that is not the
    /// loader's may be any, so all are recorded.
    Starts,
    /// To see what is written, which may be a mark of the author's.
    Marks,
    /// To see where what is asked for may have been done out of sight: by way of an io_uring, or by
    /// a 32-bit call where the native tracepoint of the call is named.
    Evasions,
    /// When each thread comes onto a CPU. No tracepoint of the thread's own events tells that:
    /// `sched:sched_switch` belongs to the thread that leaves.
    Turns,
    /// Call chains of calls: of those that the words name (none: of all). There is one kind of them
    /// for all calls.
    Chains(Vec<String>, Chain),
}

/// An event by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedEvent {
    /// As written.
    pub name: String,
    /// Its in-kernel filter.
    pub filter: Option<String>,
    /// The probe, if the event exists only after the harness has registered it.
    pub probe: Option<Probe>,
    /// Its call chain, where one is wanted.
    pub chain: Option<Chain>,
    /// Which occurrences have a record, where that is not each of them.
    pub sampling: Option<Sampling>,
}

impl Wanted {
    /// What an element of a scenario's events asks for.
    pub(super) fn of(spec: &EventSpec) -> Self {
        match spec {
            EventSpec::Syscalls(words) | EventSpec::Chained(words, _) => {
                Self::Syscalls(words.clone())
            }
            // Of what is recorded it asks for nothing, and leaves the places of the others as they
            // are.
            EventSpec::Counted(_) => Self::Syscalls(Vec::new()),
            EventSpec::Event(EventWish {
                name,
                filter,
                probe,
                callchain,
                sampling,
                ..
            }) => Self::Event(WantedEvent {
                name: name.clone(),
                filter: filter.clone(),
                probe: probe.clone(),
                chain: callchain.map(chains::of),
                sampling: *sampling,
            }),
        }
    }
}

/// What a scenario asks for, and what judging it takes beside.
pub(super) fn all(scenario: &Scenario) -> Vec<Wanted> {
    let mut wants = wants(scenario);
    wants.extend(matches!(scenario.trace.since, Since::Main).then_some(Wanted::Starts));
    wants.extend(marks::are_written(scenario).then_some(Wanted::Marks));
    wants.push(Wanted::Evasions);
    wants
}

/// What a scenario asks for.
pub(super) fn wants(scenario: &Scenario) -> Vec<Wanted> {
    let events = scenario.trace.events.iter();
    // Behind all events, whose places are those in the file.
    let chains = events.clone().filter_map(chains::wanted);
    events.map(Wanted::of).chain(chains).collect()
}
