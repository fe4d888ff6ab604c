//! The calls that may change a folder, make it durable, or promise something.

/// Each of these is held and looked at, those as well that only 32-bit conventions have; `prctl`
/// and `seccomp`, as by filters of its own a program may have calls refused by its tracer. What
/// changes a folder by other ways (a dump of memory) shows at the end of a run:
/// the log must end in the folder that the run left.
pub const HELD: [&str; 71] = [
    "bind",
    "chmod",
    "chown",
    "chown32",
    "copy_file_range",
    "creat",
    "fallocate",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "fchown",
    "fchown32",
    "fchownat",
    "fdatasync",
    "file_setattr",
    "fremovexattr",
    "fsetxattr",
    "fsmount",
    "fsync",
    "ftruncate",
    "ftruncate64",
    "ioctl",
    "lchown",
    "lchown32",
    "link",
    "linkat",
    "lremovexattr",
    "lsetxattr",
    "mkdir",
    "mkdirat",
    "mknod",
    "mknodat",
    "mmap",
    "mmap2",
    "mount",
    "move_mount",
    "msync",
    "open",
    "open_by_handle_at",
    "open_tree",
    "open_tree_attr",
    "openat",
    "openat2",
    "pivot_root",
    "prctl",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "removexattr",
    "removexattrat",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "seccomp",
    "sendfile",
    "sendfile64",
    "setxattr",
    "setxattrat",
    "splice",
    "symlink",
    "symlinkat",
    "sync",
    "syncfs",
    "truncate",
    "truncate64",
    "umount2",
    "unlink",
    "unlinkat",
    "write",
    "writev",
];

/// What is held and looked at beside where promises are made by sockets: all else that sends. The
/// calls of [`HELD`] that write send as well.
pub const SENDING: [&str; 5] = ["send", "sendmmsg", "sendmsg", "sendto", "socketcall"];

/// Whether a call is held and looked at, where promises are made by sockets or are not.
#[must_use]
pub fn is_held(name: &str, sends: bool) -> bool {
    HELD.contains(&name) || sends && SENDING.contains(&name)
}

/// Calls that make rings of operations, which could not be held.
pub const REFUSED: [&str; 2] = ["io_setup", "io_uring_setup"];
