//! Cuts the steps of a log into pieces, each with what it writes.

use std::collections::{BTreeMap, HashMap};

use crate::crash::content::Slice;
use crate::crash::explore::Part;
use crate::crash::log::{Attribute, Change, Log, Step};
use crate::crash::model::Model;
use crate::crash::order::Order;
use crate::crash::replay::{Replay, given};
use crate::crash::tree::{Node, NodeId, Place};
use crate::crash::uncovered::uncovered;

/// What a piece is, for the order of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Names in folders.
    Name,
    /// An attribute.
    Attribute,
    /// An end of a file that was set, or a range of it that changed as a whole.
    Cut,
    /// The growth of a file by a write.
    Growth,
    /// Bytes of a file.
    Data,
}

/// A value that a piece writes.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    /// What a name stands for.
    Name(Place, Option<NodeId>),
    /// The size of a file.
    Size(NodeId, u64),
    /// An attribute.
    Attribute(NodeId, Attribute),
    /// Bytes of a file at an offset.
    Bytes(NodeId, u64, Slice),
    /// Zeros in a file from an offset to another, `u64::MAX`: all that is behind.
    Zeros(NodeId, u64, u64),
}

/// A piece of a step: it reaches the disk as a whole or not at all.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The index of the step.
    pub(crate) step: usize,
    /// What of the step it is.
    pub(crate) part: Part,
    /// What it writes.
    pub(crate) writes: Vec<Write>,
    /// The pieces that it comes after, those that others of them come after left out.
    pub(crate) after: Vec<usize>,
    /// The index of the first sync that made it durable.
    pub(crate) durable: Option<usize>,
}

/// Cuts `log` by `model`.
pub(crate) fn cut(log: &Log, model: &Model) -> Vec<Piece> {
    let Ok(replay) = Replay::new(log.start(), log.new_nodes()) else {
        return Vec::new();
    };
    let unit = model.unit();
    let block = unit.max(model.page);
    let order = Order::new(model, unit);
    let new = log.new_nodes();
    let mut cutter = Cutter {
        model,
        new,
        block,
        replay,
        order,
        uncovered: uncovered(log, model),
    };
    for (index, step) in log.steps().iter().enumerate() {
        match step {
            Step::Change(change) => {
                cutter.change(index, change);
                // Log::new() has refused a change that fails.
                let _ = cutter.replay.apply(change);
            }
            Step::Sync { node, only_data } => cutter.order.sync(index, *node, *only_data),
            Step::SyncRange {
                node,
                range,
                only_data,
            } => {
                let start = log.start().nodes.get(node).and_then(Node::content);
                let start = start.map_or(0, |content| content.size());
                let of = (*node, *only_data);
                cutter.order.sync_range(index, of, range.clone(), start);
            }
            Step::SyncAll => cutter.order.sync_all(index),
            Step::Acknowledged => {}
        }
    }
    cutter.order.finish()
}

/// The state of the cutting.
struct Cutter<'m> {
    model: &'m Model,
    new: &'m BTreeMap<NodeId, Node>,
    /// What a file system allocates.
    block: u64,
    /// The folder before the step.
    replay: Replay,
    order: Order,
    /// By step, the sizes that come back where it empties a file.
    uncovered: HashMap<usize, Vec<u64>>,
}

