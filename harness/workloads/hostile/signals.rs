//! Signals: refused, sent to everybody, and died of.

use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::kernel::{fork, kill, reap_all, wait_for_ever};

const ALL: std::ops::RangeInclusive<i32> = 1..=64;

fn set_all(disposition: libc::sighandler_t) {
    for signal in ALL {
        // SAFETY: the handler does nothing. Where a signal cannot be had, as with SIGKILL, nothing
        // changes.
        unsafe { libc::signal(signal, disposition) };
    }
}

/// Ignores what can be ignored, as do its children.
pub(crate) fn ignores() -> i32 {
    set_all(libc::SIG_IGN);
    for _ in 0..3 {
        fork(|| wait_for_ever());
    }
    wait_for_ever()
}

extern "C" fn nothing(_: i32) {}

/// Has a handler for every signal, and blocks them as well.
pub(crate) fn handles() -> i32 {
    set_all(nothing as extern "C" fn(i32) as libc::sighandler_t);
    let all = nix::sys::signal::SigSet::all();
    all.thread_block().expect("sigprocmask");
    wait_for_ever()
}

/// Neither ends nor can be asked to.
pub(crate) fn stops_itself() -> i32 {
    kill(std::process::id().cast_signed(), libc::SIGSTOP).expect("kill");
    wait_for_ever()
}

/// Stops whomever it can reach, then itself.
pub(crate) fn stops_all() -> i32 {
    for _ in 0..3 {
        fork(|| wait_for_ever());
    }
    kill(-1, libc::SIGSTOP).expect("kill");
    stops_itself()
}

/// Kills whomever it can reach, which are its children.
pub(crate) fn kills_all() -> i32 {
    for _ in 0..3 {
        fork(|| wait_for_ever());
    }
    kill(-1, libc::SIGKILL).expect("kill");
    reap_all();
    0
}

/// Kills its process group, which another process may have made.
pub(crate) fn kills_its_group() -> i32 {
    kill(0, libc::SIGKILL).expect("kill");
    wait_for_ever()
}

/// Sends every signal to process 1, to its parent and to their groups.
pub(crate) fn kills_init() -> i32 {
    let parent = nix::unistd::getppid().as_raw();
    for signal in [libc::SIGSTOP, libc::SIGKILL].into_iter().chain(ALL) {
        for pid in [1, parent] {
            let _refused = kill(pid, signal);
        }
    }
    0
}

/// Leaves a core file as large as may be.
pub(crate) fn segfaults() -> i32 {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_CORE) {
        setrlimit(Resource::RLIMIT_CORE, hard, hard).expect("setrlimit");
    }
    let nowhere = std::ptr::without_provenance_mut::<u8>(8);
    // SAFETY: none: nothing is mapped there, and the signal is what is wanted.
    unsafe { nowhere.write_volatile(1) };
    0
}

/// Dies of what a thread does while others sleep.
pub(crate) fn aborts_in_a_thread() -> i32 {
    let _sleeper = std::thread::spawn(|| wait_for_ever());
    let _aborter = std::thread::spawn(|| std::process::abort());
    wait_for_ever()
}
