//! The names of values inside structures about file systems, scheduling, capabilities and queues.

use super::names::{Flags, Names};

/// `linux/magic.h`, the file systems that one meets.
#[rustfmt::skip]
pub(super) const FILE_SYSTEMS: Names = Names {
    table: &[
        (0xadf5, "ADFS_SUPER_MAGIC"), (0x0904_1934, "ANON_INODE_FS_MAGIC"), (0x0187, "AUTOFS_SUPER_MAGIC"),
        (0x4249_4e4d, "BINFMTFS_MAGIC"), (0xcafe_4a11, "BPF_FS_MAGIC"), (0x9123_683e, "BTRFS_SUPER_MAGIC"),
        (0x27_e0eb, "CGROUP_SUPER_MAGIC"), (0x6367_7270, "CGROUP2_SUPER_MAGIC"), (0xff53_4d42, "CIFS_SUPER_MAGIC"),
        (0x6462_6720, "DEBUGFS_MAGIC"), (0x1cd1, "DEVPTS_SUPER_MAGIC"), (0xef53, "EXT2_SUPER_MAGIC"),
        (0xf2f5_2010, "F2FS_SUPER_MAGIC"), (0x6573_5546, "FUSE_SUPER_MAGIC"), (0x9584_58f6, "HUGETLBFS_MAGIC"),
        (0x9660, "ISOFS_SUPER_MAGIC"), (0x4d44, "MSDOS_SUPER_MAGIC"), (0x6969, "NFS_SUPER_MAGIC"),
        (0x6e73_6673, "NSFS_MAGIC"), (0x794c_7630, "OVERLAYFS_SUPER_MAGIC"), (0x5049_5045, "PIPEFS_MAGIC"),
        (0x9fa0, "PROC_SUPER_MAGIC"), (0x6165_676c, "PSTOREFS_MAGIC"), (0x8584_58f6, "RAMFS_MAGIC"),
        (0x7363_6673, "SECURITYFS_MAGIC"), (0xf97c_ff8c, "SELINUX_MAGIC"), (0x534f_434b, "SOCKFS_MAGIC"),
        (0x7371_7368, "SQUASHFS_MAGIC"), (0x6265_6572, "SYSFS_MAGIC"), (0x0102_1994, "TMPFS_MAGIC"),
        (0x7472_6163, "TRACEFS_MAGIC"), (0x0102_1997, "V9FS_MAGIC"), (0x5846_5342, "XFS_SUPER_MAGIC"),
    ],
};

/// `linux/statfs.h`.
#[rustfmt::skip]
pub(super) const MOUNT_STATE: Flags = Flags {
    table: &[
        (0x20, "ST_VALID"), (0x1, "ST_RDONLY"), (0x2, "ST_NOSUID"), (0x4, "ST_NODEV"), (0x8, "ST_NOEXEC"),
        (0x10, "ST_SYNCHRONOUS"), (0x40, "ST_MANDLOCK"), (0x400, "ST_NOATIME"), (0x800, "ST_NODIRATIME"),
        (0x1000, "ST_RELATIME"), (0x2000, "ST_NOSYMFOLLOW"),
    ],
};

/// `linux/mount.h`.
pub(super) const PROPAGATION: Names = Names {
    table: &[
        (1 << 17, "MS_UNBINDABLE"),
        (1 << 18, "MS_PRIVATE"),
        (1 << 19, "MS_SLAVE"),
        (1 << 20, "MS_SHARED"),
    ],
};

/// `struct flock`.
pub(super) const LOCKS: Names = Names {
    table: &[
        (0, "F_RDLCK"),
        (1, "F_WRLCK"),
        (2, "F_UNLCK"),
        (4, "F_EXLCK"),
        (8, "F_SHLCK"),
    ],
};

/// `asm-generic/fcntl.h`.
pub(super) const OWNERS: Names = Names {
    table: &[(0, "F_OWNER_TID"), (1, "F_OWNER_PID"), (2, "F_OWNER_PGRP")],
};

/// `linux/sched.h`.
pub(super) const POLICIES: Names = Names {
    table: &[
        (0, "SCHED_OTHER"),
        (1, "SCHED_FIFO"),
        (2, "SCHED_RR"),
        (3, "SCHED_BATCH"),
        (4, "SCHED_ISO"),
        (5, "SCHED_IDLE"),
        (6, "SCHED_DEADLINE"),
        (7, "SCHED_EXT"),
    ],
};

/// `linux/sched.h`.
pub(super) const SCHEDULE: Flags = Flags {
    table: &[
        (0x01, "SCHED_FLAG_RESET_ON_FORK"),
        (0x02, "SCHED_FLAG_RECLAIM"),
        (0x04, "SCHED_FLAG_DL_OVERRUN"),
        (0x08, "SCHED_FLAG_KEEP_POLICY"),
        (0x10, "SCHED_FLAG_KEEP_PARAMS"),
        (0x20, "SCHED_FLAG_UTIL_CLAMP_MIN"),
        (0x40, "SCHED_FLAG_UTIL_CLAMP_MAX"),
    ],
};

/// `linux/capability.h`, by number.
#[rustfmt::skip]
pub(super) const CAPABILITIES: &[&str] = &[
    "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID",
    "CAP_SETUID", "CAP_SETPCAP", "CAP_LINUX_IMMUTABLE", "CAP_NET_BIND_SERVICE", "CAP_NET_BROADCAST", "CAP_NET_ADMIN",
    "CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_IPC_OWNER", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_CHROOT", "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT", "CAP_SYS_ADMIN", "CAP_SYS_BOOT", "CAP_SYS_NICE", "CAP_SYS_RESOURCE", "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG", "CAP_MKNOD", "CAP_LEASE", "CAP_AUDIT_WRITE", "CAP_AUDIT_CONTROL", "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE", "CAP_MAC_ADMIN", "CAP_SYSLOG", "CAP_WAKE_ALARM", "CAP_BLOCK_SUSPEND", "CAP_AUDIT_READ",
    "CAP_PERFMON", "CAP_BPF", "CAP_CHECKPOINT_RESTORE",
];

/// `linux/capability.h`.
pub(super) const CAPABILITY_VERSIONS: Names = Names {
    table: &[
        (0x1998_0330, "_LINUX_CAPABILITY_VERSION_1"),
        (0x2007_1026, "_LINUX_CAPABILITY_VERSION_2"),
        (0x2008_0522, "_LINUX_CAPABILITY_VERSION_3"),
    ],
};

/// `struct sembuf`.
pub(super) const SEMAPHORE: Flags = Flags {
    table: &[(0x1000, "SEM_UNDO"), (0x800, "IPC_NOWAIT")],
};

/// `linux/futex.h`.
pub(super) const FUTEX: Flags = Flags {
    table: &[(0x2, "FUTEX_32"), (0x80, "FUTEX_PRIVATE_FLAG")],
};

/// `struct mq_attr`.
pub(super) const QUEUE: Flags = Flags {
    table: &[(libc::O_NONBLOCK as u64, "O_NONBLOCK")],
};
