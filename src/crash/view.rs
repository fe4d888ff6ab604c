//! The folder that a set of pieces leaves.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use crate::crash::bits::Bits;
use crate::crash::content::Content;
use crate::crash::disk::{Disk, Value, View, runs};
use crate::crash::replay;
use crate::crash::sum::Sum;
use crate::crash::tree::{Attributes, Kind, Node, NodeId, Tree};
use crate::crash::twice::Twice;

impl Disk {
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
