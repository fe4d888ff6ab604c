//! From the names that an author wrote to the events that are opened.

use super::calls::Reach;
use super::copies::Copies;
use super::error::EventsError;
use super::evasions;
use super::expand::{expand, unknown_tracepoint};
use super::filter;
use super::following;
use super::memory::MemoryPlan;
use super::operations::{self, Operations};
use super::probes;
use super::wanted::Wanted;
use crate::matching::MARKING;
use crate::trace::Naming;
use perf_live::events::EventRequest;
use perf_live::host::{Catalogue, HostError};
use perf_live::units::{Probe, SoftwareEvent};
use perf_records::attr::{Modes, SampleType, Sampling, Source};
use perf_records::format::Format;
use perf_records::units::TracepointName;
use std::collections::BTreeSet;
use std::sync::Arc;
use syscall_model::Call;
use syscall_model::files::Watched;
use syscall_model::memory::Fetches;
use syscall_model::names::Abi;
use syscall_model::select::Selection;
use syscall_model::uring;

/// What the records of an opened event are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The entering halves of calls.
    Enter {
        /// Where the number is in the raw record: an `int`.
        id: usize,
        /// Where the first argument is, eight bytes each.
        args: usize,
        /// How many arguments the record has.
        n_args: usize,
        /// What the kernel copied for the call: a place in [`EventsPlan::copies`].
        copies: Option<usize>,
    },
    /// The leaving halves.
    Leave {
        /// Where the number is in the raw record: an `int`.
        id: usize,
        /// Where the return value is.
        ret: usize,
    },
    /// The event at this place of [`EventsPlan::named`].
    Event(usize),
    /// What the kernel copied for the call at this place of [`EventsPlan::copies`].
    Copies(usize),
    /// A seccomp filter refuses a call by `SIGSYS`.
    Refusal,
    /// A task of the workload moves a task to another control group: what is counted for the group
    /// no longer sees it.
    LeavesGroup,
    /// A task of the machine moves a task to a control group: where that is the workload's, it
    /// comes from where no event saw it.
    JoinsGroup {
        /// Where in the raw record the place of the group's path is: a `__data_loc`.
        path: usize,
    },
    /// A call by the page for the oldest programs.
    LegacyCall {
        /// Where in the raw record its number is, which is one of
        /// [`LEGACY_CALLS`](super::LEGACY_CALLS).
        number: usize,
    },
}

/// Whether tracepoints are to be counted for a control group around the workload, instead of being
/// inherited from task to task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// They are few: inherited.
    No,
    /// They are many: inherited they would be as complete, and slower with every fork.
    Faster,
    /// One of them is not delivered to the events of a task by every kernel.
    Needed,
    /// The workload is not root's, and may execute set-user-ID programs, which the events of a task
    /// do not survive: all of them are counted for the group, where the host can.
    Members,
}

/// An event of the plan that is no call.
#[derive(Clone, Debug)]
pub struct PlannedEvent {
    /// `system:name`.
    pub name: Arc<str>,
    /// How its raw records are read; `None` for an event that has none.
    pub format: Option<Arc<Format>>,
    /// What events they are.
    pub naming: Naming,
    /// What they come from, where that is an event only while somebody wants it to be.
    pub probe: Option<Arc<Probe>>,
}

/// Which events are opened, and what becomes of their records.
#[derive(Clone, Debug)]
pub struct EventsPlan {
    /// The events, in the order in which they are opened.
    pub requests: Vec<EventRequest>,
    /// What each of them is.
    pub meanings: Vec<Meaning>,
    /// The calls that are wanted; more are recorded, as following the tasks takes those that create
    /// and replace them.
    pub selection: Option<Selection>,
    /// All calls that are recorded.
    pub recorded: Selection,
    /// The events that are wanted besides calls.
    pub named: Vec<PlannedEvent>,
    /// What is seen of submissions to io_uring.
    pub operations: Operations,
    /// How they are counted.
    pub grouping: Grouping,
    /// What following the descriptors can rely on.
    pub watched: Watched,
    /// What is read of the calls' memory.
    pub memory: MemoryPlan,
    /// Whether every call is recorded that following mappings takes.
    pub maps: bool,
    /// What a program reads from memory, for each call that is recorded.
    pub fetches: Arc<Fetches>,
    /// What the kernel copies from memory by itself, where no program reads it.
    pub copies: Vec<Copies>,
    /// Whether what a dynamic loader does to start a program is told apart.
    pub starts: bool,
    /// Whether it is told when a thread comes onto a CPU.
    pub turns: bool,
    /// How far the right to trace goes that it was made for.
    pub reach: Reach,
    /// Of which calls the call chain is wanted.
    pub chained: Option<Selection>,
    /// Calls that are not seen, as this kernel has no tracepoint for them: where each call has its
    /// own, it does not have these calls.
    pub without_tracepoint: Vec<&'static str>,
    /// Calls whose own tracepoints are wanted, which show native calls alone.
    pub named_calls: Option<Selection>,
    /// The paths that expectations write out: what they lead to when the run begins is meant by
    /// them as well.
    pub exact_paths: Vec<String>,
}

