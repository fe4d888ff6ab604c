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
