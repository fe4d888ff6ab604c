//! Calls that change names.

use super::of_call::OfCall;
use crate::crash::{Act, Replacing, Spot, Target};
use perf_live::gate::Named;
use std::io;

impl OfCall<'_> {
    /// Calls that change names.
    pub(super) fn names(&mut self, name: &str) -> io::Result<Act> {
        let cwd = libc::AT_FDCWD;
        let nothing = Act::Nothing;
        Ok(match name {
            "mkdir" | "mkdirat" => {
                let (folder, path) = if name == "mkdir" {
                    (cwd, 0)
                } else {
                    (self.number(0), 1)
                };
                let (mode, by) = (self.bits(path + 1), self.maker()?);
                let at = self.named(folder, path)?;
                at.map_or(nothing, |at| Act::MakeFolder { at, mode, by })
            }
            "mknod" | "mknodat" => {
                let (folder, path) = if name == "mknod" {
                    (cwd, 0)
                } else {
                    (self.number(0), 1)
                };
                let (mode, device) = (self.bits(path + 1), self.word(path + 2));
                let by = self.maker()?;
                let at = self.named(folder, path)?;
                at.map_or(nothing, |at| Act::MakeOther {
                    at,
                    mode,
                    device,
                    by,
                })
            }
            "symlink" | "symlinkat" => {
                let (folder, path) = if name == "symlink" {
                    (cwd, 1)
                } else {
                    (self.number(1), 2)
                };
                let (to, by) = (self.look.string(self.word(0))?, self.maker()?);
                let at = self.named(folder, path)?;
                at.map_or(nothing, |at| Act::MakeLink { at, to, by })
            }
            "unlink" | "rmdir" => self.named(cwd, 0)?.map_or(nothing, Act::Remove),
            "unlinkat" => {
                let at = self.named(self.number(0), 1)?;
                at.map_or(nothing, Act::Remove)
            }
            "link" | "linkat" => return self.link(name),
            _ => return self.rename(name),
        })
    }

    pub(super) fn named(&mut self, folder: i32, path: usize) -> io::Result<Option<Spot>> {
        let named = self.look.named(folder, self.word(path))?;
        Ok(self.spot(named))
    }

    fn link(&mut self, name: &str) -> io::Result<Act> {
        let (from, to, flags) = match name {
            "link" => ((libc::AT_FDCWD, 0), (libc::AT_FDCWD, 1), 0),
            _ => ((self.number(0), 1), (self.number(2), 3), self.word(4)),
        };
        let to = self.named(to.0, to.1)?;
        let has = |flag: i32| flags & flag as u64 != 0;
        let is_empty = has(libc::AT_EMPTY_PATH) && self.look.string(self.word(from.1))?.is_empty();
        let of = match is_empty {
            true => {
                let file = self.look.descriptor(from.0)?;
                let opened = self.opened_of(file)?;
                opened.map(Target::Opened)
            }
            false => {
                let follows = has(libc::AT_SYMLINK_FOLLOW);
                self.target_at(from.0, self.word(from.1), follows)?
            }
        };
        Ok(match (of, to) {
            (Some(of), Some(to)) => Act::Link { of, to },
            (None, None) => Act::Nothing,
            _ => Act::Unknown("a file got a name in the folder and one outside of it".to_owned()),
        })
    }

    /// Whether a name is that of the watched folder, or of one that it is in.
    fn is_above(&self, named: &Named) -> bool {
        let above = named.folder.strip_suffix(b"/").unwrap_or(&named.folder);
        let path = [above, b"/", &named.last].concat();
        let is_above = |rest: &[u8]| rest.is_empty() || rest.starts_with(b"/");
        match path.strip_prefix(self.folder) {
            Some([b'/', rest @ ..]) => self.watched.is_at(rest),
            _ => self
                .folder
                .strip_prefix(path.as_slice())
                .is_some_and(is_above),
        }
    }

    fn rename(&mut self, name: &str) -> io::Result<Act> {
        let (from, to, flags) = match name {
            "rename" => ((libc::AT_FDCWD, 0), (libc::AT_FDCWD, 1), 0),
            "renameat" => ((self.number(0), 1), (self.number(2), 3), 0),
            _ => ((self.number(0), 1), (self.number(2), 3), self.bits(4)),
        };
        let replacing = match flags {
            _ if flags & libc::RENAME_EXCHANGE != 0 => Replacing::Exchanges,
            _ if flags & libc::RENAME_WHITEOUT != 0 => Replacing::LeavesWhiteout,
            _ => Replacing::Replaces,
        };
        let (from, to) = (
            self.look.named(from.0, self.word(from.1))?,
            self.look.named(to.0, self.word(to.1))?,
        );
        if [&from, &to].into_iter().any(|named| self.is_above(named)) {
            return Ok(Act::Unknown("the folder itself was renamed".to_owned()));
        }
        let (from, to) = (self.spot(from), self.spot(to));
        Ok(match (from, to) {
            (Some(from), Some(to)) => Act::Rename {
                from,
                to,
                replacing,
            },
            (None, None) => Act::Nothing,
            _ => Act::Unknown("a file was renamed into or out of the folder".to_owned()),
        })
    }
}
