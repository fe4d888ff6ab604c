//! What links about processes lead to, as a thread sees them.

use super::super::ThreadId;
use super::super::tree::{Leads, Magic, Magics, Spot, Tree, Where};
use super::table::Number;
use super::tables::{At, Tables};
use super::tasks::UNKNOWN_PROGRAM;

/// Processes, as a thread sees them.
pub(super) struct Sees<'t> {
    pub(super) tables: &'t Tables,
    pub(super) thread: ThreadId,
}

impl Magics for Sees<'_> {
    fn own(&self, is_thread: bool) -> Option<ThreadId> {
        if is_thread {
            return Some(self.thread);
        }
        let threads = &self.tables.threads;
        let own = threads.get(self.thread.0 as usize)?.as_deref()?;
        let is_of_it = |it: &Option<Box<_>>| {
            let it: Option<&super::tables::Thread> = it.as_deref();
            it.is_some_and(|it| it.pid == own.pid)
        };
        let leader = threads.iter().position(is_of_it)?;
        Some(ThreadId(leader as u32))
    }

    fn by_id(&self, id: u32) -> Option<ThreadId> {
        match self.tables.ids.get(&id).map(Vec::as_slice) {
            Some([thread]) => Some(*thread),
            _ => None,
        }
    }

    fn leads(&self, _: &mut Tree, thread: ThreadId, magic: Magic) -> Leads {
        let Some(at) = self.tables.at(thread) else {
            return Leads::Unknown;
        };
        let asks = At {
            thread: self.thread,
            ..at
        };
        let steady = self.tables.steady(asks);
        let directory = self.tables.directories.get(at.directory);
        let spots = directory
            .filter(|_| steady.is_some())
            .map(|it| it.spots.clone())
            .unwrap_or_default();
        let to = |spot: Option<Spot>| spot.map_or(Leads::Unknown, |spot| Leads::To(spot, None));
        match magic {
            Magic::Current => match spots.current {
                Some(spot) => Leads::To(spot, spots.doubt),
                None => Leads::Unknown,
            },
            Magic::Root => to(spots.root),
            Magic::Program => lies(&self.program(thread)),
            Magic::Descriptor(number) => match self.tables.look(asks, number) {
                Number::Closed => Leads::Missing,
                Number::Unknown => Leads::Unknown,
                Number::Open(held) => lies(&held.description.now().place),
            },
        }
    }
}

impl Sees<'_> {
    /// What a thread of the caller's own process runs; another process may execute meanwhile.
    fn program(&self, thread: ThreadId) -> Where {
        let thread_of = |it: ThreadId| self.tables.threads.get(it.0 as usize)?.as_deref();
        match (thread_of(self.thread), thread_of(thread)) {
            (Some(own), Some(it)) if own.pid == it.pid => it.program.clone(),
            _ => UNKNOWN_PROGRAM,
        }
    }
}

fn lies(place: &Where) -> Leads {
    match place {
        Where::At(spot, doubt) => Leads::To(*spot, doubt.clone()),
        Where::Nowhere => Leads::Nowhere,
        Where::Unknown(_) => Leads::Unknown,
    }
}
