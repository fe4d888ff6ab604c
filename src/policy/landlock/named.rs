//! What is asked for to make, remove, link and rename files.

use super::acts::{Act, Asking, Move};
use super::rights::Right;
use syscall_model::{Anchored, Led};

impl Asking<'_> {
    pub(super) fn makes(&self, place: usize, right: Right) -> Vec<Act> {
        if self.is_over_before() {
            return Vec::new();
        }
        match self.anchored(place) {
            Ok(anchored) => vec![Act::Path(anchored.above.to_vec(), right)],
            Err(untold) => vec![untold],
        }
    }

    pub(super) fn removes(&self, place: usize, right: Right) -> Vec<Act> {
        let anchored = self.anchored(place);
        let is_there = matches!(anchored, Ok(anchored) if anchored.kind.is_some());
        // What it is, is looked at behind Landlock.
        let is_of_kind = is_there && matches!(self.error, Some(libc::EISDIR | libc::ENOTDIR));
        if self.is_over_before() && !is_of_kind {
            return Vec::new();
        }
        match anchored {
            Ok(anchored) if anchored.kind.is_some() => {
                vec![Act::Path(anchored.above.to_vec(), right)]
            }
            Ok(_) => Vec::new(),
            Err(untold) => vec![untold],
        }
    }

    /// A move that failed as it does across file systems.
    pub(super) fn crossing(&self, from: usize, to: usize) -> Option<Act> {
        let (Ok(from), Ok(to)) = (self.anchored(from), self.anchored(to)) else {
            return None;
        };
        let is_crossing = self.error == Some(libc::EXDEV);
        is_crossing.then(|| Act::Crossing(moved(from, to)))
    }

    pub(super) fn links(&self, from: usize, to: usize) -> Vec<Act> {
        if self.is_over_before() {
            return self.crossing(from, to).into_iter().collect();
        }
        match (self.anchored(from), self.anchored(to)) {
            (Ok(from), Ok(to)) => {
                let mut acts = arrives(from, to);
                acts.extend(goes(from, to));
                acts
            }
            (Err(untold), _) | (_, Err(untold)) => vec![untold],
        }
    }

    pub(super) fn renames(&self, from: usize, to: usize, flags: u64) -> Vec<Act> {
        const EXCHANGE: u64 = 2;
        const WHITEOUT: u64 = 4;
        let both = (self.anchored(from), self.anchored(to));
        let is_there =
            |it: &Result<&Anchored, Act>| matches!(it, Ok(anchored) if anchored.kind.is_some());
        let is_of_kind = is_there(&both.0)
            && is_there(&both.1)
            && matches!(self.error, Some(libc::EISDIR | libc::ENOTDIR));
        if self.is_over_before() && !is_of_kind {
            return self.crossing(from, to).into_iter().collect();
        }
        let changes = self.changes(to);
        let (from, to) = match both {
            (Ok(from), Ok(to)) => (from, to),
            (Err(untold), _) | (_, Err(untold)) => return vec![untold],
        };
        if from.kind.is_none() {
            return Vec::new();
        }
        if flags & WHITEOUT != 0 {
            return vec![self.untold("it makes a device in the place of the file")];
        }
        let mut acts = arrives(from, to);
        acts.extend(changes);
        acts.push(leaves(from));
        acts.extend(to.kind.is_some().then(|| leaves(to)));
        acts.extend(goes(from, to));
        if flags & EXCHANGE != 0 {
            acts.extend(arrives(to, from));
            acts.extend(goes(to, from));
        }
        acts
    }
}

/// The right to make a file of this mode.
pub(super) fn made(mode: u64) -> Right {
    match mode as u32 & libc::S_IFMT {
        libc::S_IFCHR => Right::MakeChar,
        libc::S_IFBLK => Right::MakeBlock,
        libc::S_IFIFO => Right::MakeFifo,
        libc::S_IFSOCK => Right::MakeSock,
        _ => Right::MakeReg,
    }
}

/// A file gets a name in another place.
fn arrives(file: &Anchored, to: &Anchored) -> Vec<Act> {
    let right = match file.kind {
        Some(Led::Folder) => Right::MakeDir,
        Some(Led::Link) => Right::MakeSym,
        _ => Right::MakeReg,
    };
    vec![Act::Path(to.above.to_vec(), right)]
}

/// A file loses its name.
fn leaves(file: &Anchored) -> Act {
    let right = match file.kind {
        Some(Led::Folder) => Right::RemoveDir,
        _ => Right::RemoveFile,
    };
    Act::Path(file.above.to_vec(), right)
}

/// A file goes to another folder.
fn goes(from: &Anchored, to: &Anchored) -> Vec<Act> {
    if from.folder == to.folder {
        return Vec::new();
    }
    let refer = |it: &Anchored| Act::Path(it.above.to_vec(), Right::Refer);
    vec![refer(from), refer(to), Act::Move(moved(from, to))]
}

fn moved(from: &Anchored, to: &Anchored) -> Move {
    Move {
        own: from.own.as_deref().map(<[u8]>::to_vec),
        from: from.above.to_vec(),
        to: to.above.to_vec(),
        is_folder: from.kind == Some(Led::Folder),
    }
}
