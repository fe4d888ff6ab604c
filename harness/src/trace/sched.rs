//! `--sched`: for each thread, how long it was on a CPU and off, why, and which task woke it.
//!
//! A thread leaves its CPU with `sched:sched_switch`, which says in which state. It comes back with
//! a record of its own (`PERF_RECORD_SWITCH`): the tracepoint belongs to the thread that leaves,
//! and only the workload's threads are recorded. Between the two it sleeps until
//! `sched:sched_waking`, which fires in the task that wakes it, and then waits for a CPU.
//! `sched:sched_wakeup` fires when it is put on a CPU, perhaps by an interrupt there, which belongs
//! to no task (`ttwu_queue_wakelist()`, `kernel/sched/core.c`): it names no waker.

use super::options::Format;
use perf_records::units::{Cpu, Nanos, shown};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use syscall_model::{Actor, Observation, ThreadId};
use trace_harness::plan::{Wanted, WantedEvent};
use trace_harness::report::{OnCpu, object_line};
use trace_harness::run::{Fired, Turn};
use trace_harness::trace::{FieldValue, TracedEvent};

const SWITCH: &str = "sched:sched_switch";
const WAKING: &str = "sched:sched_waking";
const WAKEUP: &str = "sched:sched_wakeup";
const WAKEUP_NEW: &str = "sched:sched_wakeup_new";

/// Returns what is recorded for it.
pub(super) fn wants() -> impl Iterator<Item = Wanted> {
    let events = [SWITCH, WAKING, WAKEUP, WAKEUP_NEW].map(|name| {
        Wanted::Event(WantedEvent {
            name: name.to_owned(),
            ..WantedEvent::default()
        })
    });
    events.into_iter().chain([Wanted::Turns])
}

/// The switches and wakings of a run's threads.
#[derive(Debug, Default)]
pub(super) struct View {
    threads: BTreeMap<ThreadId, Thread>,
    /// The living threads by the ids in perf's records; the next field has them by the ids in
    /// tracepoints, which may differ.
    by_tid: HashMap<u32, ThreadId>,
    by_global: HashMap<i32, ThreadId>,
    /// The times on CPUs, if they are wanted one by one, until they are taken.
    pub(super) stretches: Option<Vec<OnCpu>>,
}

#[derive(Debug, Default)]
struct Thread {
    comm: String,
    pid: u32,
    tid: u32,
    on_cpu: u64,
    runnable: u64,
    sleeping: u64,
    uninterruptible: u64,
    stopped: u64,
    longest: u64,
    preempted: u64,
    slept: u64,
    waited: u64,
    stops: u64,
    woken_by: BTreeMap<Waker, u64>,
    /// How often it came back without a waking that was seen.
    unseen: u64,
    /// How often it left a CPU without a record of its coming.
    untold: u64,
    /// The time since which it is on a CPU.
    on: Option<u64>,
    /// The time since which it is off, and why.
    out: Option<(u64, Why)>,
    /// The time at which it was woken since then.
    woken: Option<u64>,
}

/// The task that was running when a thread was woken.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waker {
    tid: u32,
    comm: String,
    /// Whether an interrupt woke it, due to the running task (a packet to the machine itself) or
    /// not (a timer).
    by_interrupt: bool,
}

/// Why a thread is off its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// It could run.
    Runnable,
    /// TASK_INTERRUPTIBLE.
    Sleeps,
    /// TASK_UNINTERRUPTIBLE, TASK_IDLE too.
    Waits,
    /// __TASK_STOPPED, __TASK_TRACED.
    Stopped,
}

impl Why {
    /// Reads the field `prev_state`: `TASK_REPORT` of include/linux/sched.h, and a bit above these
    /// for a task that was taken off while it could run.
    fn of(state: i128) -> Self {
        match state & 0xff {
            0 => Self::Runnable,
            state if state & 0b1 != 0 => Self::Sleeps,
            state if state & 0b1100 != 0 => Self::Stopped,
            _ => Self::Waits,
        }
    }
}

impl View {
    /// One for a trace of this form: a time line has each time on a CPU.
    pub(super) fn of(format: Format) -> Self {
        Self {
            stretches: (format == Format::Perfetto).then(Vec::new),
            ..Self::default()
        }
    }

