//! From one call that was seen to the steps of a log.

use super::described::described;
use super::seen::{Act, Begin, Maker, Opened, Replacing, Seen, Spot, Synced, Target};
use super::{Attribute, Attributes, Change, Content, Kind, Node, NodeId, Place, Step, Tree};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// `FALLOC_FL_*`, include/uapi/linux/falloc.h.
mod allocate {
    pub(super) const KEEP_SIZE: u32 = 0x01;
    pub(super) const PUNCH_HOLE: u32 = 0x02;
    pub(super) const COLLAPSE: u32 = 0x08;
    pub(super) const ZERO: u32 = 0x10;
    pub(super) const INSERT: u32 = 0x20;
}

/// What a page of memory has, in which stores into mappings are told apart.
const PAGE: usize = 4096;

/// No file that is looked at is larger.
const LARGEST: u64 = 1 << 30;

const OTHER_MODE: u32 = 0o170_000;

/// Makes the steps of a log, one call after the other.
pub(super) struct Builder {
    /// The folder as the steps until here have left it.
    pub(super) now: Tree,
    pub(super) next: u32,
    pub(super) inodes: HashMap<u64, NodeId>,
    /// Files without a name that no descriptor was seen of yet.
    pub(super) nameless: VecDeque<Attributes>,
    pub(super) made: Vec<(NodeId, Node)>,
    pub(super) steps: Vec<Step>,
    pub(super) calls: Vec<String>,
    pub(super) promises: Vec<Vec<u8>>,
    pub(super) unknown: Vec<String>,
}

impl Builder {
    pub(super) fn doubt(&mut self, why: String) {
        if !self.unknown.contains(&why) {
            self.unknown.push(why);
        }
    }

    pub(super) fn step(&mut self, step: Step, call: &str) {
        if let Step::Change(change) = &step {
            apply(&mut self.now, change);
        }
        self.steps.push(step);
        self.calls.push(call.to_owned());
    }

    fn new_node(&mut self, kind: Kind, attributes: Attributes) -> NodeId {
        let id = NodeId(self.next);
        self.next += 1;
        let node = Node { kind, attributes };
        self.now.nodes.insert(id, node.clone());
        self.made.push((id, node));
        id
    }

    fn walk(&self, path: &[u8]) -> Option<NodeId> {
        let mut at = self.now.root;
        for part in path.split(|byte| *byte == b'/') {
            if part.is_empty() {
                continue;
            }
            at = *self.now.nodes.get(&at)?.entries()?.get(part)?;
        }
        Some(at)
    }

    fn place(&self, spot: &Spot) -> Option<Place> {
        Some(Place {
            folder: self.walk(&spot.folder)?,
            name: spot.name.clone(),
        })
    }

    fn at(&self, place: &Place) -> Option<NodeId> {
        let folder = self.now.nodes.get(&place.folder)?;
        folder.entries()?.get(&place.name).copied()
    }

    fn opened(&mut self, file: &Opened) -> Option<NodeId> {
        let Some(path) = &file.path else {
            if let Some(known) = self.inodes.get(&file.inode) {
                return Some(*known);
            }
            // One without a name, which may get one.
            let attributes = self.nameless.pop_front().unwrap_or_default();
            let node = self.new_node(file_of(Vec::new()), attributes);
            self.inodes.insert(file.inode, node);
            return Some(node);
        };
        let node = self.walk(path)?;
        self.inodes.insert(file.inode, node);
        Some(node)
    }

    fn target(&mut self, target: &Target) -> Option<NodeId> {
        match target {
            Target::Opened(file) => self.opened(file),
            Target::Named(spot) => self.at(&self.place(spot)?),
        }
    }

    fn content(&self, node: NodeId) -> Option<&Content> {
        self.now.nodes.get(&node)?.content()
    }

    fn size(&self, node: NodeId) -> u64 {
        self.content(node).map_or(0, Content::size)
    }

    pub(super) fn take(&mut self, seen: &Seen, value: i64) {
        // A call that failed has changed nothing.
        let Ok(value) = u64::try_from(value) else {
            return;
        };
        if self.changed(seen, value).is_none() {
            let why = format!(
                "`{}` is about a file that the log does not know",
                described(seen, value)
            );
            self.doubt(why);
        }
    }

