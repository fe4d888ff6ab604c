//! One call that is held: what it is about.

use super::of_sockets::Stream;
use crate::crash::{Act, Maker, Opened, SENDING, Spot, Target, Watched};
use nix::sys::stat::{SFlag, fstat};
use perf_live::gate::{Led, Look, Named, OpenFile};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;

/// So much of a single write, or of a file that is mapped, is looked at, in bytes.
pub(super) const MOST: u64 = 64 << 20;

/// The flags of `open_how.resolve` that are known, include/uapi/linux/openat2.h. All but
/// `RESOLVE_IN_ROOT` let the call succeed or fail, and change no path that it succeeds with.
const RESOLVE_KNOWN: u64 = libc::RESOLVE_NO_XDEV
    | libc::RESOLVE_NO_MAGICLINKS
    | libc::RESOLVE_NO_SYMLINKS
    | libc::RESOLVE_BENEATH
    | libc::RESOLVE_IN_ROOT
    | libc::RESOLVE_CACHED;

/// A call that is held, and how it is looked at.
pub(super) struct OfCall<'a> {
    pub(super) stream: &'a Stream,
    pub(super) folder: &'a [u8],
    pub(super) watched: &'a Watched,
    /// The devices that its files are on.
    pub(super) devices: &'a BTreeSet<u64>,
    pub(super) words: [u64; 6],
    pub(super) look: Look<'a>,
    /// The file that it is about, if that was found.
    pub(super) about: Option<OwnedFd>,
    /// Whether it opens a pipe, a device or the like: it changes nothing, and may wait for another.
    pub(super) opens_other: bool,
}

