//! The calls that every subcommand is made of, each a single system call or as near to it as the C
//! library allows.

use std::ffi::CStr;
use std::fs;
use std::os::fd::BorrowedFd;

use nix::errno::Errno;
use nix::libc;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, write};

/// Prints one line in one `write`, so that lines of several processes do not mix.
///
/// Ids are printed with seven digits, as many as the largest has: what `write` returns is then the
/// same in each run.
pub(crate) fn say(line: &str) {
    let text = format!("{line}\n");
    // SAFETY: descriptor 1 is never closed by this program while it still has something to say.
    let stdout = unsafe { BorrowedFd::borrow_raw(libc::STDOUT_FILENO) };
    // There may be no reader: what cannot be written is not worth failing for.
    let _unheard = write(stdout, text.as_bytes());
}

/// The thread's id.
pub(crate) fn tid() -> i32 {
    nix::unistd::gettid().as_raw()
}

/// The process's id.
pub(crate) fn pid() -> i32 {
    std::process::id().cast_signed()
}

/// Makes a call that takes no argument and changes nothing.
pub(crate) fn call_without_arguments(number: i64) -> Result<i64, Errno> {
    // SAFETY: the numbers that callers pass are getpid, in one ABI or another, or no call at all;
    // none touches memory.
    Errno::result(unsafe { libc::syscall(number) })
}

/// Calls `getppid` so many times.
pub(crate) fn getppid(times: u64) {
    for _ in 0..times {
        // SAFETY: getppid takes no argument and cannot fail.
        unsafe { libc::syscall(libc::SYS_getppid) };
    }
}

/// Calls `getpgid` on the caller itself so many times.
pub(crate) fn getpgid(times: u64) {
    for _ in 0..times {
        // SAFETY: getpgid takes a number.
        unsafe { libc::syscall(libc::SYS_getpgid, 0) };
    }
}

/// The words `ret=` and `errno=` for a result as the caller saw it.
pub(crate) fn result_words(result: Result<i64, Errno>) -> String {
    match result {
        Ok(value) => format!("ret={value} errno=-"),
        Err(errno) => format!("ret=-1 errno={errno:?}"),
    }
}

/// Forks; the child runs `child` and ends with what it returns.
///
/// Only called while the process has one thread.
pub(crate) fn fork_to(child: impl FnOnce() -> i32) -> Pid {
    // SAFETY: the process has one thread, so the child may do whatever the parent may.
    match unsafe { fork() }.expect("fork") {
        ForkResult::Parent { child } => child,
        ForkResult::Child => end(child()),
    }
}

/// Ends the process without running what the parent has registered for its own end.
pub(crate) fn end(status: i32) -> ! {
    // SAFETY: `_exit` takes a number and does not return.
    unsafe { libc::_exit(status) }
}

/// Waits for the child and returns its status as a shell has it: the code, or 128 + the signal.
pub(crate) fn wait_for(child: Pid) -> i32 {
    match waitpid(child, None).expect("waitpid") {
        WaitStatus::Exited(_, status) => status,
        WaitStatus::Signaled(_, signal, _) => 128 + signal as i32,
        other => panic!("a wait without flags returned {other:?}"),
    }
}

/// Returns when the thread sleeps inside the call of that number.
///
/// It asks again and again instead of sleeping for a while, so that it is right on a machine of any
/// speed.
pub(crate) fn wait_until_blocked_in(pid: i32, tid: i32, number: i64) {
    let is_blocked = || {
        let call = fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).ok()?;
        let inside = call.split(' ').next()?.parse() == Ok(number);
        // The name may hold blanks and parentheses; the state follows the last of them.
        let (_, after_name) = stat.rsplit_once(") ")?;
        Some(inside && after_name.starts_with('S'))
    };
    while is_blocked() != Some(true) {
        std::thread::yield_now();
    }
}

/// Executes a program of the standard path that takes no argument.
pub(crate) fn execute(path: &CStr) -> Errno {
    let Err(errno) = nix::unistd::execv(path, &[path]);
    errno
}

/// Keeps a death by a core-dumping signal from leaving a file.
pub(crate) fn no_core_file() {
    setrlimit(Resource::RLIMIT_CORE, 0, 0).expect("setrlimit");
}
