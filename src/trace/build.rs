//! Collects observations into a trace.

use super::people::Ids;
use super::ports::Ports;
use super::{Item, Kind, Log, Recorded, Trace, TracedEvent};
use perf_records::space::Stack;
use perf_records::units::Nanos;
use std::collections::HashMap;
use std::sync::Arc;
use syscall_model::kinds::never_returns;
use syscall_model::names::{self, Abi};
use syscall_model::{Actor, Call, Entry, Observation, Outcome, Role, ThreadId};

/// Takes observations in their order.
#[derive(Debug)]
pub struct Builder {
    /// Whether each deed is kept. Otherwise a run of millions of calls takes no more memory than
    /// one of ten.
    keeps_order: bool,
    logs: Vec<Log>,
    place_of: HashMap<ThreadId, usize>,
    open: HashMap<ThreadId, Open>,
    /// The calls of loaders whose programs have not begun yet.
    starts: HashMap<ThreadId, Start>,
    ids: Ids,
    ports: Ports,
    moment: u64,
    /// The latest time of an observation.
    now: Nanos,
    main_id: Option<i32>,
    /// The functions that led to the next observation.
    stack: Option<Arc<Stack>>,
}

/// A call that a thread has entered and not left.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Its place in the thread's log.
    place: usize,
    makes_tasks: bool,
}

/// The calls by which a loader starts a program.
#[derive(Debug, Default)]
struct Start {
    /// The place of the first of them in the thread's log.
    place: usize,
    tally: HashMap<Kind, u64>,
}

impl Builder {
    /// Makes a builder that keeps every deed, or else only the number of each.
    #[must_use]
    pub fn new(keeps_order: bool) -> Self {
        Self {
            keeps_order,
            logs: Vec::new(),
            place_of: HashMap::new(),
            open: HashMap::new(),
            starts: HashMap::new(),
            ids: Ids::default(),
            ports: Ports::default(),
            moment: 0,
            now: Nanos(0),
            main_id: None,
            stack: None,
        }
    }

    /// The id of the main process in its own namespace, which no call of the trace returned.
    pub fn main_process(&mut self, id: i32) {
        self.main_id = Some(id);
    }

    /// Sets the functions that led to the next call or event.
    pub fn led_by(&mut self, stack: Arc<Stack>) {
        self.stack = Some(stack);
    }

    /// Takes an observation; `keep` says whether a call is wanted (the tracker needs more calls
    /// than the author asked for).
    pub fn observe(&mut self, observation: &Observation, keep: impl Fn(&Call) -> bool) {
        self.moment += 1;
        match observation {
            Observation::Born { child, parent, .. } => self.born(child, *parent),
            Observation::Executed(actor) => {
                self.starts.remove(&actor.thread);
                if let Some(log) = self.log(actor.thread) {
                    log.name = String::from_utf8_lossy(actor.comm.as_bytes()).into();
                }
            }
            Observation::Starting(thread, role) => self.starting(*thread, *role),
            Observation::Named { thread, id } => self.ids.name(*id, *thread),
            Observation::Global { thread, id } => self.ids.name_globally(*id, *thread),
            Observation::OutOfSight(_) | Observation::Vanished(_) => {}
            Observation::Entered {
                actor,
                abi,
                number,
                entry,
                ..
            } => {
                if let Entry::Seen { time, .. } = entry {
                    self.now = self.now.max(*time);
                }
                let entered = match entry {
                    Entry::Seen { time, .. } => *time,
                    Entry::Uncorking | Entry::UnderWay { .. } => Nanos(0),
                    Entry::Missing => self.now,
                };
                let (moment, keeps_order) = (self.moment, self.keeps_order);
                let Some(log) = self.log(actor.thread) else {
                    return;
                };
                let open = Open {
                    place: log.slots.len(),
                    makes_tasks: names::makes_tasks(*abi, *number),
                };
                if keeps_order {
                    log.push(moment, entered, None);
                }
                self.open.insert(actor.thread, open);
            }
            Observation::Call(call) => self.fill(call, keep(call)),
            Observation::Gone(thread) => {
                self.open.remove(thread);
                self.starts.remove(thread);
            }
        }
    }

    /// Takes an event that is no call.
    pub fn event(&mut self, thread: ThreadId, time: Nanos, event: TracedEvent) {
        self.moment += 1;
        self.now = self.now.max(time);
        let (moment, keeps_order) = (self.moment, self.keeps_order);
        let kind = Kind::Event(Arc::clone(&event.name));
        let stack = self.stack.take();
        self.count_start(thread, &kind);
        let Some(log) = self.log(thread) else { return };
        *log.tally.entry(kind).or_default() += 1;
        if keeps_order {
            log.push(moment, time, Some(Item::Event(Box::new(event))));
            if let Some(slot) = log.slots.last_mut() {
                slot.stack = stack;
            }
        }
    }

