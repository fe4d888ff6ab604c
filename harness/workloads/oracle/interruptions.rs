//! Signals that interrupt calls: what the kernel returns to itself, and what the program gets to
//! see.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, sigaction};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, pipe, read, write};

use crate::kernel::{self, say};

static HANDLED: AtomicU64 = AtomicU64::new(0);
/// The descriptor that the handler reports to; negative for none.
static REPORT_TO: AtomicI32 = AtomicI32::new(-1);

extern "C" fn count_and_report(_signal: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    let descriptor = REPORT_TO.load(Ordering::Relaxed);
    if descriptor >= 0 {
        // SAFETY: write is allowed in a handler; the one byte is static.
        unsafe { libc::write(descriptor, c"!".as_ptr().cast(), 1) };
    }
}

fn handle(signal: Signal, flags: SaFlags) {
    let action = SigAction::new(
        SigHandler::Handler(count_and_report),
        flags,
        SigSet::empty(),
    );
    // SAFETY: the handler uses atomics and write only.
    unsafe { sigaction(signal, &action) }.expect("sigaction");
}

/// Sends itself that many signals; each is handled before the sending call returns.
pub(crate) fn sigreturn(times: u64) -> i32 {
    handle(Signal::SIGUSR1, SaFlags::empty());
    for _ in 0..times {
        kill(Pid::this(), Signal::SIGUSR1).expect("kill");
    }
    let handled = HANDLED.load(Ordering::Relaxed);
    say(&format!(
        "sigreturn tid={:07} count={handled}",
        kernel::tid()
    ));
    0
}

/// Three children, one after the other, each interrupted by this process when it sleeps in its
/// call.
pub(crate) fn restart() -> i32 {
    interrupted_read("read-restarted", SaFlags::SA_RESTART);
    interrupted_read("read-interrupted", SaFlags::empty());
    stopped_sleep();
    0
}

/// A `read` that a handled signal interrupts. With `SA_RESTART` it is entered again and gets its
/// byte.
fn interrupted_read(case: &str, flags: SaFlags) {
    let (data, data_writer) = pipe().expect("pipe");
    let (reports, reports_writer) = pipe().expect("pipe");
    let child = kernel::fork_to(|| read_with_handler(case, flags, &data, &reports_writer));
    let tid = child.as_raw();
    kernel::wait_until_blocked_in(tid, tid, libc::SYS_read);
    kill(child, Signal::SIGUSR1).expect("kill");
    assert_eq!(
        read(&reports, &mut [0; 1]),
        Ok(1),
        "the handler did not run"
    );
    if flags.contains(SaFlags::SA_RESTART) {
        kernel::wait_until_blocked_in(tid, tid, libc::SYS_read);
        write(&data_writer, b"d").expect("write");
    }
    kernel::wait_for(child);
}

fn read_with_handler(case: &str, flags: SaFlags, data: &OwnedFd, reports: &OwnedFd) -> i32 {
    REPORT_TO.store(reports.as_raw_fd(), Ordering::Relaxed);
    handle(Signal::SIGUSR1, flags);
    let result = read(data.as_fd(), &mut [0; 1]);
    let words = kernel::result_words(result.map(|length| length as i64));
    let tid = kernel::tid();
    say(&format!(
        "restart case={case} tid={tid:07} call=read fd={} {words}",
        data.as_raw_fd()
    ));
    0
}

/// A sleep of an hour that is stopped, goes on through `restart_syscall`, and is ended by a handled
/// signal.
fn stopped_sleep() {
    let child = kernel::fork_to(|| {
        handle(Signal::SIGUSR1, SaFlags::SA_RESTART);
        let hour = libc::timespec {
            tv_sec: 3600,
            tv_nsec: 0,
        };
        // SAFETY: the time outlives the call; the remainder is not asked for.
        let result = unsafe { libc::syscall(libc::SYS_nanosleep, &raw const hour, 0) };
        let words = kernel::result_words(Errno::result(result));
        say(&format!(
            "restart case=sleep-stopped tid={:07} call=nanosleep {words}",
            kernel::tid()
        ));
        0
    });
    let tid = child.as_raw();
    kernel::wait_until_blocked_in(tid, tid, libc::SYS_nanosleep);
    kill(child, Signal::SIGSTOP).expect("kill");
    let stopped = waitpid(child, Some(WaitPidFlag::WUNTRACED)).expect("waitpid");
    assert_eq!(stopped, WaitStatus::Stopped(child, Signal::SIGSTOP));
    kill(child, Signal::SIGCONT).expect("kill");
    let continued = waitpid(child, Some(WaitPidFlag::WCONTINUED)).expect("waitpid");
    assert_eq!(continued, WaitStatus::Continued(child));
    kernel::wait_until_blocked_in(tid, tid, libc::SYS_restart_syscall);
    kill(child, Signal::SIGUSR1).expect("kill");
    kernel::wait_for(child);
}