// Inherited events cost at every fork with the square of their number: 10 of them make it 1.6 times
// as slow, 200 of them 48 times.
const INHERITED: usize = 6;

// do_exit() of Linux 6.1 to 6.12 leaves the task's events before this tracepoint: a task never
// delivers it, and no counter tells. A control group does on every kernel.
/// The tracepoint that only a control group delivers on every kernel.
pub const NOT_OF_TASKS: &str = "sched:sched_process_exit";

/// Decides which events to open. Nothing wanted means all system calls.
///
/// # Errors
/// [`EventsError`], for the first want that cannot be.
pub fn events(wants: &[Wanted], catalogue: &dyn Catalogue) -> Result<EventsPlan, EventsError> {
    events_within(Reach::Everything, wants, MemoryPlan::default(), catalogue)
}

/// The same for whoever may trace so far, and what of memory is read is said too.
///
/// # Errors
/// As above.
pub fn events_within(
    reach: Reach,
    wants: &[Wanted],
    memory: MemoryPlan,
    catalogue: &dyn Catalogue,
) -> Result<EventsPlan, EventsError> {
    let (selection, recorded, watched) = selections(wants, memory, reach)?;
    let mut plan = EventsPlan {
        requests: Vec::new(),
        meanings: Vec::new(),
        selection,
        recorded: recorded.clone(),
        named: Vec::new(),
        operations: Operations::default(),
        grouping: Grouping::No,
        watched,
        memory,
        maps: following::has_mappings(&recorded),
        fetches: Arc::new(following::fetches(&recorded, memory)),
        copies: Vec::new(),
        starts: wants.contains(&Wanted::Starts),
        turns: wants.contains(&Wanted::Turns),
        reach,
        chained: None,
        without_tracepoint: Vec::new(),
        named_calls: evasions::named_calls(wants),
        exact_paths: Vec::new(),
    };
    plan.add_calls(&recorded, catalogue)?;
    plan.add_refusals(catalogue)?;
    plan.add_chains(wants)?;
    for (at, want) in wants.iter().enumerate() {
        if let Wanted::Event(wanted) = want
            && !operations::is_operation(&wanted.name)
        {
            let filter = wanted.filter.as_deref();
            let n_before = plan.requests.len();
            let probe = match &wanted.probe {
                Some(probe) => Some(probe.clone()),
                None => probes::stands_for(&wanted.name, catalogue)?,
            };
            if let Some(event) = SoftwareEvent::parse(&wanted.name) {
                plan.add_software(at, event, wanted)?;
            } else if let Some(probe) = probe {
                plan.add_probe(at, &probe, filter, catalogue)?;
            } else {
                for name in expand(at, &wanted.name, catalogue)? {
                    plan.add_tracepoint(at, &name, filter, catalogue)?;
                }
            }
            for request in plan.requests.iter_mut().skip(n_before) {
                request.chain = wanted.chain;
            }
        }
    }
    plan.add_operations(wants, catalogue)?;
    plan.watch_legacy(catalogue)?;
    plan.watched.submissions = plan.operations.recorded.len() > usize::from(u8::MAX);
    plan.decide_grouping(catalogue)?;
    Ok(plan)
}

/// All wants for calls as one selection, as if they stood in one list (none where only tracepoints
/// are wanted); and the same with the calls that following tasks and descriptors takes.
fn selections(
    wants: &[Wanted],
    memory: MemoryPlan,
    reach: Reach,
) -> Result<(Option<Selection>, Selection, Watched), EventsError> {
    let mut places = Vec::new();
    let mut words = Vec::new();
    for (at, want) in wants.iter().enumerate() {
        if let Wanted::Syscalls(list) = want {
            places.extend((0..list.len()).map(|word| (at, word)));
            words.extend(list.iter().map(String::as_str));
        }
    }
    let parse = |words: &[&str]| {
        Selection::parse(words, Abi::native()).map_err(|unknown| {
            let at = places.get(unknown.index).copied().unwrap_or_default();
            EventsError::Syscall { at, unknown }
        })
    };
    let is_named = |want: &Wanted| matches!(want, Wanted::Syscalls(_) | Wanted::Event(_));
    let selection = if words.is_empty() && wants.iter().any(is_named) {
        None
    } else {
        Some(parse(&words)?)
    };
    let (beside, watched) = following::beside(selection.as_ref(), memory, reach);
    words.extend(beside);
    // No word at all means every call: then one more would take the others away.
    if !selection.as_ref().is_some_and(Selection::is_everything) {
        words.extend(wants.contains(&Wanted::Starts).then_some("all"));
        if wants.contains(&Wanted::Marks) {
            words.extend(MARKING);
        }
        words.extend(evasions::beside(wants, selection.as_ref()));
    }
    Ok((selection, parse(&words)?, watched))
}

