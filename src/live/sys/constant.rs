//! Files of the kernel's that never change, mapped instead of read.

use super::check;
use nix::sys::statfs::{FsType, fstatfs};
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::ptr::NonNull;

// `SYSFS_MAGIC`, include/uapi/linux/magic.h.
const SYSFS: FsType = FsType(0x6265_6572);

/// A whole file of sysfs, mapped for reading.
#[derive(Debug)]
pub struct Constant {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: nobody writes to the memory, neither here nor in the kernel.
unsafe impl Send for Constant {}
// SAFETY: as above.
unsafe impl Sync for Constant {}

impl Constant {
    /// Maps it. Of the files of sysfs that nothing may write to only what the kernel was built with
    /// can be mapped: its description of its types (`btf_sysfs_vmlinux_mmap()`, Linux 6.16). To
    /// read that takes a system call for each page.
    ///
    /// # Errors
    /// `ENODEV` where the kernel does not map it, `InvalidInput` for a file of another file system,
    /// and for one with a permission to write, as the memory of a PCI device has.
    pub fn map(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let length = usize::try_from(metadata.len());
        let length = length.map_err(|_| io::ErrorKind::InvalidInput)?;
        let is_writable = metadata.mode() & 0o222 != 0;
        if length == 0 || is_writable || fstatfs(file)?.filesystem_type() != SYSFS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (nowhere, fd) = (std::ptr::null_mut(), file.as_raw_fd());
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let base =
            unsafe { libc::mmap(nowhere, length, libc::PROT_READ, libc::MAP_PRIVATE, fd, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self { base, length })
    }
}

impl Deref for Constant {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: mapped for as long as self lives, and never written to.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.length) }
    }
}

impl Drop for Constant {
    fn drop(&mut self) {
        // SAFETY: the very mapping, of which no reference is left.
        let unmapped = unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
        // A mapping that cannot be undone stays, and does no harm.
        let _stays = check(unmapped.into());
    }
}
