//! `ptrace(2)`, which stops processes where no signal reaches them.

use nix::libc;

use crate::kernel::{call, fork, kill, wait_for_ever, word};

fn ptrace(request: u32, pid: i32, data: i32) -> Result<usize, nix::errno::Errno> {
    call(
        libc::SYS_ptrace,
        &[request as usize, word(pid), 0, word(data)],
    )
}

/// Leaves a stopped tracee behind, which its end does not kill.
pub(crate) fn leaves() -> i32 {
    let child = fork(|| {
        ptrace(libc::PTRACE_TRACEME, 0, 0).expect("ptrace");
        kill(std::process::id().cast_signed(), libc::SIGSTOP).expect("kill");
        wait_for_ever()
    });
    call(libc::SYS_wait4, &[word(child), 0, libc::WUNTRACED as usize]).expect("wait4");
    0
}

/// Process 1 is not to be had: neither stopped nor read.
pub(crate) fn of_init() -> i32 {
    for request in [libc::PTRACE_ATTACH, libc::PTRACE_SEIZE] {
        if ptrace(request, 1, 0).is_ok() {
            return 1;
        }
    }
    0
}

/// Has a child that stops when it is killed, before it is dead, for as long as its tracer likes.
pub(crate) fn holds_the_exit() -> i32 {
    let child = fork(|| wait_for_ever());
    ptrace(libc::PTRACE_SEIZE, child, libc::PTRACE_O_TRACEEXIT).expect("ptrace");
    kill(child, libc::SIGKILL).expect("kill");
    wait_for_ever()
}
