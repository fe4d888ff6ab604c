//! Calls that were entered and are not over.

use super::super::Entry;
use super::super::names::Abi;
use super::calls::Plan;
use super::lookup::Files;
use super::reaching::Walks;
use super::table::{Number, Table};
use super::tables::{At, Tables, descriptors};
use std::sync::Arc;

/// A call that was entered.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) call: (Abi, i32),
    pub(super) args: Option<[u64; 6]>,
    pub(super) files: Files,
    /// What its first argument refers to.
    pub(super) first: Option<Number>,
    /// The version of its directory; `None` where another thread was changing that.
    pub(super) version: Option<u64>,
    /// What `Moves::at_rest` said when it was entered.
    pub(super) moves: Option<u64>,
    /// When it was entered, by the clock of names.
    pub(super) since: u64,
    /// Where its paths led; known when it is over.
    pub(super) walks: Walks,
    /// What the call has changed already and must restore where it fails.
    pub(super) undo: Option<Box<Undo>>,
}

#[derive(Clone, Debug)]
pub(super) enum Undo {
    Table(Table),
    Root(Option<Arc<[u8]>>),
}

impl Tables {
    /// A call at its entry, with what its descriptors refer to.
    pub(super) fn pending(&self, at: At, plan: Plan, call: (Abi, i32), entry: &Entry) -> Pending {
        let mut pending = Pending {
            call,
            args: entry.args().copied(),
            files: Files::default(),
            first: None,
            version: self.steady(at),
            moves: self.moves.at_rest(),
            since: 0,
            walks: Walks::new(),
            undo: None,
        };
        for (place, word) in descriptors(plan, pending.args.as_ref()) {
            let slot = self.look(at, word);
            pending.files.set_argument(place, slot.state());
            if place == 0 {
                pending.first = Some(slot);
            }
        }
        pending
    }
}
