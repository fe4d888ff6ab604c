//! Files, and their names in folders.

use super::doubt::{Keys, Races};
use super::ground::{Found, Ground, Identity, Why};
use super::mounts::{Mount, MountId, Mounts};
use super::supposed::Supposed;
use crate::ThreadId;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A file, for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(super) u32);

/// A file below a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Spot {
    pub(super) mount: MountId,
    pub(super) node: NodeId,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Every name that it was seen to have; the present one is the last.
    pub(super) links: Vec<(NodeId, Box<[u8]>)>,
    /// The name that it had before the run, of what was looked up by one.
    pub(super) origin: Option<(NodeId, Box<[u8]>)>,
    /// Whether the run made it, or its scenario laid it out.
    pub(super) is_own: bool,
    /// Of a folder, and of a file that nothing but a descriptor leads to none.
    pub(super) parent: Option<NodeId>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Folder {
        entries: HashMap<Box<[u8]>, Entry>,
        rest: Rest,
    },
    Link(Arc<[u8]>),
    File,
    Processes(Processes),
    Unknown,
}

/// Names that are not among a folder's entries.
#[derive(Clone, Debug)]
pub(super) enum Rest {
    /// Are as they were below this path.
    Ground(Box<[u8]>),
    /// Are no files.
    Nothing,
    /// It is not known.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Is(NodeId),
    Absent,
    Unknown,
}

/// A folder that tells of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Processes {
    /// All of them.
    All,
    /// One thread.
    One(ThreadId),
    /// Its descriptors.
    Descriptors(ThreadId),
    /// A folder of a task that is not known, and all in it.
    Stranger,
    /// What leads nowhere else.
    Plain,
}

/// A name in a folder.
type Name = (NodeId, Box<[u8]>);

/// The files of one run.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(super) ground: Box<dyn Ground>,
    /// Below it lies what the scenario laid out.
    directory: Box<[u8]>,
    nodes: Vec<Node>,
    pub(super) by_identity: HashMap<Identity, NodeId>,
    /// What of processes has a node, by its folder; plain files by their names too.
    processes: HashMap<(NodeId, Processes, Box<[u8]>), NodeId>,
    pub(super) mounts: Mounts,
    /// When a name was changed last, and whether something was made there that had not been.
    changed: HashMap<Name, (u64, bool)>,
    clock: u64,
    lost: Option<&'static str>,
    /// Folders that are the root of a mount which is attached nowhere: from there nothing leads up,
    /// but from the same folder by another way.
    pub(super) parted: HashSet<NodeId>,
    pub(super) races: Races,
    pub(super) supposed: Supposed,
}

pub(super) const ROOT: NodeId = NodeId(0);

impl Spot {
    pub(crate) fn node(self) -> NodeId {
        self.node
    }

    /// Another file below the same mount.
    pub(crate) fn of(self, node: NodeId) -> Self {
        Self { node, ..self }
    }
}

impl Tree {
    /// What was there before a run that works in this directory. Files that these paths lead to
    /// have them as names.
    pub(crate) fn new(ground: Box<dyn Ground>, directory: &[u8], aliases: &[Vec<u8>]) -> Self {
        let root = Node {
            kind: Kind::Folder {
                entries: HashMap::new(),
                rest: Rest::Ground(Box::default()),
            },
            links: Vec::new(),
            origin: None,
            is_own: false,
            parent: None,
        };
        let first = Mount {
            on: None,
            root: ROOT,
        };
        let mut tree = Self {
            mounts: Mounts::new(first, ground.sharing()),
            ground,
            directory: directory.into(),
            nodes: vec![root],
            by_identity: HashMap::new(),
            processes: HashMap::new(),
            changed: HashMap::new(),
            clock: 0,
            lost: None,
            parted: HashSet::new(),
            races: Races::default(),
            supposed: Supposed::new(),
        };
        tree.survey(directory);
        for path in aliases {
            tree.alias(path);
        }
        tree
    }

