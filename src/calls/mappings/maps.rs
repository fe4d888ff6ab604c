//! The address spaces of all processes, and which process has which.

use super::super::names::Abi;
use super::super::pool::{Key, Pool};
use super::super::{Actor, Call, Entry, Observation, Shares, ThreadId};
use super::calls::{self, Effect, Plan};
use super::place::{Mapping, Place, Places, Source};
use super::space::{Heap, Range, Space, Taken};
use std::sync::Arc;

/// Follows the address spaces of all processes of one run.
#[derive(Debug)]
pub struct Maps {
    /// Whether every call of [`needed`](super::needed) is among the observations; else every place
    /// is unknown.
    complete: bool,
    page_size: u64,
    pub(super) spaces: Pool<Space>,
    threads: Vec<Option<Box<Thread>>>,
    n_spaces: u64,
    n_mappings: u64,
    n_groups: u32,
}

#[derive(Clone, Debug)]
struct Thread {
    space: Key,
    pending: Option<Pending>,
}

/// A call that was entered.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    call: (Abi, i32),
    pub(super) args: Option<[u64; 6]>,
    places: Places,
    /// What the call has taken away already and must put back where it fails.
    pub(super) taken: Taken,
}

impl Maps {
    /// Spaces for one run. `complete` says whether every call of [`needed`](super::needed) will be
    /// observed; without that nothing is known of any address. Sizes are rounded up to pages of so
    /// many bytes, a power of two.
    #[must_use]
    pub fn new(complete: bool, page_size: u64) -> Self {
        Self {
            complete,
            page_size: page_size.max(1),
            spaces: Pool::default(),
            threads: Vec::new(),
            n_spaces: 0,
            n_mappings: 0,
            n_groups: 0,
        }
    }

    /// Takes what happened next; puts into a call where its addresses lay.
    pub fn observe(&mut self, observation: &mut Observation) {
        if !self.complete {
            return;
        }
        match observation {
            Observation::Entered {
                actor,
                abi,
                number,
                entry,
                is_answered: false,
            } => self.entered(actor.thread, *abi, *number, entry),
            // A call that is answered in place of being made maps nothing.
            Observation::Entered { .. } => {}
            Observation::Call(call) if call.injected.answer.is_some() => {}
            Observation::Call(call) => self.called(call),
            Observation::Born {
                child,
                parent,
                shares,
            } => self.born(child, *parent, *shares),
            Observation::Executed(actor) => self.executed(actor.thread),
            Observation::Gone(thread) => self.gone(*thread),
            Observation::Named { .. }
            | Observation::Global { .. }
            | Observation::Starting(..)
            | Observation::Vanished(_)
            | Observation::OutOfSight(_) => {}
        }
    }

    fn entered(&mut self, thread: ThreadId, abi: Abi, number: i32, entry: &Entry) {
        let Some((plan, space)) = self.concerned(thread, abi, number) else {
            return;
        };
        let args = entry.args().copied();
        let mut pending = Pending {
            call: (abi, number),
            args,
            places: Places::default(),
            taken: Taken::new(),
        };
        if let Some(args) = &args {
            for place in (0..6).filter(|place| plan.addresses & (1 << place) != 0) {
                let found = self.argument(space, plan.effect, args, place);
                pending.places.set_argument(place, found);
            }
            pending.taken = self.begin(space, plan.effect, args);
        }
        if let Some(thread) = self.thread(thread) {
            thread.pending = Some(pending);
        }
    }

    fn called(&mut self, call: &mut Call) {
        let thread = call.actor.thread;
        let Some((plan, space)) = self.concerned(thread, call.abi, call.number) else {
            return;
        };
        let pending = self.thread(thread).and_then(|thread| thread.pending.take());
        let pending = pending.filter(|pending| pending.call == (call.abi, call.number));
        let mut pending = pending.unwrap_or(Pending {
            call: (call.abi, call.number),
            args: None,
            places: Places::default(),
            taken: Taken::new(),
        });
        call.places = std::mem::take(&mut pending.places);
        self.end(space, plan.effect, pending, call);
    }

    /// What is to be done about a call, where anything is.
    fn concerned(&self, thread: ThreadId, abi: Abi, number: i32) -> Option<(Plan, Key)> {
        let plan = calls::plan(abi, number);
        if plan.addresses == 0 && plan.effect == Effect::None {
            return None;
        }
        let known = self.threads.get(thread.0 as usize)?.as_deref()?;
        Some((plan, known.space))
    }

