//! What a sync makes durable, of a file or of a range of its bytes.

use super::{Op, Piece};
use crate::crash::{Model, NodeId};
use std::ops::Range;

/// Makes durable what a sync of a node makes durable.
pub(super) fn all(step: usize, of: (NodeId, bool), model: &Model, pieces: &mut [Piece]) {
    sync(step, of, model, pieces, &|_| true);
}

/// Makes durable the data within a range, and so many of the sizes that, whatever follows of those
/// until now, the file never ends before the range does; all of them where it ends before it now.
pub(super) fn range(
    step: usize,
    (node, only_data): (NodeId, bool),
    (range, start): (&Range<u64>, u64),
    model: &Model,
    pieces: &mut [Piece],
) {
    let size_of = |piece: &Piece| {
        piece.ops.iter().find_map(|op| match op {
            Op::Size(of, size) if *of == node => Some(*size),
            _ => None,
        })
    };
    let sizes: Vec<(usize, u64)> = pieces
        .iter()
        .enumerate()
        .filter_map(|(index, piece)| Some((index, size_of(piece)?)))
        .collect();
    let after = |count: usize| match count {
        0 => start,
        _ => sizes[count - 1].1,
    };
    let is_durable = |count: &usize| *count == 0 || pieces[sizes[count - 1].0].durable.is_some();
    let least = (0..=sizes.len()).rfind(is_durable).unwrap();
    let enough = |count: &usize| (*count..=sizes.len()).all(|count| after(count) >= range.end);
    let count = (least..sizes.len()).find(enough).unwrap_or(sizes.len());
    let needed: Vec<usize> = sizes[..count].iter().map(|(index, _)| *index).collect();
    let is_size: Vec<bool> = pieces
        .iter()
        .map(|piece| size_of(piece).is_some())
        .collect();
    let in_range = |piece: &Piece| {
        piece.ops.iter().all(|op| match op {
            Op::Byte(_, at, _) => range.contains(at),
            _ => false,
        })
    };
    let wanted: Vec<bool> = (0..pieces.len())
        .map(|index| needed.contains(&index) || !is_size[index] && in_range(&pieces[index]))
        .collect();
    sync(step, (node, only_data), model, pieces, &|index| {
        wanted[index]
    });
}

/// Of the pieces of the node's own data those that are `wanted`.
fn sync(
    step: usize,
    (node, only_data): (NodeId, bool),
    model: &Model,
    pieces: &mut [Piece],
    wanted: &dyn Fn(usize) -> bool,
) {
    let last = pieces.iter().rposition(|piece| {
        if only_data {
            &piece.sizes
        } else {
            &piece.inodes
        }
        .contains(&node)
    });
    let z = format!("z{}", node.0);
    for (index, piece) in pieces.iter_mut().enumerate() {
        let (s, m, n) = (
            format!("s{}.", node.0),
            format!("m{}.", node.0),
            format!("n{}/", node.0),
        );
        let data = |location: &String| *location == z || location.starts_with(&s);
        let own = piece.locations.iter().any(|location| {
            (data(location) && wanted(index))
                || location.starts_with(&n)
                || (!only_data && location.starts_with(&m))
        });
        let journal = "nac".contains(piece.class);
        let committed = model.sync_commits && journal && last.is_some_and(|last| index <= last);
        let gives = piece.gives.contains(&node);
        let brought =
            model.sync_brings_name && gives && (!only_data || piece.sizes.contains(&node));
        if own || committed || brought {
            piece.durable = piece.durable.or(Some(step));
        }
    }
}
