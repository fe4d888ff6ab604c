//! A log cut into pieces by a model, and the moments at which a crash is looked at.

use std::collections::HashMap;

use crate::crash::bits::Bits;
use crate::crash::cut::{Piece, cut};
use crate::crash::disk::Disk;
use crate::crash::explore::{Explored, Lost, Part, State};
use crate::crash::log::{Log, Step};
use crate::crash::model::Model;
use crate::crash::tree::Tree;

/// A log cut into pieces by a model: all that a crash may leave.
#[derive(Clone, Debug)]
pub struct Pieces {
    pub(crate) list: Vec<Piece>,
    /// By piece, the pieces that come after it.
    pub(crate) behind: Vec<Vec<usize>>,
    pub(crate) disk: Disk,
    pub(crate) moments: Vec<Moment>,
    steps: usize,
}

/// The crashes before which the same is durable and acknowledged.
///
/// Only the last of such moments is looked at. A state of an earlier one is a state of it too: the
/// pieces of more steps may be there but none more have to, and the set stays closed downwards, as
/// no earlier piece comes after a later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The first number of steps.
    pub(crate) first: usize,
    /// The last one: the crash is before this step.
    pub(crate) last: usize,
    /// The number of pieces of the steps before `last`.
    pub(crate) pieces: usize,
    /// The number of acknowledgements before it.
    pub(crate) acknowledged: usize,
}

impl Pieces {
    /// Cuts `log` by `model`.
    #[must_use]
    pub fn new(log: &Log, model: &Model) -> Self {
        let list = cut(log, model);
        let mut behind = vec![Vec::new(); list.len()];
        for (index, piece) in list.iter().enumerate() {
            for before in &piece.after {
                if let Some(behind) = behind.get_mut(*before) {
                    behind.push(index);
                }
            }
        }
        let disk = Disk::new(log, &list);
        let moments = moments(log, &list);
        Self {
            list,
            behind,
            disk,
            moments,
            steps: log.steps().len(),
        }
    }

    /// Leaves out the crashes before so many acknowledgements.
    pub fn begin_behind(&mut self, acknowledged: usize) {
        self.moments
            .retain(|moment| moment.acknowledged >= acknowledged);
    }

    /// Tells whether the states differ in nothing but what was acknowledged: each piece is durable
    /// from the first moment on.
    #[must_use]
    pub fn are_settled(&self) -> bool {
        let first = self.moments.first();
        first.is_some_and(|first| (0..self.list.len()).all(|piece| self.durable(piece, first)))
    }

