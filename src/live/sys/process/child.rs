//! What runs in the child between `clone3(2)` and `execve(2)`: system calls and nothing else.
//!
//! The parent has many threads, of which the child has one and a copy of all locks: it must not
//! allocate, panic, print or take a lock.

use super::descriptors::{Ends, GATE, GO, OBITUARY, STATUS, keep_descriptors, place_descriptors};
use super::landlock;
use super::message::{OVERDUE, READY};
use super::prepared::{InitOf, Prepared};
use super::{CLAIM, Stage, step};
use crate::sys::{disposed, rights, standard};
use libc::c_int;

/// The child, from its first instruction to `execve(2)`.
///
/// # Safety
/// Only in a child made without `CLONE_VM`; every pointer in `prepared` must be valid there.
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a straight line of system calls"
)]
pub(super) unsafe fn main(prepared: &Prepared<'_>) -> ! {
    // SAFETY: the caller's promise; each call below takes numbers or those pointers.
    unsafe {
        let (go, status) = (prepared.go, prepared.status);
        let here = Ends { go, status };
        match &prepared.own {
            None => {
                or_die(status, Stage::Descriptors, keep_descriptors(prepared));
                or_die(status, Stage::User, give_rights_back());
                or_die(status, Stage::Signals, reset_signals(prepared));
                if prepared.own_session && libc::setsid() == -1 {
                    or_die(status, Stage::Session, Err(errno()));
                }
                settle(prepared, here);
                wait_for_go(here, prepared.token);
                if let Some(gate) = &prepared.gate {
                    or_die(
                        status,
                        Stage::Gate,
                        gate.install(gate.socket, prepared.token),
                    );
                }
                refuse(prepared, here);
                execute(prepared, here)
            }
            Some(own) => {
                or_die(status, Stage::Descriptors, place_descriptors(prepared));
                if rights::are_lent() {
                    // It writes to files of its own in procfs, which are root's where a process is
                    // not dumpable. All descriptors of the harness are closed by now, and its
                    // capabilities here count for its own user namespace alone.
                    libc::prctl(libc::PR_SET_DUMPABLE, 1);
                }
                or_die(STATUS, Stage::Signals, reset_signals(prepared));
                init(prepared, own)
            }
        }
    }
}

/// Of rights that were lent to the harness nothing reaches a command on the bare host, and no
/// program that it executes gives it others: what was lent would show what such a program does,
/// which its user may not see. So set-user-ID bits do not count there, as under strace.
unsafe fn give_rights_back() -> Result<(), c_int> {
    if !rights::are_lent() {
        return Ok(());
    }
    rights::forget();
    // SAFETY: prctl takes numbers.
    match unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } {
        -1 => Err(errno()),
        _ => Ok(()),
    }
}

/// Pid 1 of the namespace: lays its world out, starts the main process at the go, reaps every
/// orphan, reports the main process' end, and ends when no other process is left.
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a straight line of system calls"
)]
unsafe fn init(prepared: &Prepared<'_>, own: &InitOf<'_>) -> ! {
    // SAFETY: the caller's promise, as in main().
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::setsid();
        for (place, step) in (0..).zip(own.steps) {
            or_die(STATUS, Stage::Step(place), step::take(step));
        }
        // A process that changes its credentials may lose this signal (commit_creds()). The end of
        // the go pipe tells of a harness that died before.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if let Some((start, length)) = own.words {
            let blotted = std::ptr::with_exposed_provenance_mut::<u8>(start);
            blotted.write_bytes(0, length);
        }
        libc::prctl(libc::PR_SET_NAME, c"sandbox-init".as_ptr());
        let ends = Ends {
            go: GO,
            status: STATUS,
        };
        send(STATUS, READY, 0);
        wait_for_go(ends, prepared.token);
        // Events are open now, which an ordinary user may open on a dumpable process only. From
        // here on no process of the world may look into this copy of the harness, whatever its
        // capabilities there (__ptrace_may_access()).
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        // In init's memory, which waits meanwhile: the copy that a fork makes is thrown away by the
        // execve.
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let (stack, prepared) = (prepared.stack.cast(), std::ptr::from_ref(prepared));
        let main = libc::clone(main_process, stack, flags, prepared.cast_mut().cast());
        if main == -1 {
            or_die(STATUS, Stage::Fork, Err(errno()));
        }
        libc::syscall(libc::SYS_close_range, 0, STATUS, 0);
        libc::close(GATE);
        send(OBITUARY, main as u32, 0);
        if let Some(lasts) = own.lasts {
            let mut action: libc::sigaction = std::mem::zeroed();
            let end = end_all as extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void);
            action.sa_sigaction = end as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut());
            let seconds = u32::try_from(lasts.as_secs()).unwrap_or(u32::MAX);
            libc::alarm(seconds.saturating_add(1));
        }
        loop {
            let mut status: c_int = 0;
            let reaped = libc::wait4(-1, &raw mut status, 0, std::ptr::null_mut());
            if reaped == main {
                send(OBITUARY, status as u32, 1);
            } else if reaped == -1 && errno() != libc::EINTR {
                send_usage();
                libc::_exit(0);
            }
        }
    }
}

