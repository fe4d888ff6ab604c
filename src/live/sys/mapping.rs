//! Mappings of files that are made to be looked at.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Maps the first page of a file, read-only and private, and takes the mapping back.
///
/// # Errors
/// `ENODEV` for a file that cannot be mapped, and others of `mmap(2)`.
pub fn map_once(file: BorrowedFd<'_>) -> io::Result<()> {
    let length = super::page_size();
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_PRIVATE,
            file.as_raw_fd(),
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the range is the mapping that was just made, to which no reference exists.
    match unsafe { libc::munmap(base, length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
