//! Which piece comes after which, and which sync makes a piece durable.

mod ranged;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::crash::cut::{Class, Piece, Write};
use crate::crash::explore::Part;
use crate::crash::log::Attribute;
use crate::crash::model::Model;
use crate::crash::tree::{NodeId, Place};

/// The pieces until now, and what the next one has to come after.
pub(crate) struct Order {
    model: Model,
    unit: u64,
    pieces: Vec<Piece>,
    /// The last piece that wrote a name, a size, an attribute.
    names: HashMap<Place, usize>,
    sizes: HashMap<NodeId, usize>,
    attributes: HashMap<(NodeId, Vec<u8>), usize>,
    sectors: HashMap<NodeId, Sectors>,
    /// The last piece that moved a folder to another folder.
    moves: HashMap<NodeId, usize>,
    /// The last piece that made a file grow.
    growths: HashMap<NodeId, usize>,
    /// The pieces that a journal keeps in order: names, attributes, cuts.
    journal: Vec<usize>,
    /// The pieces that are nothing but data.
    plain: HashSet<usize>,
    /// How many pieces the journal had when a node was changed last: in any way, in data or size.
    touched: HashMap<NodeId, (usize, usize)>,
    /// How many pieces of the journal were committed.
    committed: usize,
    /// The pieces that no sync of the node was made for: data and size, attributes or entries, the
    /// names that it was given, the first of them.
    data: HashMap<NodeId, Vec<usize>>,
    inode: HashMap<NodeId, Vec<usize>>,
    given: HashMap<NodeId, Vec<usize>>,
    made: HashMap<NodeId, usize>,
    /// The sizes that were made durable.
    synced: HashMap<NodeId, u64>,
}

/// The last pieces that wrote the sectors of a file.
#[derive(Default)]
struct Sectors {
    single: BTreeMap<u64, usize>,
    /// Pieces that wrote all sectors from one on, each later one from a higher sector.
    tails: Vec<(u64, usize)>,
}

impl Order {
    /// Returns an order without pieces. `unit` is the size of a sector.
    pub(crate) fn new(model: &Model, unit: u64) -> Self {
        Self {
            model: model.clone(),
            unit,
            pieces: Vec::new(),
            names: HashMap::new(),
            sizes: HashMap::new(),
            attributes: HashMap::new(),
            sectors: HashMap::new(),
            moves: HashMap::new(),
            growths: HashMap::new(),
            journal: Vec::new(),
            plain: HashSet::new(),
            touched: HashMap::new(),
            committed: 0,
            data: HashMap::new(),
            inode: HashMap::new(),
            given: HashMap::new(),
            made: HashMap::new(),
            synced: HashMap::new(),
        }
    }

    /// Adds a piece after all that it always comes after, and returns its index.
    pub(crate) fn push(
        &mut self,
        step: usize,
        part: Part,
        class: Class,
        writes: Vec<Write>,
    ) -> usize {
        let piece = self.pieces.len();
        let mut after = Vec::new();
        let journaled = matches!(class, Class::Name | Class::Attribute | Class::Cut);
        if self.model.in_order {
            after.extend(piece.checked_sub(1));
        }
        if self.model.folders_in_order && class != Class::Data {
            after.extend(self.journal.last());
        }
        if journaled {
            self.journal.push(piece);
        }
        if class == Class::Data {
            self.plain.insert(piece);
        }
        for write in &writes {
            self.locate(piece, class, write, &mut after);
        }
        after.sort_unstable();
        after.dedup();
        self.pieces.push(Piece {
            step,
            part,
            writes,
            after,
            durable: None,
        });
        piece
    }