/// Tells the harness that the time of its world is over and ends all other processes of it, and
/// again a second later: one may be born while the signals are sent. The world's own processes may
/// send init this signal too, which means nothing: the kernel's alone has its code.
extern "C" fn end_all(_: c_int, from: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands over a whole siginfo_t.
    if unsafe { (*from).si_code } != libc::SI_KERNEL {
        return;
    }
    // SAFETY: a call that may be made in a handler (`signal-safety(7)`), as the next two.
    unsafe { send(OBITUARY, 0, OVERDUE) };
    // SAFETY: numbers by value.
    unsafe { libc::kill(-1, libc::SIGKILL) };
    // SAFETY: a number by value.
    unsafe { libc::alarm(1) };
}

/// The main process of a world, from its first instruction to `execve(2)`.
extern "C" fn main_process(prepared: *mut libc::c_void) -> c_int {
    let ends = Ends {
        go: GO,
        status: STATUS,
    };
    // SAFETY: init hands over what it was given itself, and waits for the execve.
    let prepared = unsafe { &*prepared.cast_const().cast::<Prepared<'_>>() };
    // SAFETY: the straight line of system calls that init goes on with, of a process of its own.
    unsafe {
        if libc::setsid() == -1 {
            or_die(STATUS, Stage::Session, Err(errno()));
        }
        if let Some(own) = &prepared.own {
            or_die(STATUS, Stage::User, become_user(own));
            // Another user's memory is as dumpable as `fs.suid_dumpable` says, and it is init's.
            libc::prctl(libc::PR_SET_DUMPABLE, 0);
        }
        settle(prepared, ends);
        if let Some(gate) = &prepared.gate {
            or_die(STATUS, Stage::Gate, gate.install(GATE, prepared.token));
        }
        refuse(prepared, ends);
        execute(prepared, ends)
    }
}

/// Sends the usage of all processes that init has reaped, as far as 32 bits hold each number.
unsafe fn send_usage() {
    // SAFETY: plain numbers, for which all zeroes is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes to the structure.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    let micros = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    let words = [
        usage.ru_utime.tv_sec + usage.ru_stime.tv_sec,
        micros,
        usage.ru_maxrss,
        usage.ru_nvcsw + usage.ru_nivcsw,
    ];
    for (word, kind) in words.into_iter().zip(2..) {
        // SAFETY: as in main().
        unsafe { send(OBITUARY, word as u32, kind) };
    }
}

/// Default disposition for every signal, and none blocked; or both as the harness was started with.
unsafe fn reset_signals(prepared: &Prepared<'_>) -> Result<(), c_int> {
    let is_as_ours = prepared.is_as_ours && prepared.own.is_none();
    if !prepared.is_of_starter {
        // SAFETY: makes system calls alone.
        unsafe { dispose_signals(|signal| is_as_ours && disposed::was_ignored(signal)) };
    }
    let blocked = if is_as_ours { disposed::blocked() } else { 0 };
    // SAFETY: as above.
    unsafe { block_signals(blocked) }
}

/// Default disposition for every signal, but for those that are to be ignored.
pub(super) unsafe fn dispose_signals(is_ignored: impl Fn(c_int) -> bool) {
    // The kernel's own sigaction, four words of which SIG_DFL makes zeroes, and SIG_IGN but the
    // first; libc's wrappers refuse the two signals it keeps for itself.
    let null = std::ptr::null::<u64>();
    for signal in 1..=64 {
        if signal != libc::SIGKILL && signal != libc::SIGSTOP {
            let handler = match is_ignored(signal) {
                true => libc::SIG_IGN,
                false => libc::SIG_DFL,
            };
            let action = [handler as u64, 0, 0, 0];
            // SAFETY: the structure is as long as the kernel reads.
            unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, action.as_ptr(), null, 8) };
        }
    }
}

/// Has these signals blocked, and no others.
pub(super) unsafe fn block_signals(mask: u64) -> Result<(), c_int> {
    let (how, null) = (libc::SIG_SETMASK, std::ptr::null::<u64>());
    // SAFETY: the mask is as long as the kernel reads.
    match unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, &raw const mask, null, 8) } {
        -1 => Err(errno()),
        _ => Ok(()),
    }
}

