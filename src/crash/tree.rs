//! A folder and everything in it, as values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::crash::content::Content;

/// A file, folder, link or other thing that names stand for, the same in all states of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The folder.
    pub folder: NodeId,
    /// The name, without a slash.
    pub name: Vec<u8>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "name `{}` in folder {}",
            self.name.escape_ascii(),
            self.folder.0
        )
    }
}

/// What a node is, with what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File(Content),
    /// A folder: names and what they stand for. `.` and `..` are not among them.
    Folder(BTreeMap<Vec<u8>, NodeId>),
    /// A symbolic link, with its target.
    Link(Vec<u8>),
    /// A device, a named pipe or a socket.
    Other {
        /// `S_IFMT` of the mode, as `S_IFIFO`.
        mode: u32,
        /// The device number, 0 if it has none.
        device: u64,
    },
}

/// What a node has beside what it holds. Times are left out: no crash state is told apart by them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attributes {
    /// The permissions: `07777` of the mode.
    pub mode: u32,
    /// The user that owns the node.
    pub owner: u32,
    /// The group that owns the node.
    pub group: u32,
    /// Extended attributes by their names: those that [`Attributes::are_in_states`].
    pub xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Attributes {
    /// Whether an extended attribute is in states, by its name. Those of `user.` and `trusted.` are
    /// what calls make of them. Others mean something to the kernel, which sets, changes and drops
    /// them by itself: `system.posix_acl_access` changes the mode, a write drops
    /// `security.capability`.
    #[must_use]
    pub fn are_in_states(name: &[u8]) -> bool {
        let spaces: [&[u8]; 2] = [b"user.", b"trusted."];
        spaces.iter().any(|space| name.starts_with(space))
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is, with what it holds.
    pub kind: Kind,
    /// What it has beside.
    pub attributes: Attributes,
}

impl Node {
    /// Returns a file with mode 0644, owned by user and group 0.
    #[must_use]
    pub fn file(content: Content) -> Self {
        Self::of(Kind::File(content), 0o644)
    }

    /// Returns a folder with mode 0755, owned by user and group 0.
    pub fn folder(entries: impl IntoIterator<Item = (Vec<u8>, NodeId)>) -> Self {
        Self::of(Kind::Folder(entries.into_iter().collect()), 0o755)
    }

    /// Returns a node with a mode, owned by user and group 0.
    #[must_use]
    pub fn of(kind: Kind, mode: u32) -> Self {
        Self {
            kind,
            attributes: Attributes {
                mode,
                ..Attributes::default()
            },
        }
    }

    /// Returns what the file holds, `None` if the node is no file.
    #[must_use]
    pub fn content(&self) -> Option<&Content> {
        match &self.kind {
            Kind::File(content) => Some(content),
            _ => None,
        }
    }

    /// Returns the names of the folder, `None` if the node is no folder.
    #[must_use]
    pub fn entries(&self) -> Option<&BTreeMap<Vec<u8>, NodeId>> {
        match &self.kind {
            Kind::Folder(entries) => Some(entries),
            _ => None,
        }
    }
}

/// A folder and all nodes in it.
///
/// Two trees are equal if what is reached from their roots is equal, whatever numbers the nodes
/// have. A node with two names differs from two nodes. Nodes that are not reached do not count.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The folder.
    pub root: NodeId,
    /// The nodes.
    pub nodes: BTreeMap<NodeId, Node>,
}

impl Tree {
    /// Returns the tree of these nodes.
    pub fn new(root: NodeId, nodes: impl IntoIterator<Item = (NodeId, Node)>) -> Self {
        Self {
            root,
            nodes: nodes.into_iter().collect(),
        }
    }

    /// Returns the node at a path below the root, as `folder/file`, the root itself for an empty
    /// one. Links are not followed.
    #[must_use]
    pub fn find(&self, path: &[u8]) -> Option<&Node> {
        let root = self.nodes.get(&self.root)?;
        let names = path
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty());
        names.into_iter().try_fold(root, |node, name| {
            node.entries()?
                .get(name)
                .and_then(|child| self.nodes.get(child))
        })
    }

    /// Returns the nodes that are reached from the root in the order in which a walk by name meets
    /// them first.
    #[must_use]
    pub fn reached(&self) -> Vec<NodeId> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::new();
        let mut left = vec![self.root];
        while let Some(id) = left.pop() {
            let Some(node) = self.nodes.get(&id) else {
                continue;
            };
            if !seen.insert(id) {
                continue;
            }
            order.push(id);
            left.extend(
                node.entries()
                    .into_iter()
                    .flat_map(|names| names.values().rev()),
            );
        }
        order
    }

    /// Returns the names of the reached folders, each node by its number in [`Tree::reached`].
    fn shape(&self, reached: &[NodeId]) -> Vec<Vec<(&[u8], usize)>> {
        let numbers: BTreeMap<_, _> = reached.iter().zip(0..).map(|(id, n)| (*id, n)).collect();
        let names = reached
            .iter()
            .filter_map(|id| self.nodes.get(id))
            .map(|node| {
                let entries = node.entries().into_iter().flatten();
                entries
                    .filter_map(|(name, id)| Some((name.as_slice(), *numbers.get(id)?)))
                    .collect()
            });
        names.collect()
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.reached(), other.reached());
        let same = |(a, b): (&NodeId, &NodeId)| match (self.nodes.get(a), other.nodes.get(b)) {
            (Some(a), Some(b)) => {
                a.attributes == b.attributes
                    && match (&a.kind, &b.kind) {
                        (Kind::Folder(_), Kind::Folder(_)) => true,
                        (a, b) => a == b,
                    }
            }
            _ => false,
        };
        ours.len() == theirs.len()
            && self.shape(&ours) == other.shape(&theirs)
            && ours.iter().zip(&theirs).all(same)
    }
}

impl Eq for Tree {}

impl Hash for Tree {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let reached = self.reached();
        self.shape(&reached).hash(state);
        for node in reached.iter().filter_map(|id| self.nodes.get(id)) {
            node.attributes.hash(state);
            match &node.kind {
                Kind::File(content) => content.hash(state),
                Kind::Folder(_) => 1_u8.hash(state),
                Kind::Link(target) => target.hash(state),
                Kind::Other { mode, device } => (mode, device).hash(state),
            }
        }
    }
}
