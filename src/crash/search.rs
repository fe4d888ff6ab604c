//! All sets of pieces that a crash at a moment may leave and that differ in the folder.

use std::collections::HashSet;
use std::sync::Arc;

use crate::crash::bits::Bits;
use crate::crash::disk::{Disk, Value, Version};
use crate::crash::pieces::{Moment, Pieces};
use crate::crash::tree::{Kind, NodeId};

/// A search that decides on one piece after another. With a piece, all that it comes after is
/// kept; without it, all that comes after it is lost: every decision can be completed.
///
/// Decided are only pieces that make a difference: first the names in folders that are reached,
/// from the root down, then the sizes of files that are reached, then their bytes below the size
/// and attributes. All other pieces are kept where that may be.
#[derive(Clone, Debug)]
pub(crate) struct Search<'p> {
    pieces: &'p Pieces,
    moment: Moment,
    /// By piece, whether it is kept, if that is decided.
    kept: Vec<Option<bool>>,
    /// The pieces that are decided, in the order in which they were.
    trail: Vec<usize>,
    decisions: Vec<Decision>,
    begun: bool,
}

/// A decision on a piece.
#[derive(Clone, Debug)]
struct Decision {
    piece: usize,
    kept: bool,
    /// The length of the trail before it.
    trail: usize,
    /// What was to be decided on.
    stage: Stage,
}

/// What is to be decided on.
#[derive(Clone, Debug)]
enum Stage {
    Names,
    /// These pieces, from one on; sizes, with the nodes that are reached, or all else.
    Sizes(Arc<[NodeId]>, Arc<[usize]>, usize),
    Rest(Arc<[usize]>, usize),
}

impl<'p> Search<'p> {
    /// Returns the search at a moment.
    pub(crate) fn new(pieces: &'p Pieces, moment: Moment) -> Self {
        Self {
            pieces,
            moment,
            kept: vec![None; moment.pieces],
            trail: Vec::new(),
            decisions: Vec::new(),
            begun: false,
        }
    }

    /// Returns what is to be decided on next, going back to the last piece that was kept.
    fn resume(&mut self) -> Option<Stage> {
        if !self.begun {
            self.begun = true;
            let durable = |piece: &usize| self.pieces.durable(*piece, &self.moment);
            let durable: Vec<usize> = (0..self.moment.pieces).filter(durable).collect();
            durable
                .into_iter()
                .for_each(|piece| self.decide(piece, true));
            return Some(Stage::Names);
        }
        while let Some(decision) = self.decisions.pop() {
            for piece in self.trail.drain(decision.trail..) {
                if let Some(kept) = self.kept.get_mut(piece) {
                    *kept = None;
                }
            }
            if decision.kept {
                self.decide(decision.piece, false);
                let stage = decision.stage.clone();
                self.decisions.push(Decision {
                    kept: false,
                    ..decision
                });
                return Some(stage);
            }
        }
        None
    }

    /// Decides on a piece and on all that follows from it.
    fn decide(&mut self, piece: usize, keep: bool) {
        let mut left = vec![piece];
        while let Some(next) = left.pop() {
            // Pieces of later steps are not there.
            let Some(kept) = self.kept.get_mut(next).filter(|kept| kept.is_none()) else {
                continue;
            };
            *kept = Some(keep);
            self.trail.push(next);
            if keep {
                left.extend(
                    self.pieces
                        .list
                        .get(next)
                        .into_iter()
                        .flat_map(|piece| &piece.after),
                );
            } else {
                left.extend(self.pieces.behind.get(next).into_iter().flatten());
            }
        }
    }

    /// Returns the next piece to decide on.
    fn choose(&self, stage: &mut Stage) -> Option<usize> {
        loop {
            match stage {
                Stage::Names => match reached(&self.pieces.disk, &self.kept) {
                    Err(piece) => return Some(piece),
                    Ok(nodes) => {
                        let sizes = sizes(&self.pieces.disk, &self.kept, &nodes);
                        *stage = Stage::Sizes(nodes.into(), sizes.into(), 0);
                    }
                },
                Stage::Sizes(nodes, list, next) => {
                    if let Some(piece) = self.undecided(list, next) {
                        return Some(piece);
                    }
                    let rest = rest(&self.pieces.disk, &self.kept, nodes);
                    *stage = Stage::Rest(rest.into(), 0);
                }
                Stage::Rest(list, next) => return self.undecided(list, next),
            }
        }
    }

