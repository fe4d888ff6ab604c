//! From a path to a file, as the kernel goes.

use super::doubt::{Doubt, Keys, Where};
use super::ground::Why;
use super::mounts::Space;
use super::node::{Entry, Kind, Spot, Tree};
use crate::ThreadId;
use crate::files::Way;

/// The start of a path.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// The folder that a relative path starts at, or why it is not known.
    pub(crate) from: Result<Spot, Why>,
    /// What may still show that it starts elsewhere.
    pub(crate) doubt: Option<Doubt>,
    /// What `/` is, and where `..` ends.
    pub(crate) root: Spot,
}

/// What a link about a process leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Magic {
    /// Its working directory.
    Current,
    /// Its root.
    Root,
    /// The file that it runs.
    Program,
    /// What it has open at this number.
    Descriptor(u32),
}

/// The end of a path.
#[derive(Clone, Debug)]
pub(crate) enum Leads {
    To(Spot, Option<Doubt>),
    /// To something without a path: a pipe, a socket.
    Nowhere,
    Missing,
    Unknown,
}

/// Finds processes, for the links in procfs.
pub(crate) trait Magics {
    /// The calling thread, or the first of its process.
    fn own(&self, is_thread: bool) -> Option<ThreadId>;
    /// Returns the thread with an id in the caller's namespace.
    fn by_id(&self, id: u32) -> Option<ThreadId>;
    /// What a thread has, in this tree.
    fn leads(&self, tree: &mut Tree, thread: ThreadId, magic: Magic) -> Leads;
}

/// Before the run there are no processes.
pub(super) struct NoMagic;

impl Magics for NoMagic {
    fn own(&self, _: bool) -> Option<ThreadId> {
        None
    }
    fn by_id(&self, _: u32) -> Option<ThreadId> {
        None
    }
    fn leads(&self, _: &mut Tree, _: ThreadId, _: Magic) -> Leads {
        Leads::Unknown
    }
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// This.
    At(Spot),
    /// Nothing yet: a name in a folder that is there.
    Absent,
    /// Nothing: not even its folder is there, or a part of it is no folder.
    Missing,
    /// Something without a path.
    Nowhere,
    /// It is not known.
    Unknown(Why),
}

/// A path, gone to its end.
#[derive(Clone, Debug)]
pub(crate) struct Walked {
    pub(crate) target: Target,
    /// The last folder, and the name in it; `None` where the path does not end in a name.
    pub(crate) last: Option<(Spot, Box<[u8]>)>,
    /// The names that it went by.
    pub(crate) keys: Keys,
    /// Whether something of the run led it: a link, a mount, a root, a process.
    pub(crate) is_led: bool,
    /// Whether a `..` of its text or of a link of the run's led it.
    pub(crate) climbs: bool,
    /// Where its text alone leads to; and whether it is relative to another folder than the run's.
    pub(crate) plain: Option<(Box<[u8]>, bool)>,
    /// What may still show that it started elsewhere; of one that has reached something, also that
    /// this is another.
    pub(crate) doubt: Option<Doubt>,
    /// Of what is not there the parts behind the last folder.
    pub(super) rest: Vec<Box<[u8]>>,
}

pub(super) const MOST_LINKS: u32 = 40;

impl Walked {
    fn ended(target: Target) -> Self {
        Self {
            target,
            last: None,
            keys: Keys::new(),
            is_led: false,
            climbs: false,
            plain: None,
            doubt: None,
            rest: Vec::new(),
        }
    }

    pub(crate) fn unknown(why: Why) -> Self {
        Self::ended(Target::Unknown(why))
    }

    /// Of what leads to no file.
    pub(crate) fn nothing() -> Self {
        Self::ended(Target::Missing)
    }

    /// Of a descriptor in the place of a path.
    pub(crate) fn at(place: &Where) -> Self {
        let (at, doubt) = place.start();
        let target = match at {
            _ if *place == Where::Nowhere => Target::Nowhere,
            Ok(spot) => Target::At(spot),
            Err(why) => Target::Unknown(why),
        };
        Self {
            is_led: true,
            doubt,
            ..Self::ended(target)
        }
    }
}