    /// Takes the births and ends of threads.
    pub(super) fn observe(&mut self, observation: &Observation) {
        match *observation {
            Observation::Born { child, .. } => {
                self.by_tid.insert(child.tid.0, child.thread);
                let thread = self.threads.entry(child.thread).or_default();
                (thread.pid, thread.tid) = (child.pid.0, child.tid.0);
                thread.is_called(&child);
            }
            Observation::Executed(actor) => {
                self.by_tid.insert(actor.tid.0, actor.thread);
                if let Some(thread) = self.threads.get_mut(&actor.thread) {
                    thread.tid = actor.tid.0;
                    thread.is_called(&actor);
                }
            }
            Observation::Global { thread, id } => {
                self.by_global.insert(id, thread);
            }
            _ => {}
        }
    }

    /// Takes a thread's coming onto a CPU, or its end.
    pub(super) fn turn(&mut self, turn: Turn) {
        let Some(&ended) = self.by_tid.get(&turn.tid.0) else {
            return;
        };
        if let Some(thread) = self.threads.get_mut(&ended) {
            thread.back(turn.time.0);
        }
        if turn.is_end {
            self.stretch(ended, turn.cpu, turn.time);
            // A leader lasts as long as its threads, and is on no CPU any more (do_exit()).
            self.forget(ended, turn.time.0);
        }
    }

    fn forget(&mut self, ended: ThreadId, time: u64) {
        if let Some(thread) = self.threads.get_mut(&ended) {
            thread.leave(time);
        }
        self.by_tid.retain(|_, thread| *thread != ended);
        self.by_global.retain(|_, thread| *thread != ended);
    }

    /// Returns how long a thread was on the CPU that it leaves now.
    fn stretch(&mut self, thread: ThreadId, cpu: Cpu, to: Nanos) {
        let of = self.threads.get(&thread);
        if let (Some(stretches), Some(thread)) = (&mut self.stretches, of)
            && let Some(from) = thread.on
        {
            stretches.push(OnCpu {
                cpu,
                tid: thread.tid,
                comm: thread.comm.clone(),
                from: Nanos(from),
                to,
            });
        }
    }

    /// Takes an event; returns whether it is one of these.
    pub(super) fn event(&mut self, fired: &Fired<'_>, event: &TracedEvent) -> bool {
        let (actor, time) = (fired.actor, fired.time.0);
        let number = |name: &str| {
            let mut fields = event.fields.iter();
            match fields
                .find(|(known, _)| **known == *name)
                .map(|(_, value)| value)
            {
                Some(FieldValue::Number(number)) => *number,
                Some(FieldValue::Task(id)) => (*id).into(),
                _ => 0,
            }
        };
        match &*event.name {
            SWITCH => {
                // A thread that has ended has ended for the account too: what it still does is not
                // recorded in full.
                self.stretch(actor.thread, fired.cpu, fired.time);
                if let Some(thread) = self.named(number("prev_pid")) {
                    thread.is_called(actor);
                    thread.leave(time);
                    thread.is_off(time, Why::of(number("prev_state")));
                }
                if let Some(thread) = self.named(number("next_pid")) {
                    thread.back(time);
                }
            }
            WAKING => {
                let waker = Waker {
                    tid: actor.tid.0,
                    comm: name_of(actor),
                    by_interrupt: is_of_interrupt(fired.sample.raw.unwrap_or_default()),
                };
                if let Some(thread) = self.named(number("pid")) {
                    *thread.woken_by.entry(waker).or_default() += 1;
                    thread.woken.get_or_insert(time);
                }
            }
            WAKEUP => {
                // It was about to sleep, and does not (ttwu_runnable()). A thread that has decided
                // to sleep is woken before it is off, and put on a CPU then.
                if let Some(thread) = self.named(number("pid"))
                    && thread.out.is_none()
                {
                    thread.woken = None;
                }
            }
            WAKEUP_NEW => {
                // The thread has never run: it waits for its first CPU, and was not woken.
                if let Some(thread) = self.named(number("pid"))
                    && thread.on.is_none()
                {
                    thread.out = Some((time, Why::Runnable));
                }
            }
            _ => return false,
        }
        true
    }

    /// A living thread of the run by a tracepoint's field.
    fn named(&mut self, id: i128) -> Option<&mut Thread> {
        let id = i32::try_from(id).ok()?;
        let by_tid = self.by_tid.get(&id.unsigned_abs());
        let by_tid = by_tid.filter(|_| self.by_global.is_empty() && id > 0);
        let thread = self.by_global.get(&id).or(by_tid)?;
        self.threads.get_mut(thread)
    }

