//! Whether a power cut may leave a given folder.

use std::collections::{BTreeMap, BTreeSet};

use crate::crash::disk::{Value, runs};
use crate::crash::pieces::{Moment, Pieces};
use crate::crash::replay;
use crate::crash::tree::{Attributes, Kind, Node, NodeId, Tree};

impl Pieces {
    /// Tells whether a power cut may leave this folder when the first `returned` steps have
    /// returned, and the next one may be under way.
    ///
    /// All states are searched, however many they are: of each name, size, attribute and run of
    /// bytes only the values that the folder shows are followed.
    #[must_use]
    pub fn allow(&self, returned: usize, tree: &Tree) -> bool {
        let moment = Moment {
            first: returned,
            last: returned,
            pieces: self.list.partition_point(|piece| piece.step <= returned),
            acknowledged: 0,
        };
        let mut matching = Matching {
            pieces: self,
            tree,
            kept: vec![None; moment.pieces],
            trail: Vec::new(),
            theirs: BTreeMap::new(),
            taken: BTreeSet::new(),
        };
        let durable = (0..moment.pieces).filter(|piece| self.durable(*piece, &moment));
        for piece in durable {
            // Nothing is lost yet.
            matching.decide(piece, true);
        }
        matching.meet(vec![Goal::Node(self.disk.root, tree.root)])
    }
}

/// What must be so for the folder to be the given one.
#[derive(Clone, Debug)]
enum Goal<'t> {
    /// A node of the log is that node of the tree.
    Node(NodeId, NodeId),
    /// A slot holds what the tree shows.
    Slot(usize, Shown<'t>),
}

/// What a tree shows of a slot.
#[derive(Clone, Debug)]
enum Shown<'t> {
    Name(Option<NodeId>),
    Size(u64),
    /// An attribute by its key, with those at the start.
    Attribute(&'t [u8], &'t Attributes, &'t Attributes),
    /// Bytes, and those at the start, zeros behind their ends.
    Bytes(Vec<u8>, Vec<u8>),
}

/// A search for pieces that leave a tree.
struct Matching<'t> {
    pieces: &'t Pieces,
    tree: &'t Tree,
    /// By piece, whether it is kept, if that is decided.
    kept: Vec<Option<bool>>,
    trail: Vec<usize>,
    /// By node of the log, the node of the tree.
    theirs: BTreeMap<NodeId, NodeId>,
    taken: BTreeSet<NodeId>,
}

impl<'t> Matching<'t> {
    /// Whether all goals can be met at once.
    fn meet(&mut self, mut goals: Vec<Goal<'t>>) -> bool {
        while let Some(at) = goals.iter().position(|goal| matches!(goal, Goal::Node(..))) {
            let Goal::Node(ours, theirs) = goals.swap_remove(at) else {
                continue;
            };
            match self.theirs.get(&ours) {
                Some(known) if *known == theirs => {}
                None if !self.taken.contains(&theirs) => {
                    return self.node(ours, theirs, goals);
                }
                _ => return false,
            }
        }
        // The slot with the least choice.
        let open = goals
            .iter()
            .enumerate()
            .filter_map(|(at, goal)| match goal {
                Goal::Slot(slot, shown) => Some((self.choices(*slot, shown), at)),
                Goal::Node(..) => None,
            });
        let Some((choices, at)) = open.min_by_key(|(choices, _)| choices.len()) else {
            return true;
        };
        let Goal::Slot(slot, _) = goals.swap_remove(at) else {
            return false;
        };
        choices.into_iter().any(|(version, child)| {
            let trail = self.trail.len();
            let mut goals = goals.clone();
            goals.extend(child.map(|(ours, theirs)| Goal::Node(ours, theirs)));
            let met = self.show(slot, version) && self.meet(goals);
            self.undo(trail);
            met
        })
    }

    /// Goes on with a node of the log as a node of the tree.
    fn node(&mut self, ours: NodeId, theirs: NodeId, mut goals: Vec<Goal<'t>>) -> bool {
        let disk = &self.pieces.disk;
        let (Some(node), Some(shown)) = (disk.nodes.get(&ours), self.tree.nodes.get(&theirs))
        else {
            return false;
        };
        if !self.attributes(ours, node, shown, &mut goals)
            || !self.held(ours, node, shown, &mut goals)
        {
            return false;
        }
        self.theirs.insert(ours, theirs);
        self.taken.insert(theirs);
        let met = self.meet(goals);
        self.theirs.remove(&ours);
        self.taken.remove(&theirs);
        met
    }

