//! Files that calls make.

use super::making::Builder;
use super::seen::Maker;
use super::{Attributes, Change, Kind, Node, NodeId, Place, Step};
use std::collections::BTreeMap;

impl Builder {
    pub(super) fn enter(&mut self, at: Place, kind: Kind, mode: u32, by: Maker, call: &str) {
        let is_folder = matches!(kind, Kind::Folder(_));
        let attributes = self.inherited(Some(at.folder), (mode, by), is_folder);
        let node = self.new_node(kind, attributes);
        self.step(Step::Change(Change::Enter { at, node }), call);
    }

    /// What a new file in a folder has: a folder with the set-group-ID bit gives its group, and to
    /// folders the bit as well (`inode_init_owner()`, fs/inode.c), which these have by nothing else
    /// (`vfs_mkdir()`).
    pub(super) fn inherited(
        &self,
        folder: Option<NodeId>,
        (mode, by): (u32, Maker),
        is_folder: bool,
    ) -> Attributes {
        let folder = folder.and_then(|folder| self.now.nodes.get(&folder));
        let giver = folder.map(|folder| &folder.attributes);
        let giver = giver.filter(|giver| giver.mode & libc::S_ISGID != 0);
        let bit = giver.filter(|_| is_folder).map_or(0, |_| libc::S_ISGID);
        let asked = if is_folder {
            mode & 0o1777
        } else {
            mode & 0o7777
        };
        Attributes {
            mode: asked & !by.umask | bit,
            owner: by.owner.0,
            group: giver.map_or(by.owner.1, |giver| giver.group),
            xattrs: BTreeMap::new(),
        }
    }

    pub(super) fn new_node(&mut self, kind: Kind, attributes: Attributes) -> NodeId {
        let id = NodeId(self.next);
        self.next += 1;
        let node = Node { kind, attributes };
        self.now.nodes.insert(id, node.clone());
        self.made.push((id, node));
        id
    }
}
