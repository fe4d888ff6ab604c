//! The descriptors that a program is started with.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU8, Ordering};

/// Which of the first three were closed, a bit each.
static CLOSED: AtomicU8 = AtomicU8::new(0);

// Before `main`, and so before the standard library opens /dev/null in the place of those that are
// closed.
#[used]
// SAFETY: the C library calls what stands there once, in the only thread, and the function needs
// nothing of Rust's.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    for number in 0..3 {
        // SAFETY: F_GETFD takes no pointer, and any number.
        let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
        if flags == -1 {
            CLOSED.fetch_or(1 << number, Ordering::Relaxed);
        }
    }
}

/// Whether standard input (0), output (1) or error (2) was closed when the program was started.
/// What is written there now goes nowhere, and nothing says so.
#[must_use]
pub fn was_closed(number: u8) -> bool {
    number < 3 && CLOSED.load(Ordering::Relaxed) & (1 << number) != 0
}

/// Has a program that is executed in the place of this one find closed what was closed here.
pub fn close_on_exec() {
    for number in (0..3).filter(|number| was_closed(*number)) {
        // SAFETY: F_SETFD takes two numbers.
        unsafe { libc::fcntl(number.into(), libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// A second descriptor for what a program has inherited under this number. All that it opens by
/// itself is closed on `execve(2)`, and is no one else's to name.
///
/// # Errors
/// `EBADF`, those of `fcntl(2)`.
pub fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
    let closed = u8::try_from(number).is_ok_and(was_closed);
    // SAFETY: F_GETFD takes no pointer, and any number.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    if flags == -1 || flags & libc::FD_CLOEXEC != 0 || closed {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: F_DUPFD_CLOEXEC takes a number.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    match copy {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the kernel has just made it, and nothing else knows it.
        copy => Ok(unsafe { OwnedFd::from_raw_fd(copy) }),
    }
}
