//! The ways in which a task comes into being other than a plain fork, and how one becomes another
//! program.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicU32;
use std::sync::mpsc;
use std::thread;

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, pipe, read, setsid, write};

use crate::kernel::{self, say};

const CLONE3_CALLS: u64 = 30;
const CLONE3_STATUS: i32 = 7;
const DAEMON_CALLS: u64 = 50;

/// A child from `clone3` with a pidfd, waited for through it.
pub(crate) fn clone3() -> i32 {
    let mut pidfd: i32 = -1;
    // SAFETY: all bytes zero is a valid `clone_args`: no flag, no stack, no namespace.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = libc::CLONE_PIDFD as u64;
    arguments.pidfd = (&raw mut pidfd) as u64;
    arguments.exit_signal = libc::SIGCHLD as u64;
    let size = size_of::<libc::clone_args>();
    // SAFETY: the structure is whole and lives beyond the call; without a stack the child goes on
    // in a copy of ours.
    let result = unsafe { libc::syscall(libc::SYS_clone3, &raw mut arguments, size) };
    let child = match Errno::result(result).expect("clone3") {
        0 => {
            kernel::getpgid(CLONE3_CALLS);
            kernel::end(CLONE3_STATUS)
        }
        child => child,
    };
    // SAFETY: clone3 has just stored a new descriptor, which has no other owner.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    let status = waitid(Id::PIDFd(pidfd.as_fd()), WaitPidFlag::WEXITED).expect("waitid");
    let WaitStatus::Exited(_, status) = status else {
        panic!("the child ended with {status:?}");
    };
    say(&format!(
        "child pid={child:07} call=getpgid count={CLONE3_CALLS} status={status}"
    ));
    0
}

/// A grandchild in its own session, without stdio, which starts its work when the main process has
/// ended.
pub(crate) fn daemon() -> i32 {
    let main_process = pidfd_of(Pid::this());
    let (from_daemon, to_main) = pipe().expect("pipe");
    let middle = kernel::fork_to(|| {
        setsid().expect("setsid");
        let daemon = kernel::fork_to(|| work_after_the_end_of(main_process.as_fd()));
        let bytes = daemon.as_raw().to_ne_bytes();
        i32::from(write(&to_main, &bytes) != Ok(bytes.len()))
    });
    let status = kernel::wait_for(middle);
    let mut bytes = [0; 4];
    let length = read(&from_daemon, &mut bytes).expect("read");
    assert_eq!(
        (status, length),
        (0, bytes.len()),
        "the middle process could not report"
    );
    let daemon = i32::from_ne_bytes(bytes);
    say(&format!("middle pid={middle:07}"));
    say(&format!(
        "daemon pid={daemon:07} call=getpgid count={DAEMON_CALLS}"
    ));
    0
}

/// What the daemon does. It has no descriptor to report to: the main process has announced the
/// number of calls.
fn work_after_the_end_of(main_process: BorrowedFd<'_>) -> i32 {
    for stdio in 0..3 {
        // SAFETY: from here on the process prints nothing and holds no owner of these descriptors.
        unsafe { libc::close(stdio) };
    }
    let mut waited_for = [PollFd::new(main_process, PollFlags::POLLIN)];
    while poll(&mut waited_for, PollTimeout::NONE) == Err(Errno::EINTR) {}
    for _ in 0..DAEMON_CALLS {
        kernel::getpgid(1);
        // It takes its time, so that a tracer that leaves with the main process cannot have seen it
        // all.
        kernel::wait_for(kernel::fork_to(|| 0));
    }
    0
}

fn pidfd_of(process: Pid) -> OwnedFd {
    // SAFETY: pidfd_open takes two numbers.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, process.as_raw(), 0) };
    let descriptor = Errno::result(descriptor).expect("pidfd_open");
    let descriptor = i32::try_from(descriptor).expect("a descriptor");
    // SAFETY: pidfd_open has just returned it, and it has no other owner.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

/// Memory that is never changed or woken, for threads to wait on.
static NEVER_WOKEN: AtomicU32 = AtomicU32::new(0);

fn block_in_futex() {
    // SAFETY: the word is static; FUTEX_WAIT only reads it.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            NEVER_WOKEN.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            0,
            std::ptr::null::<libc::timespec>(),
        )
    };
}

/// The leader and one thread wait in `futex`, one in `read`, and the last of them executes another
/// program.
pub(crate) fn thread_exec() -> i32 {
    let (tell, told) = mpsc::channel();
    let leader = (kernel::tid(), "futex", libc::SYS_futex);
    let (never_written, _writer) = pipe().expect("pipe");
    let tell_from_reader = tell.clone();
    thread::spawn(move || {
        let _heard = tell.send((kernel::tid(), "futex", libc::SYS_futex));
        block_in_futex();
    });
    thread::spawn(move || {
        let _heard = tell_from_reader.send((kernel::tid(), "read", libc::SYS_read));
        let _never = read(&never_written, &mut [0; 1]);
    });
    thread::spawn(move || {
        for (tid, call, number) in std::iter::once(leader).chain(told.iter().take(2)) {
            kernel::wait_until_blocked_in(kernel::pid(), tid, number);
            say(&format!("blocked tid={tid:07} call={call}"));
        }
        say(&format!(
            "exec tid={:07} pid={:07} path=/bin/true",
            kernel::tid(),
            kernel::pid()
        ));
        let errno = kernel::execute(c"/bin/true");
        panic!("execve: {errno}");
    });
    block_in_futex();
    1
}

/// Executes itself that many times, each time with one less to go.
pub(crate) fn exec_self(times: u64) -> i32 {
    say(&format!("exec pid={:07} left={times}", kernel::pid()));
    let Some(left) = times.checked_sub(1) else {
        return 0;
    };
    let left = CString::new(left.to_string()).expect("digits");
    let words = [c"oracle", c"exec-self", left.as_c_str()];
    let Err(errno) = nix::unistd::execv(c"/proc/self/exe", &words);
    say(&format!("failed call=execve errno={errno:?}"));
    1
}

/// Executes the command with stdin, stdout and stderr and nothing else: tests start from here,
/// whatever they inherit.
pub(crate) fn tidy(program: &str, command: &[&str]) -> i32 {
    // SAFETY: nothing owns a descriptor above stderr yet, and the program is replaced.
    unsafe { libc::close_range(3, libc::c_uint::MAX, 0) };
    let text = |word: &&str| CString::new(*word).expect("arguments hold no null");
    let words: Vec<CString> = command.iter().map(text).collect();
    let Err(errno) = nix::unistd::execvp(&text(&program), &words);
    eprintln!("oracle: `{program}`: {errno}");
    127
}
