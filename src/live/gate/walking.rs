//! Goes a path of a waiting call part by part, where the kernel cannot be asked for all of it:
//! links of procfs lead each task that follows them elsewhere, or to a file that no path leads to.

use super::resolving::{Going, Led, below_folder, link};
use crate::host::Host;
use crate::sys::gate::{Within, open_place};
use crate::sys::inode;
use nix::fcntl::{OFlag, openat, readlinkat};
use nix::sys::stat::{Mode, SFlag, fstat};
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

/// So many links the kernel follows: `MAXSYMLINKS`, include/linux/namei.h.
const MOST_LINKS: u32 = 40;

/// Goes a path to its end. What it finds is asked of file systems, which may let it wait.
///
/// # Errors
/// Those of `open(2)` and `readlink(2)`: the kernel would give the call an error as well, or it is
/// not known where the path leads.
pub(super) fn walk(going: &Going) -> io::Result<Led> {
    let root = going.start.root.try_clone()?.into();
    let at = match &going.start.folder {
        Some(folder) => folder.try_clone()?.into(),
        None => going.start.root.try_clone()?.into(),
    };
    let mut walker = Walker {
        thread: going.thread,
        follows: going.follows,
        root,
        at,
        parts: Vec::new(),
        links: 0,
        is_itself: false,
    };
    walker.push(&going.path)?;
    while let Some(part) = walker.parts.pop() {
        if let Some(led) = walker.step(&part)? {
            return Ok(led);
        }
    }
    Ok(Led {
        name: link(walker.at.as_fd())?,
        file: Some(walker.at),
        is_itself: walker.is_itself,
    })
}

struct Walker {
    thread: u32,
    /// Whether a link at the end is followed.
    follows: bool,
    root: OwnedFd,
    at: OwnedFd,
    /// What is still to go, the next last.
    parts: Vec<Vec<u8>>,
    links: u32,
    /// Whether the last step was by a link of procfs to the very file.
    is_itself: bool,
}

impl Walker {
    /// Puts a path in front of what is still to go.
    fn push(&mut self, path: &[u8]) -> io::Result<()> {
        if path.starts_with(b"/") {
            self.at = self.root.try_clone()?;
        }
        // A slash at the end stands for a dot behind it.
        let end = path.ends_with(b"/").then_some(b".".as_slice());
        let parts = path.split(|byte| *byte == b'/').chain(end).rev();
        let parts = parts.filter(|part| !part.is_empty());
        self.parts.extend(parts.map(<[u8]>::to_vec));
        Ok(())
    }

    /// Goes one part; returns where the path leads if it ends there.
    fn step(&mut self, part: &[u8]) -> io::Result<Option<Led>> {
        let is_last = self.parts.is_empty();
        self.is_itself = false;
        if part == b".." && self.is_at_root()? {
            return Ok(None);
        }
        if let b"." | b".." = part {
            self.at = open(self.at.as_fd(), part, OFlag::O_DIRECTORY)?;
            return Ok(None);
        }
        let file = match open(self.at.as_fd(), part, OFlag::O_NOFOLLOW) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_last => {
                return Ok(Some(Led {
                    name: below_folder(link(self.at.as_fd())?, part),
                    file: None,
                    is_itself: false,
                }));
            }
            file => file?,
        };
        let kind = SFlag::from_bits_truncate(fstat(&file)?.st_mode) & SFlag::S_IFMT;
        if kind != SFlag::S_IFLNK || is_last && !self.follows {
            self.at = file;
            return Ok(None);
        }
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        if let Some(own) = Host::own_link(self.at.as_fd(), part, self.thread)? {
            self.push(&own)?;
        } else if is_magic(self.at.as_fd(), part)? {
            self.at = open(self.at.as_fd(), part, OFlag::empty())?;
            self.is_itself = is_last;
        } else {
            self.push(&readlinkat(&file, "")?.into_vec())?;
        }
        Ok(None)
    }

    fn is_at_root(&self) -> io::Result<bool> {
        let (root, at) = (self.root.as_fd(), self.at.as_fd());
        // A folder may be mounted in several places.
        Ok(inode::of(root)?.is(&inode::of(at)?) && link(root)? == link(at)?)
    }
}

/// Opens a part of a path as a place.
fn open(folder: BorrowedFd<'_>, part: &[u8], flags: OFlag) -> io::Result<OwnedFd> {
    let flags = OFlag::O_PATH | OFlag::O_CLOEXEC | flags;
    Ok(openat(folder, part, flags, Mode::empty())?)
}

/// Whether a link leads to a file and not to a path: `proc_pid_get_link()`, fs/proc/base.c.
fn is_magic(folder: BorrowedFd<'_>, part: &[u8]) -> io::Result<bool> {
    if fstatfs(folder)?.filesystem_type() != PROC_SUPER_MAGIC {
        return Ok(false);
    }
    // Links of any other kind in procfs (`mounts`) lead to no loop, also where none is followed.
    let opened = open_place(folder, part, Within::Folder, false);
    Ok(opened.is_err_and(|error| error.raw_os_error() == Some(libc::ELOOP)))
}
