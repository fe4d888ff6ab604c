//! The folder as the program saw it, step by step, and whether each step can have happened.

use std::collections::{BTreeMap, BTreeSet};

use crate::crash::content::Content;
use crate::crash::log::{Attribute, Change, Fault};
use crate::crash::tree::{Attributes, Kind, Node, NodeId, Place, Tree};

/// The largest size of a file (`s_maxbytes` is never above `MAX_LFS_FILESIZE`, include/linux/fs.h).
const LARGEST: u64 = i64::MAX.unsigned_abs();

/// The folder after some of the steps.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    /// The folder, with nodes that no name stands for.
    tree: Tree,
    /// The folder that each named folder is in.
    parents: BTreeMap<NodeId, NodeId>,
    /// The folders that had a name ever, and the root.
    named: BTreeSet<NodeId>,
}

impl Replay {
    /// Returns the folder before the first step.
    pub(crate) fn new(start: &Tree, new: &BTreeMap<NodeId, Node>) -> Result<Self, Fault> {
        let mut tree = start.clone();
        for (id, node) in new {
            if tree.nodes.insert(*id, node.clone()).is_some() {
                return Err(Fault::TwoNodes(*id));
            }
            let held = node.content().map_or(0, Content::size);
            if held > 0 || node.entries().is_some_and(|names| !names.is_empty()) {
                return Err(Fault::NotEmpty(*id));
            }
        }
        let named = BTreeSet::from([tree.root]);
        let mut replay = Self {
            tree,
            parents: BTreeMap::new(),
            named,
        };
        replay.names(start.root)?;
        for (folder, node) in &start.nodes {
            for (name, id) in node.entries().into_iter().flatten() {
                sound(&Place {
                    folder: *folder,
                    name: name.clone(),
                })?;
                if replay.node(*id)?.entries().is_some() {
                    if !replay.named.insert(*id) {
                        return Err(Fault::TwoNames(*id));
                    }
                    replay.parents.insert(*id, *folder);
                }
            }
        }
        Ok(replay)
    }

    /// Returns the folder: what is reached from the root.
    pub(crate) fn tree(&self) -> Tree {
        let reached = self.tree.reached();
        let nodes = reached
            .into_iter()
            .filter_map(|id| Some((id, self.tree.nodes.get(&id)?.clone())));
        Tree::new(self.tree.root, nodes)
    }

    /// Returns the node that a name stands for.
    pub(crate) fn at(&self, place: &Place) -> Option<NodeId> {
        self.tree
            .nodes
            .get(&place.folder)?
            .entries()?
            .get(&place.name)
            .copied()
    }

    /// Returns the size of a file, 0 of another node.
    pub(crate) fn size(&self, node: NodeId) -> u64 {
        self.tree
            .nodes
            .get(&node)
            .and_then(Node::content)
            .map_or(0, Content::size)
    }

    /// Tells whether a node is a folder.
    pub(crate) fn is_folder(&self, node: NodeId) -> bool {
        self.tree
            .nodes
            .get(&node)
            .is_some_and(|node| node.entries().is_some())
    }

    /// Returns a folder and the folders that it is in.
    pub(crate) fn way(&self, folder: NodeId) -> Vec<NodeId> {
        let mut way = vec![folder];
        let mut next = folder;
        while let Some(parent) = self.parents.get(&next) {
            // Moves into itself are refused: the way ends.
            way.push(*parent);
            next = *parent;
        }
        way
    }

    /// Makes a change, or tells why it cannot have happened.
    pub(crate) fn apply(&mut self, change: &Change) -> Result<(), Fault> {
        match change {
            Change::Enter { at, node } => self.enter(at, *node),
            Change::Remove { at } => self.remove(at),
            Change::Rename { from, to, leaves } => self.rename(from, to, *leaves),
            Change::Write { node, at, bytes } => {
                end(*at, bytes.len())?;
                self.content(*node)?.write(*at, bytes.clone());
                Ok(())
            }
            Change::Truncate { node, size } => {
                end(*size, 0)?;
                self.content(*node)?.resize(*size);
                Ok(())
            }
            Change::Range {
                node,
                at,
                bytes,
                size,
            } => {
                if end(*at, bytes.len())? > *size {
                    return Err(Fault::Behind(*size));
                }
                end(*size, 0)?;
                let content = self.content(*node)?;
                content.write(*at, bytes.clone());
                content.resize(*size);
                Ok(())
            }
            Change::Set { node, attribute } => {
                let node = self.tree.nodes.get_mut(node).ok_or(Fault::NoNode(*node))?;
                set(&mut node.attributes, attribute);
                Ok(())
            }
            Change::Give { node, owner, mode } => {
                let node = self.tree.nodes.get_mut(node).ok_or(Fault::NoNode(*node))?;
                for attribute in given(*owner, *mode) {
                    set(&mut node.attributes, &attribute);
                }
                Ok(())
            }
        }
    }

