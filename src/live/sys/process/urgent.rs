//! A turn before the others.

use super::super::check;
use perf_records::units::Pid;
use std::io;

/// Lets the calling thread, or the main thread of a process, run before all that is not urgent,
/// though not what it comes to create: a crowd of processes leaves next to nothing of the CPUs to a
/// thread that is one among hundreds. The kernel keeps 5% of the time for the others.
///
/// # Errors
/// `EPERM` without `CAP_SYS_NICE`, or where the CPU controller of version 1 grants no such time.
///
/// # References
/// `sched_setscheduler(2)`, `SCHED_FIFO` and `SCHED_RESET_ON_FORK` in `sched(7)`.
pub fn make_urgent(process: Option<Pid>) -> io::Result<()> {
    let pid = process.map_or(0, |pid| pid.0 as libc::pid_t);
    let lowest = libc::sched_param { sched_priority: 1 };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the kernel reads the parameter. The C library's own function does nothing else.
    check(unsafe { libc::sched_setscheduler(pid, policy, &raw const lowest) }.into()).map(drop)
}
