//! From halves to calls: enter and exit are paired by thread and number, and the tasks are followed
//! through fork, exec and exit.
//!
//! A half that has no other half is labelled as that, and never matched to a wrong one. Five cases
//! are no loss but the way of the kernel, and are known here: the workload's own `execve`, whose
//! entering half came before the events were enabled; the child's side of a fork, which returns
//! from a call that its parent entered; a call refused by seccomp before its tracepoint;
//! `rt_sigreturn` (and any call whose number a tracer replaced), which leaves under the number -1;
//! and a successful exec, which leaves under that of an `execve` in the new program's convention.

use super::call::{Actor, Call, Entry, Observation, Outcome, Shares, ShortName, ThreadId};
use super::files::Files;
use super::injected::Injected;
use super::layout::native_words;
use super::many::as_entered;
use super::names::Abi;
use super::refused::unseen_outcome;
use super::sources::{Remembered, Sources};
use super::thread::{
    Pending, Thread, abandon, leaves_an_exec, makes_tasks, outcome, over, settle, settle_before,
};
use perf_records::record::{Comm, Task};
use perf_records::units::{Hashed, Nanos, Pid, Tid};
use std::collections::HashMap;

/// Follows the tasks of one run and pairs their calls.
#[derive(Debug, Default)]
pub struct Tracker {
    pub(super) threads: Vec<Thread>,
    pub(super) by_tid: HashMap<Tid, usize, Hashed>,
    /// The last task of each id, as an event may follow the record of its thread's end.
    gone: HashMap<Tid, Actor, Hashed>,
    free: Vec<usize>,
    n_threads: u32,
    pub(super) sources: Sources,
    last: Option<(Tid, usize)>,
}

impl Tracker {
    /// A tracker.
    #[must_use]
    pub fn new(sources: Sources) -> Self {
        Self {
            sources,
            ..Self::default()
        }
    }

    /// Returns the task of a thread id; without a fork's record it counts as the workload itself.
    pub fn actor(&mut self, pid: Pid, tid: Tid, out: &mut Vec<Observation>) -> Actor {
        if let Some(gone) = self.gone_actor(tid) {
            return gone;
        }
        let place = self.place(pid, tid, out);
        self.threads[place].actor
    }

    /// The id that a record gives its thread as `common_pid`, told once where it is not the
    /// thread's own.
    pub fn global(&mut self, (pid, tid): (Pid, Tid), id: i32, out: &mut Vec<Observation>) {
        if self.gone_actor(tid).is_some() {
            return;
        }
        let place = self.place(pid, tid, out);
        let thread = &mut self.threads[place];
        if std::mem::replace(&mut thread.global, id) != id {
            out.push(Observation::Global {
                thread: thread.actor.thread,
                id,
            });
        }
    }

    /// The entering half of a call.
    pub fn enter(
        &mut self,
        who: (Pid, Tid),
        time: Nanos,
        abi: Abi,
        number: i32,
        args: [u64; 6],
        out: &mut Vec<Observation>,
    ) {
        self.enter_held(who, time, (abi, number), args, Injected::default(), out);
    }

    /// The same of a call that was held, with what was done to it. One that was answered has no
    /// such half in the records.
    pub fn enter_held(
        &mut self,
        who: (Pid, Tid),
        time: Nanos,
        call: (Abi, i32),
        args: [u64; 6],
        injected: Injected,
        out: &mut Vec<Observation>,
    ) {
        self.begin(who, (time, false), call, (args, injected), out);
    }

    /// A call that a thread was in when recording began, and at `since`: its entering half is in no
    /// record.
    pub fn under_way(
        &mut self,
        who: (Pid, Tid),
        since: Nanos,
        call: (Abi, i32),
        args: [u64; 6],
        out: &mut Vec<Observation>,
    ) {
        let injected = Injected::default();
        self.begin(who, (since, true), call, (args, injected), out);
    }

    fn begin(
        &mut self,
        (pid, tid): (Pid, Tid),
        (time, was_under_way): (Nanos, bool),
        (abi, number): (Abi, i32),
        (args, injected): ([u64; 6], Injected),
        out: &mut Vec<Observation>,
    ) {
        let number = as_entered(abi, number);
        let args = native_words(abi, number, args);
        let place = self.place(pid, tid, out);
        let thread = &mut self.threads[place];
        thread.fresh = false;
        thread.refused = false;
        thread.executing = false;
        let (memory, more) = thread.early(abi, number);
        let pending = Pending {
            abi,
            number,
            time,
            was_under_way,
            args,
            memory,
            more,
            injected,
        };
        settle_before(&pending, thread, out);
        let entered = pending.entered(thread.actor);
        if let Some(unfinished) = thread.pending.replace(pending) {
            let outcome = unfinished.without_end(self.sources.own_tracepoints);
            out.push(over(unfinished.call(thread.actor, outcome)));
        }
        out.push(entered);
    }

