//! `--sched`: of each thread, how long it was on a CPU and how long off, why, and who woke it.

use std::collections::BTreeMap;
use std::fmt::Write;
use trace_harness::plan::{Wanted, WantedEvent};
use trace_harness::report::json_string;
use trace_harness::syscall::Actor;
use trace_harness::trace::{FieldValue, TracedEvent};
use trace_harness::units::Nanos;

const SWITCH: &str = "sched:sched_switch";
const RUNTIME: &str = "sched:sched_stat_runtime";
const WAKEUPS: [&str; 2] = ["sched:sched_wakeup", "sched:sched_wakeup_new"];

/// What is recorded for it.
pub(super) fn wants() -> impl Iterator<Item = Wanted> {
    let names = [SWITCH, RUNTIME].into_iter().chain(WAKEUPS);
    names.map(|name| {
        Wanted::Event(WantedEvent {
            name: name.to_owned(),
            ..WantedEvent::default()
        })
    })
}

/// What the threads of a run did to each other and to the CPUs.
#[derive(Debug, Default)]
pub(super) struct View {
    threads: BTreeMap<i32, Thread>,
}

#[derive(Debug, Default)]
struct Thread {
    comm: String,
    pid: u32,
    on_cpu: u64,
    runnable: u64,
    sleeping: u64,
    uninterruptible: u64,
    longest: u64,
    preempted: u64,
    slept: u64,
    waited: u64,
    /// How often it was woken by whom: the thread's id and its name then.
    woken_by: BTreeMap<(u32, String), u64>,
    /// Since when it is off its CPU, and with which state.
    out: Option<(u64, i128)>,
    /// When it was woken since.
    woken: Option<u64>,
}

// TASK_INTERRUPTIBLE and TASK_UNINTERRUPTIBLE (include/linux/sched.h); the tracepoint has 256 for what is taken off while it could run.
const SLEEPS: i128 = 1;
const WAITS: i128 = 2;

impl View {
    /// Takes an event; gives whether it is one of these.
    pub(super) fn event(&mut self, actor: &Actor, Nanos(time): Nanos, event: &TracedEvent) -> bool {
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
        let comm = || String::from_utf8_lossy(actor.comm.as_bytes()).into_owned();
        match &*event.name {
            SWITCH => {
                let state = number("prev_state") & 0xff;
                let thread = self.thread(number("prev_pid"));
                (thread.comm, thread.pid) = (comm(), actor.pid.0);
                match state {
                    0 => thread.preempted += 1,
                    SLEEPS => thread.slept += 1,
                    WAITS => thread.waited += 1,
                    _ => {}
                }
                (thread.out, thread.woken) = (Some((time, state)), None);
            }
            RUNTIME => {
                let runtime = u64::try_from(number("runtime")).unwrap_or_default();
                let thread = self.thread(number("pid"));
                (thread.comm, thread.pid) = (comm(), actor.pid.0);
                thread.on_cpu = thread.on_cpu.saturating_add(runtime);
                // The first after a switch tells since when it has been on the CPU again.
                thread.back(time.saturating_sub(runtime));
            }
            name if WAKEUPS.contains(&name) => {
                let waker = (actor.tid.0, comm());
                let thread = self.thread(number("pid"));
                *thread.woken_by.entry(waker).or_default() += 1;
                thread.woken = thread.out.is_some().then_some(time);
            }
            _ => return false,
        }
        true
    }

    fn thread(&mut self, id: i128) -> &mut Thread {
        let id = i32::try_from(id).unwrap_or_default();
        self.threads.entry(id).or_default()
    }

    /// The threads of the run: of others only that somebody woke them is known.
    fn own(&self) -> impl Iterator<Item = (&i32, &Thread)> {
        self.threads.iter().filter(|(_, thread)| thread.pid > 0)
    }

    /// Appends the table.
    pub(super) fn text(&self, out: &mut String) {
        let ms = |nanos: u64| format!("{}.{:03}", nanos / 1_000_000, nanos / 1_000 % 1_000);
        out.push_str(
            "\n    thread           on cpu   runnable      sleep       disk    longest  preempted  sleeps  waits  [ms]\n",
        );
        for (id, thread) in self.own() {
            let times = [
                thread.on_cpu,
                thread.runnable,
                thread.sleeping,
                thread.uninterruptible,
                thread.longest,
            ];
            let _always_fits = write!(out, "{id:>10} {:<10}", thread.comm);
            for time in times {
                let _always_fits = write!(out, " {:>10}", ms(time));
            }
            let (preempted, slept, waited) = (thread.preempted, thread.slept, thread.waited);
            let _always_fits = writeln!(out, " {preempted:>10} {slept:>7} {waited:>6}");
            for ((by, comm), times) in &thread.woken_by {
                let _always_fits = writeln!(out, "{:>10} woken {times} times by {by} {comm}", "");
            }
        }
    }

    /// Appends a JSON object and a line feed for each thread.
    pub(super) fn json(&self, out: &mut String) {
        for (id, thread) in self.own() {
            let _always_fits = write!(
                out,
                "{{\"type\":\"sched\",\"pid\":{},\"tid\":{id},\"comm\":",
                thread.pid
            );
            json_string(out, &thread.comm);
            let numbers = [
                ("on_cpu_ns", thread.on_cpu),
                ("runnable_ns", thread.runnable),
                ("sleeping_ns", thread.sleeping),
                ("uninterruptible_ns", thread.uninterruptible),
                ("longest_wait_ns", thread.longest),
                ("preempted", thread.preempted),
                ("sleeps", thread.slept),
                ("waits", thread.waited),
            ];
            for (name, number) in numbers {
                let _always_fits = write!(out, ",\"{name}\":{number}");
            }
            out.push_str(",\"woken_by\":[");
            for (place, ((tid, comm), times)) in thread.woken_by.iter().enumerate() {
                let comma = if place > 0 { "," } else { "" };
                let _always_fits = write!(out, "{comma}{{\"tid\":{tid},\"comm\":");
                json_string(out, comm);
                let _always_fits = write!(out, ",\"times\":{times}}}");
            }
            out.push_str("]}\n");
        }
    }
}

impl Thread {
    /// It is on a CPU again since that moment.
    fn back(&mut self, since: u64) {
        let Some((out, state)) = self.out.take() else {
            return;
        };
        // Where nobody was seen to wake it (a timer, an interrupt, another's doing), all of the time counts as waiting.
        let woken = match state {
            SLEEPS | WAITS => self.woken.take().unwrap_or(since),
            _ => out,
        };
        let blocked = woken.saturating_sub(out);
        match state {
            SLEEPS => self.sleeping += blocked,
            WAITS => self.uninterruptible += blocked,
            _ => {}
        }
        self.runnable += since.saturating_sub(woken);
        self.longest = self.longest.max(since.saturating_sub(out));
    }
}