impl OfCall<'_> {
    pub(super) fn descriptor(&self, place: usize) -> io::Result<Option<OpenFile>> {
        self.look.descriptor(self.number(place))
    }

    pub(super) fn word(&self, place: usize) -> u64 {
        self.words.get(place).copied().unwrap_or_default()
    }

    /// An argument that is an `int`.
    pub(super) fn number(&self, place: usize) -> i32 {
        self.word(place) as i32
    }

    /// An argument that is an `unsigned int`.
    pub(super) fn bits(&self, place: usize) -> u32 {
        self.word(place) as u32
    }

    /// The path of a watched file from the working directory; `None` for what is not watched.
    pub(super) fn below(&self, path: &[u8]) -> Option<Vec<u8>> {
        let path = match path.strip_prefix(self.folder)? {
            [] => &[],
            [b'/', rest @ ..] => rest,
            _ => return None,
        };
        self.watched.has(path).then(|| path.to_owned())
    }

    pub(super) fn spot(&self, named: Named) -> Option<Spot> {
        let Named { folder, last } = named;
        let folder = self.below(&folder)?;
        Some(Spot { folder, name: last })
    }

    /// What is found under a name: a watched file, or a watched folder itself.
    pub(super) fn target_of(&self, named: Named) -> Option<Target> {
        let path = whole(&named);
        let itself = || self.below(&path).map(Target::Watched);
        self.spot(named).map(Target::Named).or_else(itself)
    }

    /// The watched file behind a descriptor.
    ///
    /// # Errors
    /// What tells it from others could not be read.
    pub(super) fn opened(&self, file: &OpenFile) -> io::Result<Option<Opened>> {
        let (path, shown) = match &file.name {
            Some(name) => (self.below(name), None),
            None if file.status.st_nlink > 0 => (None, self.below(&file.link)),
            None => (None, None),
        };
        // Which folder a removed one was in is known of the log, by its inode. A file of another
        // file system (`memfd_create`) may have the same number.
        let is_removed = file.status.st_nlink == 0;
        let is_here = is_removed && self.devices.contains(&file.status.st_dev);
        if path.is_none() && shown.is_none() && !is_here {
            return Ok(None);
        }
        Ok(Some(Opened {
            path,
            inode: file.status.st_ino,
            handle: file.handle()?,
            shown,
        }))
    }

    /// What a path leads to, at whose end a link is followed or not: of the watched files.
    ///
    /// # Errors
    /// Its folder is not there; it is not known where it leads.
    pub(super) fn target_at(
        &mut self,
        folder: i32,
        path: u64,
        follows: bool,
    ) -> io::Result<Option<Target>> {
        let Led {
            name,
            file,
            is_itself,
        } = self.look.led(folder, path, follows)?;
        match file {
            Some(file) if is_itself => {
                let opened = self.opened_of(Some(OpenFile::of_place(file)?))?;
                Ok(opened.map(Target::Opened))
            }
            file => {
                let target = self.target_of(Named::of(name));
                self.about = file.filter(|_| target.is_some());
                Ok(target)
            }
        }
    }

    /// The watched file behind a descriptor that may be not open.
    ///
    /// # Errors
    /// As [`opened`](Self::opened).
    pub(super) fn opened_of(&mut self, file: Option<OpenFile>) -> io::Result<Option<Opened>> {
        let Some(file) = file else {
            return Ok(None);
        };
        let opened = self.opened(&file)?;
        self.about = opened.as_ref().map(|_| file.file);
        Ok(opened)
    }

    pub(super) fn maker(&self) -> io::Result<Maker> {
        let maker = self.look.maker().ok_or(io::ErrorKind::NotFound)?;
        Ok(Maker {
            owner: (maker.user, maker.group),
            umask: maker.umask,
        })
    }

    pub(super) fn act(&mut self, name: &str) -> io::Result<Act> {
        match name {
            "open" | "creat" | "openat" | "openat2" => self.open(name),
            "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" => self.write(name),
            "sendfile" | "copy_file_range" | "splice" => self.copy(name),
            "fsync" | "fdatasync" | "syncfs" | "sync" => self.sync(name),
            "truncate" | "ftruncate" | "fallocate" => self.size(name),
            "chmod" | "fchmod" | "fchmodat" | "fchmodat2" => self.mode(name),
            "chown" | "lchown" | "fchown" | "fchownat" => self.owner(name),
            "ioctl" => self.ioctl(),
            "bind" => self.bind(),
            _ if SENDING.contains(&name) => self.send(name),
            _ if self.moves_files(name) => {
                Ok(Act::Unknown(format!("`{name}` changed where files are")))
            }
            "open_tree" | "open_tree_attr" | "open_by_handle_at" => Ok(Act::Nothing),
            "file_setattr" => {
                let what = "attributes of this kind are in no state";
                Ok(Act::Unknown(format!("`{name}`: {what}")))
            }
            _ if name.contains("xattr") => self.xattr(name),
            _ => self.names(name),
        }
    }

    /// Whether a call may give files of the folder another path, or open them without one.
    fn moves_files(&self, name: &str) -> bool {
        const OPEN_TREE_CLONE: u64 = 1;
        match name {
            "fsmount" | "mount" | "move_mount" | "pivot_root" | "umount2" => true,
            "open_tree" | "open_tree_attr" => self.word(2) & OPEN_TREE_CLONE != 0,
            "open_by_handle_at" => self.word(2) & libc::O_TRUNC as u64 != 0,
            _ => false,
        }
    }

    fn open(&mut self, name: &str) -> io::Result<Act> {
        let (folder, path, flags, mode) = match name {
            "open" => (libc::AT_FDCWD, 0, self.word(1), self.bits(2)),
            "creat" => {
                let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
                (libc::AT_FDCWD, 0, flags as u64, self.bits(1))
            }
            "openat" => (self.number(0), 1, self.word(2), self.bits(3)),
            _ => {
                // struct open_how: flags, mode, resolve.
                let how = self.word(2);
                let mode = self.look.word(how.wrapping_add(8))? as u32;
                let resolve = self.look.word(how.wrapping_add(16))?;
                if resolve & !RESOLVE_KNOWN != 0 {
                    let why = format!("`openat2` with `resolve` {resolve:#x} is not known");
                    return Ok(Act::Unknown(why));
                }
                self.look.is_rooted = resolve & libc::RESOLVE_IN_ROOT != 0;
                (self.number(0), 1, self.look.word(how)?, mode)
            }
        };
        let has = |flag: i32| flags & flag as u64 == flag as u64;
        // Of a place no more is opened, whatever the other flags say (build_open_flags()).
        if has(libc::O_PATH) {
            return Ok(Act::Nothing);
        }
        let by = self.maker()?;
        if has(libc::O_TMPFILE) {
            let led = self.look.led(folder, self.word(path), true)?;
            return Ok(match self.below(&led.name) {
                Some(folder) => Act::Nameless {
                    folder: Some(folder),
                    mode,
                    by,
                },
                None => Act::Nothing,
            });
        }
        if !has(libc::O_CREAT) && !has(libc::O_TRUNC) {
            return Ok(Act::Nothing);
        }
        let follows = !(has(libc::O_NOFOLLOW) || has(libc::O_CREAT) && has(libc::O_EXCL));
        let target = self.target_at(folder, self.word(path), follows)?;
        if let Some(there) = &self.about {
            let kind = SFlag::from_bits_truncate(fstat(there)?.st_mode) & SFlag::S_IFMT;
            self.opens_other = ![SFlag::S_IFREG, SFlag::S_IFLNK].contains(&kind);
        }
        Ok(match target {
            Some(Target::Named(at)) => Act::Open {
                at,
                creates: has(libc::O_CREAT),
                empties: has(libc::O_TRUNC),
                mode,
                by,
            },
            // It is there: it is emptied at most.
            Some(file @ Target::Opened(_)) if has(libc::O_TRUNC) => Act::Truncate { file, size: 0 },
            _ => Act::Nothing,
        })
    }

    fn sync(&mut self, name: &str) -> io::Result<Act> {
        if name == "sync" {
            return Ok(Act::SyncAll);
        }
        let Some(file) = self.descriptor(0)? else {
            return Ok(Act::Nothing);
        };
        if name == "syncfs" {
            // Of another file system it makes nothing durable here.
            let is_here = self.devices.contains(&file.status.st_dev);
            return Ok(match is_here || self.opened(&file)?.is_some() {
                true => Act::SyncAll,
                false => Act::Nothing,
            });
        }
        let is_file = file.is_regular() || file.is_folder();
        let opened = self.opened(&file)?.filter(|_| is_file);
        Ok(opened.map_or(Act::Nothing, |file| Act::Sync {
            file,
            only_data: name == "fdatasync",
        }))
    }

    fn size(&mut self, name: &str) -> io::Result<Act> {
        if name == "truncate" {
            let file = self.target_at(libc::AT_FDCWD, self.word(0), true)?;
            let size = self.word(1);
            return Ok(file.map_or(Act::Nothing, |file| Act::Truncate { file, size }));
        }
        let file = self.descriptor(0)?.filter(OpenFile::is_regular);
        let Some(file) = self.opened_of(file)? else {
            return Ok(Act::Nothing);
        };
        Ok(match name {
            "ftruncate" => Act::Truncate {
                file: Target::Opened(file),
                size: self.word(1),
            },
            _ => Act::Allocate {
                file,
                mode: self.bits(1),
                at: self.word(2),
                length: self.word(3),
            },
        })
    }

    /// What a path or a descriptor of a call of these names means: `f` takes a descriptor, `l` does
    /// not follow, and `at` begins in a folder.
    fn target(&mut self, name: &str, flags: usize) -> io::Result<Option<Target>> {
        let (folder, path) = match name {
            "fchmod" | "fchown" => {
                let file = self.descriptor(0)?;
                let opened = self.opened_of(file)?;
                return Ok(opened.map(Target::Opened));
            }
            "chmod" | "chown" | "lchown" => (libc::AT_FDCWD, 0),
            _ => (self.number(0), 1),
        };
        let flags = match name {
            "fchmodat2" | "fchownat" => self.word(flags),
            _ => 0,
        };
        if flags & libc::AT_EMPTY_PATH as u64 != 0 && self.look.string(self.word(path))?.is_empty()
        {
            let file = self.look.descriptor(folder)?;
            let opened = self.opened_of(file)?;
            return Ok(opened.map(Target::Opened));
        }
        let follows = name != "lchown" && flags & libc::AT_SYMLINK_NOFOLLOW as u64 == 0;
        self.target_at(folder, self.word(path), follows)
    }

    fn mode(&mut self, name: &str) -> io::Result<Act> {
        let place = if name.ends_with("at") || name == "fchmodat2" {
            2
        } else {
            1
        };
        let mode = self.bits(place);
        let file = self.target(name, 3)?;
        Ok(file.map_or(Act::Nothing, |file| Act::Mode { file, mode }))
    }

    fn owner(&mut self, name: &str) -> io::Result<Act> {
        let place = if name == "fchownat" { 2 } else { 1 };
        let (user, group) = (self.bits(place), self.bits(place + 1));
        let file = self.target(name, 4)?;
        Ok(file.map_or(Act::Nothing, |file| Act::Owner { file, user, group }))
    }
}

/// The whole of a path.
fn whole(named: &Named) -> Vec<u8> {
    let above = named.folder.strip_suffix(b"/").unwrap_or(&named.folder);
    [above, b"/", &named.last].concat()
}