    /// The leaving half of a call, of the convention that its registers tell; of one that was seen
    /// to enter that is known.
    pub fn leave(
        &mut self,
        (pid, tid): (Pid, Tid),
        time: Nanos,
        (abi, number): (Abi, i32),
        value: i64,
        out: &mut Vec<Observation>,
    ) {
        let number = as_entered(abi, number);
        let place = self.place(pid, tid, out);
        let thread = &mut self.threads[place];
        let first = std::mem::take(&mut thread.fresh);
        let refused = std::mem::take(&mut thread.refused);
        thread.executing = false;
        settle(thread, out);
        let outcome = outcome(time, value);
        match thread.pending.take() {
            Some(pending) if pending.leaves_as(number, value) => {
                if let Some(child) = thread.child.take()
                    && value > 0
                    && makes_tasks(pending.number)
                {
                    out.push(Observation::Named {
                        thread: child,
                        id: value as i32,
                    });
                }
                let more = pending.more;
                let call = pending.call(thread.actor, outcome);
                let is_open =
                    self.sources.signals && matches!(outcome, Outcome::Interrupted { .. });
                if more || is_open {
                    thread.returned = Some(Box::new(call));
                } else {
                    out.push(over(call));
                }
            }
            None if first && value == 0 && makes_tasks(number) => {}
            unfinished => {
                let actor = thread.actor;
                if let Some(unfinished) = unfinished {
                    let outcome = unfinished.without_end(self.sources.own_tracepoints);
                    out.push(over(unfinished.call(actor, outcome)));
                }
                // For a thread that is first seen in the middle of a run, it is any exec.
                let is_start = first && self.sources.calls == Remembered::All;
                let uncorking = is_start && value == 0 && leaves_an_exec(number);
                let (entry, abi, number) = if uncorking {
                    (Entry::Uncorking, Abi::native(), libc::SYS_execve as i32)
                } else {
                    (Entry::Missing, abi, number)
                };
                let outcome = match uncorking {
                    true => outcome,
                    false => unseen_outcome(self.sources, refused, (time, number, value), outcome),
                };
                let (memory, more) = thread.early(abi, number);
                let call = Call {
                    actor,
                    abi,
                    number,
                    entry,
                    outcome,
                    memory,
                    files: Files::default(),
                    places: Default::default(),
                    injected: Default::default(),
                };
                out.push(Observation::Entered {
                    actor,
                    abi: call.abi,
                    number,
                    entry,
                    is_answered: false,
                });
                if more {
                    thread.returned = Some(Box::new(call));
                } else {
                    out.push(over(call));
                }
            }
        }
    }

    /// Whether a thread was seen to enter a call that it has not left.
    #[must_use]
    pub fn is_in_call(&self, tid: Tid) -> bool {
        let place = self.by_tid.get(&tid);
        let thread = place.and_then(|place| self.threads.get(*place));
        thread.is_some_and(|thread| thread.pending.is_some())
    }

    /// `PERF_RECORD_FORK`.
    pub fn fork(&mut self, task: &Task, out: &mut Vec<Observation>) {
        let parent = self.place(task.parent_pid, task.parent_tid, out);
        let Actor {
            thread: parent_id,
            comm,
            ..
        } = self.threads[parent].actor;
        // The number is in use again: its earlier thread has ended, though no record said so.
        if let Some(stale) = self.by_tid.get(&task.tid).copied() {
            self.end(stale, out);
        }
        let child = self.insert(task.pid, task.tid, comm);
        let actor = self.threads[child].actor;
        self.threads[parent].child = Some(actor.thread);
        let pending = self.threads[parent].pending.as_ref();
        let mut shares = pending.map_or_else(Shares::default, Pending::shares);
        // Threads of one process have one memory (`copy_process()`), and all else by the same
        // flags as processes.
        if task.pid == task.parent_pid {
            shares.memory = Some(true);
        }
        out.push(Observation::Born {
            child: actor,
            parent: Some(parent_id),
            shares,
        });
    }

    /// `PERF_RECORD_COMM`.
    pub fn comm(&mut self, comm: &Comm<'_>, out: &mut Vec<Observation>) {
        let place = self.place(comm.pid, comm.tid, out);
        self.threads[place].actor.comm = ShortName::new(comm.name);
        if comm.exec {
            if self.threads[place].executing {
                // It went on by another exec, and nothing that it did in between was seen.
                out.push(Observation::OutOfSight(self.threads[place].actor));
                abandon(&mut self.threads[place], out);
                self.threads[place].fresh = false;
            }
            self.take_over(place, out);
            self.threads[place].ended = false;
            // Whether it goes on unseen cannot be told where nothing is.
            self.threads[place].executing = self.sources.calls != Remembered::None;
            out.push(Observation::Executed(self.threads[place].actor));
        }
    }

