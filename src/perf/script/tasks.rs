//! What tasks are called.

use crate::record::{Comm, Task};
use crate::units::Tid;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// So many tasks that ended are remembered: a task tells of its end before it leaves its CPU for
/// the last time.
const REMEMBERED: usize = 4096;

/// Spreads ids by a multiplication with an odd number (2 to the 64th by the golden ratio): one is
/// looked up for each sample. A file with colliding ids is slow to read, which harms only its
/// writer.
#[derive(Debug, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32((*byte).into());
        }
    }

    fn write_u32(&mut self, id: u32) {
        let mixed = (self.0 ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed.rotate_left(32);
    }
}

type ById<T> = HashMap<Tid, T, BuildHasherDefault<IdHasher>>;

/// The names of tasks by thread id, as they are now.
#[derive(Debug)]
pub(super) struct Tasks {
    /// With how many names had been told before.
    names: ById<(Box<[u8]>, u64)>,
    told: u64,
    ended: VecDeque<(Tid, u64)>,
}

/// The name of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    /// A record told it.
    Known(&'a [u8]),
    /// It did not, so that it is called by its id: `:77`, as perf has it.
    Id(i32),
}

impl Name<'_> {
    /// Appends it.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Known(name) => super::put::foreign(out, name),
            Self::Id(id) => {
                out.push(b':');
                super::put::number(out, *id);
            }
        }
    }
}

impl Default for Tasks {
    /// The idle task never tells (perf_session__register_idle_thread(), tools/perf/util/session.c).
    fn default() -> Self {
        Self {
            names: ById::from_iter([(Tid(0), (b"swapper".as_slice().into(), 0))]),
            told: 0,
            ended: VecDeque::new(),
        }
    }
}

impl Tasks {
    pub(super) fn comm(&mut self, comm: &Comm<'_>) {
        self.tell(comm.tid, comm.name.into());
    }

    fn tell(&mut self, tid: Tid, name: Box<[u8]>) {
        self.told = self.told.saturating_add(1);
        self.names.insert(tid, (name, self.told));
    }

    /// A task that is created has the name of its creator (thread__fork(),
    /// tools/perf/util/thread.c).
    pub(super) fn fork(&mut self, task: &Task) {
        match self.names.get(&task.parent_tid) {
            Some((name, _)) => self.tell(task.tid, name.clone()),
            None => {
                self.names.remove(&task.tid);
            }
        }
    }

    /// Notes that a task ends. Returns a task that ended so long ago that its name can go, unless
    /// its id is in use again.
    pub(super) fn exit(&mut self, tid: Tid) -> Option<Tid> {
        let (_, told) = self.names.get(&tid)?;
        self.ended.push_back((tid, *told));
        if self.ended.len() <= REMEMBERED {
            return None;
        }
        let (tid, told) = self.ended.pop_front()?;
        let is_same = self.names.get(&tid).is_some_and(|(_, now)| *now == told);
        is_same.then(|| self.names.remove(&tid))?;
        Some(tid)
    }

    /// Returns a task's name; a record without a task counts as task -1, as in perf.
    pub(super) fn name(&self, tid: Option<Tid>) -> Name<'_> {
        let Some(tid) = tid else {
            return Name::Id(-1);
        };
        match self.names.get(&tid) {
            Some((name, _)) => Name::Known(name),
            None => Name::Id(tid.0.cast_signed()),
        }
    }
}