    /// Returns the states that a crash may leave, each content once for each number of
    /// acknowledgements before it, at most `most`.
    ///
    /// All of them if there are at most `most`; else those that find faults early come first, and
    /// the rest is drawn at random from `seed`, and searched for where that finds no others. The
    /// same log, model, bound and seed give the same states with the same numbers. The states are
    /// counted here, by making up to `most` of them.
    #[must_use]
    pub fn explore(&self, most: usize, seed: u64) -> Explored<'_> {
        Explored::new(self, most, seed)
    }

    /// Returns the number of pieces.
    #[must_use]
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Returns the folder that a state of these pieces leaves: what is reached from the root.
    #[must_use]
    pub fn tree(&self, state: &State) -> Tree {
        self.disk.tree(&self.disk.view(&state.kept))
    }

    /// Returns the index of the first sync after which all of step `step` is durable, `None` if it
    /// never is, and for a step that changes nothing.
    #[must_use]
    pub fn durable_by(&self, step: usize) -> Option<usize> {
        let pieces = self.list.iter().filter(|piece| piece.step == step);
        let syncs: Option<Vec<usize>> = pieces.map(|piece| piece.durable).collect();
        syncs?.into_iter().max()
    }

    /// Tells whether a piece is durable when a crash is at a moment.
    pub(crate) fn durable(&self, piece: usize, moment: &Moment) -> bool {
        let piece = self.list.get(piece);
        piece
            .and_then(|piece| piece.durable)
            .is_some_and(|sync| sync < moment.last)
    }

    /// Returns all pieces until a moment but `out` and what comes after them.
    pub(crate) fn without(&self, moment: &Moment, out: impl Fn(usize) -> bool) -> Bits {
        let mut kept = Bits::default();
        for (index, piece) in self.list.iter().enumerate().take(moment.pieces) {
            let whole = piece.after.iter().all(|before| kept.has(*before));
            if whole && (self.durable(index, moment) || !out(index)) {
                kept.add(index);
            }
        }
        kept
    }

    /// Adds a piece and all that it comes after.
    pub(crate) fn add(&self, kept: &mut Bits, piece: usize) {
        let mut left = vec![piece];
        while let Some(next) = left.pop() {
            if !kept.has(next) {
                kept.add(next);
                left.extend(
                    self.list
                        .get(next)
                        .into_iter()
                        .flat_map(|piece| &piece.after),
                );
            }
        }
    }

    /// Returns the state of a set of pieces, at the first moment at which it may be.
    pub(crate) fn state(&self, number: usize, moment: &Moment, kept: Bits) -> State {
        let steps = kept
            .iter()
            .filter_map(|piece| self.list.get(piece))
            .map(|piece| piece.step);
        let begun = steps.max().map_or(0, |step| step + 1).max(moment.first);
        let lost = self.lost(begun, &kept);
        State {
            number,
            moment: begun,
            acknowledged: moment.acknowledged,
            lost,
            kept,
        }
    }

    /// Names the pieces of the first steps that are not in a set.
    fn lost(&self, steps: usize, kept: &Bits) -> Vec<Lost> {
        let mut all: HashMap<usize, usize> = HashMap::new();
        let begun = self
            .list
            .iter()
            .enumerate()
            .take_while(|(_, piece)| piece.step < steps);
        let mut lost: Vec<(usize, &Piece)> = Vec::new();
        for (index, piece) in begun {
            *all.entry(piece.step).or_default() += 1;
            if !kept.has(index) {
                lost.push((index, piece));
            }
        }
        let mut named: Vec<Lost> = Vec::new();
        for pieces in lost.chunk_by(|(_, a), (_, b)| a.step == b.step) {
            let Some((_, Piece { step, .. })) = pieces.first() else {
                continue;
            };
            if all.get(step) == Some(&pieces.len()) {
                named.push(Lost {
                    step: *step,
                    part: Part::Whole,
                });
                continue;
            }
            for (_, piece) in pieces {
                let last = named.last_mut().filter(|last| last.step == *step);
                match (last.map(|last| &mut last.part), &piece.part) {
                    (Some(Part::Bytes(bytes)), Part::Bytes(more)) if bytes.end == more.start => {
                        bytes.end = more.end;
                    }
                    // The sizes that follow are lost with the first one.
                    (Some(Part::Size(_)), Part::Size(_)) => {}
                    (_, part) => named.push(Lost {
                        step: *step,
                        part: part.clone(),
                    }),
                }
            }
        }
        named
    }

    /// Returns the number of steps of the log.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }
}

/// Returns the moments at which a crash is looked at.
fn moments(log: &Log, list: &[Piece]) -> Vec<Moment> {
    let mut syncs = vec![false; log.steps().len()];
    for sync in list.iter().filter_map(|piece| piece.durable) {
        if let Some(changes) = syncs.get_mut(sync) {
            *changes = true;
        }
    }
    let mut moments = Vec::new();
    let (mut first, mut acknowledged) = (0, 0);
    let mut moment = |first: usize, last: usize, acknowledged: usize| {
        let pieces = list.partition_point(|piece| piece.step < last);
        moments.push(Moment {
            first,
            last,
            pieces,
            acknowledged,
        });
    };
    for (index, (step, changes)) in log.steps().iter().zip(syncs).enumerate() {
        let says = *step == Step::Acknowledged;
        if says || changes {
            moment(first, index, acknowledged);
            first = index + 1;
            acknowledged += usize::from(says);
        }
    }
    moment(first, log.steps().len(), acknowledged);
    moments
}
