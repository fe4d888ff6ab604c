//! What is known of the file that a call reached, and what may still put it in doubt.

use super::super::ThreadId;
use super::ground::Why;
use super::node::{NodeId, Spot, Tree};
use super::walk::Walked;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Whether a walk led where it seems to, which may be known only later: another thread may have
/// changed a name that it went by.
#[derive(Clone, Debug)]
pub struct Doubt {
    state: Arc<AtomicU8>,
    /// Why it is not known, unless it is cleared.
    why: Why,
    /// What else has to be cleared: the same of where the walk started.
    on: Option<Arc<Self>>,
    /// How many there are behind one another.
    depth: u8,
}

/// So many at most: a start that depends on more is not known.
const DEEPEST: u8 = 64;

/// Among how many of the last walks the same is looked for.
const LOOKED_AT: usize = 16;

impl Doubt {
    const CLEARED: u8 = 1;
    const RACED: u8 = 2;

    pub(super) fn of(why: Why) -> Self {
        Self {
            state: Arc::default(),
            why,
            on: None,
            depth: 0,
        }
    }

    /// The doubt of a walk from a start that is in doubt itself.
    pub(super) fn joined(own: Option<Self>, start: Option<&Self>) -> Option<Self> {
        match (own, start.filter(|start| !start.is_cleared())) {
            (Some(own), Some(start)) if start.is_on(&own) => Some(start.clone()),
            (Some(own), Some(start)) => Some(Self {
                on: Some(Arc::new(start.clone())),
                depth: start.depth.saturating_add(1),
                ..own
            }),
            (None, start) => start.cloned(),
            (own, None) => own,
        }
    }

    /// Whether it depends on the state of another.
    fn is_on(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state) || self.on.as_ref().is_some_and(|on| on.is_on(other))
    }

    fn settle(&self, state: u8) {
        // ORDERING: one thread reads records; a later reader gets the run from that thread.
        self.state.store(state, Ordering::Relaxed);
    }

    pub(super) fn clear(&self) {
        self.settle(Self::CLEARED);
    }

    /// Whether it was cleared; while that is not known it was not.
    pub(crate) fn is_cleared(&self) -> bool {
        self.state.load(Ordering::Relaxed) == Self::CLEARED
            && self.on.as_ref().is_none_or(|on| on.is_cleared())
    }

    /// Whether it is known in the end, and soon.
    fn may_settle(&self) -> bool {
        self.why == Why::Raced && self.depth < DEEPEST && !self.is_raced()
    }

    /// Whether other threads have changed names that it is about.
    fn is_raced(&self) -> bool {
        self.state.load(Ordering::Relaxed) == Self::RACED
            || self.on.as_ref().is_some_and(|on| on.is_raced())
    }
}

impl PartialEq for Doubt {
    fn eq(&self, other: &Self) -> bool {
        self.is_cleared() == other.is_cleared()
    }
}

impl Eq for Doubt {}

/// Names in folders.
pub(crate) type Keys = Vec<(NodeId, Box<[u8]>)>;

/// Which file an argument of a call led to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reached {
    /// The plan did not ask for names.
    #[default]
    Untold,
    /// A file with these absolute names, in the run so far; the first is the one that it had then.
    Known {
        /// The names.
        names: Arc<[Box<[u8]>]>,
        /// Whether it was led there by something that the run or its files made: a link, a mount, a
        /// root, `..`.
        is_led: bool,
        /// Where it led, where the text of its path does not say that by itself.
        shown: Option<Arc<[u8]>>,
        /// What may still show that it is not known.
        doubt: Option<Doubt>,
    },
    /// Something that is in no folder: a pipe, a socket, memory.
    Nowhere,
    /// The names are not known.
    Unknown(Why),
}

impl Reached {
    /// Where a path led that does not say so by itself; an error where that is not known, `None`
    /// where nothing needs to be said.
    #[must_use]
    pub fn shown(&self) -> Option<Result<&[u8], &Why>> {
        match (self.names()?, self) {
            (Err(why), _) => Some(Err(why)),
            (Ok(_), Self::Known { shown, .. }) => shown.as_deref().map(Ok),
            (Ok(_), _) => None,
        }
    }

    /// Returns its names, or why they are not known; `None` if the plan did not ask.
    #[must_use]
    pub fn names(&self) -> Option<Result<&[Box<[u8]>], &Why>> {
        match self {
            Self::Untold => None,
            Self::Nowhere => Some(Ok(&[])),
            Self::Unknown(why) => Some(Err(why)),
            Self::Known { names, doubt, .. } => {
                let doubt = doubt.as_ref().filter(|doubt| !doubt.is_cleared());
                Some(match doubt {
                    Some(doubt) => Err(&doubt.why),
                    None => Ok(names),
                })
            }
        }
    }
}

/// What an open file description is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Nothing that has a path.
    Nowhere,
    /// This file.
    At(Spot, Option<Doubt>),
    /// It is not known.
    Unknown(Why),
}

