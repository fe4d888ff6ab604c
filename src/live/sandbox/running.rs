//! A workload that runs, and one that has come to its end.

use super::Captured;
use super::cgroup::Members;
use super::output::Reader;
use super::process::Process;
use crate::gate::Streams;
use crate::sys::gate::Listener;
use crate::sys::poll::poll;
use crate::units::{ExitKind, Usage};
use perf_records::units::Pid;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// A workload on its way.
#[derive(Debug)]
pub struct Running {
    pub(super) process: Process,
    pub(super) listener: Option<Listener>,
    /// What it cannot do without.
    pub(super) lifeline: Option<OwnedFd>,
    pub(super) is_lost: bool,
}

/// A workload that has come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exited {
    /// How the main process ended.
    pub exit: ExitKind,
    /// Its pid in its own namespace, where it got as far as having one.
    pub main_pid: Option<i32>,
    /// What it and its descendants wrote to standard output and to standard error; `None` where
    /// these were inherited.
    pub outputs: Option<[Captured; 2]>,
    /// What it and all that it waited for used; in a namespace what all used, unless they were
    /// killed.
    pub usage: Usage,
    /// Whether its world ended it, as the harness had not in its time
    /// ([`Workload::lasts`](super::Workload::lasts)).
    pub is_overdue: bool,
}

impl Running {
    /// The descriptors whose readiness makes [`collect`](Self::collect) worth a call.
    #[must_use]
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let process = &self.process;
        let outputs = process
            .outputs
            .iter()
            .flatten()
            .filter_map(|reader| reader.pipe.as_ref());
        let end = (!process.reaped).then_some(&process.pidfd);
        process
            .obituary
            .iter()
            .chain(outputs)
            .chain(end)
            .chain(&self.lifeline)
            .map(AsFd::as_fd)
            .collect()
    }

    /// Takes the listener of its held calls, which wait until they are answered.
    pub fn take_listener(&mut self) -> Option<Listener> {
        self.listener.take()
    }

    /// Ties it to what it cannot do without: when the other end of this is closed,
    /// [`is_lost`](Self::is_lost) says so.
    pub fn tie_to(&mut self, lifeline: OwnedFd) {
        self.lifeline = Some(lifeline);
    }

    /// Whether what it was [tied to](Self::tie_to) has ended, as far as was collected.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Takes what has come: output, the main process' end. Never waits.
    ///
    /// # Errors
    /// Those of `read(2)`, `poll(2)` and `waitid(2)`.
    pub fn collect(&mut self) -> io::Result<()> {
        if let Some(lifeline) = &self.lifeline {
            let ready = poll(std::iter::once(lifeline.as_fd()), Duration::ZERO)?;
            if ready.iter().any(|it| it.has_hung_up) {
                self.is_lost = true;
                self.lifeline = None;
            }
        }
        self.process.collect()
    }

    /// Whether it lives in a world of its own, under an init.
    #[must_use]
    pub fn has_init(&self) -> bool {
        self.process.has_init
    }

    /// How the main process ended, once it has; descendants may live on.
    #[must_use]
    pub fn exit(&self) -> Option<ExitKind> {
        self.process.exit
    }

    /// The inodes of the pipes that standard output and standard error are captured by.
    #[must_use]
    pub fn pipes(&self) -> Option<[u64; 2]> {
        let [_, out, err] = self.process.streams?;
        Some([out.number, err.number])
    }

    /// What it was started with as standard input, output and error; `None` where these are the
    /// harness' own.
    #[must_use]
    pub fn streams(&self) -> Option<Streams> {
        self.process.streams
    }

    /// How many bytes it has written to the outputs that are captured.
    #[must_use]
    pub fn written(&self) -> u64 {
        let readers = self.process.outputs.iter().flatten();
        readers.map(Reader::written).sum()
    }

    /// The main process' pid in its own namespace, once it is told.
    #[must_use]
    pub fn main_pid(&self) -> Option<i32> {
        self.process.main_pid
    }

    /// Returns the processes of the control group that ends with it; empty without such a group.
    #[must_use]
    pub fn members(&self) -> Vec<Pid> {
        let group = self.process.group.as_ref();
        group.map_or_else(Vec::new, Members::pids)
    }

    /// Sends `SIGKILL` to the processes left in the control group that ends with it.
    pub fn end_members(&self) {
        let group = self.process.group.as_ref();
        if let Some(group) = group.filter(|group| !group.is_empty()) {
            group.kill();
        }
    }

    /// Whether it was sent a `SIGKILL`.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.process.killed
    }

    /// Whether nothing is left of it: on the host the main process reaped and the group empty that
    /// ends with it, in a namespace all of it dead but for an init on its way out.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.process.is_over()
    }

    /// Sends a signal to the main process on the host; in a namespace to its init, for which only
    /// `SIGKILL` counts, and ends everything. `SIGKILL` ends the members of its group, too.
    ///
    /// # Errors
    /// Those of `pidfd_send_signal(2)`.
    pub fn signal(&mut self, signal: i32) -> io::Result<()> {
        self.process.signal(signal)
    }

    /// Waits for the end of a workload that is dead or dying, takes the rest of its output, and
    /// says how the main process ended: as killed where everything was killed before it could end
    /// by itself.
    ///
    /// # Errors
    /// Those of `read(2)` and `waitid(2)`.
    pub fn finish(mut self) -> io::Result<Exited> {
        let process = &mut self.process;
        // Without a thread that waits for it, it is waited for here.
        if !process.is_over() || process.reap_in_background().is_err() {
            process.reap(true)?;
        }
        process.collect()?;
        // No process is left there that could write more.
        let is_over = process.has_init;
        for reader in process.outputs.iter_mut().flatten().filter(|_| is_over) {
            while reader.take()? {}
        }
        let readers = process.outputs.take();
        Ok(Exited {
            exit: process.exit.unwrap_or(ExitKind::Signal(libc::SIGKILL)),
            main_pid: process.main_pid,
            outputs: readers.map(|readers| readers.map(|reader| reader.captured)),
            usage: process.usage,
            is_overdue: process.is_overdue,
        })
    }
}
