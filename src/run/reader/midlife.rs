//! Processes that lived before their calls were recorded.

use super::Reader;
use super::family::Family;
use perf_live::host::{Living, Midlife};
use perf_live::sys::share_files;
use perf_records::record::Comm;
use perf_records::units::{Nanos, Pid, Tid};
use std::collections::HashSet;
use syscall_model::files::FileKind;
use syscall_model::names::{self, Abi};

/// How the following of processes that live began.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Begun {
    /// When all events were open.
    pub(in crate::run) open: Nanos,
    /// When all of them had been started.
    pub(in crate::run) started: Nanos,
    /// When procfs had said all of the processes.
    pub(in crate::run) told: Nanos,
}

/// What procfs said of the processes, and when all of it was read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) by: Nanos,
    pub(super) processes: Vec<Midlife>,
}

impl Reader<'_> {
    /// Called before the first record: these processes live already, and procfs said this of them.
    /// Samples of before their events had been started are of some events and not of others.
    pub(in crate::run) fn know(
        &mut self,
        living: &[Living],
        Begun {
            open,
            started,
            told,
        }: Begun,
        processes: Vec<Midlife>,
    ) {
        self.tracker.remembers();
        self.remembered = Some(HashSet::new());
        self.span = started..=Nanos(u64::MAX);
        let mut family = Family::new(open, started);
        for process in living {
            let (pid, mut sharing) = (process.pid, Vec::new());
            if let Some(forgets) = &mut self.forgets {
                forgets.name(pid);
            }
            let leader = Tid(pid.0);
            for thread in &process.threads {
                let tid = thread.tid;
                family.add(pid, tid);
                let comm = Comm {
                    pid,
                    tid,
                    name: &thread.name,
                    exec: false,
                };
                self.tracker.comm(&comm, &mut self.out);
                let actor = self.tracker.actor(pid, tid, &mut self.out);
                // Where the kernel does not tell, each has its own and nothing is known of it.
                if tid == leader || share_files(leader, tid).unwrap_or(false) {
                    sharing.push(actor.thread);
                }
            }
            self.flush();
            self.tables.belong_together(&sharing);
        }
        self.family = Some(family);
        self.found = Some(Found {
            by: told,
            processes,
        });
    }

    /// Called when events are about to be stopped, one by one: from now on samples are of some and
    /// not of others.
    pub(in crate::run) fn cut(&mut self, now: Nanos) {
        self.span = *self.span.start()..=now;
    }

    /// What was found holds from the time on at which all of it had been read: for what records of
    /// before have told of, it may be too old.
    pub(super) fn catch_up(&mut self, time: Nanos) {
        let Some(found) = self.found.take_if(|found| time > found.by) else {
            return;
        };
        for process in found.processes {
            let main = (process.pid, Tid(process.pid.0));
            let main = self.tracker.actor(main.0, main.1, &mut self.out).thread;
            self.flush();
            let files = process.descriptors.into_iter();
            let files = files.map(|found| {
                let kind = FileKind::of_link(found.name);
                (found.number, kind, found.closes_on_exec)
            });
            self.tables.found(main, files.collect(), process.directory);
            for (tid, number, args) in process.calls {
                if self.follows(tid) && self.forgot_calls_of(tid) {
                    let (who, call) = ((process.pid, tid), (Abi::native(), number));
                    self.tracker
                        .under_way(who, found.by, call, args, &mut self.out);
                    let Some(family) = &mut self.family else {
                        continue;
                    };
                    match names::makes_tasks(call.0, call.1) {
                        true => family.note_making(tid),
                        false => family.note_outside(tid),
                    }
                }
            }
            if let Some(family) = &mut self.family {
                family.compare(process.threads.n, &process.threads.listed);
            }
        }
        if let Some(family) = &mut self.family {
            family.settle();
        }
        self.flush();
    }

    /// A program was executed, or a thread ended: what was found may be of before.
    pub(super) fn outdates(&mut self, pid: Pid, tid: Option<Tid>) {
        let Some(found) = &mut self.found else { return };
        match tid {
            None => found.processes.retain(|process| process.pid != pid),
            Some(tid) => {
                for process in &mut found.processes {
                    process.calls.retain(|(thread, ..)| *thread != tid);
                }
            }
        }
    }
}
