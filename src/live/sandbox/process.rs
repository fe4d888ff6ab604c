//! The process of a workload, as its parent sees it.

use super::Cgroup;
use super::cgroup::Members;
use super::output::Reader;
use crate::gate::Streams;
use crate::host;
use crate::sys::process::{self, Reaped};
use crate::sys::{pidfd, thread};
use crate::units::{ExitKind, Usage};
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use perf_records::units::Pid;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

/// The process and our ends of its pipes; ended and reaped when dropped.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) pidfd: OwnedFd,
    pub(super) main_pid: Option<i32>,
    pub(super) exit: Option<ExitKind>,
    pub(super) usage: Usage,
    /// Whether init has ended the others when their time was over.
    pub(super) is_overdue: bool,
    pub(super) killed: bool,
    pub(super) reaped: bool,
    pub(super) obituary: Option<OwnedFd>,
    pub(super) outputs: Option<[Reader; 2]>,
    /// What it was started with, where its outputs are captured.
    pub(super) streams: Option<Streams>,
    pub(super) has_init: bool,
    /// The group that ends with it.
    pub(super) group: Option<Members>,
    /// The group that it was born in.
    pub(super) home: Option<Arc<Cgroup>>,
    /// The mount namespaces that it had. The task that drops the last reference to one waits for
    /// all CPUs: so that is neither init, on its way into its world and out of it, nor the run.
    pub(super) mounts: Vec<File>,
}

impl Process {
    pub(super) fn collect(&mut self) -> io::Result<()> {
        for reader in self.outputs.iter_mut().flatten() {
            reader.take()?;
        }
        self.read_obituary()?;
        self.reap(false)
    }

    /// Keeps the namespace of mounts that it is in now, if this user may.
    pub(super) fn keep_mounts(&mut self) {
        self.mounts.extend(host::mounts_of(self.pid));
    }

    /// Messages of eight bytes: the main process' pid, then its wait status, last what was used.
    pub(super) fn read_obituary(&mut self) -> io::Result<()> {
        while let Some(pipe) = &self.obituary {
            let mut message = [0; 8];
            match nix::unistd::read(pipe, &mut message) {
                Ok(8) => {
                    let [a, b, c, d, e, f, g, h] = message;
                    let word = i32::from_ne_bytes([a, b, c, d]);
                    match u32::from_ne_bytes([e, f, g, h]) {
                        0 => self.main_pid = Some(word),
                        1 => self.exit = ExitKind::from_wait_status(word),
                        process::OVERDUE => self.is_overdue = true,
                        kind => process::add_to(&mut self.usage, kind, word as u32),
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

    /// Waits until it is told which process is the main one: that has executed its program.
    pub(super) fn know_main(&mut self, deadline: Instant) -> io::Result<()> {
        while let (None, Some(pipe)) = (self.main_pid, &self.obituary) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            crate::sys::poll::poll(std::iter::once(pipe.as_fd()), left)?;
            self.read_obituary()?;
        }
        Ok(())
    }

    /// In a namespace, init closes its pipe when it has reaped all other processes. An init that
    /// was killed closes it before the others are dead.
    pub(super) fn is_over(&self) -> bool {
        let init_has_ended = self.has_init && self.obituary.is_none();
        let is_empty = || self.group.as_ref().is_none_or(Members::is_empty);
        (self.reaped && is_empty()) || (init_has_ended && self.exit.is_some() && !self.killed)
    }

    pub(super) fn signal(&mut self, signal: i32) -> io::Result<()> {
        self.killed |= signal == libc::SIGKILL;
        if let (libc::SIGKILL, Some(group)) = (signal, &self.group) {
            group.kill();
        }
        if signal == libc::SIGKILL && self.has_init {
            // Init has to kill the others (zap_pid_ns_processes()), which may leave it no CPU time.
            // Without the right to priority that takes longer.
            let _refused = process::make_urgent(Some(self.pid));
        }
        pidfd::signal(self.pidfd.as_fd(), signal)
    }

    /// Leaves init, its mounts and its control group to a thread: the kernel takes some
    /// milliseconds to dissolve a namespace and its mounts, the group has a member until then, and
    /// no caller need wait for that.
    pub(super) fn reap_in_background(&mut self) -> io::Result<()> {
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        if self.reaped && self.mounts.is_empty() {
            return Ok(());
        }
        let init = match self.reaped {
            true => None,
            false => Some(self.pidfd.try_clone()?),
        };
        let (home, mounts) = (self.home.take(), std::mem::take(&mut self.mounts));
        let _not_waited_for = thread::kept("reaper", move || {
            if let Some(init) = init {
                let _reaped = waitid(Id::PIDFd(init.as_fd()), WaitPidFlag::WEXITED);
            }
            drop(home);
            drop(mounts);
        })?;
        self.reaped = true;
        Ok(())
    }

    pub(super) fn reap(&mut self, wait: bool) -> io::Result<()> {
        if !self.reaped
            && let Some(Reaped { exit, usage }) = process::reap(self.pidfd.as_fd(), wait)?
        {
            self.reaped = true;
            // Init tells of the others itself. One that is killed never knows what they used: they
            // are reaped unseen.
            if !self.has_init {
                (self.exit, self.usage) = (Some(exit), usage);
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
            // A drop cannot report an error, and a process that cannot be signalled is already
            // dead.
            let _ended = pidfd::signal(self.pidfd.as_fd(), libc::SIGKILL);
            // A second, no more: what not even SIGKILL ends at once (a frozen group, a device that
            // hangs) must not hang the harness.
            let mut end = [PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN)];
            let _waited = poll(&mut end, PollTimeout::from(1000_u16));
            let _reaped = self.reap(false);
        }
    }
}

pub(super) fn nonblocking(pipe: &OwnedFd) -> io::Result<()> {
    nix::fcntl::fcntl(pipe, nix::fcntl::FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}
