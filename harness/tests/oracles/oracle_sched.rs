//! `trace --sched` against perf, which records the same run at the same time: all tasks, on all
//! CPUs.
//!
//! Of its own records the harness must have made what perf's reading of them comes to, to the
//! nanosecond. What a thread did by perf's own records is the same in number, state and waker; its
//! times are other readings of the clock at the same moments, so that there what is compared is
//! that each time off a CPU overlaps with its counterpart and no other.

use super::support::command::Place;
use super::support::harness::PATH;
use super::support::perf;
use super::support::require::{self, require};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The first letter of `prev_state`, as perf prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    Runnable,
    Sleeps,
    Waits,
    Stopped,
}

/// A time off a CPU.
#[derive(Clone, Copy, Debug)]
struct Off {
    why: Why,
    out: u64,
    /// By a thread of the run.
    woken: Option<u64>,
    back: u64,
}

#[derive(Debug, Default)]
struct Thread {
    on: Option<u64>,
    out: Option<(u64, Why)>,
    woken: Option<u64>,
    end: Option<u64>,
    on_cpu: u64,
    left: BTreeMap<Why, u64>,
    off: Vec<Off>,
    woken_by: BTreeMap<u64, u64>,
}

impl Thread {
    fn comes(&mut self, time: u64) {
        if self.end.is_some() || self.on.is_some() {
            return;
        }
        self.on = Some(time);
        let woken = self.woken.take();
        if let Some((out, why)) = self.out.take() {
            self.off.push(Off {
                why,
                out,
                woken,
                back: time,
            });
        }
    }

    fn ends(&mut self, time: u64) {
        self.leaves(time);
        self.end = Some(time);
    }

    fn leaves(&mut self, time: u64) {
        if let Some(on) = self.on.take() {
            self.on_cpu += time - on;
        }
    }

    fn sum(&self, of: impl Fn(&Off) -> u64) -> u64 {
        self.off.iter().map(of).sum()
    }

    /// What of an interval was sleep in this state.
    fn slept(&self, state: Why) -> u64 {
        let in_state = |off: &Off| off.why == state;
        self.sum(|off| match in_state(off) {
            true => off.woken.unwrap_or(off.back).max(off.out) - off.out,
            false => 0,
        })
    }

    fn unseen(&self) -> u64 {
        self.sum(|off| u64::from(off.why != Why::Runnable && off.woken.is_none()))
    }
}

/// The number behind a word of a line.
fn number(line: &str, word: &str) -> u64 {
    let (_, rest) = line.split_once(word).unwrap_or_else(|| panic!("{line}"));
    let end = rest.find(|c: char| !c.is_ascii_digit());
    let number = rest[..end.unwrap_or(rest.len())].parse();
    number.unwrap_or_else(|error| panic!("{error} behind `{word}`: {line}"))
}

