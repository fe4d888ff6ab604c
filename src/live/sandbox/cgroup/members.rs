//! Kills the processes of a control group.

use crate::host::text::text;
use crate::sys::pidfd;
use perf_records::units::Pid;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The processes of a control group and of the groups below it.
#[derive(Debug)]
pub struct Members {
    group: PathBuf,
}

impl Members {
    pub(super) fn of(group: &Path) -> Self {
        Self {
            group: group.to_owned(),
        }
    }

    /// Whether no living process is left; dead ones do not count, reaped or not (`populated` in
    /// `cgroup.events`).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match text(&self.group.join("cgroup.events")) {
            Ok(events) => events.lines().any(|line| line == "populated 0"),
            // The workload can remove a group that it has left.
            Err(_) => true,
        }
    }

    /// Their ids.
    #[must_use]
    pub fn pids(&self) -> Vec<Pid> {
        let mut pids = Vec::new();
        collect(&self.group, &mut pids);
        pids
    }

    /// Sends `SIGKILL` to all of them. From Linux 5.14 on the kernel does that, and no process can
    /// escape by a fork. Before, the group is frozen meanwhile, as each pass over a group that
    /// forks would miss some. A process that is being born then is left to the next call.
    ///
    /// A failure here means that the group is gone, or was taken from the harness:
    /// [`is_empty`](Self::is_empty) shows the processes that live on.
    pub fn kill(&self) {
        if self.write("cgroup.kill", "1").is_ok() {
            return;
        }
        let _frozen = self.write("cgroup.freeze", "1");
        for pid in self.pids() {
            // The descriptor first, then a second look: the id may have changed hands in between.
            if let Ok(Some(process)) = pidfd::open(pid)
                && self.pids().contains(&pid)
            {
                let _killed = pidfd::signal(process.as_fd(), libc::SIGKILL);
            }
        }
        // A killed task leaves the freezer by itself, but one that its tracer had stopped did not
        // end on Linux 5.10 until it was thawed.
        let _thawed = self.write("cgroup.freeze", "0");
    }

    fn write(&self, file: &str, word: &str) -> io::Result<()> {
        // Not created where there is no such file: cgroupfs refuses that with EPERM, and a folder
        // that is gone must not come back.
        let file = self.group.join(file);
        let mut file = std::fs::File::options().write(true).open(file)?;
        io::Write::write_all(&mut file, word.as_bytes())
    }
}

fn collect(group: &Path, pids: &mut Vec<Pid>) {
    let members = text(&group.join("cgroup.procs")).unwrap_or_default();
    pids.extend(members.lines().filter_map(|pid| pid.parse().ok()).map(Pid));
    for entry in std::fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), pids);
        }
    }
}
