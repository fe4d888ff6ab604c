//! What a disk holds: a slot for each name, size, attribute and run of bytes that a piece writes,
//! with its values in order.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use crate::crash::content::{Content, Slice};
use crate::crash::cut::{Piece, Write};
use crate::crash::log::{Attribute, Log};
use crate::crash::sum::Sum;
use crate::crash::tree::{Node, NodeId};

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
    pub(crate) sums: HashMap<NodeId, Sum>,
    /// By slot, the versions in the order of pieces.
    pub(crate) versions: Vec<Vec<Version>>,
    pub(crate) starts: Vec<Sum>,
    pub(crate) names: BTreeMap<NodeId, BTreeMap<Vec<u8>, usize>>,
    pub(crate) files: BTreeMap<NodeId, File>,
    pub(crate) attributes: BTreeMap<NodeId, BTreeMap<Vec<u8>, usize>>,
    /// By piece, the slots that it writes, each with the index of the version.
    pub(crate) writes: Vec<Vec<(usize, usize)>>,
}

/// By slot, how many versions are there.
#[derive(Debug)]
pub(crate) struct View(pub(crate) Vec<usize>);

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
}

impl Value {
    /// Returns the digest of a run of bytes, of `start` if it is as at the start.
    pub(crate) fn sum(&self, start: Sum) -> Sum {
        match self {
            Self::Start => start,
            Self::Bytes(_, sum) => *sum,
            _ => Sum::default(),
        }
    }
}

/// Returns the runs that begin at `starts`.
pub(crate) fn runs(starts: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    let ends = starts.iter().skip(1).copied().chain([u64::MAX]);
    starts.iter().copied().zip(ends)
}
