//! What a call refers to while it is held: the files behind its descriptors and its paths, the
//! bytes behind its pointers, and who makes it.

use super::opened::take;
use super::resolving::{Going, link};
use super::{Held, Led, Paths, Start};
use crate::host::{Host, MakerIds};
use crate::sys::{inode, memory, page_size, socket};
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::stat::{FileStat, SFlag, fstat};
use nix::unistd::{Whence, lseek};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use syscall_model::SocketAddress;

/// So much is read of a path: `PATH_MAX`, include/uapi/linux/limits.h.
const LONGEST_PATH: usize = 4096;

/// So many buffers a call may have: `UIO_MAXIOV`, include/uapi/linux/uio.h.
const MOST_BUFFERS: u64 = 1024;

const DELETED: &[u8] = b" (deleted)";

/// Looks at a call that is held.
#[derive(Debug)]
pub struct Look<'a> {
    /// The machine.
    pub host: &'a Host,
    /// The call.
    pub held: &'a Held,
    /// Looks up its paths.
    pub paths: &'a mut Paths,
    /// Whether the folder of a path is the root of it (`RESOLVE_IN_ROOT`).
    pub is_rooted: bool,
}

/// What a descriptor refers to.
#[derive(Debug)]
pub struct OpenFile {
    /// What the kernel calls it, as the workload sees it; `None` for a file without a name.
    pub name: Option<Vec<u8>>,
    /// Its name in procfs, which ends in ` (deleted)` where its name was removed, and may do so by
    /// itself.
    pub link: Vec<u8>,
    /// Its inode.
    pub status: FileStat,
    /// The open file itself.
    pub file: OwnedFd,
}

/// A path without its last part, and that part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The folder, as the workload sees it, without links.
    pub folder: Vec<u8>,
    /// The last part.
    pub last: Vec<u8>,
}

impl OpenFile {
    /// Whether it is a regular file.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        self.kind() == SFlag::S_IFREG
    }

    /// Whether it is a socket.
    #[must_use]
    pub fn is_socket(&self) -> bool {
        self.kind() == SFlag::S_IFSOCK
    }

    /// Whether it is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.kind() == SFlag::S_IFDIR
    }

    /// A file that a path was gone to, opened as a place.
    ///
    /// # Errors
    /// Those of `fstat(2)` and `readlink(2)`.
    pub fn of_place(file: OwnedFd) -> io::Result<Self> {
        let link = link(file.as_fd())?;
        Self::of(file, link)
    }

    fn of(file: OwnedFd, link: Vec<u8>) -> io::Result<Self> {
        let status = fstat(&file)?;
        let is_removed = status.st_nlink == 0 || link.ends_with(DELETED);
        Ok(Self {
            name: (!is_removed).then(|| link.clone()),
            link,
            status,
            file,
        })
    }

    fn kind(&self) -> SFlag {
        SFlag::from_bits_truncate(self.status.st_mode) & SFlag::S_IFMT
    }

    /// What tells it from all other files of its file system; `None` where nothing does.
    ///
    /// # Errors
    /// Those of `name_to_handle_at(2)`.
    pub fn handle(&self) -> io::Result<Option<Vec<u8>>> {
        inode::handle_of(self.file.as_fd())
    }

    /// Its flags: `F_GETFL`.
    ///
    /// # Errors
    /// Those of `fcntl(2)`.
    pub fn flags(&self) -> io::Result<i32> {
        Ok(fcntl(&self.file, FcntlArg::F_GETFL)?)
    }

    /// Where its next read or write begins.
    ///
    /// # Errors
    /// `ESPIPE` where it has no such place.
    pub fn position(&self) -> io::Result<u64> {
        let at = lseek(&self.file, 0, Whence::SeekCur)?;
        u64::try_from(at).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// The address that a socket is bound to; `None` where that has no family.
    ///
    /// # Errors
    /// Those of `getsockname(2)`.
    pub fn address(&self) -> io::Result<Option<SocketAddress>> {
        let bytes = socket::address_of(self.file.as_fd())?;
        Ok(SocketAddress::of(&bytes))
    }

    /// The file, opened once more to be read: an open file of its own.
    ///
    /// # Errors
    /// Those of `open(2)`.
    pub fn again(&self) -> io::Result<File> {
        File::open(Host::path_of_descriptor(self.file.as_raw_fd()))
    }
}

