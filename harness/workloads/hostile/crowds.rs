//! Processes and threads: too many, too short, or in an unusual order.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use nix::libc;

use crate::kernel::{call, end, fork, orphan, reap_all, try_fork, wait_for_ever};

/// Every process forks until none may any more.
pub(crate) fn fork_bomb() -> i32 {
    loop {
        // The child goes round, too.
        if call(libc::SYS_clone, &[libc::SIGCHLD as usize]).is_err() {
            wait_for_ever();
        }
    }
}

/// Children that end at once and that no process waits for.
pub(crate) fn fork_storm() -> i32 {
    // SAFETY: to ignore a signal runs no code of this program.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    loop {
        let _too_many = try_fork(|| 0);
    }
}

/// Threads until no more may be.
pub(crate) fn thread_bomb() -> i32 {
    while thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(|| wait_for_ever())
        .is_ok()
    {}
    wait_for_ever()
}

/// Executes itself, for ever.
pub(crate) fn exec_loop() -> i32 {
    let path = c"/proc/self/exe";
    let words = [path, c"exec-loop"].map(CStr::to_owned);
    let Err(error) = nix::unistd::execv(path, &words);
    panic!("execv: {error}");
}

/// Dead children that it never reaps.
pub(crate) fn zombies() -> i32 {
    for _ in 0..40 {
        let child = fork(|| 0);
        // Until it is dead, but not reaped.
        // SAFETY: all bytes zero is a valid `siginfo_t`.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let flags = (libc::WEXITED | libc::WNOWAIT) as usize;
        let wait = [
            libc::P_PID as usize,
            child as usize,
            (&raw mut info) as usize,
            flags,
        ];
        call(libc::SYS_waitid, &wait).expect("waitid");
    }
    0
}

/// A chain in which each parent ends before its child, up to the last.
pub(crate) fn orphans() -> i32 {
    fn link(left: u32) -> i32 {
        if left > 0 {
            orphan(|| link(left - 1));
        }
        0
    }
    // Otherwise the last of them could outlive it.
    nix::sys::prctl::set_child_subreaper(true).expect("prctl");
    link(20);
    reap_all();
    0
}

/// A parent that the kernel keeps until its child executes something, which it never does.
pub(crate) fn vfork_without_exec() -> i32 {
    let flags = (libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD) as usize;
    // The child uses its parent's stack, but the parent never goes on.
    call(libc::SYS_clone, &[flags]).expect("clone");
    wait_for_ever()
}

/// The main thread ends; later another one ends the process.
pub(crate) fn leader_ends_first() -> i32 {
    let leader = std::process::id();
    thread::spawn(move || {
        let state = || {
            let stat = std::fs::read_to_string(format!("/proc/self/task/{leader}/stat"));
            let stat = stat.expect("procfs");
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| rest.starts_with('Z'))
        };
        while !state() {
            thread::yield_now();
        }
        end(5)
    });
    let _never_returns = call(libc::SYS_exit, &[0]);
    0
}

/// The main thread ends and others never do.
pub(crate) fn leader_ends_alone() -> i32 {
    thread::spawn(|| wait_for_ever());
    let _never_returns = call(libc::SYS_exit, &[0]);
    0
}

/// Some fork as fast as they can while the process ends.
pub(crate) fn ends_while_others_fork() -> i32 {
    static FORKED: AtomicU32 = AtomicU32::new(0);
    for _ in 0..4 {
        thread::spawn(|| {
            // Fewer in all than the limit, which a busy machine would otherwise let them reach
            // before the end.
            for _ in 0..16 {
                if try_fork(|| wait_for_ever()).is_ok() {
                    FORKED.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    while FORKED.load(Ordering::Relaxed) < 8 {
        thread::yield_now();
    }
    end(0)
}

/// Uses a CPU, and asks the kernel nothing.
pub(crate) fn spins() -> i32 {
    loop {
        std::hint::spin_loop();
    }
}

/// Uses nothing.
pub(crate) fn sleeps() -> i32 {
    wait_for_ever()
}
