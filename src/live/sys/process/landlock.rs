//! Has the kernel keep a workload to rules, in the last moment before its calls are held.

use super::child::errno;
use crate::sys::landlock::Ruled;
use libc::{c_int, c_long};

/// `struct landlock_ruleset_attr`; what a kernel does not know of it must be 0.
#[repr(C)]
struct Refused {
    files: u64,
    ports: u64,
    scoped: u64,
}

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct Beneath {
    rights: u64,
    file: c_int,
}

/// `struct landlock_net_port_attr`.
#[repr(C)]
struct At {
    rights: u64,
    port: u64,
}

const PATH_BENEATH: c_long = 1;
const NET_PORT: c_long = 2;

/// Restricts the calling process, and all that it starts.
///
/// # Safety
/// Only in a child, where nothing else runs.
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "a straight line of system calls"
)]
pub(super) unsafe fn restrict(ruled: &Ruled) -> Result<(), c_int> {
    let refused = Refused {
        files: ruled.files,
        ports: ruled.ports,
        scoped: ruled.scoped,
    };
    // SAFETY: whole structures of our own, valid strings, and numbers.
    unsafe {
        let (number, size) = (libc::SYS_landlock_create_ruleset, size_of::<Refused>());
        let rules = checked(libc::syscall(number, &raw const refused, size, 0))?;
        for (path, rights) in &ruled.beneath {
            let flags = libc::O_PATH | libc::O_CLOEXEC;
            let file = libc::open(path.as_ptr(), flags);
            if file == -1 {
                match errno() {
                    // Nothing is there, or nothing that it could reach.
                    libc::ENOENT | libc::ENOTDIR | libc::EACCES | libc::ELOOP => continue,
                    error => return Err(error),
                }
            }
            let mut status: libc::stat = std::mem::zeroed();
            if libc::fstat(file, &raw mut status) == -1 {
                return Err(errno());
            }
            let rights = match status.st_mode & libc::S_IFMT {
                libc::S_IFDIR => *rights,
                _ => rights & ruled.of_files,
            };
            // The kernel takes no rule that allows nothing.
            if rights != 0 {
                let rule = Beneath { rights, file };
                let number = libc::SYS_landlock_add_rule;
                let added = libc::syscall(number, rules, PATH_BENEATH, &raw const rule, 0);
                checked(added)?;
            }
            libc::close(file);
        }
        for (port, rights) in &ruled.at {
            let (rights, port) = (*rights, u64::from(*port));
            let rule = At { rights, port };
            let number = libc::SYS_landlock_add_rule;
            checked(libc::syscall(number, rules, NET_PORT, &raw const rule, 0))?;
        }
        let number = libc::SYS_landlock_restrict_self;
        if libc::syscall(number, rules, 0) == -1 {
            if errno() != libc::EPERM {
                return Err(errno());
            }
            // As what it is, it may not be restricted without.
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 {
                return Err(errno());
            }
            checked(libc::syscall(number, rules, 0))?;
        }
        libc::close(rules as c_int);
        Ok(())
    }
}

fn checked(result: c_long) -> Result<c_long, c_int> {
    match result {
        -1 => Err(errno()),
        result => Ok(result),
    }
}
