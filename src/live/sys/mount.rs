//! Getting at a file system without putting it anywhere: the new mount interface (Linux 5.2).

use super::check;
use super::rights::{Raised, Right};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const FSOPEN_CLOEXEC: libc::c_uint = 1;
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
const FSMOUNT_CLOEXEC: libc::c_uint = 1;

/// Mounts a file system of the given type nowhere: the descriptor is its root, and its close takes
/// it away again.
///
/// It is in no mount table, so that no other process sees a change.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN`, `ENODEV` where the kernel lacks the type, `ENOSYS` before Linux
/// 5.2.
///
/// # References
/// `fsopen`, `fsconfig`, `fsmount`: `fs/fsopen.c`, `fs/namespace.c`.
pub fn detached(fs_type: &CStr) -> io::Result<OwnedFd> {
    let _raised = Raised::new(&[Right::SysAdmin]);
    // SAFETY: the string is NUL-terminated and outlives the call.
    let context =
        check(unsafe { libc::syscall(libc::SYS_fsopen, fs_type.as_ptr(), FSOPEN_CLOEXEC) })?;
    // SAFETY: the kernel has just returned this descriptor, which has no other owner.
    let context = unsafe { OwnedFd::from_raw_fd(context as i32) };
    let null = std::ptr::null::<libc::c_char>();
    // SAFETY: FSCONFIG_CMD_CREATE takes no key and no value: both are null.
    let created = unsafe {
        libc::syscall(
            libc::SYS_fsconfig,
            context.as_raw_fd(),
            FSCONFIG_CMD_CREATE,
            null,
            null,
            0,
        )
    };
    check(created)?;
    // SAFETY: the arguments are numbers.
    let mount = check(unsafe {
        libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), FSMOUNT_CLOEXEC, 0)
    })?;
    // SAFETY: as above, a new descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(mount as i32) })
}
