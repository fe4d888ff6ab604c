//! The signals that a program is started with: which are ignored, and which are blocked
//! (`execve(2)` keeps both); the one that must not be ignored, and the one that must not end it.

use super::check;
use libc::c_int;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each signal that was ignored, the lowest that of signal 1.
static IGNORED: AtomicU64 = AtomicU64::new(0);
/// The same for those that were blocked.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

// Before `main`, and so before the standard library ignores `SIGPIPE`.
#[used]
// SAFETY: the C library calls what stands there once, in the only thread, and the function needs
// nothing of Rust's.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// The kernel's own calls: libc's wrappers tell nothing of the two signals that they keep for
/// themselves.
extern "C" fn look() {
    // `struct sigaction` of the kernel, the handler first; as long as any architecture's.
    let mut action = [0_usize; 4];
    let null = std::ptr::null::<u64>();
    for signal in 1..=64 {
        let into = action.as_mut_ptr();
        // SAFETY: the structure is as long as the kernel writes.
        let got = unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, null, into, 8) };
        if got == 0 && action[0] == libc::SIG_IGN {
            IGNORED.fetch_or(bit(signal), Ordering::Relaxed);
        }
    }
    let mut mask = 0_u64;
    let how = libc::SIG_BLOCK;
    // SAFETY: the mask is as long as the kernel writes.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, null, &raw mut mask, 8) };
    BLOCKED.store(mask, Ordering::Relaxed);
}

fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Whether this signal was ignored when the program was started, as `nohup(1)` has `SIGHUP` be.
#[must_use]
pub fn was_ignored(signal: c_int) -> bool {
    (1..=64).contains(&signal) && IGNORED.load(Ordering::Relaxed) & bit(signal) != 0
}

/// The signals that were blocked, as the kernel has them.
pub(super) fn blocked() -> u64 {
    BLOCKED.load(Ordering::Relaxed)
}

/// Has what grows beyond the limit of a file's size (`RLIMIT_FSIZE`) be an error, `EFBIG`, and not
/// the end of this program. What it starts is ended by it as ever: `execve(2)` keeps no handlers.
///
/// # Errors
/// That of `sigaction(2)`.
///
/// # References
/// `RLIMIT_FSIZE` in `getrlimit(2)`, `SIGXFSZ` in `signal(7)`.
pub fn outlive_the_limit_of_files() -> io::Result<()> {
    extern "C" fn go_on(_: c_int) {}
    if was_ignored(libc::SIGXFSZ) {
        return Ok(());
    }
    // SAFETY: sigaction is plain numbers, for which all zeroes is valid.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = go_on as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: a whole action, whose handler does nothing.
    let set = unsafe { libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut()) };
    check(set.into()).map(drop)
}

/// A parent that ignores `SIGCHLD` (as some supervisors make their children do) never learns how a
/// child ended: the kernel reaps it.
pub(in crate::sys) fn keep_children() -> io::Result<()> {
    // SAFETY: sigaction is plain numbers, for which all zeroes is valid: the default disposition.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes the present action there.
    check(unsafe { libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut action) }.into())?;
    if action.sa_sigaction == libc::SIG_IGN || action.sa_flags & libc::SA_NOCLDWAIT != 0 {
        action.sa_sigaction = libc::SIG_DFL;
        action.sa_flags = 0;
        // SAFETY: a whole action, without a handler.
        let set =
            unsafe { libc::sigaction(libc::SIGCHLD, &raw const action, std::ptr::null_mut()) };
        check(set.into())?;
    }
    Ok(())
}