/// The state of a walk.
pub(super) struct Walker<'w> {
    pub(super) tree: &'w mut Tree,
    pub(super) magics: &'w dyn Magics,
    pub(super) space: Space,
    pub(super) root: Spot,
    pub(super) way: Way,
    pub(super) at: Spot,
    /// What is still to go, the next last; with whether it is of the call or of a link that the run
    /// made.
    pub(super) todo: Vec<(Box<[u8]>, bool)>,
    pub(super) links: u32,
    pub(super) is_folder: bool,
    pub(super) walked: Walked,
}

/// How a step ended a walk.
pub(super) type Over = Target;

impl Tree {
    /// Goes a path.
    pub(crate) fn walk(
        &mut self,
        start: &Start,
        path: &[u8],
        way: Way,
        space: Space,
        magics: &dyn Magics,
    ) -> Walked {
        let mut walked = Walked::nothing();
        let root = match (&start.from, way.in_root) {
            (Ok(from), true) => *from,
            _ => start.root,
        };
        let from = match (path.starts_with(b"/"), &start.from) {
            (true, Err(why)) if way.in_root => Err(why.clone()),
            (true, _) => Ok(root),
            (false, from) => from.clone(),
        };
        if let Some(why) = self.why_lost() {
            walked.target = Target::Unknown(why);
            return walked;
        }
        let at = match from {
            Ok(at) => at,
            Err(why) => {
                walked.target = Target::Unknown(why);
                return walked;
            }
        };
        walked.is_led = path.starts_with(b"/") && root != self.root();
        let is_from = !path.starts_with(b"/") || way.in_root;
        walked.doubt = start.doubt.clone().filter(|_| is_from);
        let mut walker = Walker {
            root,
            way,
            at,
            todo: Vec::new(),
            links: 0,
            is_folder: false,
            walked,
            tree: self,
            magics,
            space,
        };
        walker.push(path, true);
        let target = walker.run();
        let Walker {
            mut walked, todo, ..
        } = walker;
        walked
            .rest
            .extend(todo.into_iter().rev().map(|(part, _)| part));
        walked.target = target;
        walked
    }

    /// The absolute names of what a walk ended at, or of the name itself, whatever else its file is
    /// called; `None` where there are too many.
    pub(crate) fn names_of(&self, walked: &Walked, is_name: bool) -> Option<Vec<Box<[u8]>>> {
        let node = match &walked.target {
            Target::At(_) if is_name && walked.last.is_some() => None,
            Target::At(spot) => Some(spot.node),
            _ => None,
        };
        let Some((folder, name)) = &walked.last else {
            return node.map_or(Some(Vec::new()), |node| self.names(node));
        };
        let rest = walked
            .rest
            .iter()
            .filter(|part| !part.is_empty() && ***part != *b".");
        let mut tail = name.to_vec();
        for part in rest {
            if **part == *b".." {
                return Some(Vec::new());
            }
            tail.push(b'/');
            tail.extend_from_slice(part);
        }
        let below = |folder: Box<[u8]>| -> Box<[u8]> {
            match &*folder {
                b"/" => [b"/", &*tail].concat().into(),
                folder => [folder, b"/", &tail].concat().into(),
            }
        };
        let mut names: Vec<Box<[u8]>> = Vec::new();
        let first = self.names(folder.node)?.into_iter().map(below);
        match node {
            Some(node) => {
                let own = self.names(node)?;
                // What it is called on this way comes first.
                let on_this_way = first.into_iter().find(|name| own.contains(name));
                names.extend(on_this_way);
                names.extend(own);
            }
            None => names.extend(first),
        }
        let mut seen: Vec<Box<[u8]>> = Vec::new();
        names.retain(|name| {
            let is_new = !seen.contains(name);
            if is_new {
                seen.push(name.clone());
            }
            is_new
        });
        Some(names)
    }

    /// The names by which a spot's own file is found, in their folders.
    pub(super) fn links_of(&self, spot: Spot) -> Keys {
        self.links(spot.node)
    }
}