    /// Adds what a call changed that returned `value`; `None` where the log does not know its file.
    fn changed(&mut self, seen: &Seen, value: u64) -> Option<()> {
        let call = described(seen, value);
        match &seen.act {
            Act::Open {
                at,
                creates,
                empties,
                mode,
                by,
            } => {
                let place = self.place(at)?;
                match self.at(&place) {
                    None if *creates => {
                        self.enter(place, file_of(Vec::new()), *mode, *by, &call);
                    }
                    None => return None,
                    Some(node) => {
                        if *empties && self.size(node) > 0 {
                            let change = Change::Truncate { node, size: 0 };
                            self.step(Step::Change(change), &call);
                        }
                        // A link that leads nowhere, through which a file was made.
                        let is_link = self.now.nodes.get(&node);
                        if is_link.is_some_and(|node| matches!(node.kind, Kind::Link(_))) {
                            return None;
                        }
                    }
                }
            }
            Act::Nameless { mode, by } => self.nameless.push_back(attributes(*mode, *by)),
            Act::MakeFolder { at, mode, by } => {
                let place = self.place(at)?;
                let kind = Kind::Folder(BTreeMap::new());
                self.enter(place, kind, *mode, *by, &call);
            }
            Act::MakeLink { at, to, by } => {
                let place = self.place(at)?;
                let kind = Kind::Link(to.clone());
                self.enter(place, kind, 0o777, Maker { umask: 0, ..*by }, &call);
            }
            Act::MakeOther {
                at,
                mode,
                device,
                by,
            } => {
                let place = self.place(at)?;
                let kind = match mode & OTHER_MODE {
                    0 | libc::S_IFREG => file_of(Vec::new()),
                    kind => Kind::Other {
                        mode: kind,
                        device: *device,
                    },
                };
                self.enter(place, kind, *mode, *by, &call);
            }
            Act::Link { of, to } => {
                let (node, at) = (self.target(of)?, self.place(to)?);
                self.step(Step::Change(Change::Enter { at, node }), &call);
            }
            Act::Remove(spot) => {
                let at = self.place(spot)?;
                self.at(&at)?;
                self.step(Step::Change(Change::Remove { at }), &call);
            }
            Act::Rename {
                from,
                to,
                replacing,
            } => return self.rename((from, to), *replacing, &call),
            Act::Said(bytes) => {
                let length = usize::try_from(value).unwrap_or(usize::MAX);
                let said = bytes.get(..length.min(bytes.len())).unwrap_or_default();
                self.promises.push(said.to_owned());
                self.step(Step::Acknowledged, &call);
            }
            Act::Unknown(why) => self.doubt(why.clone()),
            Act::Mapped { .. } | Act::Nothing => {}
            _ => return self.changed_file(seen, value, &call),
        }
        Some(())
    }

    fn enter(&mut self, at: Place, kind: Kind, mode: u32, by: Maker, call: &str) {
        let node = self.new_node(kind, attributes(mode, by));
        self.step(Step::Change(Change::Enter { at, node }), call);
    }

    fn rename(
        &mut self,
        (from, to): (&Spot, &Spot),
        replacing: Replacing,
        call: &str,
    ) -> Option<()> {
        let (from, to) = (self.place(from)?, self.place(to)?);
        let node = self.at(&from)?;
        let other = self.at(&to);
        // Two names of one file: rename(2) does nothing.
        if other == Some(node) {
            return Some(());
        }
        let leaves = match replacing {
            Replacing::Replaces => None,
            Replacing::Exchanges => Some(other?),
            Replacing::LeavesWhiteout => {
                let kind = Kind::Other {
                    mode: libc::S_IFCHR,
                    device: 0,
                };
                Some(self.new_node(kind, Attributes::default()))
            }
        };
        let change = Change::Rename { from, to, leaves };
        self.step(Step::Change(change), call);
        Some(())
    }