/// Closed descriptors, directory, file mode mask, limits, personality and rules.
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a straight line of system calls"
)]
unsafe fn settle(prepared: &Prepared<'_>, ends: Ends) {
    // SAFETY: the directory is null or a valid string; the rest are numbers.
    unsafe {
        if prepared.is_as_ours {
            standard::close_on_exec();
        }
        if !prepared.directory.is_null() && libc::chdir(prepared.directory) == -1 {
            or_die(ends.status, Stage::Directory, Err(errno()));
        }
        if let Some(mask) = prepared.umask {
            libc::umask(mask);
        }
        for place in 0..prepared.n_limits {
            let limit = &*prepared.limits.add(place);
            let (resource, value) = (
                limit.resource as libc::__rlimit_resource_t,
                libc::rlimit {
                    rlim_cur: limit.soft,
                    rlim_max: limit.hard,
                },
            );
            if libc::setrlimit(resource, &raw const value) == -1 {
                or_die(ends.status, Stage::Limits, Err(errno()));
            }
        }
        if prepared.fixed_addresses {
            let now = libc::personality(0xffff_ffff) as libc::c_ulong;
            if libc::personality(now | libc::ADDR_NO_RANDOMIZE as libc::c_ulong) == -1 {
                or_die(ends.status, Stage::Personality, Err(errno()));
            }
        }
        if let Some(ruled) = prepared.ruled {
            or_die(ends.status, Stage::Rules, landlock::restrict(ruled));
        }
    }
}

/// The kernel's own calls: libc's wrappers speak to the threads that it knows of, which this copy
/// of the process has not.
unsafe fn become_user(own: &InitOf<'_>) -> Result<(), c_int> {
    let Some((uid, gid, groups)) = own.user else {
        return Ok(());
    };
    let groups = (groups.len(), groups.as_ptr());
    let calls = [(libc::SYS_setresgid, gid), (libc::SYS_setresuid, uid)];
    // SAFETY: as many groups as are said.
    if unsafe { libc::syscall(libc::SYS_setgroups, groups.0, groups.1) } == -1 {
        return Err(errno());
    }
    for (call, id) in calls {
        // SAFETY: numbers only.
        if unsafe { libc::syscall(call, id, id, id) } == -1 {
            return Err(errno());
        }
    }
    Ok(())
}

/// Blocks until the harness lets go; leaves where it has given up.
unsafe fn wait_for_go(ends: Ends, token: u64) {
    let mut byte = 0_u8;
    loop {
        // SAFETY: one byte into a byte.
        let got = unsafe { libc::read(ends.go, (&raw mut byte).cast(), 1) };
        if got == 1 {
            // SAFETY: numbers only; the kernel knows no such option.
            unsafe { libc::prctl(CLAIM, token) };
            return;
        }
        if got == 0 || errno() != libc::EINTR {
            // SAFETY: ends the process.
            unsafe { libc::_exit(0) }
        }
    }
}

/// Has calls refused, behind all that the cork does but its `execve(2)`.
unsafe fn refuse(prepared: &Prepared<'_>, ends: Ends) {
    let Some(refusing) = &prepared.refusing else {
        return;
    };
    // SAFETY: in the child, with the filter that was laid out.
    if let Err(error) = unsafe { refusing.install(prepared.token) } {
        // SAFETY: as in execute().
        unsafe { fail(ends, prepared.token, (Stage::Policy, error)) }
    }
}

/// Calls may be held from here on, but for those that have the token as their last word, which the
/// kernel does not look at.
unsafe fn execute(prepared: &Prepared<'_>, ends: Ends) -> ! {
    let (argv, envp, token) = (prepared.argv, prepared.envp, prepared.token);
    // SAFETY: NULL-terminated arrays of valid strings, by the caller's promise.
    unsafe { libc::syscall(libc::SYS_execve, prepared.program, argv, envp, 0, 0, token) };
    // SAFETY: the end of the process.
    unsafe { fail(ends, token, (Stage::Exec, errno())) }
}

/// Says what failed, and ends the process, by calls with the token.
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a straight line of system calls"
)]
unsafe fn fail(ends: Ends, token: u64, (stage, error): (Stage, c_int)) -> ! {
    let words = [stage.number(), error as u32];
    // SAFETY: eight bytes of our own, and the end of the process.
    unsafe {
        libc::syscall(libc::SYS_write, ends.status, words.as_ptr(), 8, 0, 0, token);
        libc::syscall(libc::SYS_exit_group, 127, 0, 0, 0, 0, token);
        libc::_exit(127)
    }
}

unsafe fn or_die(status: c_int, stage: Stage, result: Result<(), c_int>) {
    if let Err(error) = result {
        // SAFETY: writes to a pipe and ends the process.
        unsafe {
            send(status, stage.number(), error as u32);
            libc::_exit(127)
        }
    }
}

/// Two words in one write, which a pipe takes whole.
unsafe fn send(fd: c_int, first: u32, second: u32) {
    let words = [first, second];
    // SAFETY: eight bytes of our own. The write fails if the reader has gone, which needs no
    // report.
    unsafe { libc::write(fd, words.as_ptr().cast(), 8) };
}

pub(super) fn errno() -> c_int {
    // SAFETY: the address of the calling thread's errno is always valid.
    unsafe { *libc::__errno_location() }
}