    fn undecided(&self, list: &[usize], next: &mut usize) -> Option<usize> {
        let rest = list.get(*next..).unwrap_or_default();
        let skip = rest
            .iter()
            .position(|piece| self.kept.get(*piece) == Some(&None))?;
        *next += skip;
        list.get(*next).copied()
    }
}

impl Iterator for Search<'_> {
    type Item = Bits;

    fn next(&mut self) -> Option<Bits> {
        let mut stage = self.resume()?;
        while let Some(piece) = self.choose(&mut stage) {
            let trail = self.trail.len();
            self.decisions.push(Decision {
                piece,
                kept: true,
                trail,
                stage: stage.clone(),
            });
            self.decide(piece, true);
        }
        let kept = self
            .kept
            .iter()
            .enumerate()
            .filter(|(_, kept)| **kept != Some(false));
        Some(kept.map(|(piece, _)| piece).collect())
    }
}

/// Returns the pieces among versions that make a difference and are not decided.
fn open(versions: &[Version], kept: &[Option<bool>]) -> impl Iterator<Item = usize> {
    let open = |version: &&Version| version.changes && kept.get(version.piece) == Some(&None);
    versions.iter().filter(open).map(|version| version.piece)
}

/// Returns the value after the pieces that are kept, of those that are decided.
fn last<'d>(versions: &'d [Version], kept: &[Option<bool>]) -> Option<&'d Value> {
    let there = |version: &&Version| kept.get(version.piece) == Some(&Some(true));
    versions
        .iter()
        .rev()
        .find(there)
        .map(|version| &version.value)
}

/// Returns the nodes that are reached from the root, or a piece on which that depends.
fn reached(disk: &Disk, kept: &[Option<bool>]) -> Result<Vec<NodeId>, usize> {
    let mut seen = HashSet::new();
    let mut nodes = Vec::new();
    let mut left = vec![disk.root];
    while let Some(id) = left.pop() {
        if !seen.insert(id) {
            continue;
        }
        nodes.push(id);
        let Some(Kind::Folder(entries)) = disk.nodes.get(&id).map(|node| &node.kind) else {
            continue;
        };
        let Some(names) = disk.names.get(&id) else {
            left.extend(entries.values());
            continue;
        };
        left.extend(
            entries
                .iter()
                .filter(|(name, _)| !names.contains_key(*name))
                .map(|(_, id)| id),
        );
        for (name, slot) in names {
            let versions = disk.versions.get(*slot).map_or(&[][..], Vec::as_slice);
            if let Some(open) = open(versions, kept).next() {
                return Err(open);
            }
            match last(versions, kept) {
                Some(Value::Name(node)) => left.extend(node),
                _ => left.extend(entries.get(name)),
            }
        }
    }
    Ok(nodes)
}

/// Returns the pieces that set the sizes of nodes.
fn sizes(disk: &Disk, kept: &[Option<bool>], nodes: &[NodeId]) -> Vec<usize> {
    let slots = nodes.iter().filter_map(|node| disk.files.get(node)?.size);
    let versions = slots.filter_map(|slot| disk.versions.get(slot));
    sorted(versions.flat_map(|versions| open(versions, kept)).collect())
}

/// Returns the pieces that write attributes of nodes, and bytes below their sizes.
fn rest(disk: &Disk, kept: &[Option<bool>], nodes: &[NodeId]) -> Vec<usize> {
    let mut pieces = Vec::new();
    let mut add = |slot: usize| {
        pieces.extend(
            disk.versions
                .get(slot)
                .into_iter()
                .flat_map(|slot| open(slot, kept)),
        );
    };
    for node in nodes {
        disk.attributes
            .get(node)
            .into_iter()
            .flat_map(|keys| keys.values())
            .copied()
            .for_each(&mut add);
        let Some(file) = disk.files.get(node) else {
            continue;
        };
        let start = disk.nodes.get(node).and_then(|node| node.content());
        let versions = file.size.and_then(|slot| disk.versions.get(slot));
        let size = match versions.and_then(|versions| last(versions, kept)) {
            Some(Value::Size(size)) => *size,
            _ => start.map_or(0, |content| content.size()),
        };
        let below = file
            .starts
            .iter()
            .zip(file.first..)
            .take_while(|(at, _)| **at < size);
        below.for_each(|(_, slot)| add(slot));
    }
    sorted(pieces)
}

fn sorted(mut pieces: Vec<usize>) -> Vec<usize> {
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}
