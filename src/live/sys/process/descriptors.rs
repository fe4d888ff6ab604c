//! Which descriptors a child has, and where.

use super::child::errno;
use super::prepared::Prepared;
use crate::sys::rights;
use libc::c_int;

// Where the pipes' ends are in a world of its own, once the descriptors are in their places. On the
// bare host, where these numbers may be taken by what the command inherits, they stay where they
// are: the harness has all of that open as well.
pub(super) const GO: c_int = 3;
pub(super) const STATUS: c_int = 4;
pub(super) const OBITUARY: c_int = 5;
pub(super) const GATE: c_int = 6;
pub(super) const LAST: c_int = GATE;

/// The ends by which it hears of the harness, and is heard.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub(super) go: c_int,
    pub(super) status: c_int,
}

/// Whether a descriptor is open, and stays so when this process executes a program.
///
/// # References
/// `FD_CLOEXEC`, `F_GETFD` in `fcntl(2)`.
#[must_use]
pub fn outlives_exec(number: i32) -> bool {
    // SAFETY: numbers only.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    flags != -1 && flags & libc::FD_CLOEXEC == 0
}

/// Puts stdio at 0 to 2 and the pipes behind it, and closes everything else.
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a straight line of system calls"
)]
pub(super) unsafe fn place_descriptors(prepared: &Prepared<'_>) -> Result<(), c_int> {
    let [stdin, stdout, stderr] = prepared.stdio;
    let obituary = prepared.obituary.unwrap_or(prepared.status);
    let gate = prepared.gate.as_ref().map_or(obituary, |gate| gate.socket);
    let wanted = [
        stdin,
        stdout,
        stderr,
        prepared.go,
        prepared.status,
        obituary,
        gate,
    ];
    let mut high = [-1; 7];
    // SAFETY: descriptor numbers only.
    unsafe {
        // Out of the way first: a source may have the number of another's destination.
        for (from, to) in wanted.iter().zip(high.iter_mut()) {
            *to = libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, LAST + 1);
            if *to == -1 {
                return Err(errno());
            }
        }
        for (place, from) in (0..).zip(high) {
            let flags = if place < GO { 0 } else { libc::O_CLOEXEC };
            if libc::dup3(from, place, flags) == -1 {
                return Err(errno());
            }
        }
        let last_kept = match (&prepared.gate, prepared.obituary) {
            (Some(_), _) => GATE,
            (None, Some(_)) => OBITUARY,
            (None, None) => STATUS,
        };
        if libc::syscall(libc::SYS_close_range, last_kept + 1, libc::c_uint::MAX, 0) == -1 {
            return Err(errno());
        }
    }
    Ok(())
}

/// Puts stdio at 0 to 2, and closes everything that is not kept.
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a straight line of system calls"
)]
pub(super) unsafe fn keep_descriptors(prepared: &Prepared<'_>) -> Result<(), c_int> {
    let mut high = [-1; 3];
    // SAFETY: descriptor numbers only.
    unsafe {
        // Out of the way first, as below.
        for (from, to) in prepared.stdio.iter().zip(high.iter_mut()) {
            *to = libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, GO);
            if *to == -1 {
                return Err(errno());
            }
        }
        for (place, from) in (0..).zip(high) {
            if libc::dup3(from, place, 0) == -1 {
                return Err(errno());
            }
        }
        close_others(prepared.kept)
    }
}

/// Closes all descriptors but these.
pub(super) unsafe fn close_others(sorted: &[c_int]) -> Result<(), c_int> {
    let mut first = 0;
    let ends = sorted.iter().map(|kept| (*kept, kept - 1));
    for (kept, last) in ends.chain([(c_int::MAX, c_int::MAX)]) {
        // SAFETY: descriptor numbers only.
        if kept > first && unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } == -1 {
            return Err(errno());
        }
        first = kept.saturating_add(1);
    }
    Ok(())
}

/// The child of `close_in_background`: drops all descriptors but these, and ends, which closes
/// them.
///
/// # Safety
/// Only in a child made without `CLONE_VM`.
pub(super) unsafe fn close_all_but(sorted: &[c_int]) -> ! {
    // SAFETY: descriptor numbers only.
    unsafe {
        let _closed = close_others(sorted);
        rights::forget();
        libc::setsid();
        libc::chdir(c"/".as_ptr());
        libc::prctl(libc::PR_SET_NAME, c"harness-close".as_ptr());
        let none_blocked = 0_u64;
        let null = std::ptr::null::<u64>();
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const none_blocked,
            null,
            8,
        );
        // A harness that traces within this time finds the tracepoints registered and need not wait
        // for this one's last close: if each test has a process, the next starts within
        // milliseconds. A second after the end of the harness, no process of it may be left.
        let lingering = libc::timespec {
            tv_sec: 0,
            tv_nsec: 100_000_000,
        };
        libc::nanosleep(&raw const lingering, std::ptr::null_mut());
        libc::_exit(0)
    }
}
