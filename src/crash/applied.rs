//! The folder as each change leaves it.

use super::{Change, Content, Kind, NodeId, Place, Tree, replay};
use std::sync::Arc;

/// Makes a change that happened.
pub(super) fn apply(tree: &mut Tree, change: &Change) {
    match change {
        Change::Enter { at, node } => set(tree, at, Some(*node)),
        Change::Remove { at } => set(tree, at, None),
        Change::Rename { from, to, leaves } => {
            let folder = tree.nodes.get(&from.folder);
            let moved = folder.and_then(|folder| folder.entries()?.get(&from.name).copied());
            set(tree, from, *leaves);
            set(tree, to, moved);
        }
        Change::Write { node, at, bytes } => {
            if let Some(content) = content(tree, *node) {
                content.write(*at, Arc::clone(bytes));
            }
        }
        Change::Truncate { node, size } => {
            if let Some(content) = content(tree, *node) {
                content.resize(*size);
            }
        }
        Change::Range {
            node,
            at,
            bytes,
            size,
        } => {
            if let Some(content) = content(tree, *node) {
                content.resize(*size);
                content.write(*at, Arc::clone(bytes));
            }
        }
        Change::Set { node, attribute } => {
            if let Some(node) = tree.nodes.get_mut(node) {
                replay::set(&mut node.attributes, attribute);
            }
        }
        Change::Give { node, owner, mode } => {
            if let Some(node) = tree.nodes.get_mut(node) {
                for attribute in replay::given(*owner, *mode) {
                    replay::set(&mut node.attributes, &attribute);
                }
            }
        }
    }
}

fn content(tree: &mut Tree, node: NodeId) -> Option<&mut Content> {
    match &mut tree.nodes.get_mut(&node)?.kind {
        Kind::File(content) => Some(content),
        _ => None,
    }
}

fn set(tree: &mut Tree, place: &Place, node: Option<NodeId>) {
    let folder = tree.nodes.get_mut(&place.folder);
    if let Some(Kind::Folder(entries)) = folder.map(|folder| &mut folder.kind) {
        match node {
            Some(node) => entries.insert(place.name.clone(), node),
            None => entries.remove(&place.name),
        };
    }
}
