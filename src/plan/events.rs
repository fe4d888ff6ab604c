//! Decides which events are opened, by the names that an author wrote.

use super::calls::{ENTER, LEAVE, Reach, registers_of};
use super::copies::Copies;
use super::error::EventsError;
use super::memory::MemoryPlan;
use super::operations::Operations;
use super::wanted::Wanted;
use crate::scenario::Test;
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

/// The meaning of an opened event's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The entering halves of calls.
    Enter {
        /// The offset of the call's number in the raw record: an `int`.
        id: usize,
        /// The offset of the first argument; each has eight bytes.
        args: usize,
        /// How many arguments the record has.
        n_args: usize,
        /// What the kernel copied for the call: a place in [`EventsPlan::copies`].
        copies: Option<usize>,
    },
    /// The leaving halves.
    Leave {
        /// The offset of the call's number in the raw record: an `int`.
        id: usize,
        /// The offset of the return value.
        ret: usize,
    },
    /// The event at this place of [`EventsPlan::named`].
    Event(usize),
    /// The entries of a function whose returns are those of an event.
    Entries {
        /// The event's place in [`EventsPlan::named`].
        place: usize,
        /// The offset of the function's address in the raw record.
        function: usize,
        /// The offset of the address that it returns to.
        caller: usize,
    },
    /// What the kernel copied for the call at this place of [`EventsPlan::copies`].
    Copies(usize),
    /// A seccomp filter refuses a call by `SIGSYS`.
    Refusal,
    /// A task of the workload moves a task to another control group, where the group's counters no
    /// longer see it.
    LeavesGroup,
    /// A task of the machine moves a task to a control group: if that is the workload's, the task
    /// comes from where no event saw it.
    JoinsGroup {
        /// The offset of the path's `__data_loc` in the raw record.
        path: usize,
    },
    /// A call through the vsyscall page.
    LegacyCall {
        /// The offset of its number in the raw record, which is one of
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
    /// They are many: they could be inherited and lose nothing, but every fork would be slower.
    Faster,
    /// One of them is not delivered to the events of a task by every kernel.
    Needed,
    /// The workload does not run as root and may execute set-user-ID programs, which end the events
    /// of a task: all events are counted for the group, if the host can do that.
    Members,
}

/// An event of the plan that is no call.
#[derive(Clone, Debug)]
pub struct PlannedEvent {
    /// `system:name`.
    pub name: Arc<str>,
    /// How its raw records are read; `None` for an event that has none.
    pub format: Option<Arc<Format>>,
    /// The kind of names that the event has in a trace.
    pub naming: Naming,
    /// The place of the want that it was opened for; `None` for submissions to io_uring, which
    /// serve several wants.
    pub want: Option<usize>,
    /// The places of further wants that it serves.
    pub others: Vec<usize>,
    /// The filters of these wants, where each has one.
    pub filters: BTreeSet<String>,
    /// The probe, if the event exists only while the harness has it registered.
    pub probe: Option<Arc<Probe>>,
}

/// Which events are opened, and what becomes of their records.
#[derive(Clone, Debug)]
pub struct EventsPlan {
    /// The events, in the order in which they are opened.
    pub requests: Vec<EventRequest>,
    /// The meaning of each request's records, in the same order.
    pub meanings: Vec<Meaning>,
    /// The calls that the author asked for.
    pub asked: Option<Selection>,
    /// The calls that are wanted: these, and those that tell what the run is confined to. More are
    /// recorded: to follow tasks takes the calls that create
    /// and replace them.
    pub selection: Option<Selection>,
    /// All calls that are recorded.
    pub recorded: Selection,
    /// The events that are wanted besides calls.
    pub named: Vec<PlannedEvent>,
    /// The operations of io_uring that are recorded.
    pub operations: Operations,
    /// How the events are counted: for tasks or for a control group.
    pub grouping: Grouping,
    /// What following the descriptors can rely on.
    pub watched: Watched,
    /// What is read of the calls' memory.
    pub memory: MemoryPlan,
    /// Whether every call is recorded by which mappings are followed.
    pub maps: bool,
    /// The memory that BPF programs read, for each recorded call.
    pub fetches: Arc<Fetches>,
    /// The memory that the kernel copies by itself, if no BPF program reads it.
    pub copies: Vec<Copies>,
    /// Whether the calls by which a dynamic loader starts a program are told from others.
    pub starts: bool,
    /// Whether every call is recorded, and told with the words of its arguments, for what the run
    /// needs of the kernel.
    pub every: bool,
    /// Whether each thread's coming onto a CPU is recorded.
    pub turns: bool,
    /// How far the right to trace goes that it was made for.
    pub reach: Reach,
    /// The calls whose call chain is wanted, and the kind of it.
    pub chained: Option<(Selection, Chain)>,
    /// Calls that are not seen, as this kernel has no tracepoint for them. If each call is recorded
    /// by its own tracepoints, such a call is not in this kernel.
    pub without_tracepoint: Vec<&'static str>,
    /// Calls whose own tracepoints are wanted, or that are counted: both show native calls alone.
    pub named_calls: Option<Selection>,
    /// Those of them whose entry is wanted, which a call does not have that is answered in place of
    /// being made.
    pub entered_calls: Option<Selection>,
    /// The functions, each by the test of its name, that expectations say led to an event.
    pub functions: Vec<Test>,
    /// The paths that expectations write out; they also stand for the files that they lead to when
    /// the run begins.
    pub exact_paths: Vec<String>,
    /// By which names programs may be executed, where what the kernel executes beside them is
    /// asked for: paths, and folders (with a slash behind them) whose files may be.
    pub programs: Option<Vec<String>>,
}

