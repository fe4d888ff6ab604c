//! Files under names that nobody looked at in time, as their folder had changed by then.
//!
//! What was there is what lies there when the run is over, if no call of the run gave the name to
//! another file or took it away, and its folder is where it was.

use super::New;
use super::doubt::Doubt;
use super::ground::Why;
use super::node::{Entry, Kind, NodeId, Rest, Spot, Tree};
use super::walk::{Target, Walked};
use std::collections::HashMap;

/// What is supposed, by folder and name.
pub(super) type Supposed = HashMap<(NodeId, Box<[u8]>), Held>;

/// A file that is supposed to be there.
#[derive(Debug)]
pub(super) struct Held {
    node: NodeId,
    /// Its folder before the run.
    folder: Box<[u8]>,
    doubt: Doubt,
}

impl Tree {
    /// Whether a walk ended at a name in a known folder that nobody looked at in time.
    pub(crate) fn is_unseen(&self, walked: &Walked) -> bool {
        let is_unknown = matches!(walked.target, Target::Unknown(Why::Unseen(_)));
        is_unknown && walked.rest.is_empty() && self.unseen_name(walked).is_some()
    }

    /// The folder of a walk's last name, if that is not known, and where it was before the run.
    fn unseen_name(&self, walked: &Walked) -> Option<(Spot, Box<[u8]>)> {
        let (folder, name) = walked.last.as_ref()?;
        match &self.node(folder.node).kind {
            Kind::Folder {
                rest: Rest::Ground(path),
                entries,
            } if entries.get(name) == Some(&Entry::Unknown) => Some((*folder, path.clone())),
            _ => None,
        }
    }

    /// Takes a name that nobody looked at for that of a file, which the end of the run must show.
    pub(crate) fn suppose(&mut self, walked: &mut Walked) -> Option<Doubt> {
        let (spot, path) = self.unseen_name(walked)?;
        let (_, name) = walked.last.clone()?;
        let Target::Unknown(why) = walked.target.clone() else {
            return None;
        };
        let key = (spot.node, name);
        if !self.supposed.contains_key(&key) {
            let node = self.unnamed(New::File);
            self.link(node, key.0, &key.1);
            let held = Held {
                node,
                folder: path,
                doubt: Doubt::of(why),
            };
            self.supposed.insert(key.clone(), held);
        }
        let held = self.supposed.get(&key)?;
        walked.target = Target::At(spot.of(held.node));
        Some(held.doubt.clone())
    }

    /// The file of a name that nobody looked at in time, whatever it is: it gets a name more. What
    /// is done to it is not known, by either name. `None` where it may be a file that is known.
    pub(crate) fn unseen_file(&mut self, walked: &Walked, moment: u64) -> Option<NodeId> {
        if !matches!(walked.target, Target::Unknown(Why::Unseen(_))) || !walked.rest.is_empty() {
            return None;
        }
        let (folder, name) = walked.last.as_ref()?;
        let key = (folder.node, name.clone());
        match &self.node(folder.node).kind {
            Kind::Folder { entries, rest } => match (entries.get(name)?, rest) {
                (Entry::Is(node), _) if self.is_strange(*node) => Some(*node),
                (Entry::Unknown, Rest::Ground(_)) if !self.was_changed(&key) => {
                    let node = self.unnamed(New::Unknown);
                    self.give((key.0, &key.1), node, moment);
                    Some(node)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether of a file it is not known which it is: it may have more names, or be a link.
    pub(crate) fn is_strange(&self, node: NodeId) -> bool {
        matches!(self.node(node).kind, Kind::Unknown)
    }

    /// Where a walk leads that ended at a file of which it is not known which it is.
    pub(crate) fn strange(&self, walked: &Walked) -> Target {
        match &walked.last {
            Some((folder, name)) => self.unseen(*folder, name),
            None => Target::Unknown(Why::Start),
        }
    }

    pub(super) fn unseen(&self, folder: Spot, name: &[u8]) -> Target {
        let names = self.names(folder.node).unwrap_or_default();
        let folder = names.first().map_or(&b""[..], |name| name);
        let folder = folder.strip_suffix(b"/").unwrap_or(folder);
        Target::Unknown(Why::Unseen([folder, b"/", name].concat().into()))
    }

    /// A name was changed: what was there before is not what lies there in the end.
    pub(super) fn unsettle(&mut self, folder: NodeId, name: &[u8]) {
        if !self.supposed.is_empty() {
            self.supposed.remove(&(folder, name.into()));
        }
    }

    /// The run is over, and all that it did to names is known: looks at what was supposed.
    pub(crate) fn settle(&mut self) {
        let supposed = std::mem::take(&mut self.supposed);
        if self.why_lost().is_some() {
            return;
        }
        for ((folder, name), held) in supposed {
            let names = self.names(folder).unwrap_or_default();
            let is_in_place = match names.as_slice() {
                [only] => only.strip_suffix(b"/").unwrap_or(only) == &*held.folder,
                _ => false,
            };
            let path = [&held.folder, &b"/"[..], &name].concat();
            if is_in_place && self.ground.is_file(&path) {
                held.doubt.clear();
            }
        }
    }
}
