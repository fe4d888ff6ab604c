//! Rules of Landlock.
//!
//! # References
//! `landlock(7)`; include/uapi/linux/landlock.h.

use std::ffi::CString;

/// `LANDLOCK_CREATE_RULESET_VERSION`.
const VERSION: u32 = 1;

/// What a process may do, it and what it starts. The numbers are the kernel's bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ruled {
    /// The rights to files that it has by rules alone.
    pub files: u64,
    /// The same of ports of TCP.
    pub ports: u64,
    /// What is kept within it.
    pub scoped: u64,
    /// What it may do with files: all that are beneath a folder, or one file. A rule for what is
    /// not there allows nothing.
    pub beneath: Vec<(CString, u64)>,
    /// What it may do with ports.
    pub at: Vec<(u16, u64)>,
    /// The rights that a file has that is no folder; others of its rule mean nothing.
    pub of_files: u64,
}

/// The ABI of the kernel's Landlock; `None` where it has none, or it is not enabled.
#[must_use]
pub fn abi() -> Option<u32> {
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag there is no structure, and its size is 0.
    let abi =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    u32::try_from(abi).ok().filter(|abi| *abi > 0)
}
