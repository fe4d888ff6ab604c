//! Which arguments of a call are descriptors and paths.

/// A path among the arguments, and the descriptor that it is relative to; `None` is the working
/// directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathArgument {
    pub(super) directory: Option<u8>,
    pub(super) path: u8,
}

/// Calls by which of their arguments are descriptors, a bit for each: the kernel's own names for
/// them, as [`kinds`](super::super::kinds) has them, and the calls that only 32-bit conventions
/// have.
const DESCRIPTORS: &[(u8, &[&str])] = &[
    (
        0b1,
        &[
            "accept",
            "accept4",
            "bind",
            "cachestat",
            "close",
            "connect",
            "dup",
            "epoll_ctl_old",
            "epoll_pwait",
            "epoll_pwait2",
            "epoll_wait",
            "epoll_wait_old",
            "execveat",
            "faccessat",
            "faccessat2",
            "fadvise64",
            "fallocate",
            "fchdir",
            "fchmod",
            "fchmodat",
            "fchmodat2",
            "fchown",
            "fchownat",
            "fcntl",
            "fdatasync",
            "fgetxattr",
            "file_getattr",
            "file_setattr",
            "finit_module",
            "flistxattr",
            "flock",
            "fremovexattr",
            "fsconfig",
            "fsetxattr",
            "fsmount",
            "fspick",
            "fstat",
            "fstatfs",
            "fsync",
            "ftruncate",
            "futimesat",
            "getdents",
            "getdents64",
            "getpeername",
            "getsockname",
            "getsockopt",
            "getxattrat",
            "inotify_add_watch",
            "inotify_rm_watch",
            "io_uring_enter",
            "io_uring_register",
            "ioctl",
            "landlock_add_rule",
            "landlock_restrict_self",
            "listen",
            "listxattrat",
            "lseek",
            "mkdirat",
            "mknodat",
            "mount_setattr",
            "mq_getsetattr",
            "mq_notify",
            "mq_timedreceive",
            "mq_timedsend",
            "name_to_handle_at",
            "newfstatat",
            "open_by_handle_at",
            "open_tree",
            "open_tree_attr",
            "openat",
            "openat2",
            "pidfd_getfd",
            "pidfd_send_signal",
            "pread64",
            "preadv",
            "preadv2",
            "process_madvise",
            "process_mrelease",
            "pwrite64",
            "pwritev",
            "pwritev2",
            "quotactl_fd",
            "read",
            "readahead",
            "readlinkat",
            "readv",
            "recvfrom",
            "recvmmsg",
            "recvmsg",
            "removexattrat",
            "sendmmsg",
            "sendmsg",
            "sendto",
            "setns",
            "setsockopt",
            "setxattrat",
            "shutdown",
            "signalfd",
            "signalfd4",
            "statx",
            "sync_file_range",
            "syncfs",
            "timerfd_gettime",
            "timerfd_settime",
            "unlinkat",
            "utimensat",
            "vmsplice",
            "write",
            "writev",
            "_llseek",
            "arm_fadvise64_64",
            "fadvise64_64",
            "fchown32",
            "fcntl64",
            "fstat64",
            "fstatat64",
            "fstatfs64",
            "ftruncate64",
            "mq_timedreceive_time64",
            "mq_timedsend_time64",
            "recv",
            "recvmmsg_time64",
            "send",
            "sync_file_range2",
            "timerfd_gettime64",
            "timerfd_settime64",
            "utimensat_time64",
        ],
    ),
    (0b10, &["symlinkat"]),
    (
        0b11,
        &[
            "dup2",
            "dup3",
            "kexec_file_load",
            "sendfile",
            "sendfile64",
            "tee",
        ],
    ),
    (
        0b101,
        &[
            "copy_file_range",
            "epoll_ctl",
            "linkat",
            "move_mount",
            "renameat",
            "renameat2",
            "splice",
        ],
    ),
    (0b1000, &["perf_event_open"]),
    (0b1001, &["fanotify_mark"]),
    (0b1_0000, &["mmap", "mmap2"]),
];

/// Which arguments are descriptors, a bit for each.
pub(super) fn descriptors(name: &str) -> u8 {
    let found = DESCRIPTORS.iter().find(|(_, names)| names.contains(&name));
    found.map_or(0, |(mask, _)| *mask)
}

/// Whether an argument that is a descriptor may say `AT_FDCWD`: for others that number is a
/// descriptor that there is not.
pub(in super::super) fn may_be_here(name: &str, place: usize, words: &[u64; 6]) -> bool {
    const FSCONFIG_SET_FD: u32 = 5;
    let is_of_path = |path: &PathArgument| path.directory.map(usize::from) == Some(place);
    match (name, place) {
        ("open_by_handle_at", 0) => true,
        ("fsconfig", 4) => words.get(1).copied().unwrap_or_default() as u32 != FSCONFIG_SET_FD,
        _ => paths(name).iter().any(is_of_path),
    }
}

/// Which arguments are paths, and from where.
pub(super) fn paths(name: &str) -> &'static [PathArgument] {
    const fn here(path: u8) -> PathArgument {
        PathArgument {
            directory: None,
            path,
        }
    }
    const fn at(directory: u8, path: u8) -> PathArgument {
        PathArgument {
            directory: Some(directory),
            path,
        }
    }
    match name {
        "access" | "acct" | "chdir" | "chmod" | "chown" | "chown32" | "chroot" | "creat"
        | "execve" | "getxattr" | "lchown" | "lchown32" | "lgetxattr" | "listxattr"
        | "llistxattr" | "lremovexattr" | "lsetxattr" | "lstat" | "lstat64" | "mkdir" | "mknod"
        | "oldlstat" | "oldstat" | "open" | "readlink" | "removexattr" | "rmdir" | "setxattr"
        | "stat" | "stat64" | "statfs" | "statfs64" | "swapoff" | "swapon" | "truncate"
        | "truncate64" | "umount" | "umount2" | "unlink" | "uselib" | "utime" | "utimes" => {
            const { &[here(0)] }
        }
        "inotify_add_watch" | "quotactl" | "symlink" => const { &[here(1)] },
        "link" | "pivot_root" | "rename" => const { &[here(0), here(1)] },
        "mount" => const { &[here(1)] },
        "execveat" | "faccessat" | "faccessat2" | "fchmodat" | "fchmodat2" | "fchownat"
        | "file_getattr" | "file_setattr" | "fspick" | "fstatat64" | "futimesat" | "getxattrat"
        | "listxattrat" | "mkdirat" | "mknodat" | "mount_setattr" | "name_to_handle_at"
        | "newfstatat" | "open_tree" | "open_tree_attr" | "openat" | "openat2" | "readlinkat"
        | "removexattrat" | "setxattrat" | "statx" | "unlinkat" | "utimensat"
        | "utimensat_time64" => const { &[at(0, 1)] },
        "symlinkat" => const { &[at(1, 2)] },
        "linkat" | "move_mount" | "renameat" | "renameat2" => const { &[at(0, 1), at(2, 3)] },
        "fanotify_mark" => const { &[at(3, 4)] },
        _ => &[],
    }
}