impl Look<'_> {
    /// What a descriptor of the caller refers to; `None` where it is not open.
    ///
    /// # Errors
    /// Those of `pidfd_getfd(2)` and `fstat(2)`.
    pub fn descriptor(&self, number: i32) -> io::Result<Option<OpenFile>> {
        let thread = self.held.thread;
        let file = match take(self.host, thread, number) {
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => return Ok(None),
            file => file?,
        };
        let link = self.host.descriptor_link(thread, number)?;
        OpenFile::of(file, link).map(Some)
    }

    /// A string.
    ///
    /// # Errors
    /// `EFAULT`, and `InvalidData` for one that is too long for a path.
    pub fn string(&self, address: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while bytes.len() < LONGEST_PATH {
            let at = address.wrapping_add(bytes.len() as u64);
            // To the end of a page each: the next one may not be there.
            let in_page = page_size() - (at as usize & (page_size() - 1));
            let mut more = vec![0; in_page.min(LONGEST_PATH)];
            let there = memory::read_memory(self.held.thread, at, &mut more)?;
            more.truncate(there);
            if let Some(end) = more.iter().position(|byte| *byte == 0) {
                more.truncate(end);
                bytes.append(&mut more);
                return Ok(bytes);
            }
            bytes.append(&mut more);
        }
        Err(io::ErrorKind::InvalidData.into())
    }

    /// Memory, of which all must be there.
    ///
    /// # Errors
    /// `EFAULT`.
    pub fn bytes(&self, address: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut there = 0;
        while there < length {
            let (at, rest) = (address.wrapping_add(there as u64), bytes.get_mut(there..));
            match memory::read_memory(self.held.thread, at, rest.unwrap_or_default())? {
                0 => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
                more => there += more,
            }
        }
        Ok(bytes)
    }

    /// A word of eight bytes.
    ///
    /// # Errors
    /// `EFAULT`.
    pub fn word(&self, address: u64) -> io::Result<u64> {
        let bytes = self.bytes(address, 8)?;
        Ok(bytes.first_chunk().copied().map_or(0, u64::from_ne_bytes))
    }

    /// The buffers of a `struct iovec`, one behind the other.
    ///
    /// # Errors
    /// `EFAULT`; `InvalidData` for more than `most` bytes.
    pub fn buffers(&self, address: u64, count: u64, most: u64) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        for place in 0..count.min(MOST_BUFFERS) {
            let entry = address.wrapping_add(place * 16);
            let (base, length) = (self.word(entry)?, self.word(entry.wrapping_add(8))?);
            let left = most.saturating_sub(all.len() as u64);
            if length > left {
                return Err(io::ErrorKind::InvalidData.into());
            }
            all.extend(self.bytes(base, length as usize)?);
        }
        Ok(all)
    }

    /// The place of a name that a call makes or takes away: a link there is not followed.
    ///
    /// # Errors
    /// `NotFound` where its folder is not there; those of [`string`](Self::string) and of
    /// [`led`](Self::led).
    pub fn named(&mut self, folder: i32, path: u64) -> io::Result<Named> {
        let path = self.string(path)?;
        self.named_by(folder, &path)
    }

    /// The same of a path that is known.
    ///
    /// # Errors
    /// As [`named`](Self::named).
    pub fn named_by(&mut self, folder: i32, path: &[u8]) -> io::Result<Named> {
        let end = path.iter().rposition(|byte| *byte != b'/');
        let trimmed = path.get(..end.map_or(0, |end| end + 1)).unwrap_or_default();
        // With a slash behind it, a link is followed, whatever the call says of links.
        if !trimmed.is_empty() && trimmed.len() < path.len() {
            return Ok(Named::of(self.gone(folder, trimmed, true)?.name));
        }
        let cut = trimmed.iter().rposition(|byte| *byte == b'/');
        let (above, last) = match cut {
            Some(0) => (b"/".as_slice(), trimmed.get(1..)),
            Some(cut) => (
                trimmed.get(..cut).unwrap_or_default(),
                trimmed.get(cut + 1..),
            ),
            None => (b".".as_slice(), Some(trimmed)),
        };
        let last = last.unwrap_or_default();
        if last.is_empty() || last == b"." || last == b".." {
            let path = if path.is_empty() { b"." } else { path };
            return Ok(Named::of(self.gone(folder, path, true)?.name));
        }
        Ok(Named {
            folder: self.gone(folder, above, true)?.name,
            last: last.to_owned(),
        })
    }

    /// What a path leads to, at whose end a link is followed or not, as the kernel goes it for the
    /// caller: also by links of procfs to the very file. Its last part may be missing.
    ///
    /// # Errors
    /// `NotFound` where its folder is not there; those of [`string`](Self::string); that it is not
    /// known.
    pub fn led(&mut self, folder: i32, path: u64, follows: bool) -> io::Result<Led> {
        let path = self.string(path)?;
        self.gone(folder, &path, follows)
    }

    fn gone(&mut self, folder: i32, path: &[u8], follows: bool) -> io::Result<Led> {
        let (host, thread) = (self.host, self.held.thread);
        let start = match self.is_rooted {
            true => Start::in_folder(host, thread, folder)?,
            false => Start::of(host, thread, folder, path)?,
        };
        let path = path.to_owned();
        self.paths.go(Going {
            thread,
            start,
            path,
            follows,
        })
    }

    /// By whom the call makes files.
    #[must_use]
    pub fn maker(&self) -> Option<MakerIds> {
        self.host.maker(self.held.thread)
    }
}

impl Named {
    /// The folder and the last part of a name.
    #[must_use]
    pub fn of(whole: Vec<u8>) -> Self {
        let cut = whole.iter().rposition(|byte| *byte == b'/');
        let (folder, last) = match cut {
            Some(0) => (b"/".to_vec(), whole.get(1..)),
            Some(cut) => (
                whole.get(..cut).unwrap_or_default().to_owned(),
                whole.get(cut + 1..),
            ),
            None => (Vec::new(), Some(whole.as_slice())),
        };
        let last = last.unwrap_or_default().to_owned();
        Self { folder, last }
    }
}
