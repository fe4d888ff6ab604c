//! Decides what a run does before anything is done: takes a scenario and facts about the host,
//! returns a [`Plan`] or the unmet requirements.
//!
//! Pure: all facts about the host are passed in. After this room nothing is optional, and every
//! name exists.

mod asked;
mod baseline;
mod best_effort;
mod calls;
mod chains;
mod confined;
mod copies;
mod counted;
mod counters;
mod crash;
mod error;
mod evasions;
mod events;
mod expand;
mod expected;
mod facts;
mod faults;
mod field_tests;
mod field_wholes;
mod field_words;
mod fields;
mod filter;
mod following;
mod found;
mod here;
mod interrupts;
mod limits;
mod listed;
mod marks;
mod memory;
mod named;
mod native;
mod needs;
mod operations;
mod overwriting;
mod people;
mod probes;
mod recorded;
mod requires;
mod rings;
mod software;
mod source;
mod spans;
mod terms;
mod traced;
mod unreachable;
mod wanted;
mod word;
mod words;

pub use baseline::{Baseline, Delta};
pub use calls::{MOST_CALLS, Reach};
pub use copies::{Copied, Copies, Form, has_copies};
pub use counted::CountedEvent;
pub use counters::{Counters, Counting};
pub use crash::{CrashPlan, watched};
pub use error::EventsError;
pub use evasions::LEGACY_CALLS;
pub use events::{
    EventsPlan, Grouping, Meaning, NOT_OF_TASKS, PlannedEvent, events, events_within,
};
pub use facts::Facts;
pub use faults::{FaultPlan, REFUSED, guards, held, is_guarded, meant};
pub use filter::{FilterError, check as check_filter};
pub use interrupts::{WHY_OF_NOBODY, is_of_nobody};
pub use listed::{ListedEvent, listed};
pub use marks::Marks;
pub use memory::{CallSource, MemoryPlan, MemoryReader, StringSource};
pub use operations::Operations;
pub use people::WorldPlan;
use people::{owners, world};
pub use recorded::RecordWish;
use requires::Unmet;
pub(crate) use requires::of_command;
pub use requires::{Lack, LackOf};
pub use rings::{allowed_ring, default_ring, ring_pages};
pub use software::is_counted_for_two;
pub use source::Unit;
pub use terms::{TermError, call_graph};
pub use traced::{TracedWord, traced};
pub(crate) use unreachable::may_be_meant_otherwise;
pub use wanted::{Wanted, WantedEvent};
pub use words::event_words;

use crate::matching::{Confinement, Expected, SpanRule};
use crate::scenario::{
    Diagnostic, Expect, KeyPath, Last, Positions, SandboxSpec, Scenario, Workload,
};
use crate::trace::View;
use perf_live::host::{Catalogue, HostError};
use perf_live::sandbox::Survivors;
use perf_live::units::{Limits, User};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// All decisions for one run of a scenario.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The label of the row of `matrix`; empty without one.
    pub row: String,
    /// Where the keys of the scenario stand.
    pub positions: Positions,
    /// What is run.
    pub workload: Workload,
    /// The world that it runs in; `None` for the bare host.
    pub world: Option<WorldPlan>,
    /// The owners of files that do not belong to the workload's user.
    pub owners: BTreeMap<PathBuf, User>,
    /// What is recorded.
    pub events: EventsPlan,
    /// Data pages of each CPU's ring that is read while it fills, a power of two.
    pub ring_pages: usize,
    /// How much of a failed run is kept; `None` for nothing.
    pub on_failure: Option<Last>,
    /// Which two events form a span.
    pub spans: Vec<SpanRule>,
    /// What is expected.
    pub expect: Expect,
    /// What is counted without records.
    pub counters: Counters,
    /// What is expected of the events, with its names resolved to those of a trace.
    pub expected: Expected,
    /// What is expected of each section, by the section's name.
    pub sections: BTreeMap<String, Expected>,
    /// What the run is confined to.
    pub confinement: Option<Confinement>,
    /// The calls that are recorded to state what the run did, or which test did it.
    pub stated: BTreeSet<&'static str>,
    /// Where the trace and its sections begin and end.
    pub marks: Marks,
    /// What the snapshot shows; `None` without a snapshot.
    pub view: Option<View>,
    /// What the scenario requires of a machine beside its kernel's version and events, and this one
    /// has, as reports name it.
    pub met: BTreeSet<String>,
    /// What this machine lacks, and what is therefore not judged.
    pub notes: Vec<String>,
    /// Why the run is known to fail; `None` if it is to pass.
    pub expect_failure: Option<String>,
    /// What is done to single calls.
    pub faults: Vec<FaultPlan>,
    /// What is run on the states that a power cut may leave.
    pub crash: Option<CrashPlan>,
    /// The run that it is compared with.
    pub baseline: Option<Baseline>,
    /// Why mutants of its trace may survive.
    pub lenient: Option<String>,
    /// Whether every single event is kept, even if neither expectations nor the snapshot need it.
    pub keeps_all: bool,
    /// Whether the content of every file that it leaves is read, even if nothing is expected of it.
    pub reads_all: bool,
}

