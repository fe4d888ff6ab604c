//! Removing a control group and all below it.

use super::{open_folder, scan, until_gone};
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, UnlinkatFlags, read, unlinkat, write};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Whether the members of a control group that is removed are ended before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// By `SIGKILL`.
    Kill,
    /// They are left alone, and so is their group.
    Spare,
}

/// Removes the control group `name` below the group `folder`, and all below it, deepest first.
/// Waits as long as `patience` for the kernel to let go of the dead. One that is not there is no
/// error.
///
/// # Errors
/// `EBUSY` where members are left.
///
/// # References
/// `cgroups(7)`; `cgroup.kill` is of Linux 5.14, before which the members are killed one by one.
pub fn remove_group(
    folder: &CStr,
    name: &CStr,
    members: Members,
    patience: Duration,
) -> io::Result<()> {
    let parent = open_folder(folder)?;
    until_gone(patience, || remove_groups(parent.as_fd(), name, members))
}

/// One try, and whether it removed any. No control group can be moved, so that `..` is always where
/// we came from.
fn remove_groups(parent: BorrowedFd<'_>, name: &CStr, members: Members) -> (nix::Result<()>, bool) {
    let mut n_removed = 0;
    let mut descend = || match rmdir(parent, name) {
        Err(Errno::EBUSY) => {
            let emptied = empty_group(enter(parent, name)?, members, &mut n_removed);
            // A group below it was removed by another thread or process. This one may be there
            // still.
            emptied.map_err(|error| match error {
                Errno::ENOENT => {
                    n_removed += 1;
                    Errno::EBUSY
                }
                other => other,
            })?;
            rmdir(parent, name)
        }
        other => other,
    };
    let result = match descend() {
        Err(Errno::ENOENT) => Ok(()),
        other => other,
    };
    (result, n_removed > 0)
}

fn empty_group(mut here: OwnedFd, members: Members, n_removed: &mut u64) -> nix::Result<()> {
    let mut depth = 0_u64;
    let mut has_returned = false;
    loop {
        if members == Members::Kill {
            kill_members(here.as_fd());
        }
        let before = *n_removed;
        let mut busy = None;
        scan(here.as_fd(), &mut |name| match rmdir(here.as_fd(), name) {
            Ok(()) => *n_removed += 1,
            Err(Errno::EBUSY) => busy = enter(here.as_fd(), name).ok(),
            // The kernel's own files, which go with their group.
            Err(_) => {}
        })?;
        match busy {
            // What we have just come from has members.
            Some(_) if has_returned && *n_removed == before => return Err(Errno::EBUSY),
            Some(group) => (here, depth, has_returned) = (group, depth + 1, false),
            None if depth == 0 => return Ok(()),
            None => {
                let above = enter(here.as_fd(), c"..")?;
                (here, depth, has_returned) = (above, depth - 1, true);
            }
        }
    }
}

fn rmdir(dir: BorrowedFd<'_>, name: &CStr) -> nix::Result<()> {
    unlinkat(dir, name, UnlinkatFlags::RemoveDir)
}

fn enter(dir: BorrowedFd<'_>, name: &CStr) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat(dir, name, flags, Mode::empty())
}

/// Ends the members of a group and of all below it, or, before Linux 5.14, those of the group
/// alone.
fn kill_members(group: BorrowedFd<'_>) {
    let flags = OFlag::O_WRONLY | OFlag::O_CLOEXEC;
    if let Ok(kill) = openat(group, c"cgroup.kill", flags, Mode::empty()) {
        let _at_the_next_try = write(kill, b"1");
        return;
    }
    let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
    let Ok(members) = openat(group, c"cgroup.procs", flags, Mode::empty()) else {
        return;
    };
    // The first so many; the rest when these are gone.
    let mut lines = [0; 4096];
    let got = read(members, &mut lines).unwrap_or(0);
    let lines = lines.get(..got).unwrap_or_default();
    // What stands behind the last line feed is perhaps half a number.
    let whole = lines.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    for line in lines
        .get(..whole)
        .unwrap_or_default()
        .split(|byte| *byte == b'\n')
    {
        let digits = line.iter().map(|byte| i32::from(byte.wrapping_sub(b'0')));
        let pid = digits.fold(0_i32, |pid, digit| pid.wrapping_mul(10).wrapping_add(digit));
        // Zero stands for a process of another pid namespace.
        if pid > 0 {
            let _gone = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}
