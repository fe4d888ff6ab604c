//! Processes watched through descriptors: their end is waited for, never slept for.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::PATIENCE;

/// A process that may be any process' child, or already reaped.
#[derive(Debug)]
pub(crate) struct Watched {
    pid: i32,
    pidfd: OwnedFd,
}

impl Watched {
    /// Starts to watch; nothing where no such process is left.
    pub(crate) fn new(pid: i32) -> Option<Self> {
        match pidfd_open(pid) {
            Ok(pidfd) => Some(Self { pid, pidfd }),
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => None,
            Err(error) => panic!("pidfd_open: {error}"),
        }
    }

    /// Whether it has ended within that time; one that has ended and waits for its parent has.
    pub(crate) fn ends_within(&self, time: Duration) -> bool {
        is_ready(&self.pidfd, time)
    }

    /// Waits until its parent has taken note of its end.
    pub(crate) fn wait_until_reaped(&self) {
        self.wait();
        let end = Instant::now() + PATIENCE;
        // Only the id tells of this end: it is in use no more. Signal 0 is none.
        while kill(Pid::from_raw(self.pid), None) != Err(nix::Error::ESRCH) {
            assert!(Instant::now() < end, "not reaped: {}", describe(self.pid));
            std::thread::yield_now();
        }
    }

    /// Its name, as `comm` has it; empty where it is gone.
    pub(crate) fn name(&self) -> String {
        let name = fs::read_to_string(format!("/proc/{}/comm", self.pid)).unwrap_or_default();
        name.trim_end().to_owned()
    }

    /// Ends it.
    pub(crate) fn kill(&self) {
        self.send(Signal::SIGKILL);
    }

    /// Sends it a signal.
    pub(crate) fn send(&self, signal: Signal) {
        // It may have ended in the meantime, which is as well.
        let _ended = kill(Pid::from_raw(self.pid), signal);
    }

    /// Waits for its end.
    pub(crate) fn wait(&self) {
        assert!(
            self.ends_within(PATIENCE),
            "process {} lives on: {}",
            self.pid,
            describe(self.pid)
        );
    }
}

/// A program that a test has started and means to kill: killed with the test, too.
#[derive(Debug)]
pub(crate) struct Started(Child);

impl Started {
    /// Starts it.
    pub(crate) fn new(command: &mut Command) -> Self {
        Self(command.spawn().expect("the program"))
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Its end of a pipe.
    pub(crate) fn stdout(&mut self) -> ChildStdout {
        self.0.stdout.take().expect("a pipe")
    }

    /// Sends it a signal, waits for its end and gives its status as a shell has it.
    pub(crate) fn end_by(&mut self, signal: Signal) -> i32 {
        let pid = self.0.id().cast_signed();
        kill(Pid::from_raw(pid), signal).expect("kill");
        Watched::new(pid)
            .expect("a child that only this reaps")
            .wait();
        let status = self.0.wait().expect("wait");
        status
            .code()
            .unwrap_or_else(|| 128 + status.signal().expect("a signal"))
    }
}

impl Started {
    /// Waits for its end, and gives its status.
    pub(crate) fn wait(&mut self) -> i32 {
        let pid = self.0.id().cast_signed();
        Watched::new(pid)
            .expect("a child that only this reaps")
            .wait();
        let status = self.0.wait().expect("wait");
        status.code().expect("an exit status")
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Both fail where it has ended, which is as well.
        let _ended = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Whether this process, and so what it starts, ignores a signal: `SigIgn` of `proc_pid_status(5)`.
pub(crate) fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("a process has a status");
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .expect("a mask in hexadecimal digits");
    mask >> (signal as i32 - 1) & 1 != 0
}

/// Whether the descriptor becomes readable, or reaches its end, within that time.
pub(crate) fn is_ready(descriptor: &impl AsFd, time: Duration) -> bool {
    any_is_ready(&[descriptor.as_fd()], time)
}

/// Whether one of the descriptors does.
pub(crate) fn any_is_ready(descriptors: &[BorrowedFd<'_>], time: Duration) -> bool {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let milliseconds = u16::try_from(left.as_millis()).unwrap_or(u16::MAX);
        let mut ready: Vec<PollFd<'_>> = descriptors
            .iter()
            .map(|fd| PollFd::new(*fd, PollFlags::POLLIN))
            .collect();
        match poll(&mut ready, PollTimeout::from(milliseconds)) {
            Ok(0) if left.is_zero() => return false,
            Ok(0) | Err(nix::Error::EINTR) => {}
            Ok(_) => return true,
            Err(error) => panic!("poll: {error}"),
        }
    }
}

/// Waits until no process is left whose environment names the folder. All that a run of the program
/// starts inherits such an environment: the program's own has its temporary folder in it.
pub(crate) fn wait_for_all_in(folder: &Path) {
    let end = Instant::now() + PATIENCE;
    loop {
        let left = all_in(folder);
        if left.is_empty() {
            return;
        }
        for process in left {
            let time = end.saturating_duration_since(Instant::now());
            let described = describe(process.pid);
            assert!(
                process.ends_within(time),
                "process {} was left: {described}",
                process.pid
            );
        }
    }
}

/// The living processes whose environment names the folder.
pub(crate) fn all_in(folder: &Path) -> Vec<Watched> {
    let folder = folder.as_os_str().as_encoded_bytes();
    let entries = fs::read_dir("/proc").expect("/proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(folder.len()).any(|part| part == folder)
    })
    .filter_map(Watched::new)
    .filter(|process| !process.ends_within(Duration::ZERO))
    .collect()
}

fn describe(pid: i32) -> String {
    let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
    format!(
        "`{}` {}",
        command.trim(),
        String::from_utf8_lossy(&read("stat")).trim()
    )
}

/// # References
/// `pidfd_open(2)`, of which neither nix nor the standard library has a wrapper.
#[expect(unsafe_code, reason = "a call without a safe wrapper")]
fn pidfd_open(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two numbers.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let descriptor = RawFd::try_from(descriptor).expect("a descriptor");
    if descriptor == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it, and it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
