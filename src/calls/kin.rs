//! Calls of one convention that do the same for a program, in another form: a person who asks for
//! `rename` may mean what a C library makes of it.

/// Of each family its calls.
const FAMILIES: &[&[&str]] = &[
    &["accept", "accept4"],
    &["access", "faccessat", "faccessat2"],
    &["chmod", "fchmod", "fchmodat", "fchmodat2"],
    &["chown", "fchown", "fchownat", "lchown"],
    &["clone", "clone3", "fork", "vfork"],
    &["creat", "open", "openat", "openat2"],
    &["dup", "dup2", "dup3"],
    &["epoll_create", "epoll_create1"],
    &["epoll_pwait", "epoll_pwait2", "epoll_wait"],
    &["eventfd", "eventfd2"],
    &["execve", "execveat"],
    &["fdatasync", "fsync", "sync", "sync_file_range", "syncfs"],
    &["fstat", "lstat", "newfstatat", "stat", "statx"],
    &["ftruncate", "truncate"],
    &["futimesat", "utime", "utimensat", "utimes"],
    &["getdents", "getdents64"],
    &["inotify_init", "inotify_init1"],
    &["kill", "pidfd_send_signal", "tgkill", "tkill"],
    &["link", "linkat"],
    &["mkdir", "mkdirat"],
    &["mknod", "mknodat"],
    &["pipe", "pipe2"],
    &["poll", "ppoll"],
    &["pread64", "preadv", "preadv2", "read", "readv"],
    &["pselect6", "select"],
    &["pwrite64", "pwritev", "pwritev2", "write", "writev"],
    &["readlink", "readlinkat"],
    &["recvfrom", "recvmmsg", "recvmsg"],
    &["rename", "renameat", "renameat2"],
    &["rmdir", "unlink", "unlinkat"],
    &["sendmmsg", "sendmsg", "sendto"],
    &["signalfd", "signalfd4"],
    &["symlink", "symlinkat"],
    &["wait4", "waitid"],
];

/// The calls that do the same as this one in another form, and itself; none for a call that is the
/// only one of its kind.
///
/// ```
/// use syscall_model::kin;
/// assert_eq!(kin("renameat"), ["rename", "renameat", "renameat2"]);
/// assert!(kin("brk").is_empty());
/// ```
#[must_use]
pub fn kin(call: &str) -> &'static [&'static str] {
    let mut all = FAMILIES.iter();
    all.find(|family| family.contains(&call))
        .copied()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{self, Abi};

    #[test]
    fn a_call_is_of_one_family_and_each_name_is_a_calls() {
        let all: Vec<&str> = FAMILIES.concat();
        for name in &all {
            let families = FAMILIES.iter().filter(|it| it.contains(name));
            assert_eq!(families.count(), 1, "{name}");
            assert!(names::number(Abi::X86_64, name).is_some(), "{name}");
        }
    }
}
