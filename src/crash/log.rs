//! A record of what a program did to a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::crash::replay::Replay;
use crate::crash::tree::{Kind, Node, NodeId, Place, Tree};

/// A file up to this size, in bytes, is spoilt with its holes.
const LARGEST: u64 = 64 << 20;

/// A change of one attribute, to the value that it has afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// `chmod`: the permissions, `07777` of the mode.
    Mode(u32),
    /// `chown`: the user and the group.
    Owner(u32, u32),
    /// `setxattr` and `removexattr`: the name and the value, `None` if it is removed.
    Xattr(Vec<u8>, Option<Vec<u8>>),
}

/// A change of what the folder holds, as it took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// `creat`, `mkdir`, `mknod`, `symlink`, `link`: a name that is free stands for a node.
    Enter {
        /// The name.
        at: Place,
        /// The node.
        node: NodeId,
    },
    /// `unlink`, `rmdir`: a name stands for nothing any more.
    Remove {
        /// The name.
        at: Place,
    },
    /// `rename`: the node at `from` is at `to`, whatever stood there.
    Rename {
        /// The old name.
        from: Place,
        /// The new name.
        to: Place,
        /// What stands at `from` afterwards: the node that stood at `to` (`RENAME_EXCHANGE`), a new
        /// node (`RENAME_WHITEOUT`), or nothing.
        leaves: Option<NodeId>,
    },
    /// A write, in any of its forms. The file grows if it ends behind the end.
    Write {
        /// The file.
        node: NodeId,
        /// The offset in bytes.
        at: u64,
        /// What was written.
        bytes: Arc<[u8]>,
    },
    /// `truncate`: the file is cut, or lengthened with zeros.
    Truncate {
        /// The file.
        node: NodeId,
        /// The size in bytes afterwards.
        size: u64,
    },
    /// `fallocate`: all at once, the file holds `bytes` at `at` and is `size` long. What
    /// lies elsewhere within both sizes stays.
    Range {
        /// The file.
        node: NodeId,
        /// The offset in bytes.
        at: u64,
        /// What is there afterwards. Zeros of a hole are bytes too.
        bytes: Arc<[u8]>,
        /// The size in bytes afterwards; not before the end of `bytes`.
        size: u64,
    },
    /// A change of an attribute.
    Set {
        /// The node.
        node: NodeId,
        /// The attribute, with its new value.
        attribute: Attribute,
    },
    /// `chown` of a file whose set-user-ID or set-group-ID bit goes with it: both at once.
    Give {
        /// The node.
        node: NodeId,
        /// The user and the group.
        owner: (u32, u32),
        /// The permissions afterwards, `07777` of the mode.
        mode: u32,
    },
}

/// A step of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A change of what the folder holds.
    Change(Change),
    /// `fsync` or `fdatasync` of a file, or of a folder (its entries), that succeeded.
    Sync {
        /// The file or folder.
        node: NodeId,
        /// `fdatasync`: data and size, not attributes.
        only_data: bool,
    },
    /// A sync of a part of a file: a write with `O_DSYNC` or `O_SYNC`, or `msync`.
    SyncRange {
        /// The file.
        node: NodeId,
        /// From an offset to another.
        range: Range<u64>,
        /// Data and size, not attributes.
        only_data: bool,
    },
    /// `sync` or `syncfs`.
    SyncAll,
    /// The program said something to the outside that a crash afterwards must not make a lie.
    Acknowledged,
}

/// What a program did to a folder, in the order in which it took effect.
#[derive(Clone, Debug)]
pub struct Log {
    start: Tree,
    new: BTreeMap<NodeId, Node>,
    steps: Vec<Step>,
}

/// Why a log contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogError {
    /// The index of the step, `None` for the start tree and the new nodes.
    pub step: Option<usize>,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong with a step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A node is neither in the start tree nor new.
    NoNode(NodeId),
    /// A node is given twice: in the start tree and as a new one, or as two new ones.
    TwoNodes(NodeId),
    /// A new node holds something, or a folder that holds something is removed or replaced.
    NotEmpty(NodeId),
    /// A node is no file and is written.
    NoFile(NodeId),
    /// A node gets names and is no folder, or a folder that has no name itself.
    NoFolder(NodeId),
    /// A name stands for nothing.
    NoName(Place),
    /// A name is taken, or renamed to another of the same node, which does nothing.
    Taken(Place),
    /// A folder gets a second name, at once or after the first was removed.
    TwoNames(NodeId),
    /// A folder is moved into itself.
    Inside(NodeId),
    /// A folder is left at the old name that did not stand at the new one.
    Leaves(NodeId),
    /// A name is empty, `.`, `..`, or has a slash or a zero byte.
    BadName(Place),
    /// An offset or size is above the largest of a file, 2^63 - 1.
    TooLarge(u64),
    /// The bytes end behind the size.
    Behind(u64),
}

