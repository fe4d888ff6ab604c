//! Files and processes as they are while a call waits, for the walk that runs have
//! ([`syscall_model::seek`]). A file system may let it wait.

use super::aliases::identity;
use super::opened::{DELETED, Streams, name_of};
use crate::host::{Host, is_procfs};
use crate::sys::gate::{Within, open_place_itself};
use crate::sys::inode;
use nix::fcntl::readlinkat;
use nix::sys::stat::{SFlag, fstat};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use syscall_model::{Found, Ground, Holding, Holds, Magic, Sharing, Task};

/// Files below folders that are open, each with the name by which paths have it.
#[derive(Debug)]
pub(super) struct Land(pub(super) Vec<(Vec<u8>, File)>);

impl Ground for Land {
    fn look(&mut self, path: &[u8]) -> Found {
        // As for the ground of a run.
        if is_procfs(path) {
            return Found::Processes;
        }
        let below = |(name, file): &'_ (Vec<u8>, File)| {
            let rest = path.strip_prefix(name.strip_suffix(b"/").unwrap_or(name))?;
            let is_it = rest.is_empty() || rest.starts_with(b"/");
            is_it.then(|| (name.len(), rest.to_vec(), file.try_clone()))
        };
        let found = self.0.iter().filter_map(below).max_by_key(|(n, ..)| *n);
        let Some((_, rest, file)) = found else {
            let above = [path.strip_suffix(b"/").unwrap_or(path), b"/"].concat();
            return match self.0.iter().any(|(name, _)| name.starts_with(&above)) {
                true => Found::Folder(None),
                false => Found::Unknown,
            };
        };
        let looked = file.and_then(|file| looked(&open(file.as_fd(), &rest)?));
        looked.unwrap_or_else(|error| match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) => Found::Missing,
            _ => Found::Unknown,
        })
    }

    fn sharing(&self) -> Sharing {
        // What is mounted is seen where it is looked at.
        Sharing::Nothing
    }
}

/// Opens the file of this name below a root, as it is, be it a link.
fn open(root: BorrowedFd<'_>, path: &[u8]) -> io::Result<OwnedFd> {
    let path = if path.is_empty() { b"/" } else { path };
    open_place_itself(root, path, Within::Root, false)
}

fn looked(file: &OwnedFd) -> io::Result<Found> {
    let id = Some(identity(&inode::of(file.as_fd())?));
    let mode = SFlag::from_bits_truncate(fstat(file)?.st_mode) & SFlag::S_IFMT;
    Ok(match mode {
        SFlag::S_IFDIR => Found::Folder(id),
        SFlag::S_IFLNK => Found::Link(id, readlinkat(file, "")?.into_vec().into()),
        _ => Found::File(id),
    })
}

/// A waiting thread, as procfs has it.
#[derive(Debug)]
pub(super) struct Tasks<'a> {
    pub(super) thread: u32,
    pub(super) root: &'a File,
    pub(super) streams: Option<Streams>,
}

impl Holding for Tasks<'_> {
    fn holds(&self, task: Task, what: Magic) -> Holds {
        self.try_holds(task, what)
            .unwrap_or_else(|error| match error.raw_os_error() {
                Some(libc::ENOENT) if matches!(what, Magic::Descriptor(_)) => Holds::Nothing,
                _ => Holds::Unknown,
            })
    }
}

impl Tasks<'_> {
    fn try_holds(&self, task: Task, what: Magic) -> io::Result<Holds> {
        let host = Host::running();
        let own = match task {
            Task::Thread => self.thread,
            Task::Process => host.process_of(self.thread).ok_or(io::ErrorKind::Other)?,
            Task::Numbered(id) => {
                return told(Host::link_below(self.root.as_fd(), id, &word(what))?);
            }
        };
        if let Magic::Descriptor(number) = what {
            let number = number.cast_signed();
            return Ok(
                match name_of(&host, (own, number), self.streams.as_ref())? {
                    None => Holds::Nothing,
                    Some(name) if !name.starts_with(b"/") => Holds::Nowhere,
                    // Without what procfs says behind the name of a file that is gone.
                    Some(name) => match host.descriptor_link(own, number)? == name {
                        true => Holds::File(name),
                        false => Holds::Removed(name),
                    },
                },
            );
        }
        told(host.link_of(own, &word(what))?)
    }
}

fn word(what: Magic) -> String {
    match what {
        Magic::Current => "cwd".to_owned(),
        Magic::Root => "root".to_owned(),
        Magic::Program => "exe".to_owned(),
        Magic::Descriptor(number) => format!("fd/{number}"),
    }
}

fn told(link: Vec<u8>) -> io::Result<Holds> {
    Ok(match link.strip_suffix(DELETED) {
        _ if !link.starts_with(b"/") => Holds::Nowhere,
        Some(name) => Holds::Removed(name.to_vec()),
        None => Holds::File(link),
    })
}
