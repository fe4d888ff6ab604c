//! A sync of a part of a file: `O_DSYNC`, `RWF_DSYNC`, `msync(2)`.

use super::Order;
use crate::crash::cut::Write;
use crate::crash::tree::NodeId;
use std::ops::Range;

impl Order {
    /// Makes durable the bytes of a file within a range, and the size by which they are found; not
    /// what else was written to it before (`vfs_fsync_range()`, fs/sync.c). `start` is the size of
    /// the file before the first step.
    pub(crate) fn sync_range(
        &mut self,
        step: usize,
        (node, only_data): (NodeId, bool),
        range: Range<u64>,
        start: u64,
    ) {
        let all = self.data.remove(&node).unwrap_or_default();
        let needed = self.sizes_needed(node, &all, range.end, start);
        let (mut durable, mut left) = (Vec::new(), Vec::new());
        for piece in all {
            let is_in = self.size_of(piece).is_none() && self.is_within(piece, &range);
            match is_in || needed.contains(&piece) {
                true => durable.push(piece),
                false => left.push(piece),
            }
        }
        if !left.is_empty() {
            self.data.insert(node, left);
        }
        self.sync_with(step, node, only_data, durable);
    }

    /// The first of the pieces that set a file's size which are to be durable for it to reach an
    /// end for good.
    fn sizes_needed(&self, node: NodeId, all: &[usize], end: u64, start: u64) -> Vec<usize> {
        let sizes = all
            .iter()
            .filter_map(|piece| Some((*piece, self.size_of(*piece)?)));
        let sizes: Vec<_> = sizes.collect();
        let durable = self.synced.get(&node).copied().unwrap_or(start);
        let short = sizes.iter().rposition(|(_, size)| *size < end);
        let first = match short {
            // The one behind it reaches the end.
            Some(last) => last + 2,
            None if durable < end => 1,
            None => 0,
        };
        sizes.into_iter().take(first).map(|it| it.0).collect()
    }

    /// Notes the sizes that become durable.
    pub(super) fn note_sizes(&mut self, durable: &[usize]) {
        for piece in durable {
            let writes = self.pieces.get(*piece).map(|piece| piece.writes.as_slice());
            for write in writes.unwrap_or_default() {
                if let Write::Size(node, size) = write {
                    self.synced.insert(*node, *size);
                }
            }
        }
    }

    fn size_of(&self, piece: usize) -> Option<u64> {
        let writes = &self.pieces.get(piece)?.writes;
        writes.iter().find_map(|write| match write {
            Write::Size(_, size) => Some(*size),
            _ => None,
        })
    }

    fn is_within(&self, piece: usize, range: &Range<u64>) -> bool {
        let within = |from: u64, to: u64| range.start <= from && to <= range.end;
        let writes = self.pieces.get(piece).map(|piece| piece.writes.as_slice());
        let mut writes = writes.unwrap_or_default().iter();
        writes.all(|write| match write {
            Write::Bytes(_, at, slice) => within(*at, at + slice.size()),
            Write::Zeros(_, from, to) => within(*from, *to),
            _ => false,
        })
    }
}
