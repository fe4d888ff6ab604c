//! The ends of threads, and who goes on in their place.

use super::call::{Actor, Observation};
use super::thread::{Thread, abandon, executes};
use super::track::Tracker;
use perf_records::record::Task;
use perf_records::units::{Pid, Tid};

impl Tracker {
    /// `PERF_RECORD_EXIT`; says whether it is the task's end. Within an execve it is that of the
    /// task's events (`perf_event_exit_task()`), and those of a group stay.
    pub fn exit(&mut self, task: &Task, out: &mut Vec<Observation>) -> bool {
        let Some(&place) = self.by_tid.get(&task.tid) else {
            return true;
        };
        let is_end = !self.threads[place].executing;
        if self.threads[place].executing && self.sources.of_group {
            return is_end;
        }
        if std::mem::take(&mut self.threads[place].executing) {
            out.push(Observation::OutOfSight(self.threads[place].actor));
        }
        let is_leader = task.pid.0 == task.tid.0;
        let others = |(tid, place): (&Tid, &usize)| {
            *tid != task.tid
                && self
                    .threads
                    .get(*place)
                    .is_some_and(|other| other.actor.pid == task.pid)
        };
        if is_leader && self.by_tid.iter().any(others) {
            let thread = &mut self.threads[place];
            thread.ended = true;
            abandon(thread, out);
        } else {
            self.end(place, out);
        }
        // The last of its threads takes an ended leader along.
        self.forget_ended_leader(task.pid, out);
        is_end
    }

    /// After an exec the process has one thread, which has the leader's id, whichever made the
    /// call: what that one had entered is now pending in the leader. An ended thread cannot have
    /// made it (`de_thread()`, `fs/exec.c`).
    pub(super) fn take_over(&mut self, leader: usize, out: &mut Vec<Observation>) {
        let in_exec = |thread: &Thread| {
            thread
                .pending
                .as_ref()
                .is_some_and(|call| executes(call.abi, call.number))
        };
        let Actor { pid, tid, .. } = self.threads[leader].actor;
        if in_exec(&self.threads[leader]) && !self.threads[leader].ended {
            return;
        }
        let caller = self.by_tid.iter().find_map(|(other, &place)| {
            let thread = self.threads.get(place)?;
            (*other != tid && thread.actor.pid == pid && in_exec(thread)).then_some(place)
        });
        let Some(caller) = caller else { return };
        let call = self.threads[caller].pending.take();
        abandon(&mut self.threads[leader], out);
        if let Some(call) = &call {
            out.push(call.entered(self.threads[leader].actor));
        }
        self.threads[leader].pending = call;
        self.end(caller, out);
    }

    fn forget_ended_leader(&mut self, pid: Pid, out: &mut Vec<Observation>) {
        let Some(&place) = self.by_tid.get(&Tid(pid.0)) else {
            return;
        };
        if !self.threads[place].ended {
            return;
        }
        let of_process = |place: &&usize| {
            self.threads
                .get(**place)
                .is_some_and(|t| t.actor.pid == pid)
        };
        if self.by_tid.values().filter(of_process).count() == 1 {
            self.end(place, out);
        }
    }
}