impl Plan {
    /// Multiplies the time limits of the run and of its baseline, for a machine that is slower than
    /// the author's.
    #[must_use]
    pub fn with_patience(mut self, times: u32) -> Self {
        self.workload.timeout = self.workload.timeout.saturating_mul(times);
        if let Some(baseline) = self.baseline.take() {
            let plan = Box::new(baseline.plan.with_patience(times));
            self.baseline = Some(Baseline { plan, ..baseline });
        }
        if let Some(crash) = self.crash.take() {
            let recovers = Box::new(crash.recovers.with_patience(times));
            self.crash = Some(CrashPlan { recovers, ..crash });
        }
        self
    }

    /// Whether every single event of the run is needed, rather than only their numbers.
    #[must_use]
    pub fn keeps_order(&self) -> bool {
        self.keeps_all
            || self.view.as_ref().is_some_and(View::keeps_order)
            || self.expected.takes_deeds()
            || self.confinement.is_some()
            || !self.marks.is_empty()
            || !self.spans.is_empty()
            || !self.faults.is_empty()
            || self
                .baseline
                .as_ref()
                .is_some_and(|base| base.plan.keeps_order())
    }

    /// Whether a process that outlives the main one is a leak.
    #[must_use]
    pub fn forbids_survivors(&self) -> bool {
        let world = self.world.as_ref();
        world.map_or_else(Survivors::default, |world| world.spec.survivors) == Survivors::Forbidden
    }

    /// Returns the limits of the run, but for its time.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.world
            .as_ref()
            .map_or(Limits::NONE, |world| world.spec.limits)
    }
}

