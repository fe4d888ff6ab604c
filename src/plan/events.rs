//! From the names that an author wrote to the events that are opened.

use super::calls::Reach;
use super::copies::Copies;
use super::error::EventsError;
use super::memory::MemoryPlan;
use super::operations::Operations;
use super::wanted::Wanted;
use crate::trace::Naming;
use perf_live::events::EventRequest;
use perf_live::host::Catalogue;
use perf_live::units::Probe;
use perf_records::attr::{Attr, Chain, SAMPLE_TYPE, SampleType, Source};
use perf_records::format::Format;
use std::collections::BTreeSet;
use std::sync::Arc;
use syscall_model::Call;
use syscall_model::files::Watched;
use syscall_model::memory::Fetches;
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
    /// The place of the want that it was opened for; `None` for submissions to io_uring, which
    /// several may ask for.
    pub want: Option<usize>,
    /// The probe, if the event exists only while the harness has it registered.
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
    /// How the events are counted: for tasks or for a control group.
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
    /// Of which calls the call chain is wanted, and of which kind it is.
    pub chained: Option<(Selection, Chain)>,
    /// Calls that are not seen, as this kernel has no tracepoint for them: where each call has its
    /// own, it does not have these calls.
    pub without_tracepoint: Vec<&'static str>,
    /// Calls whose own tracepoints are wanted, which show native calls alone.
    pub named_calls: Option<Selection>,
    /// The paths that expectations write out: what they lead to when the run begins is meant by
    /// them as well.
    pub exact_paths: Vec<String>,
}

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

/// Plans events as above, for a user who may trace as far as `reach`, and says which memory is
/// read.
///
/// # Errors
/// As above.
pub fn events_within(
    reach: Reach,
    wants: &[Wanted],
    memory: MemoryPlan,
    catalogue: &dyn Catalogue,
) -> Result<EventsPlan, EventsError> {
    let mut plan = EventsPlan::asked_for(reach, wants, memory, catalogue)?;
    plan.show_calls(wants, memory, catalogue)?;
    Ok(plan)
}

impl EventsPlan {
    /// Whether the author asked for this call; to follow tasks, some other calls are recorded too.
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
            want: None,
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
        let mut sample_type = SAMPLE_TYPE;
        if is_named {
            // By how much it moved the counter: most tracepoints count by one, those of scheduler
            // statistics count nanoseconds (`__perf_count()` in `include/trace/events/sched.h`),
            // and only the sum of their periods equals the counter.
            sample_type = sample_type.and(SampleType::PERIOD);
        }
        if user_registers != 0 {
            sample_type = sample_type.and(SampleType::REGS_USER);
        }
        let attr = Attr {
            sample_type,
            user_registers,
            exclude_kernel: self.reach.has_own_tracepoints(),
            ..Attr::recording(Source::Tracepoint(tracepoint))
        };
        self.requests.push(EventRequest {
            filter,
            of_group: is_named || is_copies,
            ..EventRequest::new(name, attr)
        });
        self.meanings.push(meaning);
    }
}
