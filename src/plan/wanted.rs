//! What a scenario or a command line asks to record.

use super::faults::ENDING;
use super::{chains, marks};
use crate::matching::confined_calls;
use crate::scenario::{EventSpec, EventWish, Scenario, Since};
use perf_live::units::Probe;
use perf_records::attr::{Chain, Sampling};
use std::collections::BTreeSet;
use syscall_model::names::{Abi, number};

/// One thing that an author asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// System calls: names, globs, classes, each possibly taken away by `!`.
    Syscalls(Vec<String>),
    /// `system:name`, where the name may hold `*`; or operations of io_uring,
    /// `io_uring:IORING_OP_FSYNC`.
    Event(WantedEvent),
    /// Events that are counted and leave no records, by their names. What is counted of calls are
    /// entries of native ones alone.
    Counted(Vec<String>),
    /// To recognise the calls by which a dynamic loader starts a program. The first call that is
    /// not the loader's may be any call, so all are recorded.
    Starts,
    /// To see what is written: it may be one of the author's marks.
    Marks,
    /// To see what the run is confined to, or what was written: these calls, beside those that the
    /// author asked for.
    Confined(BTreeSet<&'static str>),
    /// To see every call, for what the run needs of the kernel: the first that was never asked for
    /// may be any.
    Every,
    /// To see what changes the working directory: a power cut may leave some of it.
    Changes {
        /// And what is sent, which promises something.
        sends: bool,
    },
    /// To see where a wanted call may have been made unseen: through an io_uring, or, if the native
    /// tracepoint of the call is named or the call is counted, as a 32-bit call or one that is
    /// answered in place of being made.
    Evasions,
    /// When each thread comes onto a CPU. No tracepoint of the thread's own events tells that:
    /// `sched:sched_switch` belongs to the thread that leaves.
    Turns,
    /// Call chains for the calls that the words name, or for all calls without a word. All calls
    /// have the same kind.
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
    /// How it is sampled; `None` if each occurrence has a record.
    pub sampling: Option<Sampling>,
}

impl Wanted {
    /// Returns what an element of a scenario's events asks for.
    pub(super) fn of(spec: &EventSpec) -> Self {
        match spec {
            EventSpec::Syscalls(words) | EventSpec::Chained(words, _) => {
                Self::Syscalls(words.clone())
            }
            EventSpec::Counted(counted) => Self::Counted(counted.names.clone()),
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

/// Returns what a scenario asks for, and what judging it takes.
///
/// With `every`, every call is recorded beside.
pub(super) fn all(scenario: &Scenario, every: bool) -> Vec<Wanted> {
    let mut wants = wants(scenario);
    wants.extend(every.then_some(Wanted::Every));
    wants.extend(matches!(scenario.trace.since, Since::Main).then_some(Wanted::Starts));
    wants.extend(marks::are_written(scenario).then_some(Wanted::Marks));
    let native = Abi::native();
    let tests = scenario.beside.tests.iter().map(|test| &test.confined);
    let closed = scenario.expect.confined.iter().chain(tests);
    let calls = closed.flat_map(confined_calls);
    let calls: BTreeSet<_> = calls
        .chain(scenario.beside.calls.iter().copied())
        .chain(scenario.beside.looked_at.iter().copied())
        .chain(ENDING.into_iter().filter(|_| !scenario.faults.is_empty()))
        .filter(|call| number(native, call).is_some())
        .collect();
    wants.extend((!calls.is_empty()).then_some(Wanted::Confined(calls)));
    let changes = scenario.crash.as_ref().map(|crash| Wanted::Changes {
        sends: crash.acknowledged.are_sent(),
    });
    wants.extend(changes);
    wants.push(Wanted::Evasions);
    wants
}

/// What a scenario asks for.
pub(super) fn wants(scenario: &Scenario) -> Vec<Wanted> {
    let events = scenario.trace.events.iter();
    // After all events, whose places are those in the file.
    let chains = events.clone().filter_map(chains::wanted);
    events.map(Wanted::of).chain(chains).collect()
}