impl Cutter<'_> {
    fn change(&mut self, step: usize, change: &Change) {
        match change {
            Change::Enter { at, node } => {
                let writes = vec![Write::Name(at.clone(), Some(*node))];
                let piece = self.order.push(step, Part::Whole, Class::Name, writes);
                let new = self.new.contains_key(node);
                self.order.named(piece, *node, new);
            }
            Change::Remove { at } => {
                let writes = vec![Write::Name(at.clone(), None)];
                let gone = self.replay.at(at);
                self.order.push(step, Part::Whole, Class::Name, writes);
                gone.into_iter().for_each(|node| self.order.touched(node));
            }
            Change::Rename { from, to, leaves } => self.rename(step, from, to, *leaves),
            Change::Write { node, at, bytes } => {
                self.write(step, *node, *at, &Slice::all(bytes.clone()));
            }
            Change::Truncate { node, size } => self.truncate(step, *node, *size),
            Change::Range {
                node,
                at,
                bytes,
                size,
            } => {
                let mut writes = Vec::new();
                if !bytes.is_empty() {
                    writes.push(Write::Bytes(*node, *at, Slice::all(bytes.clone())));
                }
                let old = self.replay.size(*node);
                if *size < old {
                    writes.push(Write::Zeros(*node, *size, u64::MAX));
                }
                if *size != old {
                    writes.push(Write::Size(*node, *size));
                }
                if !writes.is_empty() {
                    self.order.push(step, Part::Whole, Class::Cut, writes);
                }
            }
            Change::Set { node, attribute } => {
                let writes = vec![Write::Attribute(*node, attribute.clone())];
                self.order.push(step, Part::Whole, Class::Attribute, writes);
            }
            Change::Give { node, owner, mode } => {
                // One change of the inode (`notify_change()`, fs/attr.c).
                let attributes = given(*owner, *mode).into_iter();
                let writes = attributes.map(|it| Write::Attribute(*node, it)).collect();
                self.order.push(step, Part::Whole, Class::Attribute, writes);
            }
        }
    }

    fn rename(&mut self, step: usize, from: &Place, to: &Place, leaves: Option<NodeId>) {
        let Some(moved) = self.replay.at(from) else {
            return;
        };
        let replaced = self.replay.at(to);
        let exchange = leaves.is_some() && leaves == replaced;
        let old = Write::Name(from.clone(), leaves);
        let new = Write::Name(to.clone(), Some(moved));
        let is_folder = [Some(moved), leaves]
            .into_iter()
            .flatten()
            .any(|node| self.replay.is_folder(node));
        let whole = from.folder == to.folder || is_folder || self.model.moves_whole;
        let piece = if whole {
            let writes = vec![old, new];
            self.order.push(step, Part::Whole, Class::Name, writes)
        } else {
            let part = |at: &Place| Part::Name(at.clone());
            let piece = self.order.push(step, part(to), Class::Name, vec![new]);
            let other = self.order.push(step, part(from), Class::Name, vec![old]);
            // The file is never in neither, unless the new folder itself is lost.
            if !exchange {
                self.order.after(other, piece);
            }
            piece
        };
        if from.folder != to.folder {
            let back = leaves.filter(|_| exchange).map(|node| (node, from.folder));
            for (node, folder) in [Some((moved, to.folder)), back].into_iter().flatten() {
                if self.replay.is_folder(node) {
                    self.order.moved(piece, &self.replay.way(folder));
                }
            }
            // Both are known as moved only after both found the moves before this one.
            for node in [Some(moved), back.map(|(node, _)| node)]
                .into_iter()
                .flatten()
            {
                if self.replay.is_folder(node) {
                    self.order.has_moved(piece, node);
                }
            }
        }
        if self.model.replace_after_data && replaced.is_some() && !exchange {
            self.order.after_growth(piece, moved);
        }
        if exchange && !self.model.exchange_touches {
            return;
        }
        self.order.named(piece, moved, false);
        if let Some(left) = leaves {
            self.order.named(piece, left, self.new.contains_key(&left));
        }
        replaced
            .into_iter()
            .for_each(|node| self.order.touched(node));
    }

    /// Cuts a write into the sectors that it touches and the sizes that it makes.
    fn write(&mut self, step: usize, node: NodeId, at: u64, slice: &Slice) {
        let (old, end) = (self.replay.size(node), at + slice.size());
        if slice.size() == 0 {
            return;
        }
        if self.model.torn == 0 || self.model.in_order {
            let mut writes = vec![Write::Bytes(node, at, slice.clone())];
            if end > old {
                writes.push(Write::Size(node, end));
            }
            let class = if end > old {
                Class::Growth
            } else {
                Class::Data
            };
            self.order.push(step, Part::Whole, class, writes);
            return;
        }
        // By the end of the data: a size comes after what is before it.
        let mut begun: BTreeMap<u64, usize> = BTreeMap::new();
        for (from, to) in steps(at, end, self.model.torn) {
            let bytes = slice.slice(from - at, to - from);
            let writes = vec![Write::Bytes(node, from, bytes)];
            let piece = self
                .order
                .push(step, Part::Bytes(from..to), Class::Data, writes);
            // Within a block that the file has, ext4 sets the size at once and orders nothing:
            // ext4_da_should_update_i_disksize(), fs/ext4/inode.c.
            if from - from % self.block >= old {
                begun.insert(from, piece);
            }
        }
        // A write behind the end first fills the page that the file ends in.
        let filled = match self.model.page {
            0 => None,
            page => Some(old.next_multiple_of(page)).filter(|to| (old + 1..at).contains(to)),
        };
        let grows = steps(at, end, self.model.page).map(|(_, to)| to);
        for to in filled.into_iter().chain(grows).filter(|to| *to > old) {
            let writes = vec![Write::Size(node, to)];
            let piece = self.order.push(step, Part::Size(to), Class::Growth, writes);
            if self.model.size_after_data {
                begun
                    .range(..to)
                    .for_each(|(_, data)| self.order.after(piece, *data));
            }
        }
    }

    /// Cuts a truncation into the zeros behind its end within a block, and the size with all blocks
    /// behind.
    ///
    /// The zeros are data that is written (`block_truncate_page()`, `ext4_block_truncate_page()`,
    /// `iomap_truncate_page()`) while the blocks go with the inode that holds them.
    fn truncate(&mut self, step: usize, node: NodeId, size: u64) {
        let old = self.replay.size(node);
        if size == old {
            return;
        }
        let mut writes = vec![Write::Size(node, size)];
        if size > old {
            self.order.push(step, Part::Whole, Class::Cut, writes);
            return;
        }
        if self.model.torn == 0 || self.model.in_order {
            writes.push(Write::Zeros(node, size, u64::MAX));
            self.order.push(step, Part::Whole, Class::Cut, writes);
            return;
        }
        for size in self.uncovered.remove(&step).into_iter().flatten() {
            let writes = vec![Write::Size(node, size)];
            self.order.push(step, Part::Size(size), Class::Cut, writes);
        }
        let block = size.next_multiple_of(self.block);
        let mut zeros = Vec::new();
        for (from, to) in steps(size, block, self.model.torn).take_while(|(from, _)| *from < old) {
            let writes = vec![Write::Zeros(node, from, to)];
            zeros.push(
                self.order
                    .push(step, Part::Bytes(from..to), Class::Data, writes),
            );
        }
        if block < old {
            writes.push(Write::Zeros(node, block, u64::MAX));
        }
        let piece = self.order.push(step, Part::Size(size), Class::Cut, writes);
        if self.model.size_after_data {
            zeros
                .into_iter()
                .for_each(|data| self.order.after(piece, data));
        }
    }
}

/// Returns the parts of `at..end` between multiples of `unit`, all at once for 0.
fn steps(at: u64, end: u64, unit: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut from = at;
    std::iter::from_fn(move || {
        let next = if unit == 0 {
            end
        } else {
            (from - from % unit).saturating_add(unit)
        };
        let part = (from, next.min(end));
        from = part.1;
        (part.0 < end).then_some(part)
    })
}
