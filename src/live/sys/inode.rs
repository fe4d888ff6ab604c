//! Which inode a file is.

use super::check;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An inode, as the kernel remembers it: no file system is asked, which might let it wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inode {
    /// The device of its file system.
    pub device: (u32, u32),
    /// Its number there.
    pub number: u64,
    /// How many names it has.
    pub links: u32,
}

impl Inode {
    /// Whether they are one file.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        (self.device, self.number) == (other.device, other.number)
    }
}

/// The inode of an open file.
///
/// # Errors
/// Those of `statx(2)`.
pub fn of(file: BorrowedFd<'_>) -> io::Result<Inode> {
    ask(file.as_raw_fd(), c"", libc::AT_EMPTY_PATH)
}

/// The inode that a path leads to.
///
/// # Errors
/// Those of `statx(2)`; `InvalidInput` for a path with a zero byte.
pub fn of_path(path: &Path) -> io::Result<Inode> {
    let path = CString::new(path.as_os_str().as_bytes());
    ask(
        libc::AT_FDCWD,
        &path.map_err(|_| io::ErrorKind::InvalidInput)?,
        0,
    )
}

/// Makes an open file, which is empty, hold what another of the same file system does, and share
/// its blocks.
///
/// # Errors
/// Those of `FICLONE` (`ioctl_ficlone(2)`): `EOPNOTSUPP` where the file system has no such files.
pub fn clone(of: BorrowedFd<'_>, into: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the ioctl takes a descriptor.
    let cloned = unsafe { libc::ioctl(into.as_raw_fd(), libc::FICLONE, of.as_raw_fd()) };
    check(cloned.into()).map(drop)
}

/// The handle of an open file, which no other file of its file system has, not even one that comes
/// later and has its number; `None` where the file system has no handles, or the kernel was built
/// without (`CONFIG_FHANDLE`).
///
/// # Errors
/// Those of `name_to_handle_at(2)`.
pub fn handle_of(file: BorrowedFd<'_>) -> io::Result<Option<Vec<u8>>> {
    // AT_HANDLE_FID, include/uapi/linux/fcntl.h: also of file systems that could not open it by the
    // handle (Linux 6.5).
    const IDENTITY: i32 = 0x200;
    match handle(file, libc::AT_EMPTY_PATH | IDENTITY) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            handle(file, libc::AT_EMPTY_PATH)
        }
        other => other,
    }
}

/// `struct file_handle` with the most bytes that the kernel takes, include/linux/fs.h.
#[repr(C)]
struct Handle {
    length: u32,
    kind: i32,
    bytes: [u8; MOST_OF_HANDLE],
}

/// `MAX_HANDLE_SZ`, include/linux/exportfs.h.
const MOST_OF_HANDLE: usize = 128;

fn handle(file: BorrowedFd<'_>, flags: i32) -> io::Result<Option<Vec<u8>>> {
    let mut handle = Handle {
        length: MOST_OF_HANDLE as u32,
        kind: 0,
        bytes: [0; MOST_OF_HANDLE],
    };
    let (mut mount, path) = (0_i32, c"");
    // SAFETY: a string, a structure that says how long it is, and a number.
    let got = unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            file.as_raw_fd(),
            path.as_ptr(),
            &raw mut handle,
            &raw mut mount,
            flags,
        )
    };
    match check(got) {
        Err(error) if has_none(&error) => Ok(None),
        Err(error) => Err(error),
        Ok(_) => {
            let bytes = handle.bytes.get(..handle.length as usize);
            let kind = handle.kind.to_ne_bytes();
            Ok(bytes.map(|bytes| [&kind[..], bytes].concat()))
        }
    }
}

fn has_none(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS))
}

fn ask(at: i32, path: &CStr, flags: i32) -> io::Result<Inode> {
    let mut about = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let (flags, mask) = (
        flags | libc::AT_STATX_DONT_SYNC,
        libc::STATX_INO | libc::STATX_NLINK,
    );
    let place = about.as_mut_ptr();
    // SAFETY: the path is a string, and the kernel writes one structure.
    let got = unsafe { libc::statx(at, path.as_ptr(), flags, mask, place) };
    check(got.into())?;
    // SAFETY: all of it are numbers, and zero is one.
    let about = unsafe { about.assume_init() };
    Ok(Inode {
        device: (about.stx_dev_major, about.stx_dev_minor),
        number: about.stx_ino,
        links: about.stx_nlink,
    })
}
