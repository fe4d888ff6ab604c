//! Descriptors of processes.

use super::check;
use perf_records::units::{Pid, Tid};
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
pub fn open(pid: Pid) -> io::Result<Option<OwnedFd>> {
    opened(pid.0, 0)
}

/// A descriptor of a single thread; `None` where it is gone.
///
/// # Errors
/// `EINVAL` before Linux 6.9; those of [`open`].
///
/// # References
/// `PIDFD_THREAD`, `pidfd_open(2)`.
pub fn open_thread(thread: Tid) -> io::Result<Option<OwnedFd>> {
    // PIDFD_THREAD, include/uapi/linux/pidfd.h
    opened(thread.0, libc::O_EXCL)
}

fn opened(id: u32, flags: libc::c_int) -> io::Result<Option<OwnedFd>> {
    // SAFETY: numbers only.
    match check(unsafe { libc::syscall(libc::SYS_pidfd_open, id, flags) }) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error),
        // SAFETY: the kernel has just made it, and it has no other owner.
        Ok(descriptor) => Ok(Some(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })),
    }
}

/// Whether a descriptor of a thread is the same open file as one of this process.
///
/// # Errors
/// `EBADF`, `EPERM`, `ESRCH`; `ENOSYS` where the kernel is built without it.
///
/// # References
/// `KCMP_FILE`, `kcmp(2)`.
pub fn is_same_file((thread, number): (Tid, i32), own: BorrowedFd<'_>) -> io::Result<bool> {
    // include/uapi/linux/kcmp.h
    const FILE: libc::c_int = 0;
    let (call, process, own) = (libc::SYS_kcmp, std::process::id(), own.as_raw_fd());
    // SAFETY: numbers only.
    let compared = unsafe { libc::syscall(call, thread.0, process, FILE, number, own) };
    Ok(check(compared)? == 0)
}

/// Takes a descriptor of another process or thread, by a descriptor of that: the same open file
/// description.
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