impl Log {
    /// Returns the log of `steps` on `start`.
    ///
    /// `new` are the nodes that steps enter and `start` does not have: what they are, and their
    /// attributes when they were made. New files and folders are empty.
    ///
    /// # Errors
    ///
    /// [`LogError`] if a step cannot have happened after the steps before it: the log is incomplete
    /// or not in its order.
    pub fn new(
        start: Tree,
        new: impl IntoIterator<Item = (NodeId, Node)>,
        steps: Vec<Step>,
    ) -> Result<Self, LogError> {
        let mut nodes = BTreeMap::new();
        for (id, node) in new {
            if nodes.insert(id, node).is_some() {
                return Err(LogError {
                    step: None,
                    fault: Fault::TwoNodes(id),
                });
            }
        }
        let log = Self {
            start,
            new: nodes,
            steps,
        };
        let mut replay =
            Replay::new(&log.start, &log.new).map_err(|fault| LogError { step: None, fault })?;
        for (index, step) in log.steps.iter().enumerate() {
            match step {
                Step::Change(change) => replay.apply(change),
                Step::Sync { node, .. } | Step::SyncRange { node, .. } => {
                    replay.node(*node).map(|_| ())
                }
                Step::SyncAll | Step::Acknowledged => Ok(()),
            }
            .map_err(|fault| LogError {
                step: Some(index),
                fault,
            })?;
        }
        Ok(log)
    }

    /// Returns the steps.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the folder before the first step.
    #[must_use]
    pub fn start(&self) -> &Tree {
        &self.start
    }

    /// Returns the folder after all steps, as the program saw it.
    #[must_use]
    pub fn last(&self) -> Tree {
        self.after(self.steps.len())
    }

    /// Returns the last folder with each byte inverted of the files that the program wrote, be it
    /// what they had held before; `None` if it wrote no bytes that are left.
    #[must_use]
    pub fn spoilt(&self) -> Option<Tree> {
        let (before, mut spoilt) = (self.after(0), self.last());
        let written = self.written();
        let mut is_spoilt = false;
        for id in spoilt.reached() {
            let old = before.nodes.get(&id).map(|node| &node.kind);
            let Some(node) = spoilt.nodes.get_mut(&id) else {
                continue;
            };
            if old == Some(&node.kind) && !written.contains(&id) {
                continue;
            }
            let Kind::File(content) = &mut node.kind else {
                continue;
            };
            // The holes of a file too large to be in memory are left.
            let runs: Vec<(u64, Vec<u8>)> = match content.size() {
                0..=LARGEST => vec![(0, content.to_vec())],
                _ => content.parts().map(|(at, it)| (at, it.to_vec())).collect(),
            };
            for (at, mut bytes) in runs {
                is_spoilt |= !bytes.is_empty();
                bytes.iter_mut().for_each(|byte| *byte = !*byte);
                content.write(at, bytes);
            }
        }
        is_spoilt.then_some(spoilt)
    }

    /// The files that the program wrote bytes to.
    fn written(&self) -> BTreeSet<NodeId> {
        let written = self.steps.iter().filter_map(|step| match step {
            Step::Change(Change::Write { node, bytes, .. } | Change::Range { node, bytes, .. }) => {
                (!bytes.is_empty()).then_some(*node)
            }
            _ => None,
        });
        written.collect()
    }

    /// Returns the folder after the first `steps` steps, as the program saw it.
    #[must_use]
    pub fn after(&self, steps: usize) -> Tree {
        let Ok(mut replay) = Replay::new(&self.start, &self.new) else {
            return self.start.clone();
        };
        for step in self.steps.iter().take(steps) {
            if let Step::Change(change) = step {
                // Log::new() has refused a change that fails.
                let _ = replay.apply(change);
            }
        }
        replay.tree()
    }

    /// Tells whether a step changes anything.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step, Step::Change(_)))
    }

    /// Tells whether a name stands for something in the folder itself before or after any step.
    #[must_use]
    pub fn ever_has(&self, name: &[u8]) -> bool {
        let is_it = |place: &Place| place.folder == self.start.root && place.name == name;
        self.start.find(name).is_some()
            || self.steps.iter().any(|step| match step {
                Step::Change(Change::Enter { at, .. } | Change::Rename { to: at, .. }) => is_it(at),
                _ => false,
            })
    }

    /// Returns the new nodes.
    pub(crate) fn new_nodes(&self) -> &BTreeMap<NodeId, Node> {
        &self.new
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(step) => write!(f, "step {step}: {}", self.fault),
            None => write!(f, "the folder before the first step: {}", self.fault),
        }
    }
}

impl std::error::Error for LogError {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNode(id) => write!(f, "node {} is not known", id.0),
            Self::TwoNodes(id) => write!(f, "node {} is given twice", id.0),
            Self::NotEmpty(id) => write!(f, "node {} is not empty", id.0),
            Self::NoFile(id) => write!(f, "node {} is no file", id.0),
            Self::NoFolder(id) => write!(f, "node {} is no folder that has a name", id.0),
            Self::NoName(place) => write!(f, "{place} stands for nothing"),
            Self::Taken(place) => write!(f, "{place} is taken"),
            Self::TwoNames(id) => write!(f, "folder {} gets a second name", id.0),
            Self::Inside(id) => write!(f, "folder {} is moved into itself", id.0),
            Self::Leaves(id) => write!(f, "folder {} cannot be left at the old name", id.0),
            Self::BadName(place) => write!(f, "{place} is no name"),
            Self::TooLarge(at) => write!(f, "{at} is above the largest size of a file"),
            Self::Behind(size) => write!(f, "bytes lie behind the size {size}"),
        }
    }
}
