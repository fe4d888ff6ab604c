//! Which tasks are followed where the first of them lived before their events were opened.
//!
//! A task inherits its creator's events early in the making (`copy_process()`, `kernel/fork.c`),
//! and the record of its birth comes late. So of a task that was in the making when its creator's
//! events were opened there may be a record, and no events or some. It has all events where its
//! creator was outside of such a making at some moment after they had been opened. Of one that its
//! creator waits for (`vfork(2)`) there may be no record and no event at all.

use super::Reader;
use super::midlife::Found;
use crate::plan::Meaning;
use perf_records::record::{Comm, Task};
use perf_records::units::{Nanos, Pid, Tid};
use std::collections::HashSet;

/// The followed tasks.
#[derive(Debug, Default)]
pub(super) struct Family {
    members: HashSet<Tid>,
    processes: HashSet<Pid>,
    /// The members that were outside of the making of a task since events were open.
    outside: HashSet<Tid>,
    /// The members that have made a task since the last half of a call of theirs.
    has_made: HashSet<Tid>,
    /// Those that were found in a call that makes a task which was not seen to be made.
    waiting: HashSet<Tid>,
    /// Those that ended before it was known which threads there were.
    ended: HashSet<Tid>,
    /// Those that executed a program before all events had been started, and have come to no half
    /// of a call since.
    executed: HashSet<Tid>,
    /// When all events of the first were open, and when they had been started.
    open: Nanos,
    started: Nanos,
    /// Of how many it is not known whether they have all events, but for those of `waiting`.
    half_made: u64,
}

impl Family {
    pub(super) fn new(open: Nanos, started: Nanos) -> Self {
        Self {
            open,
            started,
            ..Self::default()
        }
    }

    /// One that had its events opened.
    pub(super) fn add(&mut self, pid: Pid, tid: Tid) {
        self.processes.insert(pid);
        self.members.insert(tid);
    }

    pub(super) fn has(&self, tid: Tid) -> bool {
        self.members.contains(&tid)
    }

    /// Notes that a record shows a thread that is not making a task.
    pub(super) fn note_outside(&mut self, tid: Tid) {
        if self.has(tid) {
            self.outside.insert(tid);
        }
    }

    /// Notes that a thread was found in a call that makes a task.
    pub(super) fn note_making(&mut self, tid: Tid) {
        if self.has(tid) && !self.has_made.contains(&tid) {
            self.waiting.insert(tid);
        }
    }

    /// Notes that a thread has come to a half of a call.
    fn note_half(&mut self, tid: Tid) {
        self.note_outside(tid);
        self.executed.remove(&tid);
        self.has_made.remove(&tid);
        self.half_made += u64::from(self.waiting.remove(&tid));
    }

    /// Of how many tasks it is not known whether they have all events.
    pub(super) fn half_made(&self) -> u64 {
        self.half_made + self.waiting.len() as u64
    }

    /// Takes a task in that is born; returns whether it is followed. One that may lack events is
    /// not if it was there when the following began: of threads it is looked for then.
    fn admit(&mut self, task: &Task) -> bool {
        if !self.has(task.parent_tid) || task.time <= self.open {
            return false;
        }
        // Its next task is certain: this one is made.
        let is_whole = !self.outside.insert(task.parent_tid);
        if task.pid == task.parent_pid {
            self.waiting.remove(&task.parent_tid);
        }
        if !is_whole && task.time < self.started {
            return false;
        }
        self.half_made += u64::from(!is_whole);
        self.has_made.insert(task.parent_tid);
        self.waiting.remove(&task.parent_tid);
        self.add(task.pid, task.tid);
        self.outside.insert(task.tid);
        true
    }

    fn remove(&mut self, tid: Tid) -> bool {
        self.note_half(tid);
        self.ended.insert(tid);
        self.outside.remove(&tid);
        self.members.remove(&tid)
    }

    /// Counts those among the threads that a followed process had when all had been started which
    /// are no members.
    pub(super) fn compare(&mut self, n: usize, threads: &[Tid]) {
        let unknown = |tid: &&Tid| !self.members.contains(*tid) && !self.ended.contains(*tid);
        let n_unknown = threads.iter().filter(unknown).count();
        self.half_made += n_unknown as u64;
        // The list broke off at one that ended meanwhile.
        self.half_made += n.saturating_sub(threads.len()) as u64;
    }

    /// Forgets who ended: all lists were compared.
    pub(super) fn settle(&mut self) {
        self.ended = HashSet::new();
    }
}

impl Reader<'_> {
    /// Whether a task is followed: all are that have events, but for what lived before.
    pub(super) fn follows(&self, tid: Tid) -> bool {
        self.family.as_ref().is_none_or(|family| family.has(tid))
    }

    /// Takes a task in that is born; returns whether it is followed.
    pub(super) fn admit(&mut self, task: &Task) -> bool {
        let family = self.family.as_mut();
        family.is_none_or(|family| family.admit(task))
    }

    /// Takes an exec in that came before all events had been started. The calls before it are in no
    /// record, and what procfs said of the process is of later.
    pub(super) fn executed_early(&mut self, comm: &Comm<'_>) {
        let comm = Comm {
            exec: false,
            ..*comm
        };
        self.tracker.comm(&comm, &mut self.out);
        self.lineage.comm(&comm);
        if let Some(family) = &mut self.family {
            family.executed.insert(comm.tid);
        }
    }

    /// Counts a task whose events end within such an exec (`perf_event_exit_task()`), while it
    /// lives on.
    fn note_early_end(&mut self, task: &Task) {
        let (Some(family), found) = (&self.family, &self.found) else {
            return;
        };
        let lives = |found: &Found| {
            let mut processes = found.processes.iter();
            processes.any(|process| process.threads.listed.contains(&task.tid))
        };
        let lives = task.time >= family.started || found.as_ref().is_some_and(lives);
        self.out_of_sight += u64::from(family.executed.contains(&task.tid) && lives);
    }

    /// Lets a task go that has ended; returns whether it was followed.
    pub(super) fn remove(&mut self, task: &Task) -> bool {
        self.note_early_end(task);
        let family = self.family.as_mut();
        family.is_none_or(|family| family.remove(task.tid))
    }

    /// Takes the leader of a followed process that executed a program: its one thread. Returns
    /// whether it is followed.
    pub(super) fn take_over(&mut self, pid: Pid, tid: Tid) -> bool {
        let Some(family) = &mut self.family else {
            return true;
        };
        if family.processes.contains(&pid) {
            family.add(pid, tid);
        }
        family.has(tid)
    }

    /// Notes that a half of a call came: its thread makes no task, or has made it.
    pub(super) fn note_half(&mut self, tid: Tid, meaning: Meaning) {
        if let (Some(family), Meaning::Enter { .. } | Meaning::Leave { .. }) =
            (&mut self.family, meaning)
        {
            family.note_half(tid);
        }
    }
}