    /// The root of all paths, as the run's first process sees it.
    pub(crate) fn root(&self) -> Spot {
        Spot {
            mount: MountId(0),
            node: ROOT,
        }
    }

    /// From this call on nothing is known.
    pub(crate) fn lose(&mut self, call: &'static str) {
        self.lost.get_or_insert(call);
    }

    pub(crate) fn why_lost(&self) -> Option<Why> {
        self.lost.map(Why::Lost)
    }

    /// The moment; later ones are greater.
    pub(crate) fn now(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        // PANIC: ids are given out here alone, and no node is ever removed.
        self.nodes
            .get(id.0 as usize)
            .unwrap_or_else(|| unreachable!("a node"))
    }

    fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.nodes.get_mut(id.0 as usize)
    }

    /// Whether an absolute path lies in the run's directory.
    pub(crate) fn is_of_run(&self, path: &[u8]) -> bool {
        let below = path.strip_prefix(&*self.directory);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    fn add(&mut self, kind: Kind, is_own: bool) -> NodeId {
        self.nodes.push(Node {
            kind,
            links: Vec::new(),
            origin: None,
            is_own,
            parent: None,
        });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(super) fn links(&self, node: NodeId) -> Keys {
        self.node(node).links.clone()
    }

    /// Whether a file is called so in its folder.
    pub(super) fn is_called(&self, node: NodeId, name: &[u8]) -> bool {
        self.node(node)
            .links
            .iter()
            .any(|(_, known)| **known == *name)
    }

    /// A file has one more name.
    pub(super) fn link(&mut self, node: NodeId, folder: NodeId, name: &[u8]) {
        if let Some(node) = self.node_mut(node) {
            let link = (folder, Box::from(name));
            node.links.retain(|known| *known != link);
            node.links.push(link);
        }
    }

    /// What a folder has under a name; `None` where it is no folder.
    pub(super) fn entry(&mut self, folder: NodeId, name: &[u8]) -> Option<Entry> {
        let Kind::Folder { entries, rest } = &self.node(folder).kind else {
            return None;
        };
        if let Some(entry) = entries.get(name) {
            return Some(*entry);
        }
        let path = match rest {
            Rest::Nothing => return Some(Entry::Absent),
            Rest::Unknown => return Some(Entry::Unknown),
            Rest::Ground(path) => [path, &b"/"[..], name].concat(),
        };
        let (kind, identity) = match self.ground.look(&path) {
            Found::Missing => (None, None),
            Found::Unknown => return Some(self.set(folder, name, Entry::Unknown)),
            Found::Folder(identity) => {
                let rest = Rest::Ground(path.clone().into());
                let entries = HashMap::new();
                (Some(Kind::Folder { entries, rest }), identity)
            }
            Found::Link(identity, to) => (Some(Kind::Link(to.into())), identity),
            Found::File(identity) => (Some(Kind::File), identity),
            Found::Processes => (Some(Kind::Processes(Processes::All)), None),
        };
        let Some(kind) = kind else {
            return Some(self.set(folder, name, Entry::Absent));
        };
        let known = identity.and_then(|identity| self.by_identity.get(&identity).copied());
        let node = known.unwrap_or_else(|| {
            let is_own = path.starts_with(&self.directory) && *path != *self.directory;
            let node = self.add(kind, is_own);
            if let Some(identity) = identity {
                self.by_identity.insert(identity, node);
            }
            node
        });
        self.link(node, folder, name);
        if let Some(node) = self.node_mut(node) {
            node.parent.get_or_insert(folder);
            node.origin.get_or_insert_with(|| (folder, name.into()));
        }
        Some(self.set(folder, name, Entry::Is(node)))
    }

    fn set(&mut self, folder: NodeId, name: &[u8], entry: Entry) -> Entry {
        if let Some(Node {
            kind: Kind::Folder { entries, .. },
            ..
        }) = self.node_mut(folder)
        {
            entries.insert(name.into(), entry);
        }
        entry
    }

    /// A folder about processes, or a file in one.
    pub(super) fn process_node(&mut self, folder: NodeId, name: &[u8], what: Processes) -> NodeId {
        let is_named = matches!(what, Processes::Plain | Processes::Stranger);
        let key = (folder, what, Box::from(if is_named { name } else { b"" }));
        let known = self.processes.get(&key).copied();
        let node = known.unwrap_or_else(|| {
            let node = self.add(Kind::Processes(what), false);
            self.processes.insert(key, node);
            if let Some(node) = self.node_mut(node) {
                node.parent = Some(folder);
            }
            node
        });
        self.link(node, folder, name);
        node
    }

    /// A new file without a name.
    pub(crate) fn unnamed(&mut self, kind: New) -> NodeId {
        let kind = match kind {
            New::File => Kind::File,
            New::Link(to) => Kind::Link(to),
            New::Unknown => Kind::Unknown,
            New::Folder => Kind::Folder {
                entries: HashMap::new(),
                rest: Rest::Nothing,
            },
            New::Strange => Kind::Folder {
                entries: HashMap::new(),
                rest: Rest::Unknown,
            },
        };
        self.add(kind, true)
    }

    /// A new file without a name, in a folder (`O_TMPFILE`).
    pub(crate) fn unnamed_in(&mut self, folder: NodeId) -> NodeId {
        let id = self.unnamed(New::File);
        if let Some(node) = self.node_mut(id) {
            node.parent = Some(folder);
        }
        id
    }

    /// Gives a file a name, at this moment.
    pub(crate) fn give(&mut self, key: (NodeId, &[u8]), node: NodeId, moment: u64) {
        self.name(key, Entry::Is(node), moment);
    }

    /// Takes a name away.
    pub(crate) fn take_away(&mut self, key: (NodeId, &[u8]), moment: u64) {
        self.name(key, Entry::Absent, moment);
    }

    /// The name of a file in its folder is not known any more.
    pub(crate) fn forget(&mut self, key: (NodeId, &[u8]), moment: u64) {
        self.name(key, Entry::Unknown, moment);
    }

    fn name(&mut self, (folder, name): (NodeId, &[u8]), entry: Entry, moment: u64) {
        self.unsettle(folder, name);
        let was = self.entry(folder, name);
        self.set(folder, name, entry);
        if let Entry::Is(node) = entry {
            self.link(node, folder, name);
            let is_folder = matches!(self.node(node).kind, Kind::Folder { .. });
            let node_parent = self.node(node).parent;
            if is_folder && node_parent.is_some_and(|old| old != folder) {
                self.changed
                    .insert((node, Box::from(&b".."[..])), (moment, false));
            }
            if let Some(node) = self.node_mut(node) {
                node.parent = Some(folder);
            }
        }
        let makes = was == Some(Entry::Absent) && matches!(entry, Entry::Is(_));
        let at = self
            .changed
            .entry((folder, name.into()))
            .or_insert((moment, makes));
        *at = (moment, makes);
    }

    /// Whether one of these names was changed since then, other than by being made.
    pub(crate) fn is_raced(&self, keys: &Keys, since: u64, succeeded: bool) -> bool {
        keys.iter().any(|key| {
            let changed = self.changed.get(key);
            changed.is_some_and(|(end, makes)| *end > since && !(*makes && succeeded))
        })
    }

    /// Whether a call of the run may have changed a name.
    pub(super) fn was_changed(&self, key: &Name) -> bool {
        self.changed.contains_key(key)
    }

    /// Notes a name as changed.
    pub(super) fn touch(&mut self, key: (NodeId, Box<[u8]>), moment: u64) {
        self.changed.insert(key, (moment, false));
    }
}

/// A file that is made.
#[derive(Clone, Debug)]
pub(crate) enum New {
    /// No folder and no link.
    File,
    /// A symbolic link that says this.
    Link(Arc<[u8]>),
    /// An empty folder.
    Folder,
    /// A folder with unknown contents.
    Strange,
    /// A node of an unknown kind.
    Unknown,
}
