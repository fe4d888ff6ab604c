//! What is run on the states that a power cut may leave.

use super::calls::{LEAVE, Reach};
use super::wanted::Wanted;
use super::{
    Counters, EventsError, EventsPlan, Facts, Marks, MemoryPlan, MemoryReader, Plan, PlanError,
    WorldPlan, invalid, placed,
};
use crate::crash::{self, Model, Watched};
use crate::matching::Expected;
use crate::scenario::{KeyPath, Promises, Rings, Scenario};
use perf_live::events::EventRequest;
use perf_live::gate::HeldCalls;
use perf_live::host::Catalogue;
use perf_live::sandbox::Root;
use perf_records::attr::{Attr, Source};
use perf_records::units::TracepointName;
use std::collections::BTreeMap;
use syscall_model::names::{self, Abi};

/// The states of a run's working directory that a power cut may leave, and what is run on each.
#[derive(Clone, Debug)]
pub struct CrashPlan {
    /// What a file system promises.
    pub model: Model,
    /// The folders whose state a power cut may change.
    pub watch: Watched,
    /// What is run on every state.
    pub recovers: Box<Plan>,
    /// Where bytes are promises.
    pub acknowledged: Promises,
    /// Behind the promise with this text the power cuts begin.
    pub since: Option<String>,
    /// At most so many states are tried.
    pub states: usize,
    /// Chooses among more than that.
    pub seed: u64,
    /// What becomes of rings of operations.
    pub rings: Rings,
    /// Counts the ends of a thread's calls that are watched; `None` without the right to that.
    pub ends: Option<EventRequest>,
}

/// Resolves what a scenario says of power cuts.
pub(super) fn crash(
    scenario: &Scenario,
    facts: &Facts<'_>,
    plan: &Plan,
    catalogue: &dyn Catalogue,
) -> Result<Option<CrashPlan>, PlanError> {
    let Some(spec) = &scenario.crash else {
        return Ok(None);
    };
    if plan.events.overwrites_calls() {
        let at = KeyPath::root().key("crash").key_itself();
        let message = "`crash` needs the record of every call, and the ring overwrites them";
        let help = Some("write `ring: { mode: stream }` below `trace`".to_owned());
        return Err(invalid(scenario.complaint(&at, message, help)));
    }
    let own = plan.world.as_ref();
    if own.is_none_or(|world| world.spec.root != Root::ReadOnly) {
        let at = KeyPath::root().key("crash");
        let message = "`crash` needs a sandbox with a root of its own: a recovery would see what \
                       the run left elsewhere, which no power cut has touched";
        let help = Some("leave out `none` and `root: host` at `sandbox`".to_owned());
        let complaint = scenario.complaint(&at.key_itself(), message, help);
        return Err(invalid(complaint));
    }
    let events = events(facts.reach, facts.reader, plan.world.as_ref(), catalogue);
    let events = events.map_err(|error| placed(scenario, error))?;
    let recovers = Plan {
        workload: spec.recovers.clone(),
        owners: BTreeMap::new(),
        events,
        expect: spec.expect.clone(),
        counters: Counters::default(),
        expected: Expected::default(),
        sections: BTreeMap::new(),
        confinement: None,
        marks: Marks::default(),
        spans: Vec::new(),
        view: None,
        notes: Vec::new(),
        on_failure: None,
        expect_failure: None,
        faults: Vec::new(),
        baseline: None,
        ..plan.clone()
    };
    Ok(Some(CrashPlan {
        model: spec.model.clone(),
        watch: spec.watch.clone(),
        recovers: Box::new(recovers),
        acknowledged: spec.acknowledged.clone(),
        since: spec.since.clone(),
        states: spec.states,
        seed: spec.seed,
        rings: spec.io_uring,
        ends: ends(facts.reach, spec.acknowledged.are_sent(), catalogue),
    }))
}

/// What is recorded of a recovery: no call of it is asked for, and its tasks alone are followed.
fn events(
    reach: Reach,
    reader: MemoryReader,
    world: Option<&WorldPlan>,
    catalogue: &dyn Catalogue,
) -> Result<EventsPlan, EventsError> {
    let wants = [Wanted::Syscalls(Vec::new())];
    let memory = MemoryPlan {
        reader,
        ..MemoryPlan::default()
    };
    let mut events = EventsPlan::asked_for(reach, &wants, memory, catalogue)?;
    events.show_calls(&wants, memory, catalogue)?;
    let user = world.and_then(|world| world.user.as_ref());
    if user.is_some_and(|user| user.uid != 0) {
        events.follow_members(catalogue)?;
    }
    Ok(events)
}

impl CrashPlan {
    /// The same for recoveries that run here, where the run itself took place elsewhere.
    ///
    /// # Errors
    /// [`EventsError`].
    pub fn here(
        &self,
        reach: Reach,
        reader: MemoryReader,
        catalogue: &dyn Catalogue,
    ) -> Result<Self, EventsError> {
        let mut plan = self.clone();
        let world = plan.recovers.world.as_ref();
        plan.recovers.events = events(reach, reader, world, catalogue)?;
        Ok(plan)
    }
}

/// What counts how many calls of a thread that are watched have ended.
fn ends(reach: Reach, sends: bool, catalogue: &dyn Catalogue) -> Option<EventRequest> {
    if reach != Reach::Everything {
        return None;
    }
    let format = catalogue.format(&TracepointName::parse(LEAVE)?).ok()?;
    let numbers = recorded(sends)
        .into_iter()
        .filter_map(|name| names::number(Abi::native(), name));
    let terms: Vec<_> = numbers.map(|number| format!("id == {number}")).collect();
    let attr = Attr {
        inherit: false,
        enable_on_exec: false,
        ..Attr::counting(Source::Tracepoint(format.id))
    };
    Some(EventRequest {
        filter: Some(terms.join(" || ")),
        ..EventRequest::new(LEAVE, attr)
    })
}

/// The calls that are held to see what they change, and what they send if promises are sent.
#[must_use]
pub fn watched(sends: bool) -> HeldCalls {
    let mut held = HeldCalls::default();
    let native = Abi::native();
    let x32 = (native == Abi::X86_64).then_some(Abi::X32);
    for abi in [Some(native), native.compat(), x32].into_iter().flatten() {
        for (number, name) in names::all(abi) {
            if crash::is_held(name, sends) || crash::REFUSED.contains(&name) {
                held.hold(abi, number);
            }
        }
    }
    held
}

/// Their names, of those that this kernel's convention has.
pub(super) fn recorded(sends: bool) -> Vec<&'static str> {
    let sending = crash::SENDING.into_iter().filter(|_| sends);
    let all = crash::HELD.into_iter().chain(crash::REFUSED);
    let all = all.chain(sending);
    all.filter(|name| names::number(Abi::native(), name).is_some())
        .collect()
}