    fn attributes(
        &self,
        ours: NodeId,
        node: &'t Node,
        shown: &'t Node,
        goals: &mut Vec<Goal<'t>>,
    ) -> bool {
        let (start, shown) = (&node.attributes, &shown.attributes);
        let slots = self.pieces.disk.attributes.get(&ours);
        let mut open = shown.clone();
        for (key, slot) in slots.into_iter().flatten() {
            goals.push(Goal::Slot(*slot, Shown::Attribute(key, start, shown)));
            copy(key, start, &mut open);
        }
        open == *start
    }

    /// Adds what must be so that a node holds what the tree shows; `false` if that cannot be.
    fn held(
        &self,
        ours: NodeId,
        node: &'t Node,
        shown: &'t Node,
        goals: &mut Vec<Goal<'t>>,
    ) -> bool {
        let disk = &self.pieces.disk;
        match (&node.kind, &shown.kind) {
            (Kind::Folder(start), Kind::Folder(names)) => {
                let slots = disk.names.get(&ours);
                for (name, slot) in slots.into_iter().flatten() {
                    goals.push(Goal::Slot(*slot, Shown::Name(names.get(name).copied())));
                }
                let fixed = |name: &Vec<u8>| slots.is_none_or(|slots| !slots.contains_key(name));
                for (name, theirs) in names.iter().filter(|(name, _)| fixed(name)) {
                    let Some(ours) = start.get(name) else {
                        return false;
                    };
                    goals.push(Goal::Node(*ours, *theirs));
                }
                start
                    .keys()
                    .all(|name| !fixed(name) || names.contains_key(name))
            }
            (Kind::File(start), Kind::File(content)) => {
                let Some(file) = disk.files.get(&ours) else {
                    return start == content;
                };
                let size = content.size();
                match file.size {
                    Some(slot) => goals.push(Goal::Slot(slot, Shown::Size(size))),
                    None if size != start.size() => return false,
                    None => {}
                }
                let below = runs(&file.starts).zip(file.first..);
                for ((at, end), slot) in below.take_while(|((at, _), _)| *at < size) {
                    let length = end.min(size) - at;
                    let mut old = start.read(at, length);
                    let bytes = content.read(at, length);
                    old.resize(bytes.len(), 0);
                    goals.push(Goal::Slot(slot, Shown::Bytes(bytes, old)));
                }
                true
            }
            (ours, theirs) => ours == theirs,
        }
    }

    /// Returns the versions of a slot that show what the tree does, 0 for what was at the start,
    /// the last ones first; a name with the nodes that it stands for.
    fn choices(&self, slot: usize, shown: &Shown<'_>) -> Vec<(usize, Option<(NodeId, NodeId)>)> {
        let versions = self
            .pieces
            .disk
            .versions
            .get(slot)
            .map_or(&[][..], Vec::as_slice);
        let there = versions.iter().zip(1..).filter(|(version, _)| {
            let kept = self.kept.get(version.piece);
            kept.is_some_and(|kept| *kept != Some(false))
        });
        let start = [(&Value::Start, 0)];
        let all = start
            .into_iter()
            .chain(there.map(|(version, index)| (&version.value, index)));
        let mut choices: Vec<_> = all
            .filter_map(|(value, index)| Some((index, self.shows(slot, value, shown)?)))
            .collect();
        // An earlier version shows only without the later ones.
        let last = versions.iter().rposition(|version| {
            let kept = self.kept.get(version.piece);
            kept.is_some_and(|kept| *kept == Some(true))
        });
        let first = last.map_or(0, |last| last + 1);
        choices.retain(|(index, _)| *index >= first);
        choices.reverse();
        choices
    }

