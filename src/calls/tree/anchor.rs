//! What of a path was there before the run: rules that are made before a program begins can be
//! about nothing else.

use super::node::{Kind, NodeId, ROOT, Spot, Tree};
use super::walk::{Target, Walked};

/// What a path or a descriptor led to when its call was entered, by what was there before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchored {
    /// What it was; `None` if nothing was there, in a folder that was.
    pub kind: Option<Led>,
    /// The file itself, by the name that it had before the run, if it was there then.
    pub own: Option<Box<[u8]>>,
    /// The nearest folder above it that was there before the run, by its name of then: its own
    /// folder, unless the run made that.
    pub above: Box<[u8]>,
    /// The folder that has the name, one number for each.
    pub folder: u32,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Led {
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// Any other file.
    File,
    /// What is told of processes; folder or file.
    Process,
}

impl Anchored {
    /// The file itself, or the nearest folder above it that was there before the run.
    #[must_use]
    pub fn nearest(&self) -> &[u8] {
        self.own.as_deref().unwrap_or(&self.above)
    }
}

impl Tree {
    /// Where a path led; `None` where that is not known, or not even its folder is there.
    pub(crate) fn anchored(&self, walked: &Walked) -> Option<Anchored> {
        match (&walked.target, &walked.last) {
            (Target::At(spot), Some((folder, _))) => self.anchor(spot.node, folder.node),
            (Target::At(spot), None) => self.anchored_at(*spot),
            (Target::Absent, Some((folder, _))) => Some(Anchored {
                kind: None,
                own: None,
                above: self.nearest_origin(folder.node)?,
                folder: folder.node.0,
            }),
            _ => None,
        }
    }

    /// The same of a file that is open.
    pub(crate) fn anchored_at(&self, spot: Spot) -> Option<Anchored> {
        let folder = self.node(spot.node).parent.unwrap_or(spot.node);
        self.anchor(spot.node, folder)
    }

    fn anchor(&self, node: NodeId, folder: NodeId) -> Option<Anchored> {
        let kind = match self.node(node).kind {
            Kind::Folder { .. } => Led::Folder,
            Kind::Link(_) => Led::Link,
            Kind::File => Led::File,
            Kind::Processes(_) => Led::Process,
            Kind::Unknown => return None,
        };
        // Which process it will be about is not known before: all that is told of them is one.
        let own = match kind {
            Led::Process => self.nearest_origin(node),
            _ => self.origin_of(node),
        };
        Some(Anchored {
            kind: Some(kind),
            own,
            above: self.nearest_origin(folder)?,
            folder: folder.0,
        })
    }

    /// The nearest file at or above this one that was there before the run, by its name of then.
    fn nearest_origin(&self, node: NodeId) -> Option<Box<[u8]>> {
        let mut node = node;
        loop {
            match self.origin_of(node) {
                Some(path) => return Some(path),
                None => node = self.node(node).parent?,
            }
        }
    }

    /// The name of a file before the run; `None` if it was not there then.
    pub(super) fn origin_of(&self, node: NodeId) -> Option<Box<[u8]>> {
        if node == ROOT {
            return Some(Box::from(&b"/"[..]));
        }
        let (folder, name) = self.node(node).origin.as_ref()?;
        let folder = self.origin_of(*folder)?;
        let folder = folder.strip_suffix(b"/").unwrap_or(&folder);
        Some([folder, b"/", name].concat().into())
    }
}
