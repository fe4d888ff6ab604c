//! The only unsafe code: one function per system call, without policy.
//!
//! What leaves this room is safe to use: descriptors are [`std::os::fd::OwnedFd`], no slice into a
//! live ring gets out (records are copied), and what runs between `clone3(2)` and `execve(2)` calls
//! nothing but system calls.

pub mod bpf;
pub mod constant;
pub mod disposed;
pub mod folder;
pub mod gate;
pub mod inode;
pub mod landlock;
pub mod mapping;
pub mod memory;
pub mod mount;
pub mod perf;
pub mod pidfd;
pub mod poll;
pub mod process;
pub mod removal;
pub mod rights;
pub mod ring;
pub mod shared;
pub mod socket;
pub mod standard;
pub mod temporary;
pub mod thread;
pub mod tsc;
pub mod xattr;

use std::io;

/// The size of a page in bytes, `sysconf(_SC_PAGESIZE)`: 4096 on x86, up to 65536 on aarch64.
#[must_use]
pub fn page_size() -> usize {
    // SAFETY: sysconf reads no memory of ours.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// How many characters fit on a line of standard output; `None` where it is no terminal, or one
/// that does not know.
///
/// # References
/// `TIOCGWINSZ`, `ioctl_tty(2)`.
#[must_use]
pub fn columns() -> Option<u16> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the pointer is to a winsize of our own.
    let asked = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (asked == 0 && size.ws_col > 0).then_some(size.ws_col)
}

/// Whether this process may use io_uring; no ring is made.
///
/// # Errors
/// `ENOSYS` where the kernel has none, `EPERM` where it is forbidden (`kernel.io_uring_disabled`,
/// or a filter of calls).
///
/// # References
/// `io_uring_setup(2)`; the right is looked at before the parameters are (`io_uring_allowed()`).
pub fn io_uring() -> io::Result<()> {
    let nowhere = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: without parameters nothing is read or written, and nothing is made.
    let made = check(unsafe { libc::syscall(libc::SYS_io_uring_setup, 0, nowhere) });
    match made {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
            Err(error)
        }
        // It would look at the parameters.
        _ => Ok(()),
    }
}

/// Waits until every CPU has passed a point where nothing in the kernel is under way that may not
/// be preempted: what was being written into a ring has been written then.
///
/// # Errors
/// `ENOSYS` where the kernel was built without, `EINVAL` where a CPU is free of ticks
/// (`nohz_full`).
///
/// # References
/// `MEMBARRIER_CMD_GLOBAL`, `membarrier(2)`, which is `synchronize_rcu()`; it waits for regions
/// with preemption disabled as well (`Documentation/RCU/whatisRCU.rst`), and `perf_output_begin()`
/// to `perf_output_end()` is one.
pub fn wait_for_all_cpus() -> io::Result<()> {
    // SAFETY: membarrier takes numbers.
    let done = unsafe {
        libc::syscall(
            libc::SYS_membarrier,
            libc::MEMBARRIER_CMD_GLOBAL,
            0_u32,
            0_i32,
        )
    };
    check(done).map(drop)
}

/// Whether two threads have one table of descriptors, and one working directory.
///
/// # Errors
/// `EPERM` without the right to look into both, `ENOSYS` where the kernel was built without
/// (`CONFIG_KCMP`).
///
/// # References
/// `kcmp(2)`: `KCMP_FILES`, `KCMP_FS`.
pub fn share_files(
    one: perf_records::units::Tid,
    other: perf_records::units::Tid,
) -> io::Result<bool> {
    const KCMP_FILES: libc::c_int = 2;
    const KCMP_FS: libc::c_int = 3;
    let compare = |what: libc::c_int| {
        // SAFETY: kcmp takes numbers.
        check(unsafe { libc::syscall(libc::SYS_kcmp, one.0, other.0, what, 0_u64, 0_u64) })
    };
    Ok(compare(KCMP_FILES)? == 0 && compare(KCMP_FS)? == 0)
}

/// Now, on `CLOCK_MONOTONIC`, in nanoseconds: the clock of the ring records.
///
/// # References
/// `clock_gettime(2)`; `perf_event_attr.use_clockid` in `perf_event_open(2)`.
#[must_use]
pub fn monotonic_now() -> perf_records::units::Nanos {
    now(libc::CLOCK_MONOTONIC)
}

/// Now, on `CLOCK_BOOTTIME`, in nanoseconds: the clock by which procfs says when a process was
/// created. It counts while the machine sleeps.
///
/// # References
/// `clock_gettime(2)`; `starttime` in `proc_pid_stat(5)`.
#[must_use]
pub fn boottime_now() -> perf_records::units::Nanos {
    now(libc::CLOCK_BOOTTIME)
}

/// What has to be added to a time of `CLOCK_MONOTONIC` for one since 1970 (`CLOCK_REALTIME`), in
/// nanoseconds: right but for the time between two readings of clocks, until the clock is set.
///
/// # References
/// `clock_gettime(2)`.
#[must_use]
pub fn wall_clock_offset() -> i64 {
    let (wall, events) = (now(libc::CLOCK_REALTIME).0, monotonic_now().0);
    i64::try_from(i128::from(wall) - i128::from(events)).unwrap_or_default()
}

/// A moment as clocks on the wall have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// The year, as 2016.
    pub year: i64,
    /// The month, from 1.
    pub month: u8,
    /// The day, from 1.
    pub day: u8,
    /// The hour, from 0.
    pub hour: u8,
    /// The minute, from 0.
    pub minute: u8,
    /// From 0 on; 60 in a leap second.
    pub second: u8,
}

/// What the clocks of this machine's time zone show so many seconds after 1970 began in UTC.
///
/// # Errors
/// `EOVERFLOW` where the year fits no `int`.
///
/// # References
/// `localtime_r(3)`, which looks the zone up in `TZ` and `/etc/localtime` when it is first called.
pub fn local_time(seconds: i64) -> io::Result<LocalTime> {
    let mut broken = std::mem::MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both pointers are to values of our own, and all zeros are a tm.
    let broken = unsafe {
        if libc::localtime_r(&raw const seconds, broken.as_mut_ptr()).is_null() {
            return Err(io::Error::last_os_error());
        }
        broken.assume_init()
    };
    let small = |number: i32| u8::try_from(number).unwrap_or(0);
    Ok(LocalTime {
        year: i64::from(broken.tm_year).saturating_add(1900),
        month: small(broken.tm_mon).saturating_add(1),
        day: small(broken.tm_mday),
        hour: small(broken.tm_hour),
        minute: small(broken.tm_min),
        second: small(broken.tm_sec),
    })
}

fn now(clock: libc::clockid_t) -> perf_records::units::Nanos {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec of our own; these clocks always exist.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(now.tv_nsec).unwrap_or(0);
    perf_records::units::Nanos(
        seconds
            .saturating_mul(1_000_000_000)
            .saturating_add(nanoseconds),
    )
}

/// Turns the `-1` of a system call into the error that `errno` holds.
fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Lets the calling thread run as soon as it is woken, where this user may have that
/// (`CAP_SYS_NICE`): what it does takes a moment, and others have all the time in between.
///
/// # References
/// `sched(7)`.
pub fn hurry() {
    let lowest = libc::sched_param { sched_priority: 1 };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the structure lives as long as the call, and 0 is the calling thread.
    let _as_others = unsafe { libc::sched_setscheduler(0, policy, &raw const lowest) };
}