    /// Returns whether a value shows as in the tree, with the nodes that must be the same.
    fn shows(
        &self,
        slot: usize,
        value: &Value,
        shown: &Shown<'_>,
    ) -> Option<Option<(NodeId, NodeId)>> {
        let same = match (value, shown) {
            (Value::Name(ours), Shown::Name(theirs)) => return both(*ours, *theirs),
            (Value::Start, Shown::Name(theirs)) => return both(self.at_start(slot), *theirs),
            (Value::Size(ours), Shown::Size(theirs)) => ours == theirs,
            (Value::Start, Shown::Size(theirs)) => self.size_at_start(slot) == Some(*theirs),
            (Value::Start, Shown::Attribute(key, start, theirs)) => is_same(key, start, theirs),
            (Value::Attribute(attribute), Shown::Attribute(key, start, theirs)) => {
                let mut ours = Attributes::clone(start);
                replay::set(&mut ours, attribute);
                is_same(key, &ours, theirs)
            }
            (Value::Start, Shown::Bytes(theirs, start)) => theirs == start,
            (Value::Zeros, Shown::Bytes(theirs, _)) => theirs.iter().all(|byte| *byte == 0),
            (Value::Bytes(slice, _), Shown::Bytes(theirs, _)) => {
                slice.bytes().get(..theirs.len()) == Some(theirs)
            }
            _ => false,
        };
        same.then_some(None)
    }

    /// Returns what a name stood for at the start.
    fn at_start(&self, slot: usize) -> Option<NodeId> {
        let disk = &self.pieces.disk;
        let mut places = disk.names.iter().flat_map(|(folder, names)| {
            names.iter().map(move |(name, slot)| (folder, name, *slot))
        });
        let (folder, name, _) = places.find(|(_, _, known)| *known == slot)?;
        disk.nodes.get(folder)?.entries()?.get(name).copied()
    }

    fn size_at_start(&self, slot: usize) -> Option<u64> {
        let disk = &self.pieces.disk;
        let (file, _) = disk
            .files
            .iter()
            .find(|(_, file)| file.size == Some(slot))?;
        Some(disk.nodes.get(file)?.content()?.size())
    }

    /// Keeps a version and loses the later ones; `false` if that cannot be.
    fn show(&mut self, slot: usize, version: usize) -> bool {
        let pieces = self.pieces;
        let versions = pieces
            .disk
            .versions
            .get(slot)
            .map_or(&[][..], Vec::as_slice);
        let shown = version.checked_sub(1).and_then(|index| versions.get(index));
        let own = shown.map(|version| version.piece);
        let later = versions.iter().skip(version).map(|version| version.piece);
        own.is_none_or(|piece| self.decide(piece, true))
            && later
                .filter(|piece| Some(*piece) != own)
                .all(|piece| self.decide(piece, false))
    }

    /// Decides on a piece and on all that follows from it; `false` if it is decided otherwise.
    fn decide(&mut self, piece: usize, keep: bool) -> bool {
        let mut left = vec![piece];
        while let Some(next) = left.pop() {
            // Pieces of later steps are not there.
            let Some(kept) = self.kept.get_mut(next) else {
                if keep {
                    return false;
                }
                continue;
            };
            match *kept {
                Some(known) if known == keep => continue,
                Some(_) => return false,
                None => *kept = Some(keep),
            }
            self.trail.push(next);
            if keep {
                let piece = self.pieces.list.get(next);
                left.extend(piece.into_iter().flat_map(|piece| &piece.after));
            } else {
                left.extend(self.pieces.behind.get(next).into_iter().flatten());
            }
        }
        true
    }

    fn undo(&mut self, trail: usize) {
        for piece in self.trail.drain(trail..) {
            if let Some(kept) = self.kept.get_mut(piece) {
                *kept = None;
            }
        }
    }
}

/// Returns the nodes that two names stand for, `None` if only one of them stands for something.
fn both(ours: Option<NodeId>, theirs: Option<NodeId>) -> Option<Option<(NodeId, NodeId)>> {
    match (ours, theirs) {
        (None, None) => Some(None),
        (Some(ours), Some(theirs)) => Some(Some((ours, theirs))),
        _ => None,
    }
}

/// Copies the attribute of a key, as a disk has them.
fn copy(key: &[u8], from: &Attributes, to: &mut Attributes) {
    match key {
        b"m" => to.mode = from.mode,
        b"o" => (to.owner, to.group) = (from.owner, from.group),
        _ => {
            let name = key.get(1..).unwrap_or_default();
            match from.xattrs.get(name) {
                Some(value) => to.xattrs.insert(name.to_vec(), value.clone()),
                None => to.xattrs.remove(name),
            };
        }
    }
}

fn is_same(key: &[u8], ours: &Attributes, theirs: &Attributes) -> bool {
    let mut copied = ours.clone();
    copy(key, theirs, &mut copied);
    copied == *ours
}
