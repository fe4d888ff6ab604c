//! What a disk holds: a slot for each name, size, attribute and run of bytes that a piece writes,
//! with its values in order.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::ops::Range;

use crate::crash::bits::Bits;
use crate::crash::content::{Content, Slice};
use crate::crash::cut::{Piece, Write};
use crate::crash::log::{Attribute, Log};
use crate::crash::replay;
use crate::crash::sum::Sum;
use crate::crash::tree::{Attributes, Kind, Node, NodeId, Tree};
use crate::crash::twice::Twice;

/// What a slot holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Start,
    Name(Option<NodeId>),
    Size(u64),
    Attribute(Attribute),
    Bytes(Slice, Sum),
    Zeros,
}

/// A value that a piece writes to a slot.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    /// The piece.
    pub(crate) piece: usize,
    /// Whether the value differs from the one before it.
    pub(crate) changes: bool,
    /// The value.
    pub(crate) value: Value,
}

/// The slots of a file: its bytes between offsets.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    /// Where the runs begin; the last one has no end.
    pub(crate) starts: Vec<u64>,
    /// The slot of the first run.
    pub(crate) first: usize,
    /// The slot of the size.
    pub(crate) size: Option<usize>,
}

/// The start of a log, and the slots that its pieces write.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    pub(crate) root: NodeId,
    pub(crate) nodes: BTreeMap<NodeId, Node>,
    sums: HashMap<NodeId, Sum>,
    /// By slot, the versions in the order of pieces.
    pub(crate) versions: Vec<Vec<Version>>,
    starts: Vec<Sum>,
    pub(crate) names: BTreeMap<NodeId, BTreeMap<Vec<u8>, usize>>,
    pub(crate) files: BTreeMap<NodeId, File>,
    pub(crate) attributes: BTreeMap<NodeId, BTreeMap<Vec<u8>, usize>>,
    /// By piece, the slots that it writes, each with the index of the version.
    writes: Vec<Vec<(usize, usize)>>,
}

/// By slot, how many versions are there.
#[derive(Debug)]
pub(crate) struct View(Vec<usize>);

impl Disk {
    /// Returns the disk of a log and its pieces.
    pub(crate) fn new(log: &Log, pieces: &[Piece]) -> Self {
        let mut nodes = log.start().nodes.clone();
        nodes.extend(log.new_nodes().clone());
        let sums = nodes
            .iter()
            .filter_map(|(id, node)| Some((*id, node.content()?)))
            .map(|(id, content)| (id, content.sum(0, content.size())))
            .collect();
        let mut disk = Self {
            root: log.start().root,
            nodes,
            sums,
            versions: Vec::new(),
            starts: Vec::new(),
            names: BTreeMap::new(),
            files: BTreeMap::new(),
            attributes: BTreeMap::new(),
            writes: Vec::new(),
        };
        disk.lay_out(pieces);
        for (index, piece) in pieces.iter().enumerate() {
            disk.writes.push(Vec::new());
            for write in &piece.writes {
                disk.write(index, write);
            }
        }
        disk
    }

    /// Makes the runs of all files: no piece and no size ends within one.
    fn lay_out(&mut self, pieces: &[Piece]) {
        let mut ends: BTreeMap<NodeId, BTreeSet<u64>> = BTreeMap::new();
        for write in pieces.iter().flat_map(|piece| &piece.writes) {
            let (node, cuts) = match write {
                Write::Size(node, size) => (node, [0, *size]),
                Write::Bytes(node, at, slice) => (node, [*at, at + slice.size()]),
                Write::Zeros(node, from, to) => (node, [*from, *to]),
                Write::Name(..) | Write::Attribute(..) => continue,
            };
            let start = self
                .nodes
                .get(node)
                .and_then(Node::content)
                .map_or(0, Content::size);
            let cuts = cuts
                .into_iter()
                .chain([0, start])
                .filter(|cut| *cut < u64::MAX);
            ends.entry(*node).or_default().extend(cuts);
        }
        for (node, starts) in ends {
            let starts: Vec<u64> = starts.into_iter().collect();
            let first = self.versions.len();
            let content = self.nodes.get(&node).and_then(Node::content);
            for (at, end) in runs(&starts) {
                self.versions.push(Vec::new());
                self.starts
                    .push(content.map_or(Sum::default(), |content| content.sum(at, end)));
            }
            self.files.insert(
                node,
                File {
                    starts,
                    first,
                    size: None,
                },
            );
        }
    }

    fn slot(&mut self) -> usize {
        self.versions.push(Vec::new());
        self.starts.push(Sum::default());
        self.versions.len() - 1
    }