    /// Returns a node, or that there is none.
    pub(crate) fn node(&self, id: NodeId) -> Result<&Node, Fault> {
        self.tree.nodes.get(&id).ok_or(Fault::NoNode(id))
    }

    fn content(&mut self, id: NodeId) -> Result<&mut Content, Fault> {
        match self.tree.nodes.get_mut(&id).map(|node| &mut node.kind) {
            Some(Kind::File(content)) => Ok(content),
            Some(_) => Err(Fault::NoFile(id)),
            None => Err(Fault::NoNode(id)),
        }
    }

    fn names(&mut self, id: NodeId) -> Result<&mut BTreeMap<Vec<u8>, NodeId>, Fault> {
        match self.tree.nodes.get_mut(&id).map(|node| &mut node.kind) {
            Some(Kind::Folder(names)) if self.named.contains(&id) => Ok(names),
            Some(_) => Err(Fault::NoFolder(id)),
            None => Err(Fault::NoNode(id)),
        }
    }

    fn enter(&mut self, at: &Place, id: NodeId) -> Result<(), Fault> {
        sound(at)?;
        let folder = self.node(id)?.entries().is_some();
        if self.names(at.folder)?.contains_key(&at.name) {
            return Err(Fault::Taken(at.clone()));
        }
        if folder {
            // A removed folder does not come back.
            if !self.named.insert(id) {
                return Err(Fault::TwoNames(id));
            }
            self.parents.insert(id, at.folder);
        }
        self.names(at.folder)?.insert(at.name.clone(), id);
        Ok(())
    }

    fn remove(&mut self, at: &Place) -> Result<(), Fault> {
        let id = self.at(at).ok_or_else(|| Fault::NoName(at.clone()))?;
        self.empty(id)?;
        self.names(at.folder)?.remove(&at.name);
        self.parents.remove(&id);
        Ok(())
    }

    fn rename(&mut self, from: &Place, to: &Place, leaves: Option<NodeId>) -> Result<(), Fault> {
        sound(to)?;
        let moved = self.at(from).ok_or_else(|| Fault::NoName(from.clone()))?;
        self.names(to.folder)?;
        let replaced = self.at(to);
        let exchange = leaves.is_some() && leaves == replaced;
        if from == to || (replaced == Some(moved) && !exchange) {
            return Err(Fault::Taken(to.clone()));
        }
        if let Some(left) = leaves.filter(|_| !exchange)
            && self.node(left)?.entries().is_some()
        {
            return Err(Fault::Leaves(left));
        }
        let back = leaves.filter(|_| exchange);
        for (id, folder) in [Some((moved, to.folder)), back.map(|id| (id, from.folder))]
            .into_iter()
            .flatten()
        {
            if self.is_folder(id) && self.way(folder).contains(&id) {
                return Err(Fault::Inside(id));
            }
        }
        if let Some(replaced) = replaced.filter(|_| !exchange) {
            self.empty(replaced)?;
            self.parents.remove(&replaced);
        }
        self.names(from.folder)?.remove(&from.name);
        if let Some(left) = leaves {
            self.names(from.folder)?.insert(from.name.clone(), left);
            if self.is_folder(left) {
                self.parents.insert(left, from.folder);
            }
        }
        self.names(to.folder)?.insert(to.name.clone(), moved);
        if self.is_folder(moved) {
            self.parents.insert(moved, to.folder);
        }
        Ok(())
    }

    /// Refuses a folder that has names in it.
    fn empty(&self, id: NodeId) -> Result<(), Fault> {
        let names = self.node(id)?.entries();
        if names.is_some_and(|names| !names.is_empty()) {
            Err(Fault::NotEmpty(id))
        } else {
            Ok(())
        }
    }
}

/// Refuses a name that no folder can have.
fn sound(place: &Place) -> Result<(), Fault> {
    let name = place.name.as_slice();
    if name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') || name.contains(&0)
    {
        return Err(Fault::BadName(place.clone()));
    }
    Ok(())
}

/// Returns the offset behind `len` bytes at `at`.
fn end(at: u64, len: usize) -> Result<u64, Fault> {
    at.checked_add(len as u64)
        .filter(|end| *end <= LARGEST)
        .ok_or(Fault::TooLarge(at))
}

/// What a change of the owner changes that changes the permissions with it.
pub(crate) fn given((user, group): (u32, u32), mode: u32) -> [Attribute; 2] {
    [Attribute::Owner(user, group), Attribute::Mode(mode)]
}

/// Sets an attribute.
pub(crate) fn set(attributes: &mut Attributes, attribute: &Attribute) {
    match attribute {
        Attribute::Mode(mode) => attributes.mode = *mode,
        Attribute::Owner(owner, group) => (attributes.owner, attributes.group) = (*owner, *group),
        Attribute::Xattr(name, Some(value)) => {
            attributes.xattrs.insert(name.clone(), value.clone());
        }
        Attribute::Xattr(name, None) => {
            attributes.xattrs.remove(name);
        }
    }
}