    fn argument(&self, space: Key, effect: Effect, args: &[u64; 6], place: usize) -> Option<Place> {
        const CLONE_SETTLS: u64 = libc::CLONE_SETTLS as u64;
        const TAKES_ADDRESS: u64 = (libc::MREMAP_FIXED | libc::MREMAP_DONTUNMAP) as u64;
        let space = self.spaces.get(space)?;
        let address = *args.get(place)?;
        match (effect, place) {
            (Effect::Breaks, _) => space.find_break(address),
            (Effect::Maps | Effect::MapsShadowStack | Effect::Attaches, _) => {
                space.find_or_end(address)
            }
            (Effect::Remaps, 4) if args[3] & TAKES_ADDRESS == 0 => None,
            (Effect::Remaps, 4) => space.find_or_end(address),
            (Effect::MakesTask, 1) => space.find_below(address),
            (Effect::MakesTask, _) if args[0] & CLONE_SETTLS == 0 => None,
            _ => space.find(address),
        }
    }

    fn born(&mut self, child: &Actor, parent: Option<ThreadId>, shares: Shares) {
        let parent = parent.and_then(|parent| self.thread(parent));
        let space = match parent.map(|thread| thread.space) {
            Some(space) if shares.memory == Some(true) => self.spaces.share(space),
            Some(space) => self.copy(space, shares.memory.is_none()),
            None => self.new_space(Heap::Unknown),
        };
        let place = child.thread.0 as usize;
        if self.threads.len() <= place {
            self.threads.resize(place + 1, None);
        }
        if let Some(slot) = self.threads.get_mut(place) {
            *slot = Some(Box::new(Thread {
                space,
                pending: None,
            }));
        }
    }

    /// A copy, or perhaps the same: then each is right about what it changes itself, and what the
    /// other changes becomes unknown.
    fn copy(&mut self, space: Key, is_unsure: bool) -> Key {
        let (id, group) = (self.n_spaces, self.n_groups);
        let Some(original) = self.spaces.get_mut(space) else {
            return self.new_space(Heap::Unknown);
        };
        let mut copy = original.copy(id);
        if is_unsure {
            copy.group = Some(*original.group.get_or_insert(group));
        }
        self.n_spaces += 1;
        self.n_groups += 1;
        self.spaces.add(copy)
    }

    fn new_space(&mut self, heap: Heap) -> Key {
        let space = Space::new(self.n_spaces, heap);
        self.n_spaces += 1;
        self.spaces.add(space)
    }

    /// `exec_mmap()`: what the new program starts with is in no call.
    fn executed(&mut self, thread: ThreadId) {
        let space = self.new_space(Heap::Unasked);
        match self.thread(thread) {
            Some(thread) => {
                let old = std::mem::replace(&mut thread.space, space);
                self.spaces.release(old);
            }
            None => self.spaces.release(space),
        }
    }

    fn gone(&mut self, thread: ThreadId) {
        let slot = self.threads.get_mut(thread.0 as usize);
        if let Some(gone) = slot.and_then(Option::take) {
            self.spaces.release(gone.space);
        }
    }

    fn thread(&mut self, thread: ThreadId) -> Option<&mut Thread> {
        self.threads.get_mut(thread.0 as usize)?.as_deref_mut()
    }

    /// Records were lost: nothing is known any more of what was mapped until then.
    pub fn lost(&mut self) {
        for (_, space) in self.spaces.iter_mut() {
            space.forget(Range::EVERYTHING);
            space.heap = Heap::Unknown;
        }
    }

    /// Where an address of a thread lies now.
    #[must_use]
    pub fn look_up(&self, thread: ThreadId, address: u64) -> Option<Place> {
        let known = self.threads.get(thread.0 as usize)?.as_deref()?;
        self.spaces.get(known.space)?.find(address)
    }

    pub(super) fn new_mapping(
        &mut self,
        (source, is_shared): (Source, bool),
        size: u64,
    ) -> Arc<Mapping> {
        let id = self.n_mappings;
        self.n_mappings += 1;
        Arc::new(Mapping {
            id,
            source,
            size,
            is_shared,
        })
    }

    /// The next multiple of the page's size.
    pub(super) fn page_up(&self, size: u64) -> u64 {
        let rest = size & (self.page_size - 1);
        match rest {
            0 => size,
            _ => size.saturating_add(self.page_size - rest),
        }
    }

    pub(super) fn page(&self) -> u64 {
        self.page_size
    }

    /// Changes a range of a space; where another may be the same, the range becomes unknown there.
    pub(super) fn change<R: Default>(
        &mut self,
        key: Key,
        range: Range,
        change: impl FnOnce(&mut Space) -> R,
    ) -> R {
        let Some(space) = self.spaces.get_mut(key) else {
            return R::default();
        };
        let changed = change(space);
        if let Some(group) = space.group {
            let others = self.spaces.iter_mut();
            for (_, other) in others.filter(|(it, other)| *it != key && other.group == Some(group))
            {
                other.forget(range);
            }
        }
        changed
    }
}
