//! Sizes that come back where a file is emptied and then gets a name.

use super::{Disk, Op, Piece, add};
use crate::crash::{Change, Log, Model, Step};

/// Cuts the sizes that an emptied file had before, below its last one.
pub(super) fn cut(step: usize, log: &Log, model: &Model, pieces: &mut Vec<Piece>) {
    let Step::Change(Change::Truncate { node, size: 0 }) = &log.steps()[step] else {
        return;
    };
    if !model.emptied_uncovers || model.torn == 0 || model.in_order {
        return;
    }
    let mut disk = Disk::of(log);
    let mut sizes = vec![disk.files[node].size];
    for before in 0..step {
        for piece in pieces.iter().filter(|piece| piece.step == before) {
            disk.apply(&piece.ops);
        }
        sizes.push(disk.files[node].size);
    }
    let last = *sizes.last().unwrap();
    sizes.retain(|size| *size > 0 && *size < last);
    sizes.sort_unstable();
    sizes.dedup();
    let mut behind = (step + 1)..log.steps().len();
    let is_named = behind
        .find_map(|later| match &log.steps()[later] {
            Step::SyncAll => Some(false),
            Step::Change(Change::Enter { node: named, .. }) => (named == node).then_some(true),
            Step::Change(Change::Rename { from, leaves, .. }) => {
                let tree = log.after(later);
                let moved = tree.nodes[&from.folder].entries().unwrap()[&from.name];
                (moved == *node || *leaves == Some(*node)).then_some(true)
            }
            _ => None,
        })
        .unwrap_or(false);
    if is_named {
        for size in sizes {
            add(pieces, model, step, 'c', vec![Op::Size(*node, size)]);
        }
    }
}
