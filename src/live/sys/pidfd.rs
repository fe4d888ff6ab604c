//! Descriptors of processes.

use super::check;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Sends a signal to the process behind a pidfd; one that is gone already is no error.
///
/// # Errors
/// `EPERM`.
///
/// # References
/// `pidfd_send_signal(2)`.
pub fn signal(pidfd: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    let no_info = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a null siginfo is allowed.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd.as_raw_fd(),
            signal,
            no_info,
            0,
        )
    };
    match check(sent) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        other => other.map(drop),
    }
}

/// A descriptor of a process that is not a child; `None` where it is gone.
///
/// # Errors
/// `EMFILE`, `ENFILE`, `ENOMEM`.
///
/// # References
/// `pidfd_open(2)`.
pub fn open(pid: perf_records::units::Pid) -> io::Result<Option<OwnedFd>> {
    // SAFETY: numbers only.
    match check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid.0, 0) }) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error),
        // SAFETY: the kernel has just made it, and it has no other owner.
        Ok(descriptor) => Ok(Some(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })),
    }
}

/// Takes a descriptor of another process: the same open file description.
///
/// # Errors
/// `EBADF` where it is not open, `EPERM`, `ESRCH`.
///
/// # References
/// `pidfd_getfd(2)` (Linux 5.6).
pub fn descriptor_of(process: BorrowedFd<'_>, number: i32) -> io::Result<OwnedFd> {
    let call = libc::SYS_pidfd_getfd;
    // SAFETY: numbers only.
    let got = check(unsafe { libc::syscall(call, process.as_raw_fd(), number, 0) })?;
    // SAFETY: the kernel has just made it, and it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(got as i32) })
}
