//! Making a child that is a copy of this process.

use super::child::errno;
use crate::sys::check;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

// `CLONE_INTO_CGROUP`, include/uapi/linux/sched.h: too large for the type that the libc crate gives
// it.
const INTO_CGROUP: u64 = 1 << 33;

// Held for writing while a child is made: it has copies of all descriptors for as long as it takes
// to close them.
static FORKS: RwLock<()> = RwLock::new(());

/// Keeps other threads from making children as long as it lives. A file that is open for writing
/// cannot be executed (`ETXTBSY`, `deny_write_access()`), and a child that was made meanwhile would
/// hold it open when it is closed here.
pub fn without_forks() -> RwLockReadGuard<'static, ()> {
    FORKS.read().unwrap_or_else(PoisonError::into_inner)
}

/// As [`clone3_into`], when no thread of this process has a file open for writing that is to be
/// executed.
///
/// # Safety
/// As there.
pub(super) unsafe fn fork(
    group: Option<BorrowedFd<'_>>,
    flags: i32,
    pidfd: *mut libc::c_int,
    exit_signal: i32,
) -> io::Result<libc::c_long> {
    let _alone = FORKS.write().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the caller's promise.
    check(unsafe { clone3_into(group, flags, pidfd, exit_signal) })
}

/// A plain fork with flags, into a control group if one is given, without libc's handlers, which
/// would take its locks; 0 in the child, -1 and `errno` on failure.
///
/// # Safety
/// Without `CLONE_VM`, which no caller passes, the child has a copy of our memory. It has one of
/// our threads and all our locks: it must make system calls only, and not return. `pidfd` is null,
/// or a place for the descriptor that `CLONE_PIDFD` gives.
pub(super) unsafe fn clone3_into(
    group: Option<BorrowedFd<'_>>,
    flags: i32,
    pidfd: *mut libc::c_int,
    exit_signal: i32,
) -> libc::c_long {
    // SAFETY: clone_args is plain numbers, for which all zeroes is valid.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = flags as u64;
    arguments.pidfd = pidfd as u64;
    arguments.exit_signal = exit_signal as u64;
    if let Some(group) = group {
        arguments.flags |= INTO_CGROUP;
        arguments.cgroup = group.as_raw_fd() as u64;
    }
    let size = size_of::<libc::clone_args>();
    // SAFETY: a whole clone_args, and the caller's promises.
    let made = unsafe { libc::syscall(libc::SYS_clone3, &raw mut arguments, size) };
    if made != -1 || errno() != libc::ENOSYS || group.is_some() {
        return made;
    }
    // Filters of containers answer clone3(2) so: what its flags are stands in memory, which they
    // cannot read. The last two words have other places on other architectures, and are zeroes.
    let (flags, stack) = (flags | exit_signal, std::ptr::null_mut::<u8>());
    // SAFETY: as above; the third word is where `CLONE_PIDFD` puts the descriptor.
    unsafe { libc::syscall(libc::SYS_clone, flags, stack, pidfd, 0_u64, 0_u64) }
}