    /// The thread that executes a program right now, by its id.
    #[must_use]
    pub fn executing(&self, tid: Tid) -> Option<ThreadId> {
        let thread = self.threads.get(*self.by_tid.get(&tid)?)?;
        thread.executing.then_some(thread.actor.thread)
    }

    /// The end of all records: whatever is still in a call is so for good.
    pub fn finish(&mut self, out: &mut Vec<Observation>) {
        let mut left: Vec<usize> = self.by_tid.values().copied().collect();
        left.sort_unstable_by_key(|place| self.threads[*place].actor.thread);
        for place in left {
            self.end(place, out);
        }
    }

    /// Returns the last task of an id that is not in use. Not looked up for the thread of the last
    /// record: it lives.
    fn gone_actor(&self, tid: Tid) -> Option<Actor> {
        match self.last {
            Some((known, _)) if known == tid => None,
            _ => self.gone.get(&tid).copied(),
        }
    }

    pub(super) fn place(&mut self, pid: Pid, tid: Tid, out: &mut Vec<Observation>) -> usize {
        if let Some((known, place)) = self.last
            && known == tid
        {
            return place;
        }
        let place = match self.by_tid.get(&tid) {
            Some(place) => *place,
            None => {
                let place = self.insert(pid, tid, ShortName::default());
                out.push(Observation::Born {
                    child: self.threads[place].actor,
                    parent: None,
                    shares: Shares::default(),
                });
                place
            }
        };
        self.last = Some((tid, place));
        place
    }

    fn insert(&mut self, pid: Pid, tid: Tid, comm: ShortName) -> usize {
        let thread = ThreadId(self.n_threads);
        self.n_threads += 1;
        let new = Thread {
            actor: Actor {
                thread,
                pid,
                tid,
                comm,
            },
            pending: None,
            early: None,
            returned: None,
            child: None,
            executing: false,
            global: tid.0 as i32,
            fresh: true,
            refused: false,
            ended: false,
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.threads[place] = new;
                place
            }
            None => {
                self.threads.push(new);
                self.threads.len() - 1
            }
        };
        self.by_tid.insert(tid, place);
        self.gone.remove(&tid);
        place
    }

    pub(super) fn end(&mut self, place: usize, out: &mut Vec<Observation>) {
        abandon(&mut self.threads[place], out);
        let actor @ Actor { thread, tid, .. } = self.threads[place].actor;
        self.by_tid.remove(&tid);
        self.gone.insert(tid, actor);
        self.free.push(place);
        self.last = None;
        out.push(Observation::Gone(thread));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    const WHO: (Pid, Tid) = (Pid(10), Tid(10));

    fn number(name: &str) -> i32 {
        names::number(Abi::native(), name).unwrap() as i32
    }

    #[test]
    fn where_calls_have_tracepoints_of_their_own_no_half_of_rt_sigreturn_is_missed() {
        for (own_tracepoints, outcome) in
            [(true, Outcome::NeverReturned), (false, Outcome::Missing)]
        {
            let (mut tracker, mut out) = (
                Tracker::new(Sources {
                    own_tracepoints,
                    ..Sources::default()
                }),
                Vec::new(),
            );
            for call in ["rt_sigreturn", "read"] {
                let native = Abi::native();
                tracker.enter(WHO, Nanos(1), native, number(call), [0; 6], &mut out);
            }
            let outcomes: Vec<Outcome> = out
                .iter()
                .filter_map(|observation| match observation {
                    Observation::Call(call) => Some(call.outcome),
                    _ => None,
                })
                .collect();
            assert_eq!(outcomes, [outcome]);
        }
    }

    #[test]
    fn an_exec_that_returns_only_by_the_next_one_ran_a_program_out_of_sight() {
        let (mut tracker, mut out) = (
            Tracker::new(Sources {
                own_tracepoints: true,
                ..Sources::default()
            }),
            Vec::new(),
        );
        let exec = Comm {
            pid: Pid(10),
            tid: Tid(10),
            name: b"it",
            exec: true,
        };
        tracker.comm(&exec, &mut out);
        let execve = (Abi::native(), number("execve"));
        tracker.leave(WHO, Nanos(1), execve, 0, &mut out);
        let native = Abi::native();
        tracker.enter(WHO, Nanos(2), native, number("execve"), [0; 6], &mut out);
        tracker.comm(&exec, &mut out);
        out.clear();
        tracker.comm(&exec, &mut out);
        let out_of_sight =
            |observation: &Observation| matches!(observation, Observation::OutOfSight(_));
        assert_eq!(out.iter().filter(|it| out_of_sight(it)).count(), 1);
        out.clear();
        tracker.leave(WHO, Nanos(3), execve, 0, &mut out);
        let Some(Observation::Call(call)) = out.last() else {
            panic!("{out:?}");
        };
        assert_eq!(call.entry, Entry::Missing, "not the half of the first");
    }
}
