//! What a call is made on that looks at the task that makes it.

use nix::sys::statfs::{
    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, FsType, PROC_SUPER_MAGIC,
    SECURITYFS_MAGIC, SYSFS_MAGIC, TRACEFS_MAGIC, fstatfs,
};
use std::io;
use std::os::fd::OwnedFd;

/// File systems without a disk, whose files are the kernel's own.
const OF_KERNEL: [FsType; 7] = [
    CGROUP_SUPER_MAGIC,
    CGROUP2_SUPER_MAGIC,
    DEBUGFS_MAGIC,
    PROC_SUPER_MAGIC,
    SECURITYFS_MAGIC,
    SYSFS_MAGIC,
    TRACEFS_MAGIC,
];

/// Why calls on this must be made by their own thread.
pub(super) fn refused(name: &[u8]) -> Option<&'static str> {
    match name {
        b"signalfd" => Some("a signalfd tells the signals of who reads it"),
        b"netlink" => Some("netlink looks at who writes"),
        _ => None,
    }
}

/// Whether a file is the kernel's own, and looks at who reads and writes it.
pub(super) fn is_of_kernel(file: &OwnedFd) -> io::Result<bool> {
    let kind = fstatfs(file)?.filesystem_type();
    Ok(OF_KERNEL.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_the_task_that_asks_is_not_made_for_another() {
        for name in ["signalfd", "netlink"] {
            assert!(refused(name.as_bytes()).is_some(), "{name}");
        }
        for name in ["pipe", "tcp", "/signalfd"] {
            assert!(refused(name.as_bytes()).is_none(), "{name}");
        }
    }
}
