//! From one call that was seen to the steps of a log.

use super::applied::apply;
use super::described::described;
use super::seen::{Act, Begin, FileId, Maker, Opened, Replacing, Seen, Spot, Synced, Target};
use super::{Attribute, Attributes, Change, Content, Kind, Node, NodeId, Place, Step, Tree};
use perf_records::space::Stack;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Makes the steps of a log, one call after the other.
pub(super) struct Builder {
    /// The folder as the steps until here have left it.
    pub(super) now: Tree,
    pub(super) next: u32,
    pub(super) inodes: HashMap<FileId, NodeId>,
    /// Files without a name that no descriptor was seen of yet.
    pub(super) nameless: VecDeque<Attributes>,
    pub(super) made: Vec<(NodeId, Node)>,
    pub(super) steps: Vec<Step>,
    pub(super) calls: Vec<String>,
    /// The functions that led to each of these.
    pub(super) from: Vec<Option<String>>,
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
        self.from.push(None);
    }

    /// Notes the functions that led to the call that was taken last, at each step since.
    pub(super) fn led_by(&mut self, since: usize, stack: Option<&Stack>) {
        let line = stack.map(Stack::line);
        for from in self.from.iter_mut().skip(since) {
            from.clone_from(&line);
        }
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
        let node = match &file.path {
            Some(path) => self.walk(path)?,
            None => self.removed(file)?,
        };
        self.inodes.insert(file.id(), node);
        Some(node)
    }

    /// The file behind a descriptor that has no name of a path any more.
    fn removed(&mut self, file: &Opened) -> Option<NodeId> {
        let known = self.inodes.get(&file.id()).copied();
        match (known, &file.shown) {
            // Its number may be that of a file without a name that no descriptor was seen of yet.
            (Some(node), _) if file.handle.is_none() && !self.nameless.is_empty() => {
                self.has_name(node).then_some(node)
            }
            (Some(node), _) => Some(node),
            // It has names, and was never seen by one: the path reads like that of a removed file.
            (None, Some(shown)) => {
                let node = self.walk(shown)?;
                let is_other = self.inodes.values().any(|known| *known == node);
                (!is_other).then_some(node)
            }
            // One without a name, which may get one.
            (None, None) => {
                let attributes = self.nameless.pop_front().unwrap_or_default();
                Some(self.new_node(file_of(Vec::new()), attributes))
            }
        }
    }

    fn has_name(&self, node: NodeId) -> bool {
        let mut folders = self.now.nodes.values().filter_map(Node::entries);
        folders.any(|entries| entries.values().any(|named| *named == node))
    }

    fn target(&mut self, target: &Target) -> Option<NodeId> {
        match target {
            Target::Opened(file) => self.opened(file),
            Target::Named(spot) => self.at(&self.place(spot)?),
            Target::Watched(path) => self.walk(path),
        }
    }

    pub(super) fn content(&self, node: NodeId) -> Option<&Content> {
        self.now.nodes.get(&node)?.content()
    }

    pub(super) fn size(&self, node: NodeId) -> u64 {
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
                        self.takes_bits(node, seen.left, &call);
                        // A link that leads nowhere, through which a file was made.
                        let is_link = self.now.nodes.get(&node);
                        if is_link.is_some_and(|node| matches!(node.kind, Kind::Link(_))) {
                            return None;
                        }
                    }
                }
            }
            Act::Nameless { folder, mode, by } => {
                let above = folder.as_ref().and_then(|folder| self.walk(folder));
                let attributes = self.inherited(above, (*mode, *by), false);
                self.nameless.push_back(attributes);
            }
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
                let kind = match mode & libc::S_IFMT {
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
            Act::Maps(file) => {
                self.opened(file)?;
            }
            Act::Mapped { .. } | Act::Stored { .. } | Act::StoredIn { .. } | Act::Nothing => {}
            _ => return self.changed_file(seen, value, &call),
        }
        Some(())
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

    /// Adds that a change of what is in a file took permissions away: a write does so before it
    /// (`file_remove_privs()`, fs/inode.c), and a truncation with it.
    fn takes_bits(&mut self, node: NodeId, left: Option<u32>, call: &str) {
        let had = self.now.nodes.get(&node).map(|it| it.attributes.mode);
        if let Some(mode) = left.filter(|left| had != Some(*left)) {
            let attribute = Attribute::Mode(mode);
            self.step(Step::Change(Change::Set { node, attribute }), call);
        }
    }

    fn wrote(&mut self, node: NodeId, at: u64, bytes: &[u8], call: &str) {
        if !bytes.is_empty() {
            let bytes = bytes.into();
            self.step(Step::Change(Change::Write { node, at, bytes }), call);
        }
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
                self.takes_bits(node, seen.left, call);
                self.wrote(node, at, bytes.get(..length)?, call);
                if *synced != Synced::No && value > 0 {
                    let sync = Step::SyncRange {
                        node,
                        range: at..at.saturating_add(value),
                        only_data: *synced == Synced::Data,
                    };
                    self.step(sync, call);
                }
            }
            // The kernel writes it first, and file systems share an extent after the other: no more
            // of it is relied on than of a write.
            Act::Cloned { file, at, bytes } => {
                let node = self.opened(file)?;
                self.takes_bits(node, seen.left, call);
                self.wrote(node, *at, bytes, call);
            }
            Act::Truncate { file, size } => {
                let node = self.target(file)?;
                if *size != self.size(node) {
                    let change = Change::Truncate { node, size: *size };
                    self.step(Step::Change(change), call);
                }
                self.takes_bits(node, seen.left, call);
            }
            Act::Allocate {
                file,
                mode,
                at,
                length,
            } => {
                let node = self.opened(file)?;
                self.takes_bits(node, seen.left, call);
                self.allocate(node, *mode, (*at, *length), call);
            }
            Act::Mode { file, mode } => {
                let node = self.target(file)?;
                let attribute = Attribute::Mode(seen.left.unwrap_or(mode & 0o7777));
                self.step(Step::Change(Change::Set { node, attribute }), call);
            }
            Act::Permissions { file, mode } => {
                let node = self.target(file)?;
                let old = self.now.nodes.get(&node)?.attributes.mode;
                let mode = seen.left.unwrap_or(old & 0o7000 | mode & 0o777);
                let attribute = Attribute::Mode(mode);
                self.step(Step::Change(Change::Set { node, attribute }), call);
            }
            Act::Owner { file, user, group } => {
                let node = self.target(file)?;
                let old = &self.now.nodes.get(&node)?.attributes;
                let or = |new: u32, old| if new == u32::MAX { old } else { new };
                let owner = (or(*user, old.owner), or(*group, old.group));
                let change = match seen.left.filter(|mode| *mode != old.mode) {
                    Some(mode) => Change::Give { node, owner, mode },
                    None => {
                        let attribute = Attribute::Owner(owner.0, owner.1);
                        Change::Set { node, attribute }
                    }
                };
                self.step(Step::Change(change), call);
            }
            Act::Xattr { file, name, value } => {
                let node = self.target(file)?;
                let attribute = Attribute::Xattr(name.clone(), value.clone());
                self.step(Step::Change(Change::Set { node, attribute }), call);
            }
            Act::Sync { file, only_data } => {
                let node = self.opened(file)?;
                let only_data = *only_data;
                self.step(Step::Sync { node, only_data }, call);
            }
            Act::SyncRange { file, range } => {
                let sync = Step::SyncRange {
                    node: self.opened(file)?,
                    range: range.clone(),
                    only_data: true,
                };
                self.step(sync, call);
            }
            Act::SyncAll => self.step(Step::SyncAll, call),
            _ => {}
        }
        Some(())
    }
}

fn file_of(bytes: Vec<u8>) -> Kind {
    Kind::File(Content::new(bytes))
}