// do_exit() of Linux 6.1 to 6.12 drops the task's events before this tracepoint: a task's event
// never gets it, and no counter tells. A control group's event does on every kernel.
/// The tracepoint that only a control group delivers on every kernel.
pub const NOT_OF_TASKS: &str = "sched:sched_process_exit";

/// Decides which events to open. An empty list means all system calls.
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

    /// Returns the names of all that the author asked for, as a trace shows them, without the
    /// relatives of calls.
    #[must_use]
    pub fn names(&self) -> BTreeSet<String> {
        let calls = self.asked.iter().flat_map(Selection::own_names);
        let tracepoints = self.named.iter().filter_map(|it| match &it.naming {
            Naming::Own(name) => Some(name.as_ref().to_owned()),
            Naming::Operations => None,
        });
        let others = tracepoints.chain(self.operation_names());
        calls.map(str::to_owned).chain(others).collect()
    }

    /// Returns the names of the wanted calls that the author did not ask for, relatives included.
    #[must_use]
    pub fn hidden(&self) -> BTreeSet<String> {
        let asked: BTreeSet<_> = self.asked.iter().flat_map(Selection::all_names).collect();
        // A call that stands for many has its own name where it is not seen which it is.
        let whole = |name: &'static str| name.split_once('.').map(|(call, _)| call);
        let is_asked = |name: &&str| {
            let mut asked_whole = asked.iter().filter_map(|asked| whole(asked));
            asked.contains(name) || asked_whole.any(|asked| asked == *name)
        };
        let all = self.selection.iter().flat_map(Selection::all_names);
        let all = all.flat_map(|name| [Some(name), whole(name)]).flatten();
        all.filter(|name| !is_asked(name))
            .map(str::to_owned)
            .collect()
    }

    /// Returns the names of the operations of io_uring.
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
        self.add(name, format.id, filter, meaning);
        self.named.push(PlannedEvent {
            name: name.into(),
            format: Some(Arc::clone(format)),
            naming,
            want: None,
            others: Vec::new(),
            filters: BTreeSet::new(),
            probe: None,
        });
    }

    pub(super) fn add(
        &mut self,
        name: &str,
        tracepoint: u16,
        filter: Option<String>,
        meaning: Meaning,
    ) {
        let is_named = matches!(meaning, Meaning::Event(_));
        let is_copies = matches!(meaning, Meaning::Copies(_));
        let mut sample_type = SAMPLE_TYPE;
        if is_named {
            // The period says by how much the event moved the counter. Most tracepoints count by
            // one, those of scheduler statistics by nanoseconds (`__perf_count()` in
            // `include/trace/events/sched.h`), and only the sum of periods equals the counter.
            sample_type = sample_type.and(SampleType::PERIOD);
        }
        let attr = Attr {
            sample_type,
            exclude_kernel: self.reach.has_own_tracepoints(),
            ..Attr::recording(Source::Tracepoint(tracepoint))
        };
        // Where single calls are named they are told without a convention.
        let user_registers = match name {
            ENTER | LEAVE if is_named => 0,
            _ => registers_of(name),
        };
        let attr = attr.with_user_registers(user_registers);
        self.requests.push(EventRequest {
            filter,
            of_group: is_named || is_copies,
            ..EventRequest::new(name, attr)
        });
        self.meanings.push(meaning);
    }
}