    fn write(&mut self, piece: usize, write: &Write) {
        match write {
            Write::Name(place, node) => {
                let known = self
                    .names
                    .get(&place.folder)
                    .and_then(|names| names.get(&place.name));
                let slot = known.copied().unwrap_or_else(|| {
                    let slot = self.slot();
                    let names = self.names.entry(place.folder).or_default();
                    names.insert(place.name.clone(), slot);
                    slot
                });
                self.version(piece, slot, Value::Name(*node));
            }
            Write::Size(node, size) => {
                let known = self.files.get(node).and_then(|file| file.size);
                let slot = known.unwrap_or_else(|| self.slot());
                self.files.entry(*node).or_default().size = Some(slot);
                self.version(piece, slot, Value::Size(*size));
            }
            Write::Attribute(node, attribute) => {
                let key = match attribute {
                    Attribute::Mode(_) => b"m".to_vec(),
                    Attribute::Owner(..) => b"o".to_vec(),
                    Attribute::Xattr(name, _) => [b"x", name.as_slice()].concat(),
                };
                let known = self
                    .attributes
                    .get(node)
                    .and_then(|keys| keys.get(&key))
                    .copied();
                let slot = known.unwrap_or_else(|| self.slot());
                self.attributes.entry(*node).or_default().insert(key, slot);
                self.version(piece, slot, Value::Attribute(attribute.clone()));
            }
            Write::Bytes(node, at, slice) => {
                for (slot, run) in self.slots(*node, *at, at + slice.size()) {
                    let bytes = slice.slice(run.start - at, run.end - run.start);
                    let sum = Sum::of(run.start, bytes.bytes());
                    self.version(piece, slot, Value::Bytes(bytes, sum));
                }
            }
            Write::Zeros(node, from, to) => {
                for (slot, _) in self.slots(*node, *from, *to) {
                    self.version(piece, slot, Value::Zeros);
                }
            }
        }
    }

    /// Returns the slots of the runs of a file from an offset to another.
    fn slots(&self, node: NodeId, from: u64, to: u64) -> Vec<(usize, Range<u64>)> {
        let Some(file) = self.files.get(&node) else {
            return Vec::new();
        };
        let skip = file.starts.partition_point(|start| *start < from);
        let rest = file.starts.get(skip..).unwrap_or_default();
        let runs = runs(rest).take_while(|(start, _)| *start < to);
        (file.first + skip..)
            .zip(runs.map(|(start, end)| start..end))
            .collect()
    }

    fn version(&mut self, piece: usize, slot: usize, value: Value) {
        let start = self.starts.get(slot).copied().unwrap_or_default();
        let Some(versions) = self.versions.get_mut(slot) else {
            return;
        };
        let before = versions
            .last()
            .map_or(&Value::Start, |version| &version.value);
        let changes = match (&value, before) {
            (Value::Bytes(..) | Value::Zeros, before) => value.sum(start) != before.sum(start),
            (value, before) => value != before,
        };
        versions.push(Version {
            piece,
            changes,
            value,
        });
        let index = versions.len();
        if let Some(writes) = self.writes.get_mut(piece) {
            writes.push((slot, index));
        }
    }

    /// Returns what the disk holds after the pieces in `kept`. For each slot these are the first
    /// that write it: a piece comes after the earlier ones.
    pub(crate) fn view(&self, kept: &Bits) -> View {
        let mut view = vec![0; self.versions.len()];
        for writes in kept.iter().filter_map(|piece| self.writes.get(piece)) {
            for (slot, version) in writes {
                if let Some(current) = view.get_mut(*slot) {
                    *current = *version;
                }
            }
        }
        View(view)
    }

    fn value(&self, view: &View, slot: usize) -> &Value {
        let count = view.0.get(slot).copied().unwrap_or(0);
        let version = count
            .checked_sub(1)
            .and_then(|last| self.versions.get(slot)?.get(last));
        version.map_or(&Value::Start, |version| &version.value)
    }

    /// Returns what the names of a folder stand for.
    fn entries(&self, view: &View, folder: NodeId) -> BTreeMap<&[u8], NodeId> {
        let start = self
            .nodes
            .get(&folder)
            .and_then(Node::entries)
            .into_iter()
            .flatten();
        let mut entries: BTreeMap<_, _> = start.map(|(name, id)| (name.as_slice(), *id)).collect();
        for (name, slot) in self.names.get(&folder).into_iter().flatten() {
            match self.value(view, *slot) {
                Value::Name(Some(id)) => entries.insert(name, *id),
                Value::Name(None) => entries.remove(name.as_slice()),
                _ => None,
            };
        }
        entries
    }

