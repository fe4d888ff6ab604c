//! The calls that the behaviours are made of.

use std::ffi::{CStr, c_long};
use std::os::fd::BorrowedFd;

use nix::errno::Errno;
use nix::libc;
use nix::unistd::write;

/// Makes any call with any words, some of them addresses.
pub(crate) fn call(number: c_long, words: &[usize]) -> Result<usize, Errno> {
    let word = |place: usize| words.get(place).copied().unwrap_or_default();
    // SAFETY: callers pass addresses of what lives until the call is over, and of memory that only
    // they use where the kernel writes.
    let result =
        unsafe { libc::syscall(number, word(0), word(1), word(2), word(3), word(4), word(5)) };
    Errno::result(result).map(|value| value.cast_unsigned() as usize)
}

/// Prints one line.
pub(crate) fn say(line: &str) {
    let text = format!("{line}\n");
    // SAFETY: who closes descriptor 1 says nothing afterwards.
    let stdout = unsafe { BorrowedFd::borrow_raw(libc::STDOUT_FILENO) };
    let _unheard = write(stdout, text.as_bytes());
}

/// A negative number as a word of a call.
pub(crate) fn word(number: i32) -> usize {
    number as isize as usize
}

/// The address of a text as a word of a call.
pub(crate) fn address(text: &CStr) -> usize {
    text.as_ptr() as usize
}

/// Forks; the child runs `child` and ends with what it returns.
pub(crate) fn try_fork(child: impl FnOnce() -> i32) -> Result<i32, Errno> {
    match call(libc::SYS_clone, &[libc::SIGCHLD as usize])? {
        0 => end(child()),
        pid => Ok(pid as i32),
    }
}

/// Forks where that must work.
pub(crate) fn fork(child: impl FnOnce() -> i32) -> i32 {
    try_fork(child).expect("clone")
}

/// Ends the process at once.
pub(crate) fn end(status: i32) -> ! {
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(status) }
}

/// Waits for the end of the child.
pub(crate) fn reap(child: i32) {
    call(libc::SYS_wait4, &[word(child)]).expect("wait4");
}

/// Waits for the end of all children.
pub(crate) fn reap_all() {
    while call(libc::SYS_wait4, &[word(-1)]).is_ok() {}
}

/// Does nothing, for ever.
pub(crate) fn wait_for_ever() -> ! {
    loop {
        let _interrupted = call(libc::SYS_ppoll, &[]);
    }
}

/// A grandchild whose parent has ended and been reaped when this returns.
pub(crate) fn orphan(child: impl FnOnce() -> i32) {
    reap(fork(|| {
        fork(child);
        0
    }));
}

/// Sends a signal; whether it may is part of what is tried.
pub(crate) fn kill(pid: i32, signal: i32) -> Result<usize, Errno> {
    call(libc::SYS_kill, &[word(pid), word(signal)])
}
