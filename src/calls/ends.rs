//! The ends of threads, and who goes on in their place.

use super::call::{Actor, Observation};
use super::thread::{Pending, Thread, abandon, executes, is_one_of};
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
        if is_end {
            self.explain(place, out);
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

    /// Says so of a thread that ends in no call. Whether another ended it cannot be told: that one
    /// may have gone on as this one let it go, before the record of this one's end.
    fn explain(&mut self, place: usize, out: &mut Vec<Observation>) {
        let Thread { actor, pending, .. } = &self.threads[place];
        // Its end may be in no record.
        let is_left = |it: &Pending| is_one_of(it.abi, it.number, &["rt_sigreturn"]);
        if pending.as_ref().is_none_or(is_left) {
            out.push(Observation::Vanished(actor.thread));
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{self, Abi};
    use perf_records::units::Nanos;

    /// What threads of process 10 do: they make a call, or end.
    struct Run {
        tracker: Tracker,
        out: Vec<Observation>,
    }

    impl Run {
        fn with_threads(threads: &[u32]) -> Self {
            let mut run = Self {
                tracker: Tracker::default(),
                out: Vec::new(),
            };
            run.enter(10, "fsync");
            run.leave(10, "fsync");
            for &tid in threads {
                run.tracker.fork(&task(tid), &mut run.out);
            }
            run
        }

        fn enter(&mut self, tid: u32, call: &str) {
            let (who, at) = ((Pid(10), Tid(tid)), Nanos(1));
            let number = names::number(Abi::native(), call).expect("a call") as i32;
            self.tracker
                .enter(who, at, Abi::native(), number, [0; 6], &mut self.out);
        }

        fn leave(&mut self, tid: u32, call: &str) {
            let number = names::number(Abi::native(), call).expect("a call") as i32;
            let call = (Abi::native(), number);
            let who = (Pid(10), Tid(tid));
            self.tracker.leave(who, Nanos(2), call, 0, &mut self.out);
        }

        fn end(&mut self, tid: u32) {
            self.tracker.exit(&task(tid), &mut self.out);
        }

        fn n_vanished(&self) -> usize {
            let vanished = |it: &&Observation| matches!(it, Observation::Vanished(_));
            self.out.iter().filter(vanished).count()
        }
    }

    fn task(tid: u32) -> Task {
        Task {
            pid: Pid(10),
            tid: Tid(tid),
            parent_pid: Pid(10),
            parent_tid: Tid(10),
            time: Nanos(1),
        }
    }

    #[test]
    fn a_thread_that_ends_in_no_call_vanishes_though_another_may_have_ended_it() {
        let mut run = Run::with_threads(&[11, 12]);
        run.enter(11, "fsync");
        run.leave(11, "fsync");
        run.end(11);
        assert_eq!(run.n_vanished(), 1);
        run.enter(10, "exit_group");
        run.end(12);
        assert_eq!(run.n_vanished(), 2);
        run.end(10);
        assert_eq!(run.n_vanished(), 2);
        let mut alone = Run::with_threads(&[]);
        alone.end(10);
        assert_eq!(alone.n_vanished(), 1);
    }

    #[test]
    fn a_thread_that_ends_by_a_call_or_within_one_does_not_vanish() {
        let mut run = Run::with_threads(&[11, 12]);
        run.enter(11, "exit");
        run.end(11);
        // Where it waited when all others were ended.
        run.enter(12, "fsync");
        run.enter(10, "exit_group");
        run.end(10);
        run.end(12);
        assert_eq!(run.n_vanished(), 0);
    }
}
