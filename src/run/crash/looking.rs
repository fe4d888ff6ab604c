//! How much is read of what a run left: a program of any size that was laid in is compared.

use crate::crash::{Kind, Node, Tree, Watched};
use crate::verdict::{Known, Run};
use perf_live::sandbox::{Left, Room};
use std::path::Path;

/// Room for what a tree holds in memory: for its files as they are, and for no hole.
pub(super) fn room(tree: &Tree) -> Room {
    let held = |node: &Node| match &node.kind {
        Kind::File(content) => content.held(),
        _ => 0,
    };
    Room::for_files(tree.nodes.values().map(held))
}

/// Looks at what is watched, when it is known how much there is to be read.
pub(in crate::run) fn looks<'a>(
    directory: &'a Path,
    watched: &'a Watched,
) -> impl FnOnce(Room) -> Known<Left> + 'a {
    |room| Known::Yes(Left::below_with(directory, &|path| watched.has(path), room))
}

/// What a run left, of a run whose changes were followed with all that they end in.
pub(in crate::run) fn left(
    run: &Run<()>,
    directory: &Path,
    is_read: &dyn Fn(&[u8]) -> bool,
) -> Left {
    let changes = run.changes.as_ref();
    let room = changes.map_or_else(Room::default, |built| room(&built.last));
    Left::below_with(directory, is_read, room)
}
