//! Mounts, and the spaces in which they are seen.

use super::doubt::Keys;
use super::node::{New, NodeId, Spot, Tree};
use std::collections::HashMap;

/// A mount, for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MountId(pub(super) u32);

#[derive(Clone, Copy, Debug)]
pub(super) struct Mount {
    /// What it covers; `None` for the first, and for one that is not attached.
    pub(super) on: Option<Spot>,
    pub(super) root: NodeId,
}

/// A mount namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space(u32);

impl Space {
    /// The one that the run starts in.
    pub(crate) const FIRST: Self = Self(0);
}

/// What covers a spot.
#[derive(Clone, Copy, Debug)]
enum Cover {
    Mount(MountId),
    Nothing,
    Unknown,
}

/// What else the kernel mounts in a namespace where something is mounted
/// (Documentation/filesystems/sharedsubtree.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sharing {
    /// Nothing: no mount is shared.
    Nothing,
    /// Nothing there: mounts are shared with other namespaces, but none with another of this one.
    Alone,
    /// The same elsewhere: two of its mounts may be in one group.
    Peers,
}

#[derive(Debug)]
pub(super) struct Mounts {
    all: Vec<Mount>,
    spaces: Vec<HashMap<Spot, Cover>>,
    /// Of each space.
    sharing: Vec<Sharing>,
}

impl Mounts {
    pub(super) fn new(first: Mount, sharing: Sharing) -> Self {
        Self {
            all: vec![first],
            spaces: vec![HashMap::new()],
            sharing: vec![sharing],
        }
    }

    fn root(&self, mount: MountId) -> Option<NodeId> {
        self.all.get(mount.0 as usize).map(|mount| mount.root)
    }

    fn on(&self, mount: MountId) -> Option<Spot> {
        self.all.get(mount.0 as usize)?.on
    }
}

impl Tree {
    /// A namespace with the same mounts. What is mounted in the one may appear in the other.
    pub(crate) fn copy_space(&mut self, space: Space) -> Space {
        let copy = self.mounts.spaces.get(space.0 as usize).cloned();
        self.mounts.spaces.push(copy.unwrap_or_default());
        let sharing = self.sharing(space);
        self.mounts.sharing.push(sharing);
        Space(self.mounts.spaces.len() as u32 - 1)
    }

    fn sharing(&self, space: Space) -> Sharing {
        let sharing = self.mounts.sharing.get(space.0 as usize);
        sharing.copied().unwrap_or(Sharing::Peers)
    }

    /// Mounts of a space are shared from now on, at least so.
    pub(crate) fn share(&mut self, space: Space, at_least: Sharing) {
        if let Some(sharing) = self.mounts.sharing.get_mut(space.0 as usize) {
            *sharing = at_least.max(*sharing);
        }
    }

    /// A mount of a space, and all below it, are shared with none from now on.
    pub(crate) fn unshare(&mut self, space: Space, from: Spot) {
        let is_all = from == self.root();
        if let Some(sharing) = self
            .mounts
            .sharing
            .get_mut(space.0 as usize)
            .filter(|_| is_all)
        {
            *sharing = Sharing::Nothing;
        }
    }

    /// A mount was copied, and the copy is in its group.
    pub(crate) fn copies_mount(&mut self, space: Space) {
        if self.sharing(space) == Sharing::Alone {
            self.share(space, Sharing::Peers);
        }
    }

    /// Whether what is mounted in a space, or taken away, may be so at other places as well.
    pub(crate) fn spreads(&self, space: Space) -> bool {
        let is_shared = self.sharing(space) != Sharing::Nothing;
        is_shared && self.mounts.sharing.contains(&Sharing::Peers)
    }

    /// Returns what is seen at a spot, through all that is mounted there, and whether anything is
    /// mounted; `None` if that is not known.
    pub(super) fn through(&self, mut spot: Spot, space: Space) -> Option<(Spot, bool)> {
        let covers = self.mounts.spaces.get(space.0 as usize)?;
        let mut is_covered = false;
        loop {
            match covers.get(&spot) {
                None | Some(Cover::Nothing) => return Some((spot, is_covered)),
                Some(Cover::Unknown) => return None,
                Some(Cover::Mount(mount)) => {
                    is_covered = true;
                    let node = self.mounts.root(*mount)?;
                    spot = Spot {
                        mount: *mount,
                        node,
                    };
                }
            }
        }
    }

    /// What a spot covers, where it is the root of a mount.
    pub(super) fn covered(&self, spot: Spot) -> Option<Spot> {
        (self.mounts.root(spot.mount) == Some(spot.node))
            .then(|| self.mounts.on(spot.mount))
            .flatten()
    }

    /// Mounts a file over a spot.
    pub(crate) fn mount(&mut self, what: NodeId, on: Spot, space: Space, moment: u64) -> Keys {
        self.mounts.all.push(Mount {
            on: Some(on),
            root: what,
        });
        let mount = MountId(self.mounts.all.len() as u32 - 1);
        self.cover(on, Cover::Mount(mount), space);
        // It is called by what it covers as well.
        let names = self.links_of(on);
        for (folder, name) in names.clone() {
            self.link(what, folder, &name);
            self.touch((folder, name), moment);
        }
        names
    }

    /// Whether anything was mounted there since the run began.
    pub(crate) fn has_mounts(&self, space: Space) -> bool {
        let covers = self.mounts.spaces.get(space.0 as usize);
        covers.is_some_and(|covers| !covers.is_empty())
    }

    /// Whether it is the root of a mount that is attached somewhere.
    pub(crate) fn is_mounted(&self, spot: Spot) -> bool {
        self.covered(spot).is_some()
    }

    fn cover(&mut self, on: Spot, cover: Cover, space: Space) {
        // What lies under a name in the end may be what was mounted there.
        self.supposed.clear();
        for (place, covers) in self.mounts.spaces.iter_mut().enumerate() {
            let is_own = place == space.0 as usize;
            covers.insert(on, if is_own { cover } else { Cover::Unknown });
        }
    }

    /// Takes the uppermost mount away from where a path led, which is the root of it; `None` where
    /// the run did not mount it.
    pub(crate) fn unmount(&mut self, spot: Spot, space: Space, moment: u64) -> Option<Keys> {
        let on = self.covered(spot)?;
        self.cover(on, Cover::Nothing, space);
        let names = self.links_of(on);
        for key in names.clone() {
            self.touch(key, moment);
        }
        Some(names)
    }

    /// Whether a mount of this file may be attached nowhere.
    pub(super) fn is_parted(&self, spot: Spot) -> bool {
        self.parted.contains(&spot.node)
    }

    /// A mount of this file may be attached nowhere from now on.
    pub(crate) fn part(&mut self, node: NodeId) {
        self.parted.insert(node);
    }

    /// A mount was taken away while it was in use, with those below it, and goes on unattached.
    pub(crate) fn part_mount(&mut self, spot: Spot) {
        let below = |mount: &&Mount| mount.on.is_some_and(|on| on.mount == spot.mount);
        let below = self.mounts.all.iter().filter(below);
        let roots: Vec<NodeId> = below.map(|mount| mount.root).chain([spot.node]).collect();
        self.parted.extend(roots);
    }

    /// Makes a new file system, which is empty or holds unknown names.
    pub(crate) fn new_file_system(&mut self, is_empty: bool) -> NodeId {
        self.unnamed(if is_empty { New::Folder } else { New::Strange })
    }
}