    /// Makes `piece` the last writer of a location, after the last one until now.
    fn locate(&mut self, piece: usize, class: Class, write: &Write, after: &mut Vec<usize>) {
        match write {
            Write::Name(place, _) => {
                after.extend(self.names.insert(place.clone(), piece));
                self.inode.entry(place.folder).or_default().push(piece);
                self.touched(place.folder);
            }
            Write::Size(node, _) => {
                after.extend(self.sizes.insert(*node, piece));
                self.of_data(piece, *node);
                if class == Class::Growth {
                    self.growths.insert(*node, piece);
                }
                self.resized(*node);
            }
            Write::Attribute(node, attribute) => {
                let key = match attribute {
                    Attribute::Mode(_) => b"m".to_vec(),
                    Attribute::Owner(..) => b"o".to_vec(),
                    Attribute::Xattr(name, _) => [b"x", name.as_slice()].concat(),
                };
                after.extend(self.attributes.insert((*node, key), piece));
                self.inode.entry(*node).or_default().push(piece);
                self.touched(*node);
            }
            Write::Bytes(node, at, slice) => {
                let sectors = self.sectors.entry(*node).or_default();
                let last = (at + slice.size().saturating_sub(1)) / self.unit;
                sectors.write(piece, at / self.unit, last, after);
                self.of_data(piece, *node);
                if class == Class::Cut {
                    self.resized(*node);
                }
            }
            Write::Zeros(node, from, to) => {
                let sectors = self.sectors.entry(*node).or_default();
                if *to == u64::MAX {
                    sectors.write_from(piece, from / self.unit, after);
                } else {
                    sectors.write(piece, from / self.unit, (to - 1) / self.unit, after);
                }
                self.of_data(piece, *node);
            }
        }
    }

    fn of_data(&mut self, piece: usize, node: NodeId) {
        self.data.entry(node).or_default().push(piece);
    }

    /// Notes that the inode of a node has changed.
    pub(crate) fn touched(&mut self, node: NodeId) {
        self.touched.entry(node).or_default().0 = self.journal.len();
    }

    /// Notes that the data that an inode describes has changed.
    fn resized(&mut self, node: NodeId) {
        self.touched
            .insert(node, (self.journal.len(), self.journal.len()));
    }

    /// Notes that `piece` gave a name to a node, the first one if the node is new. A new node that
    /// was changed before it had a name was made before (`O_TMPFILE`).
    pub(crate) fn named(&mut self, piece: usize, node: NodeId, new: bool) {
        self.given.entry(node).or_default().push(piece);
        if new && !self.touched.contains_key(&node) {
            self.made.insert(node, piece);
            self.resized(node);
        }
        self.touched(node);
    }

    /// Lets a piece come after another one.
    pub(crate) fn after(&mut self, piece: usize, other: usize) {
        if let Some(piece) = self.pieces.get_mut(piece) {
            piece.after.push(other);
        }
    }

    /// Lets a piece come after the growth of a file.
    pub(crate) fn after_growth(&mut self, piece: usize, file: NodeId) {
        if let Some(growth) = self.growths.get(&file).copied() {
            self.after(piece, growth);
        }
    }

    /// Lets a piece that moves a folder come after the moves of the folders on its `way`.
    pub(crate) fn moved(&mut self, piece: usize, way: &[NodeId]) {
        for folder in way {
            if let Some(other) = self.moves.get(folder).copied() {
                self.after(piece, other);
            }
        }
    }

    /// Notes that a piece has moved a folder.
    pub(crate) fn has_moved(&mut self, piece: usize, folder: NodeId) {
        self.moves.insert(folder, piece);
    }

    /// Makes durable what a sync of a node makes durable.
    pub(crate) fn sync(&mut self, step: usize, node: NodeId, only_data: bool) {
        let durable = self.data.remove(&node).unwrap_or_default();
        self.sync_with(step, node, only_data, durable);
    }

