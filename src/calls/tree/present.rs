//! Where a path leads at this moment, for a call that waits: by the same walk as that of a run's
//! calls, over files as they lie now.

use super::ground::{Ground, Identity, Why};
use super::node::{Kind, New, NodeId, Tree};
use super::walk::{Leads, Magic, Magics, Start, Target};
use super::{Reached, Space};
use crate::ThreadId;
use crate::files::Way;

/// What procfs has for a task by its own links, while that waits.
pub trait Holding {
    /// What a link of a task leads to.
    fn holds(&self, task: Task, what: Magic) -> Holds;
}

/// A task, as a path in procfs names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// The thread that makes the call: `thread-self`.
    Thread,
    /// Its process: `self`.
    Process,
    /// By its number in that procfs.
    Numbered(u32),
}

/// What a link of procfs leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The file of this name.
    File(Vec<u8>),
    /// A file that had this name before it was removed.
    Removed(Vec<u8>),
    /// Something that is in no folder.
    Nowhere,
    /// Nothing: it is not open.
    Nothing,
    /// It is not known.
    Unknown,
}

/// Where the paths of a task begin, by their names.
#[derive(Clone, Copy, Debug)]
pub struct Begins<'a> {
    /// Its root.
    pub root: &'a [u8],
    /// The folder of a path that does not begin with `/`; its root where there is none.
    pub folder: Option<&'a [u8]>,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sought {
    /// The names of its file.
    pub reached: Reached,
    /// Which file it is, where one is there and is meant.
    pub identity: Option<Identity>,
}

/// A file that was there before a run under a path that is written out in its scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// That path, from the root: one more name of the file.
    pub name: Box<[u8]>,
    /// The file's own name, without links.
    pub place: Box<[u8]>,
    /// Which it is.
    pub identity: Option<Identity>,
    /// Whether it is a folder, so that what lies in it has more names as well.
    pub is_folder: bool,
}

/// Goes a path over files as they lie now.
#[must_use]
pub fn seek(
    ground: Box<dyn Ground>,
    holding: &dyn Holding,
    begins: Begins<'_>,
    path: &[u8],
    way: Way,
) -> Sought {
    let mut tree = Tree::new(ground, b"", &[]);
    let mut place = |path: &[u8]| match tree.walk_before(path, false) {
        Target::At(spot) => Ok(spot),
        Target::Unknown(why) => Err(why),
        _ => Err(Why::Start),
    };
    let root = match place(begins.root) {
        Ok(root) => root,
        Err(why) => return Sought::unknown(why),
    };
    let from = begins.folder.map_or(Ok(root), place);
    let start = Start {
        from,
        doubt: None,
        root,
    };
    let held = Held(holding);
    let mut walked = tree.walk(&start, path, way, Space::FIRST, &held);
    let identity = match walked.target {
        Target::At(spot) if !way.is_name => tree.identity_of(spot.node),
        _ => None,
    };
    Sought {
        reached: tree.reached_by(ThreadId(0), &mut walked, way.is_name),
        identity,
    }
}

/// What lay under these paths before a run, if anything did: each with what a link there leads to,
/// as [`over`](crate::files::Tables::over) does it.
#[must_use]
pub fn aliases(ground: Box<dyn Ground>, directory: &[u8], paths: &[Vec<u8>]) -> Vec<Alias> {
    let mut tree = Tree::new(ground, directory, paths);
    let mut all = Vec::new();
    for path in paths {
        let parts = path.split(|byte| *byte == b'/');
        if parts.into_iter().any(|part| matches!(part, b".." | b".")) {
            continue;
        }
        for follows in [false, true] {
            let Target::At(spot) = tree.walk_before(path, follows) else {
                continue;
            };
            let Some(place) = tree.origin_of(spot.node) else {
                continue;
            };
            let alias = Alias {
                name: path.as_slice().into(),
                place,
                identity: tree.identity_of(spot.node),
                is_folder: matches!(tree.node(spot.node).kind, Kind::Folder { .. }),
            };
            if !all.contains(&alias) {
                all.push(alias);
            }
        }
    }
    all
}

impl Sought {
    fn unknown(why: Why) -> Self {
        Self {
            reached: Reached::Unknown(why),
            identity: None,
        }
    }
}

/// Tasks by numbers: the thread and its process, and behind these all that procfs shows.
struct Held<'a>(&'a dyn Holding);

const THREAD: ThreadId = ThreadId(0);
const PROCESS: ThreadId = ThreadId(1);
const FIRST_NUMBERED: u32 = 2;

impl Magics for Held<'_> {
    fn own(&self, is_thread: bool) -> Option<ThreadId> {
        Some(if is_thread { THREAD } else { PROCESS })
    }

    fn by_id(&self, id: u32) -> Option<ThreadId> {
        id.checked_add(FIRST_NUMBERED).map(ThreadId)
    }

    fn leads(&self, tree: &mut Tree, thread: ThreadId, magic: Magic) -> Leads {
        let task = match thread {
            THREAD => Task::Thread,
            PROCESS => Task::Process,
            ThreadId(number) => Task::Numbered(number.saturating_sub(FIRST_NUMBERED)),
        };
        match self.0.holds(task, magic) {
            Holds::File(name) => tree.held(&name, false),
            Holds::Removed(name) => tree.held(&name, true),
            Holds::Nowhere => Leads::Nowhere,
            Holds::Nothing => Leads::Missing,
            Holds::Unknown => Leads::Unknown,
        }
    }
}

impl Tree {
    /// Which file of the ground a node is.
    fn identity_of(&self, node: NodeId) -> Option<Identity> {
        let mut all = self.by_identity.iter();
        all.find(|(_, known)| **known == node).map(|(it, _)| *it)
    }

    /// The file that is open under a name, whether or not it still lies there.
    fn held(&mut self, name: &[u8], is_removed: bool) -> Leads {
        if !is_removed {
            match self.walk_before(name, false) {
                Target::At(spot) => return Leads::To(spot, None),
                Target::Unknown(_) => return Leads::Unknown,
                _ => {}
            }
        }
        let Some(cut) = name.iter().rposition(|byte| *byte == b'/') else {
            return Leads::Unknown;
        };
        let (folder, last) = name.split_at(cut);
        let last = last.strip_prefix(b"/").unwrap_or(last);
        match self.walk_before(folder, false) {
            Target::At(spot) => {
                let node = self.unnamed(New::File);
                self.link(node, spot.node, last);
                Leads::To(spot.of(node), None)
            }
            _ => Leads::Unknown,
        }
    }
}
