//! Working and root directories, and paths relative to them.

use super::super::tree::{Doubt, Space, Spot};
use super::super::{Call, ThreadId};
use std::sync::Arc;

/// What `CLONE_FS` shares: where relative paths and where absolute paths start.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    /// `None` where it is not known.
    pub(super) current: Option<Arc<[u8]>>,
    /// As the workload's first process would name it; `None` where it is not known.
    pub(super) root: Option<Arc<[u8]>>,
    /// The same as files, where these are followed.
    pub(super) spots: Spots,
    /// Changes as often as a call that changes one of them is entered or left.
    pub(super) version: u64,
    /// The threads that are in a call that changes it.
    pub(super) changing: Vec<ThreadId>,
    /// Directories of the same group may be one: it is not known whether they were shared when a
    /// task was made.
    pub(super) group: Option<u32>,
}

/// A folder, and what may still show that it is another.
pub(super) type Doubted = (Spot, Option<Doubt>);

/// Where paths start, as files, and what is mounted for them; `None` where that is not known.
#[derive(Clone, Debug, Default)]
pub(super) struct Spots {
    pub(super) current: Option<Spot>,
    /// What may still show that `current` is another.
    pub(super) doubt: Option<Doubt>,
    pub(super) root: Option<Spot>,
    pub(super) space: Option<Space>,
}

impl Directory {
    pub(super) fn new(current: Option<Arc<[u8]>>) -> Self {
        Self {
            current,
            root: Some(Arc::from(&b"/"[..])),
            spots: Spots::default(),
            version: 0,
            changing: Vec::new(),
            group: None,
        }
    }

    /// What a new task gets that does not share it.
    pub(super) fn copy(&self, thread: ThreadId) -> Self {
        let mut copy = Self {
            version: 0,
            changing: Vec::new(),
            group: None,
            ..self.clone()
        };
        if self.is_changed_by_others(thread) {
            copy.forget();
        }
        copy
    }

    pub(super) fn forget(&mut self) {
        (self.current, self.root) = (None, None);
        self.spots = Spots::default();
        self.version += 1;
    }

    pub(super) fn is_changed_by_others(&self, thread: ThreadId) -> bool {
        self.changing.iter().any(|other| *other != thread)
    }

    /// The absolute path of `path`, which is relative to `base`.
    pub(super) fn resolve(&self, base: Option<&[u8]>, path: &[u8]) -> Option<Vec<u8>> {
        let root = self.root.as_deref();
        if path.starts_with(b"/") {
            return root.map(|root| join(root, path, root));
        }
        base.map(|base| join(base, path, root.unwrap_or(b"/")))
    }
}

/// How often a call itself has changed the [version](Directory::version) of its directory when its
/// paths are looked at: one that was answered was never entered.
pub(super) fn own_changes(call: &Call) -> u64 {
    let is_change = matches!(call.name(), Some("chdir" | "chroot"));
    u64::from(is_change && call.injected.answer.is_none())
}

/// Appends a path, without empty parts and `.`; `..` stays, as the part in front of it may be a
/// symbolic link, but for those that would leave the root.
pub(super) fn join(base: &[u8], path: &[u8], root: &[u8]) -> Vec<u8> {
    let mut joined = if base == b"/" {
        Vec::new()
    } else {
        base.to_vec()
    };
    let mut is_at_root = base == root;
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if is_at_root => {}
            _ => {
                is_at_root = false;
                joined.push(b'/');
                joined.extend_from_slice(part);
            }
        }
    }
    if joined.is_empty() {
        joined.push(b'/');
    }
    joined
}