impl EventsPlan {
    /// Whether the author asked for this call; following the tasks records some that nobody asked
    /// for.
    #[must_use]
    pub fn wants(&self, call: &Call) -> bool {
        self.selection
            .as_ref()
            .is_some_and(|selection| selection.has(call))
    }

    /// The names of all that the author asked for, as a trace has them; those of a call's relatives
    /// go without saying.
    #[must_use]
    pub fn names(&self) -> BTreeSet<String> {
        let calls = self.selection.iter().flat_map(Selection::own_names);
        let tracepoints = self.named.iter().filter_map(|it| match &it.naming {
            Naming::Own(name) => Some(name.as_ref().to_owned()),
            Naming::Operations => None,
        });
        let others = tracepoints.chain(self.operation_names());
        calls.map(str::to_owned).chain(others).collect()
    }

    /// Those of the operations of io_uring.
    pub(super) fn operation_names(&self) -> impl Iterator<Item = String> + '_ {
        let operations = self.operations.recorded.iter();
        operations.map(|code| uring::event_name(*code).as_ref().to_owned())
    }

    fn decide_grouping(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        let needed = self.of_group_alone().is_some();
        self.grouping = match self.named.len() + self.copies.len() {
            _ if needed => Grouping::Needed,
            // To count for a group takes the right to follow whole CPUs.
            _ if self.reach.has_own_tracepoints() => Grouping::No,
            0..=INHERITED => Grouping::No,
            _ => Grouping::Faster,
        };
        if self.grouping != Grouping::No {
            self.watch_group(catalogue)?;
        }
        Ok(())
    }

    fn add_tracepoint(
        &mut self,
        at: usize,
        name: &TracepointName,
        filter: Option<&str>,
        catalogue: &dyn Catalogue,
    ) -> Result<(), EventsError> {
        let mut opened = self.requests.iter().zip(&self.meanings);
        if opened.any(|(request, meaning)| {
            matches!(meaning, Meaning::Event(_))
                && request.name == name.as_str()
                && request.filter.as_deref() == filter
        }) {
            return Ok(());
        }
        self.check_reach(at, name)?;
        let format = match catalogue.format(name) {
            Err(HostError::NoTracepoint { .. }) => {
                return Err(unknown_tracepoint(at, name.as_str(), catalogue));
            }
            other => other?,
        };
        if let Some(text) = filter {
            let wrong = |source| EventsError::Filter {
                at,
                name: name.to_string(),
                source,
            };
            filter::check(text, &format).map_err(wrong)?;
        }
        let naming = Naming::Own(name.as_str().into());
        self.open(name.as_str(), &format, filter.map(str::to_owned), naming);
        Ok(())
    }

    pub(super) fn open(
        &mut self,
        name: &str,
        format: &Arc<Format>,
        filter: Option<String>,
        naming: Naming,
    ) {
        let meaning = Meaning::Event(self.named.len());
        self.add(name, format.id, filter, 0, meaning);
        self.named.push(PlannedEvent {
            name: name.into(),
            format: Some(Arc::clone(format)),
            naming,
            probe: None,
        });
    }

    pub(super) fn add(
        &mut self,
        name: &str,
        tracepoint: u16,
        filter: Option<String>,
        user_registers: u64,
        meaning: Meaning,
    ) {
        let is_named = matches!(meaning, Meaning::Event(_));
        let is_copies = matches!(meaning, Meaning::Copies(_));
        self.requests.push(EventRequest {
            name: name.to_owned(),
            source: Source::Tracepoint(tracepoint),
            sampling: Sampling::Period(1),
            extra: if is_named {
                SampleType::PERIOD
            } else {
                SampleType::default()
            },
            filter,
            user_registers,
            exclude_kernel: self.reach.has_own_tracepoints(),
            of_group: is_named || is_copies,
            of_everybody: false,
            overwrites: None,
            chain: None,
            modes: Modes::default(),
        });
        self.meanings.push(meaning);
    }
}