    /// Appends the table.
    pub(super) fn text(&self, out: &mut String) {
        let ms = |nanos: u64| format!("{}.{:03}", nanos / 1_000_000, nanos / 1_000 % 1_000);
        out.push_str("\n    thread           on cpu   runnable  sleep (S)   wait (D)    stopped    longest  preempted  sleeps  waits  [ms]\n");
        for thread in self.threads.values() {
            let times = [
                thread.on_cpu,
                thread.runnable,
                thread.sleeping,
                thread.uninterruptible,
                thread.stopped,
                thread.longest,
            ];
            let _always_fits = write!(out, "{:>10} {:<10}", thread.tid, shown(&thread.comm));
            for time in times {
                let _always_fits = write!(out, " {:>10}", ms(time));
            }
            let (preempted, slept, waited) = (thread.preempted, thread.slept, thread.waited);
            let _always_fits = writeln!(out, " {preempted:>10} {slept:>7} {waited:>6}");
            for (waker, times) in &thread.woken_by {
                let (by, of) = match waker.by_interrupt {
                    false => ("by", ""),
                    true => ("by an interrupt of", "'s turn"),
                };
                let (tid, comm) = (waker.tid, shown(&waker.comm));
                let _always_fits =
                    writeln!(out, "{:>10} woken {times} times {by} {tid} {comm}{of}", "");
            }
            for (times, what) in [
                (
                    thread.unseen,
                    "woken unseen, by others or an interrupt of theirs",
                ),
                (
                    thread.untold,
                    "on a CPU since when is not told, which is left out",
                ),
            ] {
                if times > 0 {
                    let _always_fits = writeln!(out, "{:>10} {times} times {what}", "");
                }
            }
        }
    }

    /// Appends a JSON object and a line feed for each thread.
    pub(super) fn json(&self, out: &mut String) {
        for thread in self.threads.values() {
            let numbers = [
                ("on_cpu_ns", thread.on_cpu),
                ("runnable_ns", thread.runnable),
                ("sleeping_ns", thread.sleeping),
                ("uninterruptible_ns", thread.uninterruptible),
                ("stopped_ns", thread.stopped),
                ("longest_wait_ns", thread.longest),
                ("preempted", thread.preempted),
                ("sleeps", thread.slept),
                ("waits", thread.waited),
                ("stops", thread.stops),
                ("woken_unseen", thread.unseen),
                ("untold", thread.untold),
            ];
            object_line(out, "sched", |line| {
                line.put("pid", thread.pid);
                line.put("tid", thread.tid);
                line.put("comm", &thread.comm);
                for (name, number) in numbers {
                    line.put(name, number);
                }
                line.list("woken_by", &thread.woken_by, |object, (waker, times)| {
                    object.put("tid", waker.tid);
                    object.put("comm", &waker.comm);
                    object.put("interrupt", waker.by_interrupt);
                    object.put("times", times);
                });
            });
        }
    }
}

impl Thread {
    fn is_called(&mut self, actor: &Actor) {
        self.comm = name_of(actor);
    }

    /// It is on a CPU since that moment.
    fn back(&mut self, since: u64) {
        if self.on.is_some() {
            return;
        }
        self.on = Some(since);
        let woken = self.woken.take();
        let Some((out, why)) = self.out.take() else {
            return;
        };
        self.longest = self.longest.max(since.saturating_sub(out));
        if why == Why::Runnable {
            self.runnable += since.saturating_sub(out);
            return;
        }
        self.unseen += u64::from(woken.is_none());
        // Without a waking that was seen, all of the time counts as sleep.
        let woken = woken.unwrap_or(since).clamp(out, since.max(out));
        let slept = woken - out;
        match why {
            Why::Sleeps => self.sleeping += slept,
            Why::Waits => self.uninterruptible += slept,
            Why::Stopped => self.stopped += slept,
            Why::Runnable => {}
        }
        self.runnable += since.saturating_sub(woken);
    }

    /// It is on no CPU any more.
    fn leave(&mut self, time: u64) {
        match self.on.take() {
            Some(on) => self.on_cpu += time.saturating_sub(on),
            None => self.untold += 1,
        }
    }

    fn is_off(&mut self, time: u64, why: Why) {
        match why {
            Why::Runnable => self.preempted += 1,
            Why::Sleeps => self.slept += 1,
            Why::Waits => self.waited += 1,
            Why::Stopped => self.stops += 1,
        }
        self.out = Some((time, why));
    }
}

fn name_of(actor: &Actor) -> String {
    String::from_utf8_lossy(actor.comm.as_bytes()).into_owned()
}

/// Whether a tracepoint fired in an interrupt, whatever was running then: TRACE_FLAG_HARDIRQ,
/// _SOFTIRQ or _NMI of `common_flags`, the third byte of every record (`struct trace_entry`,
/// include/linux/trace_events.h).
fn is_of_interrupt(payload: &[u8]) -> bool {
    let flags = payload.get(2).copied().unwrap_or_default();
    flags & (0x08 | 0x10 | 0x40) != 0
}