/// A scenario resolved on this host.
#[derive(Debug)]
pub enum Resolved {
    /// It can run.
    Plan(Box<Plan>),
    /// It is skipped: these requirements are not met.
    Unmet(Vec<Lack>),
    /// It fails: these requirements are not met (`requires.hard`).
    Refused(Vec<Lack>),
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The scenario names something that does not exist.
    #[error(transparent)]
    Invalid(Box<Diagnostic>),
    /// The host could not be read.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Decides how a scenario is run on this host.
///
/// # Errors
/// [`PlanError::Invalid`] with the place in the file, [`PlanError::Host`].
pub fn resolve(
    scenario: &Scenario,
    facts: &Facts<'_>,
    catalogue: &dyn Catalogue,
) -> Result<Resolved, PlanError> {
    let unmet = Unmet::of(scenario, facts, catalogue)?;
    if !unmet.soft.is_empty() {
        return Ok(Resolved::Unmet(unmet.soft));
    }
    if !unmet.hard.is_empty() {
        return Ok(Resolved::Refused(unmet.hard));
    }
    let mut notes = unmet.best_effort;
    let reduced = match notes.is_empty() {
        true => None,
        false => match best_effort::without(scenario, &unmet.absent, &mut notes) {
            Ok(reduced) => Some(reduced),
            Err(lack) => return Ok(Resolved::Unmet(vec![lack])),
        },
    };
    let scenario = reduced.as_ref().unwrap_or(scenario);
    let world = match &scenario.sandbox {
        SandboxSpec::None => None,
        SandboxSpec::Own(spec) => Some(world(scenario, spec, facts)?),
    };
    limits::check(scenario, facts)?;
    let owners = owners("workload", &scenario.workload, scenario, facts)?;
    let wants = wanted::all(scenario, facts.every_call);
    let contents = scenario.snapshot.keys().map_or(0, |keys| keys.contents);
    let contents = contents.max(scenario.beside.contents);
    let memory = MemoryPlan {
        reader: facts.reader,
        contents,
        ..MemoryPlan::default()
    };
    let mut events = match EventsPlan::asked_for(facts.reach, &wants, memory, catalogue) {
        Ok(events) => events,
        Err(error) => return unplanned(scenario, error),
    };
    let counters = match counters::counters(scenario, facts, catalogue)? {
        Ok(counters) => counters,
        Err(lack) => return Ok(Resolved::Unmet(vec![lack])),
    };
    let (expected, mut needs) = expected::all(scenario, &events, &counters.names, facts)?;
    let confinement = confined::confinement(scenario, &events, &mut needs);
    let memory = with_names(scenario, &events, needs.memory(memory))?;
    if let Err(error) = events.show_calls(&wants, memory, catalogue) {
        return unplanned(scenario, error);
    }
    events.exact_paths = needs.exact();
    events.programs = confined::programs(scenario, confinement.as_ref());
    events.functions = std::mem::take(&mut needs.functions);
    notes.extend(events.of_nobody());
    notes.extend(native::of_32_alone(scenario));
    overwriting::choose(scenario, facts, &mut events)?;
    faults::check_kept(scenario, &events)?;
    let user = world.as_ref().and_then(|world| world.user.as_ref());
    if user.is_some_and(|user| user.uid != 0) {
        let followed = events.follow_members(catalogue);
        followed.map_err(|error| placed(scenario, error))?;
    }
    let mut view = named::view(scenario, &events)?;
    if let Some(view) = &mut view {
        view.hidden.extend(expected.marks.hidden.iter().cloned());
    }
    // With `expect_failure`, only the expectations are judged.
    let compared = view.as_ref().filter(|_| scenario.expect_failure.is_none());
    let (marks, spans) = (&expected.marks, &expected.spans);
    overwriting::check(scenario, &events, marks, spans, compared)?;
    let lack = compared.and_then(|view| memory::unread(&events, view, facts.without_bpf));
    let lack = lack.or_else(|| needs.unmet(&events, facts.without_bpf));
    let lack = lack.or_else(|| calls::unseen(&events, &expected.names(), compared));
    if let Some(lack) = lack {
        return Ok(Resolved::Unmet(vec![lack]));
    }
    let mut plan = Plan {
        row: scenario.label(),
        positions: Positions::of(scenario),
        workload: scenario.workload.clone(),
        world,
        owners,
        ring_pages: rings::of(scenario, facts),
        on_failure: overwriting::last(scenario, &events),
        view,
        events,
        spans: expected.spans,
        expect: scenario.expect.clone(),
        counters,
        expected: expected.run,
        sections: expected.sections,
        confinement,
        stated: scenario.beside.calls.clone(),
        marks: expected.marks,
        met: requires::met(scenario, facts),
        notes,
        expect_failure: scenario.expect_failure.clone(),
        faults: expected.faults,
        crash: None,
        baseline: None,
        lenient: scenario.lenient.clone(),
        keeps_all: false,
        reads_all: false,
    };
    plan.baseline = baseline::baseline(scenario, facts, &plan, expected.delta)?;
    plan.crash = crash::crash(scenario, facts, &plan, catalogue)?;
    Ok(Resolved::Plan(Box::new(plan)))
}

/// Adds the names of files to what is followed, if the snapshot shows paths.
fn with_names(
    scenario: &Scenario,
    events: &EventsPlan,
    memory: MemoryPlan,
) -> Result<MemoryPlan, PlanError> {
    let shown = named::view(scenario, events)?;
    let names = memory.names || shown.is_some_and(|view| events.shows_paths(&view));
    Ok(MemoryPlan { names, ..memory })
}

fn invalid(diagnostic: Diagnostic) -> PlanError {
    PlanError::Invalid(Box::new(diagnostic))
}

/// Returns what the machine lacks for the events, or what is wrong with them.
fn unplanned(scenario: &Scenario, error: EventsError) -> Result<Resolved, PlanError> {
    match error.lacks() {
        Some(lack) => Ok(Resolved::Unmet(vec![lack])),
        None => Err(placed(scenario, error)),
    }
}

/// Places a complaint about events in the file.
fn placed(scenario: &Scenario, error: EventsError) -> PlanError {
    let event = |at: usize| KeyPath::root().key("trace").key("events").index(at);
    let message = perf_live::errors::chain(&error);
    let path = match &error {
        EventsError::Syscall {
            at: (want, word), ..
        } => event(*want).key("syscalls").index(*word),
        EventsError::Tracepoint { at, .. }
        | EventsError::Operation { at, .. }
        | EventsError::Unknown { at, .. }
        | EventsError::Unsampled { at, .. }
        | EventsError::Untraced { at, .. }
        | EventsError::Cannot { at, .. }
        | EventsError::NoSource { at, .. }
        | EventsError::NoEvent { at, .. }
        | EventsError::NotFiltered { at, .. }
        | EventsError::Terms { at, .. }
        | EventsError::OutOfReach { at, .. } => event(*at).key("event"),
        EventsError::Probe {
            source: HostError::Tracefs(source),
            ..
        } => return HostError::from(source.clone()).into(),
        EventsError::Probe { at, .. }
        | EventsError::SameName { at, .. }
        | EventsError::ProbeWord { at, .. } => event(*at),
        EventsError::Filter { at, .. } => event(*at).key("filter"),
        EventsError::Host(source) => return source.clone().into(),
        EventsError::Shape { .. } | EventsError::TooOften { .. } | EventsError::TooMany => {
            KeyPath::root().key("trace")
        }
    };
    invalid(scenario.complaint(&path, message, error.hint()))
}

#[cfg(test)]
pub(crate) mod tests;