impl Walker<'_> {
    fn push(&mut self, path: &[u8], is_own: bool) {
        let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let is_plain = |part: &&&[u8]| !part.is_empty() && **part != b".";
        if self.todo.is_empty() {
            // With a slash or a dot behind it, it is what a link at the end leads to.
            self.is_folder |= parts
                .last()
                .is_some_and(|part| part.is_empty() || *part == b".");
        }
        let parts = parts.iter().filter(is_plain).rev();
        self.todo
            .extend(parts.map(|part| (Box::from(*part), is_own)));
    }

    fn run(&mut self) -> Target {
        while let Some((part, is_own)) = self.todo.pop() {
            if let Err(over) = self.step(part, is_own) {
                return over;
            }
        }
        Target::At(self.at)
    }

    fn step(&mut self, part: Box<[u8]>, is_own: bool) -> Result<(), Over> {
        if *part == *b".." {
            self.walked.climbs |= is_own;
            return self.up();
        }
        let folder = self.at;
        self.walked.last = Some((folder, part.clone()));
        let entry = match &self.tree.node(folder.node).kind {
            Kind::Processes(what) => return self.step_of_process(*what, part),
            Kind::Unknown => return Err(self.unseen(&part)),
            _ => self.tree.entry(folder.node, &part),
        };
        let key = (folder.node, part.clone());
        self.walked.keys.push(key);
        let node = match entry {
            None => return Err(Target::Missing),
            Some(Entry::Unknown) => return Err(self.unseen(&part)),
            Some(Entry::Absent) if self.todo.is_empty() => return Err(Target::Absent),
            Some(Entry::Absent) => return Err(Target::Missing),
            Some(Entry::Is(node)) => node,
        };
        let spot = Spot { node, ..folder };
        let Some((spot, is_covered)) = self.tree.through(spot, self.space) else {
            return Err(self.unseen(&part));
        };
        self.walked.is_led |= is_covered;
        let node = self.tree.node(spot.node);
        let is_last = self.todo.is_empty();
        let follows = !is_last || self.way.follows || self.is_folder;
        match &node.kind {
            Kind::Link(to) if follows => {
                let (to, is_own) = (to.clone(), node.is_own);
                self.links += 1;
                if self.links > MOST_LINKS || self.way.no_links {
                    return Err(Target::Missing);
                }
                self.walked.is_led |= is_own;
                if to.starts_with(b"/") {
                    self.at = self.root;
                    self.walked.is_led |= self.root != self.tree.root();
                }
                self.walked.last = None;
                self.push(&to, is_own);
                Ok(())
            }
            Kind::Unknown if follows => Err(self.unseen(&part)),
            _ => {
                self.at = spot;
                Ok(())
            }
        }
    }

    pub(super) fn unseen(&self, part: &[u8]) -> Target {
        self.tree.unseen(self.at, part)
    }

    fn up(&mut self) -> Result<(), Over> {
        self.walked.last = None;
        loop {
            match self.at {
                at if at == self.root => return Ok(()),
                at if self.tree.is_parted(at) => return Err(Target::Unknown(Why::Start)),
                _ => {}
            }
            let Some(covered) = self.tree.covered(self.at) else {
                break;
            };
            self.walked.is_led = true;
            self.at = covered;
        }
        let key = (self.at.node, Box::from(&b".."[..]));
        self.walked.keys.push(key);
        let node = self.tree.node(self.at.node);
        match (&node.kind, node.parent) {
            (Kind::Folder { .. } | Kind::Processes(_), Some(parent)) => {
                let spot = Spot {
                    node: parent,
                    ..self.at
                };
                let Some((spot, _)) = self.tree.through(spot, self.space) else {
                    return Err(Target::Unknown(Why::Start));
                };
                self.at = spot;
                Ok(())
            }
            // The root of what was there before.
            (Kind::Folder { .. }, None) if self.at == self.tree.root() => Ok(()),
            (Kind::File | Kind::Link(_), _) => Err(Target::Missing),
            _ => Err(Target::Unknown(Why::Start)),
        }
    }
}