    fn changed_file(&mut self, seen: &Seen, value: u64, call: &str) -> Option<()> {
        match &seen.act {
            Act::Write {
                file,
                begin,
                bytes,
                synced,
            } => {
                let node = self.opened(file)?;
                let at = match begin {
                    Begin::At(at) => *at,
                    Begin::End => self.size(node),
                };
                let length = usize::try_from(value).unwrap_or(usize::MAX);
                let bytes = bytes.get(..length)?.into();
                if at.checked_add(value).is_none_or(|end| end > LARGEST) {
                    self.doubt(format!("`{call}` makes a file too large to be kept"));
                } else if value > 0 {
                    self.step(Step::Change(Change::Write { node, at, bytes }), call);
                }
                if *synced != Synced::No {
                    let only_data = *synced == Synced::Data;
                    self.step(Step::Sync { node, only_data }, call);
                }
            }
            Act::Truncate { file, size } => {
                let node = self.target(file)?;
                if *size > LARGEST {
                    self.doubt(format!("`{call}` makes a file too large to be kept"));
                } else if *size != self.size(node) {
                    let change = Change::Truncate { node, size: *size };
                    self.step(Step::Change(change), call);
                }
            }
            Act::Allocate {
                file,
                mode,
                at,
                length,
            } => {
                let node = self.opened(file)?;
                self.allocate(node, *mode, (*at, *length), call);
            }
            Act::Mode { file, mode } => {
                let node = self.target(file)?;
                let attribute = Attribute::Mode(mode & 0o7777);
                self.step(Step::Change(Change::Set { node, attribute }), call);
            }
            Act::Owner { file, user, group } => {
                let node = self.target(file)?;
                let old = self.now.nodes.get(&node)?.attributes.clone();
                let or = |new: u32, old| if new == u32::MAX { old } else { new };
                let attribute = Attribute::Owner(or(*user, old.owner), or(*group, old.group));
                self.step(Step::Change(Change::Set { node, attribute }), call);
            }
            Act::Sync { file, only_data } => {
                let node = self.opened(file)?;
                let only_data = *only_data;
                self.step(Step::Sync { node, only_data }, call);
            }
            Act::SyncAll => self.step(Step::SyncAll, call),
            _ => {}
        }
        Some(())
    }

    fn allocate(&mut self, node: NodeId, mode: u32, (at, length): (u64, u64), call: &str) {
        let Some(content) = self.content(node).map(Content::to_vec) else {
            return;
        };
        let (old, end) = (content.len() as u64, at.saturating_add(length));
        if end > LARGEST || old.saturating_add(length) > LARGEST {
            self.doubt(format!("`{call}` makes a file too large to be kept"));
            return;
        }
        let has = |flag: u32| mode & flag != 0;
        let mut new = content.clone();
        let (from, to) = (at as usize, end as usize);
        if has(allocate::COLLAPSE) {
            new.drain(from.min(new.len())..to.min(new.len()));
        } else if has(allocate::INSERT) {
            let from = from.min(new.len());
            new.splice(from..from, std::iter::repeat_n(0, to - from));
        } else {
            if !has(allocate::KEEP_SIZE) && end > old {
                new.resize(to, 0);
            }
            if has(allocate::PUNCH_HOLE) || has(allocate::ZERO) {
                let end = to.min(new.len());
                if let Some(part) = new.get_mut(from.min(end)..end) {
                    part.fill(0);
                }
            }
        }
        if new == content {
            return;
        }
        let from = from.min(new.len());
        let change = Change::Range {
            node,
            at: from as u64,
            bytes: new.get(from..).unwrap_or_default().into(),
            size: new.len() as u64,
        };
        self.step(Step::Change(change), call);
    }

    /// Takes what a mapped file holds: what differs from the log was stored into it.
    pub(super) fn mapped(&mut self, file: &Opened, content: &[u8]) {
        let Some(node) = self.inodes.get(&file.inode).copied() else {
            self.doubt("a mapped file is not known to the log".to_owned());
            return;
        };
        self.stored(node, content);
    }

    fn stored(&mut self, node: NodeId, content: &[u8]) {
        let Some(old) = self.content(node).map(Content::to_vec) else {
            return;
        };
        if old.len() != content.len() {
            self.doubt("a mapped file has another size than by the log".to_owned());
            return;
        }
        let pages = old.chunks(PAGE).zip(content.chunks(PAGE)).enumerate();
        for (page, (_, new)) in pages.filter(|(_, (old, new))| old != new) {
            let change = Change::Write {
                node,
                at: (page * PAGE) as u64,
                bytes: new.into(),
            };
            self.step(Step::Change(change), "stores into a mapped file");
        }
    }
}

fn file_of(bytes: Vec<u8>) -> Kind {
    Kind::File(Content::new(bytes))
}

fn attributes(mode: u32, by: Maker) -> Attributes {
    Attributes {
        mode: mode & 0o7777 & !by.umask,
        owner: by.owner.0,
        group: by.owner.1,
        xattrs: BTreeMap::new(),
    }
}

/// Makes a change that happened.
fn apply(tree: &mut Tree, change: &Change) {
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
            let attributes = tree.nodes.get_mut(node).map(|node| &mut node.attributes);
            match (attributes, attribute) {
                (None, _) | (_, Attribute::Xattr(..)) => {}
                (Some(attributes), Attribute::Mode(mode)) => attributes.mode = *mode,
                (Some(attributes), Attribute::Owner(user, group)) => {
                    (attributes.owner, attributes.group) = (*user, *group);
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