    /// Returns the trace.
    #[must_use]
    pub fn finish(mut self) -> Trace {
        if let (Some(id), Some(main)) = (self.main_id, self.logs.first()) {
            self.ids.name(id, main.thread);
        }
        for log in &mut self.logs {
            log.slots.retain(|slot| slot.item.is_some());
        }
        Trace {
            logs: self.logs,
            ids: self.ids,
            ports: self.ports,
        }
    }

    fn log(&mut self, thread: ThreadId) -> Option<&mut Log> {
        self.logs.get_mut(*self.place_of.get(&thread)?)
    }

    fn born(&mut self, child: &Actor, parent: Option<ThreadId>) {
        self.ids.born(child.tid, child.thread, self.moment);
        let is_leader = child.pid.0 == child.tid.0;
        let maker = parent.and_then(|parent| self.open.get(&parent));
        let is_made = parent.is_none() || maker.is_some_and(|call| call.makes_tasks);
        self.place_of.insert(child.thread, self.logs.len());
        self.logs.push(Log {
            thread: child.thread,
            parent,
            is_leader,
            is_kernels: !is_leader && !is_made,
            name: String::from_utf8_lossy(child.comm.as_bytes()).into(),
            tally: HashMap::new(),
            answered: HashMap::new(),
            slots: Vec::new(),
        });
    }

    /// Leaves out the calls of a loader, from its first on, once the program has made a call.
    fn starting(&mut self, thread: ThreadId, role: Role) {
        let Some(place) = self.open.get(&thread).map(|open| open.place) else {
            return;
        };
        if role == Role::Loads {
            let start = || Start {
                place,
                ..Start::default()
            };
            self.starts.entry(thread).or_insert_with(start);
            return;
        }
        let start = self.starts.remove(&thread);
        let Some((start, log)) = start.zip(self.log(thread)) else {
            return;
        };
        for slot in log.slots.iter_mut().take(place).skip(start.place) {
            slot.item = None;
        }
        for (kind, times) in start.tally {
            if let Some(count) = log.tally.get_mut(&kind) {
                *count = count.saturating_sub(times);
            }
        }
        log.tally.retain(|_, count| *count > 0);
    }

    /// Counts a deed that is left out if it is part of a start.
    fn count_start(&mut self, thread: ThreadId, kind: &Kind) {
        if let Some(start) = self.starts.get_mut(&thread) {
            *start.tally.entry(kind.clone()).or_default() += 1;
        }
    }

    /// Counts a call, and puts it into the place that its entry reserved.
    fn fill(&mut self, call: &Call, keep: bool) {
        let thread = call.actor.thread;
        if let Outcome::Returned { time, .. }
        | Outcome::Restarted { time, .. }
        | Outcome::Interrupted { time, .. }
        | Outcome::Refused { time }
        | Outcome::Untold { time } = call.outcome
        {
            self.now = self.now.max(time);
        }
        let left = left(call, self.now);
        self.ports.take(call, left);
        let stack = self.stack.take();
        let (open, moment) = (self.open.remove(&thread), self.moment);
        if !keep {
            return;
        }
        let kind = Kind::of(call);
        self.count_start(thread, &kind);
        let Some(log) = self.log(thread) else { return };
        if call.is_answered() {
            *log.answered.entry(kind.clone()).or_default() += 1;
        }
        *log.tally.entry(kind).or_default() += 1;
        if let Some(slot) = open.and_then(|open| log.slots.get_mut(open.place)) {
            slot.item = Some(Item::Call {
                call: Box::new(call.clone()),
                moment,
                left: left.max(slot.entered),
            });
            slot.stack = stack;
        }
    }
}

/// The time at which a call ended, if it is known `now`.
fn left(call: &Call, now: Nanos) -> Nanos {
    match (&call.outcome, &call.entry) {
        (
            Outcome::Returned { time, .. }
            | Outcome::Restarted { time, .. }
            | Outcome::Interrupted { time, .. }
            | Outcome::Refused { time }
            | Outcome::Untold { time },
            _,
        ) => *time,
        (Outcome::NeverReturned, Entry::Seen { time, .. })
            if call.name().is_some_and(never_returns) =>
        {
            *time
        }
        (Outcome::NeverReturned | Outcome::Missing, _) => now,
    }
}

impl Trace {
    /// Whether any task made a call of this name, by the native convention.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let number = names::number(Abi::native(), name);
        let kind = number.map(|number| Kind::Call(Abi::native(), number as i32));
        kind.is_some_and(|kind| self.logs.iter().any(|log| log.tally.contains_key(&kind)))
    }
}

impl Log {
    fn push(&mut self, moment: u64, entered: Nanos, item: Option<Item>) {
        self.slots.push(Recorded {
            moment,
            entered,
            program: Arc::clone(&self.name),
            item,
            stack: None,
        });
    }
}