    /// Makes pieces of a node's data durable, and all else that a sync of it makes durable.
    fn sync_with(&mut self, step: usize, node: NodeId, only_data: bool, mut durable: Vec<usize>) {
        self.note_sizes(&durable);
        let folder = self.inode.get(&node).is_some_and(|pieces| {
            pieces.iter().any(|piece| {
                let writes = self.pieces.get(*piece).map(|piece| piece.writes.as_slice());
                writes.is_some_and(|writes| writes.iter().any(|write| enters(write, node)))
            })
        });
        if !only_data {
            durable.extend(self.inode.remove(&node).unwrap_or_default());
        } else if folder {
            let pieces = self.inode.get(&node).into_iter().flatten().copied();
            durable.extend(pieces.filter(|piece| {
                let writes = self.pieces.get(*piece).map(|piece| piece.writes.as_slice());
                writes.is_some_and(|writes| writes.iter().any(|write| enters(write, node)))
            }));
        }
        if self.model.sync_brings_name {
            if only_data {
                durable.extend(self.made.get(&node));
            } else {
                durable.extend(self.given.get(&node).into_iter().flatten());
            }
        }
        if self.model.sync_commits {
            let (any, data) = self.touched.get(&node).copied().unwrap_or_default();
            let reached = if only_data { data } else { any };
            durable.extend(
                self.journal
                    .get(self.committed..reached)
                    .into_iter()
                    .flatten(),
            );
            self.committed = self.committed.max(reached);
        }
        self.mark(step, &durable);
    }

    /// Makes everything durable.
    pub(crate) fn sync_all(&mut self, step: usize) {
        let mut all: Vec<usize> = (0..self.pieces.len()).collect();
        if !self.model.sync_all_flushes {
            all.retain(|piece| !self.plain.contains(piece));
        }
        self.note_sizes(&all);
        self.mark(step, &all);
        self.committed = self.journal.len();
        if self.model.sync_all_flushes {
            self.data.clear();
        }
        self.inode.clear();
    }

    fn mark(&mut self, step: usize, durable: &[usize]) {
        for piece in durable {
            if let Some(piece) = self.pieces.get_mut(*piece) {
                piece.durable.get_or_insert(step);
            }
        }
    }

    /// Returns the pieces. What a durable piece comes after is durable with it.
    pub(crate) fn finish(mut self) -> Vec<Piece> {
        for index in (0..self.pieces.len()).rev() {
            let Some(piece) = self.pieces.get_mut(index) else {
                continue;
            };
            piece.after.sort_unstable();
            piece.after.dedup();
            let Some(step) = piece.durable else { continue };
            for before in piece.after.clone() {
                if let Some(before) = self.pieces.get_mut(before) {
                    before.durable = Some(before.durable.map_or(step, |first| first.min(step)));
                }
            }
        }
        self.pieces
    }
}

/// Tells whether a write is of a name in a folder.
fn enters(write: &Write, folder: NodeId) -> bool {
    matches!(write, Write::Name(place, _) if place.folder == folder)
}

impl Sectors {
    /// Writes the sectors from `first` to `last`.
    fn write(&mut self, piece: usize, first: u64, last: u64, after: &mut Vec<usize>) {
        for sector in first..=last {
            let tail = self.tails.iter().rev().find(|(from, _)| *from <= sector);
            let before = self
                .single
                .insert(sector, piece)
                .or(tail.map(|(_, piece)| *piece));
            after.extend(before.filter(|before| *before != piece));
        }
    }

    /// Writes all sectors from `first` on.
    fn write_from(&mut self, piece: usize, first: u64, after: &mut Vec<usize>) {
        after.extend(
            self.single
                .split_off(&first)
                .into_values()
                .filter(|other| *other != piece),
        );
        let kept = self.tails.partition_point(|(from, _)| *from < first);
        let tails = self.tails.split_off(kept);
        // The tail that reaches into these sectors from before them, and those that began in them.
        after.extend(tails.into_iter().map(|(_, piece)| piece));
        after.extend(self.tails.last().map(|(_, piece)| *piece));
        self.tails.push((first, piece));
    }
}