/// What perf's records say of these threads, from the exec of each process and the birth of each
/// thread to its end, or to the end that is given.
fn witnessed(
    text: &str,
    threads: &BTreeSet<u64>,
    ends: &BTreeMap<u64, u64>,
) -> BTreeMap<u64, Thread> {
    let mut all: BTreeMap<u64, Thread> = BTreeMap::new();
    for line in text.lines() {
        let (tid, rest) = line.trim_start().split_once(' ').expect("a thread");
        // A task that is dead and reaped has -1, and may be switched out all the same.
        let tid: u64 = tid.parse().unwrap_or_default();
        let (time, rest) = rest.trim_start().split_once(": ").expect("a time");
        let (seconds, nanos) = time.split_once('.').expect("a point");
        let time = number(seconds, "") * 1_000_000_000 + number(nanos, "");
        for (tid, end) in ends.iter().filter(|(_, end)| **end < time) {
            if let Some(thread) = all.get_mut(tid).filter(|thread| thread.end.is_none()) {
                thread.ends(*end);
            }
        }
        let mut words = rest.split_whitespace();
        let event = words.next().expect("an event").trim_end_matches(':');
        match (event, words.next()) {
            ("PERF_RECORD_COMM", Some("exec:")) if threads.contains(&tid) => {
                all.entry(tid).or_default().comes(time);
            }
            ("PERF_RECORD_SWITCH" | "PERF_RECORD_SWITCH_CPU_WIDE", Some("IN")) => {
                if let Some(thread) = all.get_mut(&tid) {
                    thread.comes(time);
                }
            }
            ("sched:sched_wakeup_new", _) => {
                let child = number(rest, " pid=");
                // The first of them is made by the harness, and begins with its exec.
                if threads.contains(&child) && threads.contains(&tid) {
                    all.entry(child).or_default().out = Some((time, Why::Runnable));
                }
            }
            ("sched:sched_switch", _) => {
                let why = rest.split_once("prev_state=").expect("a state").1;
                let why = match why.as_bytes()[0] {
                    b'R' => Why::Runnable,
                    b'S' => Why::Sleeps,
                    b'T' | b't' => Why::Stopped,
                    _ => Why::Waits,
                };
                if let Some(thread) = all.get_mut(&number(rest, "prev_pid="))
                    && thread.end.is_none()
                {
                    thread.leaves(time);
                    thread.out = Some((time, why));
                    *thread.left.entry(why).or_default() += 1;
                }
                if let Some(thread) = all.get_mut(&number(rest, "next_pid=")) {
                    thread.comes(time);
                }
            }
            ("sched:sched_waking", _) if threads.contains(&tid) => {
                if let Some(thread) = all.get_mut(&number(rest, " pid="))
                    && thread.end.is_none()
                {
                    *thread.woken_by.entry(tid).or_default() += 1;
                    thread.woken.get_or_insert(time);
                }
            }
            ("sched:sched_wakeup", _) => {
                if let Some(thread) = all.get_mut(&number(rest, " pid="))
                    && thread.out.is_none()
                {
                    thread.woken = None;
                }
            }
            (exit, _) if exit.starts_with("PERF_RECORD_EXIT(") => {
                if let Some(thread) = all.get_mut(&number(rest, ":")) {
                    thread.ends(time);
                }
            }
            _ => {}
        }
    }
    all
}

/// What the harness says of each thread: numbers by their names, and by whom of the run it was
/// woken how often.
type Said = BTreeMap<u64, (BTreeMap<String, u64>, BTreeMap<u64, u64>)>;

fn said(text: &str) -> Said {
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let threads: Vec<Value> = lines
        .filter(|line: &Value| line["type"] == "sched")
        .collect();
    let tid = |value: &Value| value["tid"].as_u64().expect("a thread");
    let all: BTreeSet<u64> = threads.iter().map(tid).collect();
    let of = |thread: &Value| {
        let members = thread.as_object().expect("an object").iter();
        let numbers = members.filter_map(|(name, value)| Some((name.clone(), value.as_u64()?)));
        let mut woken_by: BTreeMap<u64, u64> = BTreeMap::new();
        for waker in thread["woken_by"].as_array().expect("a list") {
            if all.contains(&tid(waker)) {
                let times = waker["times"].as_u64().expect("a number");
                *woken_by.entry(tid(waker)).or_default() += times;
            }
        }
        (numbers.collect(), woken_by)
    };
    threads
        .iter()
        .map(|thread| (tid(thread), of(thread)))
        .collect()
}

