//! The process of a workload, as its parent sees it.

use super::cgroup::Members;
use super::output::Reader;
use crate::sys::process;
use crate::units::{ExitKind, Pid};
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// The process and our ends of its pipes; ended and reaped when dropped.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) pidfd: OwnedFd,
    pub(super) main_pid: Option<i32>,
    pub(super) exit: Option<ExitKind>,
    pub(super) killed: bool,
    pub(super) reaped: bool,
    pub(super) obituary: Option<OwnedFd>,
    pub(super) outputs: Option<[Reader; 2]>,
    pub(super) has_init: bool,
    /// The group that ends with it.
    pub(super) group: Option<Members>,
}

impl Process {
    pub(super) fn collect(&mut self) -> io::Result<()> {
        for reader in self.outputs.iter_mut().flatten() {
            reader.take()?;
        }
        self.read_obituary()?;
        self.reap(false)
    }

    /// Two messages of eight bytes: the main process' pid, then its wait status.
    pub(super) fn read_obituary(&mut self) -> io::Result<()> {
        while let Some(pipe) = &self.obituary {
            let mut message = [0; 8];
            match nix::unistd::read(pipe, &mut message) {
                Ok(8) => {
                    let [a, b, c, d, is_status, ..] = message;
                    let word = i32::from_ne_bytes([a, b, c, d]);
                    if is_status == 1 {
                        self.exit = ExitKind::from_wait_status(word);
                    } else {
                        self.main_pid = Some(word);
                    }
                }
                Ok(_) => self.obituary = None,
                Err(nix::Error::EAGAIN) => break,
                Err(nix::Error::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// In a namespace init closes its pipe when it has reaped everybody else. One that was killed closes it before the others are dead.
    pub(super) fn is_over(&self) -> bool {
        let init_has_ended = self.has_init && self.obituary.is_none();
        let is_empty = || self.group.as_ref().is_none_or(Members::is_empty);
        (self.reaped && is_empty()) || (init_has_ended && self.exit.is_some() && !self.killed)
    }

    /// Leaves init to a thread: to take a namespace and its mounts down costs the kernel some milliseconds, for which nobody need wait.
    pub(super) fn reap_in_background(&mut self) -> io::Result<()> {
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        if !std::mem::replace(&mut self.reaped, true) {
            let pidfd = self.pidfd.try_clone()?;
            let reap = move || waitid(Id::PIDFd(pidfd.as_fd()), WaitPidFlag::WEXITED);
            std::thread::Builder::new()
                .name("reaper".to_owned())
                .spawn(reap)?;
        }
        Ok(())
    }

    pub(super) fn reap(&mut self, wait: bool) -> io::Result<()> {
        use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
        while !self.reaped {
            let no_wait = if wait {
                WaitPidFlag::empty()
            } else {
                WaitPidFlag::WNOHANG
            };
            match waitid(
                Id::PIDFd(self.pidfd.as_fd()),
                WaitPidFlag::WEXITED | no_wait,
            ) {
                Ok(WaitStatus::StillAlive) => break,
                Ok(status) => {
                    self.reaped = true;
                    if !self.has_init {
                        self.exit = exit_kind(status);
                    }
                }
                Err(nix::Error::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = &self.group {
            group.kill();
        }
        if !self.reaped {
            // Errors have nobody to go to here, and a process that cannot be signalled is dead already.
            let _ended = process::signal(self.pidfd.as_fd(), libc::SIGKILL);
            // A second, no more: what not even SIGKILL ends at once (a frozen group, a device that hangs) must not hang the harness.
            let mut end = [PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN)];
            let _waited = poll(&mut end, PollTimeout::from(1000_u16));
            let _reaped = self.reap(false);
        }
    }
}

fn exit_kind(status: nix::sys::wait::WaitStatus) -> Option<ExitKind> {
    use nix::sys::wait::WaitStatus;
    match status {
        WaitStatus::Exited(_, code) => Some(ExitKind::Code(code)),
        WaitStatus::Signaled(_, signal, _) => Some(ExitKind::Signal(signal as i32)),
        _ => None,
    }
}

pub(super) fn nonblocking(pipe: &OwnedFd) -> io::Result<()> {
    nix::fcntl::fcntl(pipe, nix::fcntl::FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}