impl Where {
    /// The file, where it is certain.
    pub(crate) fn spot(&self) -> Result<Spot, Why> {
        match self {
            Self::At(spot, None) => Ok(*spot),
            Self::At(spot, Some(doubt)) if doubt.is_cleared() => Ok(*spot),
            Self::At(_, Some(doubt)) => Err(doubt.why.clone()),
            Self::Nowhere => Err(Why::Descriptor),
            Self::Unknown(why) => Err(why.clone()),
        }
    }

    /// The file for a path to start at, which is certain unless the calls of other threads that are
    /// under way show otherwise.
    pub(crate) fn start(&self) -> (Result<Spot, Why>, Option<Doubt>) {
        match self {
            Self::At(spot, Some(doubt)) if doubt.may_settle() => {
                (Ok(*spot), Some(doubt.clone()).filter(|it| !it.is_cleared()))
            }
            other => (other.spot(), None),
        }
    }
}

/// A walk that calls of other threads may still put in doubt.
#[derive(Debug)]
struct Watch {
    keys: Keys,
    waits_for: Vec<ThreadId>,
    doubt: Doubt,
}

/// The threads that are changing names at the moment, and what depends on their outcome.
#[derive(Debug, Default)]
pub(super) struct Races {
    changing: Vec<ThreadId>,
    watches: Vec<Watch>,
    /// The calls that changed names by walks in doubt: all names are, where one is raced.
    relied: Vec<(Doubt, &'static str)>,
}

impl Tree {
    /// A call was entered that may take names away or give them to other files.
    pub(crate) fn begins(&mut self, thread: ThreadId) {
        self.races.changing.push(thread);
    }

    /// It is over, and changed these names.
    pub(crate) fn ends(&mut self, thread: ThreadId, changed: &Keys) {
        self.ended(thread, |key| changed.contains(key));
    }

    /// It is over, and may have changed any name: from now on nothing is known.
    pub(crate) fn ends_unseen(&mut self, thread: ThreadId, call: &'static str) {
        self.ended(thread, |_| true);
        self.lose(call);
    }

    fn ended(&mut self, thread: ThreadId, is_changed: impl Fn(&(NodeId, Box<[u8]>)) -> bool) {
        let Some(place) = self.races.changing.iter().position(|it| *it == thread) else {
            return;
        };
        self.races.changing.swap_remove(place);
        self.races.watches.retain_mut(|watch| {
            if !watch.waits_for.contains(&thread) {
                return true;
            }
            if watch.keys.iter().any(&is_changed) {
                watch.doubt.settle(Doubt::RACED);
                return false;
            }
            watch.waits_for.retain(|it| *it != thread);
            if watch.waits_for.is_empty() {
                watch.doubt.settle(Doubt::CLEARED);
            }
            !watch.waits_for.is_empty()
        });
        let mut relied = self.races.relied.iter();
        let lost = relied.find(|(doubt, _)| doubt.is_raced());
        let lost = lost.map(|(_, call)| *call);
        self.races.relied.retain(|(doubt, _)| !doubt.is_cleared());
        if let Some(call) = lost {
            self.lose(call);
        }
    }

    /// Returns the other threads that are changing names.
    fn others(&self, thread: ThreadId) -> Vec<ThreadId> {
        let all = self.races.changing.iter().copied();
        all.filter(|other| *other != thread).collect()
    }

    /// What may put a walk in doubt later; `None` where nothing may.
    pub(super) fn doubt_of(&mut self, thread: ThreadId, walked: &Walked) -> Option<Doubt> {
        let own = self.doubt(thread, &walked.keys);
        Doubt::joined(own, walked.doubt.as_ref())
    }

    /// What may put a walk by these names in doubt later; `None` where nothing may.
    pub(crate) fn doubt(&mut self, thread: ThreadId, keys: &Keys) -> Option<Doubt> {
        let waits_for = self.others(thread);
        if waits_for.is_empty() {
            return None;
        }
        // One who goes to and fro meanwhile comes by the same names again.
        let mut last = self.races.watches.iter().rev().take(LOOKED_AT);
        let same = last.find(|it| it.waits_for == waits_for && it.keys == *keys);
        if let Some(watch) = same {
            return Some(watch.doubt.clone());
        }
        let doubt = Doubt::of(Why::Raced);
        self.races.watches.push(Watch {
            keys: keys.clone(),
            waits_for,
            doubt: doubt.clone(),
        });
        Some(doubt)
    }

    /// Notes that a change by a walk is right only if no other thread changed its names meanwhile,
    /// nor those by which its start was reached.
    pub(crate) fn relies_on(&mut self, thread: ThreadId, walked: &Walked, call: &'static str) {
        let doubt = self.doubt_of(thread, walked);
        self.races.relied.extend(doubt.map(|doubt| (doubt, call)));
    }
}