fn check(n_threads: usize, program: &str) {
    require!(require::perf_and_right_to_trace());
    let place = Place::new();
    let (saved, file, script) = (
        place.beside("saved.data"),
        place.beside("said"),
        place.beside("program.py"),
    );
    fs::write(&script, program).expect("a file");
    let command = format!(
        "{PATH} trace --sched -e none --format json --save {} -o {} -- /usr/bin/python3 {}",
        saved.display(),
        file.display(),
        script.display()
    );
    let events = "sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new";
    // Of mappings and BPF programs perf has nothing to say here; of what is gone meanwhile it
    // complains.
    let options = format!(
        "-a -m 4096 -k CLOCK_MONOTONIC --switch-events --synth=task --no-bpf-event -e {events}"
    );
    let (perfs, output) = perf::recorded(&place, &options, &command, false);
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let said = said(&text);
    assert_eq!(said.len(), n_threads, "{text}");
    let threads: BTreeSet<u64> = said.keys().copied().collect();
    let seen = |file, ends: &BTreeMap<u64, u64>| {
        let script = ["script", "--ns", "--show-task-events"];
        let fields = ["-F", "trace:tid,time,event,trace"];
        let others = ["--show-switch-events", "-F", "sw:tid,time,event"];
        let words = [&script[..], &fields, &others].concat();
        witnessed(&perf::said_of(&words, file), &threads, ends)
    };
    let own = seen(&saved, &BTreeMap::new());
    // A thread's own events end with a PERF_RECORD_EXIT before those of the CPUs have theirs:
    // perf_event_exit_task().
    let ends: BTreeMap<u64, u64> = own
        .iter()
        .filter_map(|(tid, thread)| Some((*tid, thread.end?)))
        .collect();
    let theirs = seen(&perfs, &ends);
    for (tid, (numbers, woken_by)) in &said {
        let (own, theirs) = (&own[tid], &theirs[tid]);
        let number = |name: &str| numbers[name];
        let left = |thread: &Thread, why| thread.left.get(&why).copied().unwrap_or_default();
        for (name, why) in [
            ("preempted", Why::Runnable),
            ("sleeps", Why::Sleeps),
            ("waits", Why::Waits),
            ("stops", Why::Stopped),
        ] {
            assert_eq!(number(name), left(own, why), "{tid} {name}");
            assert_eq!(
                number(name),
                left(theirs, why),
                "{tid} {name}: {own:?} {theirs:?}"
            );
        }
        assert_eq!(*woken_by, own.woken_by, "{tid}");
        assert_eq!(*woken_by, theirs.woken_by, "{tid}");
        assert_eq!(number("untold"), 0, "{tid}");
        let slept = [
            ("sleeping_ns", Why::Sleeps),
            ("uninterruptible_ns", Why::Waits),
            ("stopped_ns", Why::Stopped),
        ];
        for (name, why) in slept {
            assert_eq!(number(name), own.slept(why), "{tid} {name}");
        }
        let slept: u64 = slept.iter().map(|(name, _)| number(name)).sum();
        let off = own.sum(|off| off.back - off.out);
        assert_eq!(number("runnable_ns"), off - slept, "{tid}");
        assert_eq!(number("on_cpu_ns"), own.on_cpu, "{tid}");
        for thread in [own, theirs] {
            assert_eq!(number("woken_unseen"), thread.unseen(), "{tid}: {thread:?}");
        }
        let n_off = (own.off.len(), theirs.off.len());
        assert_eq!(n_off.0, n_off.1, "{tid}: {own:?} {theirs:?}");
        for (own, theirs) in own.off.iter().zip(&theirs.off) {
            assert_eq!(own.why, theirs.why, "{tid}: {own:?} {theirs:?}");
            assert_eq!(own.woken.is_some(), theirs.woken.is_some(), "{tid}");
            assert!(
                own.out < theirs.back && theirs.out < own.back,
                "{tid}: {own:?} {theirs:?}"
            );
        }
    }
}

#[test]
fn threads_that_wake_each_other_are_off_their_cpus_as_perf_has_it() {
    let program = "import os, threading
there, back = os.pipe(), os.pipe()
def answer():
    for _ in range(20): os.write(back[1], os.read(there[0], 1))
thread = threading.Thread(target=answer)
thread.start()
for _ in range(20):
    os.write(there[1], b'x')
    os.read(back[0], 1)
thread.join()
";
    check(2, program);
}

#[test]
fn processes_that_sleep_stop_and_wait_are_off_their_cpus_as_perf_has_it() {
    let program = "import os, signal, time
stopped = os.fork()
if stopped == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
os.waitpid(stopped, os.WUNTRACED)
time.sleep(0.02)
os.kill(stopped, signal.SIGCONT)
os.waitpid(stopped, 0)
if os.fork() == 0:
    os.execv('/bin/sh', ['sh', '-c', 'for i in 1 2 3; do i=$((i + 1)); done'])
for _ in range(200): os.sched_yield()
os.wait()
";
    check(3, program);
}
