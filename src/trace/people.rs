//! Stable names for processes and threads.

use super::Log;
use perf_records::units::Tid;
use std::collections::{BTreeMap, HashMap};
use syscall_model::ThreadId;

/// Which thread each id stood for, and when: ids are used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    /// Ids in the harness' pid namespace, which are also those of tracepoints unless that namespace
    /// is not the machine's.
    outer: HashMap<i32, Vec<ThreadId>>,
    /// Ids in tracepoints if they differ; if any does, `outer` says nothing about a tracepoint.
    global: HashMap<i32, Vec<ThreadId>>,
    /// Ids in the tasks' own namespaces, as calls have them.
    inner: HashMap<i32, Vec<ThreadId>>,
    birth: HashMap<ThreadId, u64>,
}

impl Ids {
    pub(crate) fn born(&mut self, tid: Tid, thread: ThreadId, moment: u64) {
        self.birth.insert(thread, moment);
        self.outer.entry(tid.0 as i32).or_default().push(thread);
    }

    pub(crate) fn name(&mut self, id: i32, thread: ThreadId) {
        self.inner.entry(id).or_default().push(thread);
    }

    pub(crate) fn name_globally(&mut self, id: i32, thread: ThreadId) {
        self.global.entry(id).or_default().push(thread);
    }

    /// The thread that a call means by `id` at `moment`.
    pub(crate) fn inner(&self, id: i32, moment: u64) -> Option<ThreadId> {
        self.latest(self.inner.get(&id)?, moment)
    }

    /// The thread that a tracepoint means by `id` at `moment`.
    pub(crate) fn outer(&self, id: i32, moment: u64) -> Option<ThreadId> {
        let known = if self.global.is_empty() {
            &self.outer
        } else {
            &self.global
        };
        self.latest(known.get(&id)?, moment)
    }

    /// Returns the last one born by then; an event may name a child before the record of its birth.
    fn latest(&self, threads: &[ThreadId], moment: u64) -> Option<ThreadId> {
        let born_by =
            |thread: &&ThreadId| self.birth.get(thread).is_some_and(|birth| *birth <= moment);
        let youngest = threads
            .iter()
            .filter(born_by)
            .max_by_key(|thread| self.birth.get(thread));
        youngest.or(threads.first()).copied()
    }
}

/// A stable name: process number and, from 2 on, thread number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StableName {
    /// The process, from 1.
    pub process: u32,
    /// The thread in it, from 1.
    pub thread: u32,
}

impl std::fmt::Display for StableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "P{}", self.process)?;
        if self.thread > 1 {
            write!(f, ".T{}", self.thread)
        } else {
            Ok(())
        }
    }
}

/// Numbers processes and threads along the tree of creation.
pub(crate) fn number(logs: &[Log]) -> HashMap<ThreadId, StableName> {
    let mut children: BTreeMap<Option<ThreadId>, Vec<&Log>> = BTreeMap::new();
    for log in logs {
        children.entry(log.parent).or_default().push(log);
    }
    let of =
        |thread: Option<ThreadId>| children.get(&thread).map(Vec::as_slice).unwrap_or_default();
    let mut names = HashMap::new();
    let mut processes = 0;
    // An explicit stack, as a chain of forks may be deeper than the harness' own stack. The next
    // process is on top.
    let mut waiting: Vec<&Log> = of(None).iter().rev().copied().collect();
    while let Some(leader) = waiting.pop() {
        processes += 1;
        let threads = threads_of(leader, &of);
        let mut next: Vec<&Log> = Vec::new();
        for (thread, place) in threads.iter().zip(1..) {
            names.insert(
                thread.thread,
                StableName {
                    process: processes,
                    thread: place,
                },
            );
            next.extend(
                of(Some(thread.thread))
                    .iter()
                    .filter(|child| child.is_leader),
            );
        }
        waiting.extend(next.into_iter().rev());
    }
    names
}

/// Numbers a process' threads: each, then those that it created. Threads that the kernel made come
/// last, as some of them show nothing and their number is the kernel's affair.
fn threads_of<'a>(
    leader: &'a Log,
    of: &impl Fn(Option<ThreadId>) -> &'a [&'a Log],
) -> Vec<&'a Log> {
    let mut threads = Vec::new();
    let mut waiting = vec![leader];
    while let Some(thread) = waiting.pop() {
        threads.push(thread);
        let created = of(Some(thread.thread))
            .iter()
            .filter(|child| !child.is_leader);
        waiting.extend(created.copied().collect::<Vec<_>>().into_iter().rev());
    }
    threads.sort_by_key(|log| (log.is_kernels, log.is_kernels && log.tally.is_empty()));
    threads
}
