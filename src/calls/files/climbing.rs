//! Folders that are named by `..` from an open one.
//!
//! What `..` leads to is told by the name in front of it only where that is no symbolic link, and
//! where the folder lies as it did. Programs that walk a tree (fts(3): find, rm, du) open each
//! folder by its name without following a link, and go back up by `..` from there: each step would
//! make the names longer.

use super::super::Call;
use super::arguments::PathArgument;
use super::effects::Over;
use super::file::OpenFile;
use super::lookup::Lookup;
use super::opening::{open_flags, resolve_flags, whole};
use super::tables::Tables;
use crate::memory::Moment;

/// How many of the last parts of a file's name are the names that its folders have: no links, and
/// no `..`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Direct {
    parts: usize,
    /// What [`Moves::at_rest`] was when it was opened; `None` if something was being moved.
    since: Option<u64>,
}

/// The calls of the run by which folders may come to lie elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moves {
    entered: u64,
    ended: u64,
}

impl Moves {
    pub(super) fn enter(&mut self) {
        self.entered += 1;
    }

    pub(super) fn end(&mut self) {
        self.ended += 1;
    }

    /// A number that is the same as long as nothing is moved; `None` while something may be.
    pub(super) fn at_rest(self) -> Option<u64> {
        (self.entered == self.ended).then_some(self.ended)
    }
}

/// Whether a call may move a folder, or put another in its place.
pub(super) fn moves(name: &str) -> bool {
    MOVING.contains(&name)
}

/// The calls that must be recorded beside [`needed`](super::needed), for `..` to lead where the
/// name in front of it lies.
pub const MOVING: [&str; 9] = [
    "chroot",
    "mount",
    "move_mount",
    "pivot_root",
    "rename",
    "renameat",
    "renameat2",
    "umount",
    "umount2",
];

/// A path without the `..` at its beginning that lead to parts of its folder's name, and that name
/// without these parts.
pub(super) struct Climbed<'a> {
    pub(super) base: &'a [u8],
    pub(super) path: &'a [u8],
    /// How many parts of the name are direct; 0 as well where a `..` is left.
    parts: usize,
}

impl Tables {
    /// Takes the `..` at the beginning of a path together with the name of an open folder, for a
    /// task with this root.
    pub(super) fn climb<'a>(
        &self,
        call: &Call,
        folder: &'a OpenFile,
        root: Option<&[u8]>,
        path: &'a [u8],
    ) -> Option<Climbed<'a>> {
        const IN_ROOT: u64 = 0x10;
        let base = folder.path()?;
        let Direct { parts, since } = folder.direct;
        let leaves = resolve_flags(call).is_some_and(|flags| flags & IN_ROOT == 0);
        // Another root may have several names.
        let is_free = leaves && root == Some(b"/");
        let is_unmoved = is_free && since.is_some() && since == self.moves.at_rest();
        let mut climbed = Climbed {
            base,
            path,
            parts: if is_unmoved { parts } else { 0 },
        };
        while let Some((above, rest)) = climbed.step() {
            climbed = Climbed {
                base: above,
                path: rest,
                parts: climbed.parts - 1,
            };
        }
        Some(climbed)
    }

    /// How many parts of the name of what a call opened are direct.
    pub(super) fn opened_directly(
        &self,
        over: &Over<'_>,
        argument: PathArgument,
        call: &Call,
    ) -> Direct {
        let parts = self.direct_parts(over, argument, call);
        let since = self.moves.at_rest();
        Direct {
            parts: parts.unwrap_or(0),
            since: since.filter(|_| over.pending.moves == since),
        }
    }

    fn direct_parts(&self, over: &Over<'_>, argument: PathArgument, call: &Call) -> Option<usize> {
        let given = whole(call, usize::from(argument.path), Moment::Enter)?;
        let root = self.directories.get(over.at.directory)?.root.as_deref();
        let folder = match argument
            .directory
            .map(|place| call.files.argument(place.into()))
        {
            Some(Lookup::Open(file)) if !given.starts_with(b"/") => Some(file),
            _ => None,
        };
        let climbed = folder.and_then(|folder| self.climb(call, folder, root, given));
        let (rest, parts) = climbed.map_or((given, 0), |it| (it.path, it.parts));
        if matches!(rest, b"" | b".") {
            return Some(parts);
        }
        let follows = open_flags(call) & libc::O_NOFOLLOW as u64 == 0;
        let last = rest.rsplit(|byte| *byte == b'/').next()?;
        if follows || matches!(last, b"" | b"." | b"..") {
            return None;
        }
        // What leads to the last part may be links.
        Some(if last.len() == rest.len() {
            parts + 1
        } else {
            1
        })
    }
}

impl<'a> Climbed<'a> {
    fn step(&self) -> Option<(&'a [u8], &'a [u8])> {
        let rest = self.path.strip_prefix(b"..")?;
        let rest = match rest.split_first() {
            None => rest,
            Some((b'/', rest)) => rest,
            Some(_) => return None,
        };
        let slash = self.base.iter().rposition(|byte| *byte == b'/')?;
        let is_direct = self.parts > 0 && self.base != b"/";
        is_direct.then(|| (&self.base[..slash.max(1)], rest))
    }
}
