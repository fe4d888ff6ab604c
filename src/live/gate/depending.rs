//! What a call is made on that looks at the task that makes it.

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{SFlag, fstat};
use nix::sys::statfs::{
    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, FsType, PROC_SUPER_MAGIC,
    SECURITYFS_MAGIC, SYSFS_MAGIC, TRACEFS_MAGIC, fstatfs,
};
use std::io;
use std::os::fd::OwnedFd;
use syscall_model::names::Abi;

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

/// Why a call on a vector must be made by its own thread, if it must.
pub(super) fn of_parts(
    file: &OwnedFd,
    (name, abi, [.., flags]): (&str, Abi, [u64; 6]),
) -> io::Result<Option<&'static str>> {
    // By x32 they stand in another word.
    if name.ends_with('2') && (flags != 0 || abi == Abi::X32) {
        return Ok(Some("its flags ask for more than its bytes"));
    }
    let kind = SFlag::from_bits_truncate(fstat(file)?.st_mode) & SFlag::S_IFMT;
    let flags = OFlag::from_bits_retain(fcntl(file, FcntlArg::F_GETFL)?);
    Ok(match kind {
        _ if flags.contains(OFlag::O_DIRECT) => {
            Some("each piece of a vector must lie well for a file that is open with O_DIRECT")
        }
        SFlag::S_IFREG | SFlag::S_IFIFO | SFlag::S_IFSOCK => None,
        _ => Some("a device may take each piece of a vector by itself"),
    })
}

/// Why a call on sockets must be made by its own thread, if it must.
pub(super) fn of_socket(
    name: &str,
    [_, _, _, flags, address, _]: [u64; 6],
) -> Option<&'static str> {
    let taken = match name {
        "socketcall" | "send" | "recv" => return Some("it is a 32-bit program's own"),
        "sendto" => libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_MORE,
        "recvfrom" => libc::MSG_DONTWAIT | libc::MSG_PEEK | libc::MSG_WAITALL,
        _ => return None,
    };
    match flags as i32 & !taken {
        _ if address != 0 => Some("it is about the address of its peer"),
        0 => None,
        _ => Some("its flags ask for more than its bytes"),
    }
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

    #[test]
    fn an_address_and_a_flag_that_changes_what_is_told_are_left_to_the_thread() {
        let words = |flags: i32, address| [3, 0x1000, 8, flags as u64, address, 0];
        let plain = words(libc::MSG_NOSIGNAL, 0);
        assert_eq!(of_socket("sendto", plain), None);
        assert!(of_socket("sendto", words(0, 0x2000)).is_some());
        assert!(of_socket("recvfrom", words(0, 0x2000)).is_some());
        for flag in [libc::MSG_TRUNC, libc::MSG_OOB, libc::MSG_ERRQUEUE] {
            assert!(of_socket("recvfrom", words(flag, 0)).is_some(), "{flag}");
        }
        assert_eq!(of_socket("pread64", words(4096, 0)), None);
    }
}
