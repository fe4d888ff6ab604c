//! Which calls do what `expect.confined` speaks of, and by which of their parts.

use crate::scenario::{Confined, PRIVILEGED};
use std::collections::BTreeSet;

/// A world that can be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Realm {
    /// Files written, made, removed and changed.
    Writes,
    /// Contents of files read.
    Reads,
    /// Addresses reached and served.
    Network,
    /// Programs executed.
    Programs,
    /// Privileges changed.
    Privileges,
}

impl Realm {
    /// Every one, in the order of reports.
    pub const ALL: [Self; 5] = [
        Self::Writes,
        Self::Reads,
        Self::Network,
        Self::Programs,
        Self::Privileges,
    ];

    /// Its key in a scenario.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Writes => "writes",
            Self::Reads => "reads",
            Self::Network => "network",
            Self::Programs => "programs",
            Self::Privileges => "privileges",
        }
    }

    fn calls(self) -> Vec<&'static str> {
        let of_table = |table: &[(&'static [&'static str], &[&str])]| -> Vec<&'static str> {
            table
                .iter()
                .flat_map(|(calls, _)| calls.iter().copied())
                .collect()
        };
        match self {
            Self::Writes => {
                let others = ["bpf", "ioctl", RESTRICTS, "mq_unlink"];
                [
                    of_table(WRITTEN),
                    LIMITS.to_vec(),
                    OPENS.to_vec(),
                    GIVES.to_vec(),
                    RECEIVES.to_vec(),
                    MEETS.to_vec(),
                    UNNAMED.to_vec(),
                    others.to_vec(),
                ]
                .concat()
            }
            Self::Reads => [
                of_table(READ),
                OPENS.to_vec(),
                GIVES.to_vec(),
                RECEIVES.to_vec(),
                MEETS.to_vec(),
            ]
            .concat(),
            Self::Network => [NETWORK, RECEIVES].concat(),
            Self::Programs => EXECUTES.to_vec(),
            Self::Privileges => PRIVILEGED.to_vec(),
        }
    }
}

/// Calls that open files, for reading or for writing by their flags.
pub(super) const OPENS: &[&str] = &["mq_open", "open", "open_by_handle_at", "openat", "openat2"];

/// Calls that give descriptors of files that they do not name.
pub(super) const GIVES: &[&str] = &["fanotify_init", "pidfd_getfd"];

/// Calls by which descriptors come with messages.
pub(super) const RECEIVES: &[&str] = &["recvmmsg", "recvmsg"];

/// Calls that say which sockets of the run are connected with each other, and which need not be.
pub(super) const MEETS: &[&str] = &[
    "accept", "accept4", "bind", "connect", "listen", "sendmmsg", "sendmsg", "socket",
];

/// Calls that change a file system or what is in it, by something else than a path.
pub(super) const UNNAMED: &[&str] = &["fsconfig"];

/// The call by which a process may lose the right to open what it still may make.
pub(super) const RESTRICTS: &str = "landlock_restrict_self";

/// Calls by which core dumps may be turned on.
pub(super) const LIMITS: &[&str] = &["prlimit64", "setrlimit"];

/// Calls that execute programs.
pub(super) const EXECUTES: &[&str] = &["execve", "execveat"];

pub(super) const NETWORK: &[&str] = &[
    "accept",
    "accept4",
    "bind",
    "connect",
    "listen",
    "pidfd_getfd",
    "sendmmsg",
    "sendmsg",
    "sendto",
    "socket",
];

