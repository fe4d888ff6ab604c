//! Reaping a child, and what it used.

use super::super::check;
use crate::units::{ExitKind, Usage};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// The end of a process, and what it and the descendants that were waited for used.
#[derive(Clone, Copy, Debug)]
pub struct Reaped {
    /// How it ended.
    pub exit: ExitKind,
    /// What was used.
    pub usage: Usage,
}

/// Reaps a child; `None` if it lives on and `wait` is false.
///
/// # Errors
/// Those of `waitid(2)`, but not `EINTR`.
///
/// # References
/// `waitid(2)`, whose fifth argument the C library does not show ("C library/kernel differences").
pub fn reap(pidfd: BorrowedFd<'_>, wait: bool) -> io::Result<Option<Reaped>> {
    let options = libc::WEXITED | if wait { 0 } else { libc::WNOHANG };
    loop {
        // SAFETY: both are plain numbers, for which all zeroes is valid.
        let (mut info, mut usage): (libc::siginfo_t, libc::rusage) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        // SAFETY: both structures are whole; the kernel writes to them.
        let waited = check(unsafe {
            libc::syscall(
                libc::SYS_waitid,
                libc::P_PIDFD,
                pidfd.as_raw_fd(),
                &raw mut info,
                options,
                &raw mut usage,
            )
        });
        match waited {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            // SAFETY: the kernel has filled in the members of a child's end, or left zeroes.
            Ok(_) if unsafe { info.si_pid() } == 0 => return Ok(None),
            Ok(_) => {
                // SAFETY: as above.
                let status = unsafe { info.si_status() };
                let exit = match info.si_code {
                    libc::CLD_EXITED => ExitKind::Code(status),
                    _ => ExitKind::Signal(status),
                };
                let usage = usage_of(&usage);
                return Ok(Some(Reaped { exit, usage }));
            }
        }
    }
}

fn usage_of(usage: &libc::rusage) -> Usage {
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
    };
    Usage {
        cpu: Some(time(usage.ru_utime) + time(usage.ru_stime)),
        largest_process: Some(usage.ru_maxrss as u64 * 1024),
        context_switches: Some((usage.ru_nvcsw + usage.ru_nivcsw) as u64),
        ..Usage::default()
    }
}

/// Adds a word of an init's last message to the usage: `kind` is the message's second word, from 2
/// on.
pub fn add_to(usage: &mut Usage, kind: u32, word: u32) {
    let time = usage.cpu.unwrap_or_default();
    match kind {
        2 => usage.cpu = Some(time + Duration::from_secs(word.into())),
        3 => usage.cpu = Some(time + Duration::from_micros(word.into())),
        4 => usage.largest_process = Some(u64::from(word) * 1024),
        5 => usage.context_switches = Some(word.into()),
        _ => {}
    }
}