    fn size(&self, view: &View, node: NodeId, start: &Content) -> u64 {
        match self
            .files
            .get(&node)
            .and_then(|file| file.size)
            .map(|slot| self.value(view, slot))
        {
            Some(Value::Size(size)) => *size,
            _ => start.size(),
        }
    }

    fn attributes(&self, view: &View, node: NodeId, start: &Attributes) -> Attributes {
        let mut attributes = start.clone();
        for slot in self
            .attributes
            .get(&node)
            .into_iter()
            .flat_map(BTreeMap::values)
        {
            if let Value::Attribute(attribute) = self.value(view, *slot) {
                replay::set(&mut attributes, attribute);
            }
        }
        attributes
    }

    /// Returns the digest of a file's bytes below `size`.
    fn sum(&self, view: &View, node: NodeId, size: u64) -> Sum {
        let Some(file) = self.files.get(&node) else {
            return self.sums.get(&node).copied().unwrap_or_default();
        };
        let slots = file
            .starts
            .iter()
            .zip(file.first..)
            .take_while(|(start, _)| **start < size);
        slots.fold(Sum::default(), |sum, (_, slot)| {
            let start = self.starts.get(slot).copied().unwrap_or_default();
            sum.and(self.value(view, slot).sum(start))
        })
    }

    fn content(&self, view: &View, node: NodeId, start: &Content) -> Content {
        let size = self.size(view, node, start);
        let Some(file) = self.files.get(&node) else {
            return start.clone();
        };
        let mut content = Content::zeros(size);
        for ((at, end), slot) in runs(&file.starts).zip(file.first..) {
            match self.value(view, slot) {
                Value::Bytes(slice, _) if at < size => content.put(at, slice.clone()),
                Value::Start => {
                    start
                        .within(at, end)
                        .for_each(|(at, slice)| content.put(at, slice));
                }
                _ => {}
            }
        }
        content.resize(size);
        content
    }

    /// Returns the folder that the disk holds: what is reached from the root.
    pub(crate) fn tree(&self, view: &View) -> Tree {
        let mut tree = Tree::new(self.root, []);
        let mut left = vec![self.root];
        while let Some(id) = left.pop() {
            let Some(node) = self
                .nodes
                .get(&id)
                .filter(|_| !tree.nodes.contains_key(&id))
            else {
                continue;
            };
            let kind = match &node.kind {
                Kind::File(start) => Kind::File(self.content(view, id, start)),
                Kind::Folder(_) => {
                    let entries = self.entries(view, id);
                    left.extend(entries.values());
                    Kind::Folder(
                        entries
                            .into_iter()
                            .map(|(n, id)| (n.to_vec(), id))
                            .collect(),
                    )
                }
                other => other.clone(),
            };
            let attributes = self.attributes(view, id, &node.attributes);
            tree.nodes.insert(id, Node { kind, attributes });
        }
        tree
    }

    /// Returns a digest of the folder that the disk holds, and of `also`. Equal trees have equal
    /// digests; different ones too but for a chance of about 2^-120.
    pub(crate) fn digest(&self, view: &View, also: usize) -> u128 {
        let mut hash = Twice::default();
        also.hash(&mut hash);
        let mut numbers: HashMap<NodeId, usize> = HashMap::new();
        let mut left = vec![self.root];
        while let Some(id) = left.pop() {
            let next = numbers.len();
            let number = *numbers.entry(id).or_insert(next);
            number.hash(&mut hash);
            let Some(node) = self.nodes.get(&id).filter(|_| number == next) else {
                continue;
            };
            if self.attributes.contains_key(&id) {
                self.attributes(view, id, &node.attributes).hash(&mut hash);
            } else {
                node.attributes.hash(&mut hash);
            }
            match &node.kind {
                Kind::File(start) => {
                    let size = self.size(view, id, start);
                    (1, size, self.sum(view, id, size)).hash(&mut hash);
                }
                Kind::Folder(_) => {
                    let entries = self.entries(view, id);
                    (2, entries.len()).hash(&mut hash);
                    entries.keys().for_each(|name| name.hash(&mut hash));
                    left.extend(entries.into_values().rev());
                }
                Kind::Link(target) => (3, target).hash(&mut hash),
                Kind::Other { mode, device } => (4, mode, device).hash(&mut hash),
            }
        }
        hash.both()
    }
}

impl Value {
    /// Returns the digest of a run of bytes, of `start` if it is as at the start.
    fn sum(&self, start: Sum) -> Sum {
        match self {
            Self::Start => start,
            Self::Bytes(_, sum) => *sum,
            _ => Sum::default(),
        }
    }
}

/// Returns the runs that begin at `starts`.
fn runs(starts: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    let ends = starts.iter().skip(1).copied().chain([u64::MAX]);
    starts.iter().copied().zip(ends)
}