/// Calls that change what a path or a descriptor leads to, and the parts that say which file.
///
/// Without a path the descriptor that it starts from says it (`dir`).
///
/// What is written by a descriptor is written by one that was opened for writing, so `write(2)` and
/// its like, and shared mappings, need no place here.
pub(super) const WRITTEN: &[(&[&str], &[&str])] = &[
    (
        &[
            "acct",
            "chmod",
            "chown",
            "creat",
            "fchmodat",
            "fchmodat2",
            "fchownat",
            "file_setattr",
            "futimesat",
            "lchown",
            "lremovexattr",
            "lsetxattr",
            "mkdir",
            "mkdirat",
            "mknod",
            "mknodat",
            "mount",
            "mount_setattr",
            "open_tree_attr",
            "removexattr",
            "removexattrat",
            "rmdir",
            "setxattr",
            "setxattrat",
            "swapoff",
            "swapon",
            "symlink",
            "symlinkat",
            "truncate",
            "umount2",
            "unlink",
            "unlinkat",
            "utime",
            "utimensat",
            "utimes",
        ],
        &["path"],
    ),
    (&["link", "linkat", "move_mount"], &["to"]),
    (
        &["pivot_root", "rename", "renameat", "renameat2"],
        &["from", "to"],
    ),
    (
        &[
            "fallocate",
            "fchmod",
            "fchown",
            "fremovexattr",
            "fsetxattr",
            "ftruncate",
        ],
        &["fd"],
    ),
];

/// Calls that read a file as a whole.
pub(super) const READ: &[(&[&str], &[&str])] = &[(&["execve", "execveat", "uselib"], &["path"])];

/// Every call that does something of this.
#[cfg(test)]
pub(in crate::matching) fn all_calls() -> BTreeSet<&'static str> {
    Realm::ALL.into_iter().flat_map(Realm::calls).collect()
}

/// Returns the calls that must be recorded to judge what is confined.
#[must_use]
pub fn needed(confined: &Confined) -> BTreeSet<&'static str> {
    let realms = Realm::ALL
        .into_iter()
        .filter(|realm| closes(confined, *realm));
    let mut calls: BTreeSet<_> = realms.flat_map(Realm::calls).collect();
    // The first one tells the workload's own program.
    calls.extend(EXECUTES);
    calls
}

/// The folder of what is told of a process, whichever it is.
pub const PROCESSES: &str = "/proc/*";

/// Calls that send signals, or have the kernel send them.
pub(super) const SIGNALS: &[&str] = &[
    "fcntl",
    "ioctl",
    "kill",
    "pidfd_send_signal",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "tgkill",
    "tkill",
];

/// Returns the calls that must be recorded to state what a run did.
#[must_use]
pub fn stated() -> BTreeSet<&'static str> {
    let calls = Realm::ALL.into_iter().flat_map(Realm::calls);
    let signals = SIGNALS.iter().copied();
    // With it all that is submitted to an io_uring is recorded, so that what reads and writes alone
    // is known for that.
    calls.chain(signals).chain(["io_uring_enter"]).collect()
}

/// Whether a world is closed.
pub(super) fn closes(confined: &Confined, realm: Realm) -> bool {
    match realm {
        Realm::Writes => confined.writes.is_some(),
        Realm::Reads => confined.reads.is_some(),
        Realm::Network => confined.network.is_some(),
        Realm::Programs => confined.programs.is_some(),
        Realm::Privileges => confined.privileges.is_some(),
    }
}

/// What nearly every program reads: libraries and their loader, what is said of the machine's
/// language and time, what a runtime asks of processors and memory, and devices that hold nothing.
pub(super) const SYSTEM_READS: &[&str] = &[
    "/lib/**",
    "/lib32/**",
    "/lib64/**",
    "/libx32/**",
    "/usr/lib/**",
    "/usr/lib32/**",
    "/usr/lib64/**",
    "/usr/libx32/**",
    "/usr/local/lib/**",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/ld-musl-*.path",
    "/etc/locale.alias",
    "/etc/localtime",
    "/usr/share/locale/**",
    "/usr/share/zoneinfo/**",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
    "/etc/selinux/config",
    "/proc/filesystems",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/sys/fs/cgroup/**/cpu.max",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
    "/proc/self/**",
    "/proc/thread-self/**",
];

/// What nearly every program writes: devices that keep nothing.
pub(super) const SYSTEM_WRITES: &[&str] = &["/dev/full", "/dev/null", "/dev/zero"];

/// The socket of the name service's cache, which the C library tries.
pub(super) const SYSTEM_SOCKETS: &[&str] = &["/run/nscd/socket", "/var/run/nscd/socket"];
