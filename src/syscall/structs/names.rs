//! The names of values inside structures.
//!
//! In the order in which strace writes them, as far as it knows them. Those that are arguments of calls as well belong to
//! `syscall::constants`; until they are there, they are here.

/// Names of bits.
pub(super) struct Flags {
    /// How the names begin, for the mark of a value that has none.
    pub(super) stem: &'static str,
    pub(super) table: &'static [(u64, &'static str)],
}

/// Names of values.
pub(super) struct Names {
    /// How the names begin, for the mark of a value that has none.
    pub(super) stem: &'static str,
    pub(super) table: &'static [(u64, &'static str)],
}

impl Names {
    pub(super) fn name(&self, value: u64) -> Option<&'static str> {
        let found = self.table.iter().find(|(known, _)| *known == value);
        found.map(|(_, name)| *name)
    }
}

/// A table of constants of the C library, under their own names.
macro_rules! of_libc {
    ($($name:ident)*) => {
        &[$((libc::$name as u32 as u64, stringify!($name))),*]
    };
}

/// The name of a signal without its `SIG`; those above 32 have none.
pub(super) fn signal(number: i32) -> Option<&'static str> {
    let place = usize::try_from(number).ok()?.checked_sub(1)?;
    SIGNALS.get(place).copied()
}

/// In the order of the numbers, which is the same on both architectures.
const SIGNALS: &[&str] = &[
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS", "RTMIN",
];

/// `linux/socket.h`.
pub(super) const FAMILIES: Names = Names {
    stem: "AF_",
    table: &[
        (0, "AF_UNSPEC"),
        (1, "AF_UNIX"),
        (2, "AF_INET"),
        (3, "AF_AX25"),
        (4, "AF_IPX"),
        (5, "AF_APPLETALK"),
        (6, "AF_NETROM"),
        (7, "AF_BRIDGE"),
        (8, "AF_ATMPVC"),
        (9, "AF_X25"),
        (10, "AF_INET6"),
        (11, "AF_ROSE"),
        (12, "AF_DECnet"),
        (13, "AF_NETBEUI"),
        (14, "AF_SECURITY"),
        (15, "AF_KEY"),
        (16, "AF_NETLINK"),
        (17, "AF_PACKET"),
        (18, "AF_ASH"),
        (19, "AF_ECONET"),
        (20, "AF_ATMSVC"),
        (21, "AF_RDS"),
        (22, "AF_SNA"),
        (23, "AF_IRDA"),
        (24, "AF_PPPOX"),
        (25, "AF_WANPIPE"),
        (26, "AF_LLC"),
        (27, "AF_IB"),
        (28, "AF_MPLS"),
        (29, "AF_CAN"),
        (30, "AF_TIPC"),
        (31, "AF_BLUETOOTH"),
        (32, "AF_IUCV"),
        (33, "AF_RXRPC"),
        (34, "AF_ISDN"),
        (35, "AF_PHONET"),
        (36, "AF_IEEE802154"),
        (37, "AF_CAIF"),
        (38, "AF_ALG"),
        (39, "AF_NFC"),
        (40, "AF_VSOCK"),
        (41, "AF_KCM"),
        (42, "AF_QIPCRTR"),
        (43, "AF_SMC"),
        (44, "AF_XDP"),
        (45, "AF_MCTP"),
    ],
};

/// `struct msghdr`.
#[rustfmt::skip]
pub(super) const MESSAGE: Flags = Flags {
    stem: "MSG_",
    table: &[
        (1, "MSG_OOB"), (2, "MSG_PEEK"), (4, "MSG_DONTROUTE"), (8, "MSG_CTRUNC"), (0x10, "MSG_PROBE"), (0x20, "MSG_TRUNC"),
        (0x40, "MSG_DONTWAIT"), (0x80, "MSG_EOR"), (0x100, "MSG_WAITALL"), (0x200, "MSG_FIN"), (0x400, "MSG_SYN"),
        (0x800, "MSG_CONFIRM"), (0x1000, "MSG_RST"), (0x2000, "MSG_ERRQUEUE"), (0x4000, "MSG_NOSIGNAL"), (0x8000, "MSG_MORE"),
        (0x1_0000, "MSG_WAITFORONE"), (0x2_0000, "MSG_SENDPAGE_NOTLAST"), (0x4_0000, "MSG_BATCH"),
        (0x8_0000, "MSG_NO_SHARED_FRAGS"), (0x400_0000, "MSG_ZEROCOPY"), (0x2000_0000, "MSG_FASTOPEN"),
        (0x4000_0000, "MSG_CMSG_CLOEXEC"), (0x8000_0000, "MSG_CMSG_COMPAT"),
    ],
};

/// The access mode of `open_how.flags`.
pub(super) const ACCESS: Names = Names {
    stem: "O_",
    table: of_libc![O_RDONLY O_WRONLY O_RDWR O_ACCMODE],
};

/// The bits of `open_how.flags`.
pub(super) const OPEN: Flags = Flags {
    stem: "O_",
    table: &[
        (libc::O_CREAT as u64, "O_CREAT"),
        (libc::O_EXCL as u64, "O_EXCL"),
        (libc::O_NOCTTY as u64, "O_NOCTTY"),
        (libc::O_TRUNC as u64, "O_TRUNC"),
        (libc::O_APPEND as u64, "O_APPEND"),
        (libc::O_NONBLOCK as u64, "O_NONBLOCK"),
        (libc::O_SYNC as u64, "O_SYNC"),
        (libc::O_DSYNC as u64, "O_DSYNC"),
        (libc::O_DIRECT as u64, "O_DIRECT"),
        (O_LARGEFILE, "O_LARGEFILE"),
        (libc::O_NOFOLLOW as u64, "O_NOFOLLOW"),
        (libc::O_NOATIME as u64, "O_NOATIME"),
        (libc::O_CLOEXEC as u64, "O_CLOEXEC"),
        (libc::O_PATH as u64, "O_PATH"),
        (libc::O_TMPFILE as u64, "O_TMPFILE"),
        (libc::O_DIRECTORY as u64, "O_DIRECTORY"),
        (libc::O_ASYNC as u64, "FASYNC"),
    ],
};

/// The kernel's own value, which is not the C library's.
const O_LARGEFILE: u64 = if cfg!(target_arch = "aarch64") {
    0o400_000
} else {
    0o100_000
};

/// `linux/openat2.h`.
pub(super) const RESOLVE: Flags = Flags {
    stem: "RESOLVE_",
    table: &[
        (0x01, "RESOLVE_NO_XDEV"),
        (0x02, "RESOLVE_NO_MAGICLINKS"),
        (0x04, "RESOLVE_NO_SYMLINKS"),
        (0x08, "RESOLVE_BENEATH"),
        (0x10, "RESOLVE_IN_ROOT"),
        (0x20, "RESOLVE_CACHED"),
    ],
};

/// `linux/sched.h`.
#[rustfmt::skip]
pub(super) const CLONE: Flags = Flags {
    stem: "CLONE_",
    table: &[
        (0x100, "CLONE_VM"), (0x200, "CLONE_FS"), (0x400, "CLONE_FILES"), (0x800, "CLONE_SIGHAND"), (0x1000, "CLONE_PIDFD"),
        (0x2000, "CLONE_PTRACE"), (0x4000, "CLONE_VFORK"), (0x8000, "CLONE_PARENT"), (0x1_0000, "CLONE_THREAD"),
        (0x2_0000, "CLONE_NEWNS"), (0x4_0000, "CLONE_SYSVSEM"), (0x8_0000, "CLONE_SETTLS"),
        (0x10_0000, "CLONE_PARENT_SETTID"), (0x20_0000, "CLONE_CHILD_CLEARTID"), (0x80_0000, "CLONE_UNTRACED"),
        (0x100_0000, "CLONE_CHILD_SETTID"), (0x200_0000, "CLONE_NEWCGROUP"), (0x400_0000, "CLONE_NEWUTS"),
        (0x800_0000, "CLONE_NEWIPC"), (0x1000_0000, "CLONE_NEWUSER"), (0x2000_0000, "CLONE_NEWPID"),
        (0x4000_0000, "CLONE_NEWNET"), (0x8000_0000, "CLONE_IO"), (0x80, "CLONE_NEWTIME"),
        (0x1_0000_0000, "CLONE_CLEAR_SIGHAND"), (0x2_0000_0000, "CLONE_INTO_CGROUP"),
    ],
};

/// `asm-generic/poll.h`.
#[rustfmt::skip]
pub(super) const POLL: Flags = Flags {
    stem: "POLL",
    table: &[
        (0x1, "POLLIN"), (0x2, "POLLPRI"), (0x4, "POLLOUT"), (0x8, "POLLERR"), (0x10, "POLLHUP"), (0x20, "POLLNVAL"),
        (0x40, "POLLRDNORM"), (0x80, "POLLRDBAND"), (0x100, "POLLWRNORM"), (0x200, "POLLWRBAND"), (0x400, "POLLMSG"),
        (0x1000, "POLLREMOVE"), (0x2000, "POLLRDHUP"), (0x8000, "POLL_BUSY_LOOP"),
    ],
};

/// `linux/eventpoll.h`.
#[rustfmt::skip]
pub(super) const EPOLL: Flags = Flags {
    stem: "EPOLL",
    table: &[
        (0x1, "EPOLLIN"), (0x2, "EPOLLPRI"), (0x4, "EPOLLOUT"), (0x8, "EPOLLERR"), (0x10, "EPOLLHUP"), (0x20, "EPOLLNVAL"),
        (0x40, "EPOLLRDNORM"), (0x80, "EPOLLRDBAND"), (0x100, "EPOLLWRNORM"), (0x200, "EPOLLWRBAND"), (0x400, "EPOLLMSG"),
        (0x2000, "EPOLLRDHUP"), (0x1000_0000, "EPOLLEXCLUSIVE"), (0x2000_0000, "EPOLLWAKEUP"),
        (0x4000_0000, "EPOLLONESHOT"), (0x8000_0000, "EPOLLET"),
    ],
};

/// `asm-generic/signal-defs.h`; `SA_RESTORER` is the kernel's own.
pub(super) const SIGNAL_ACTION: Flags = Flags {
    stem: "SA_",
    table: &[
        (0x0400_0000, "SA_RESTORER"),
        (0x0800_0000, "SA_ONSTACK"),
        (0x1000_0000, "SA_RESTART"),
        (0x2000_0000, "SA_INTERRUPT"),
        (0x4000_0000, "SA_NODEFER"),
        (0x8000_0000, "SA_RESETHAND"),
        (0x4, "SA_SIGINFO"),
        (0x1, "SA_NOCLDSTOP"),
        (0x2, "SA_NOCLDWAIT"),
    ],
};

/// `linux/signal.h`.
pub(super) const SIGNAL_STACK: Flags = Flags {
    stem: "SS_",
    table: &[
        (1, "SS_ONSTACK"),
        (2, "SS_DISABLE"),
        (1 << 31, "SS_AUTODISARM"),
    ],
};

/// `asm-generic/siginfo.h`.
pub(super) const NOTIFY: Names = Names {
    stem: "SIGEV_",
    table: &[
        (0, "SIGEV_SIGNAL"),
        (1, "SIGEV_NONE"),
        (2, "SIGEV_THREAD"),
        (4, "SIGEV_THREAD_ID"),
    ],
};

/// The codes that any signal may have.
pub(super) const CODES: &[(i32, &str)] = &[
    (0, "SI_USER"),
    (0x80, "SI_KERNEL"),
    (-1, "SI_QUEUE"),
    (-2, "SI_TIMER"),
    (-3, "SI_MESGQ"),
    (-4, "SI_ASYNCIO"),
    (-5, "SI_SIGIO"),
    (-6, "SI_TKILL"),
    (-7, "SI_DETHREAD"),
    (-60, "SI_ASYNCNL"),
];

/// The codes from 1 on of signals that have their own.
#[rustfmt::skip]
pub(super) const OWN_CODES: &[(i32, &[&str])] = &[
    (libc::SIGCHLD, &["CLD_EXITED", "CLD_KILLED", "CLD_DUMPED", "CLD_TRAPPED", "CLD_STOPPED", "CLD_CONTINUED"]),
    (libc::SIGSEGV, &[
        "SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR", "SEGV_ACCADI", "SEGV_ADIDERR", "SEGV_ADIPERR",
        "SEGV_MTEAERR", "SEGV_MTESERR", "SEGV_CPERR",
    ]),
    (libc::SIGBUS, &["BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"]),
    (libc::SIGFPE, &[
        "FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB",
    ]),
    (libc::SIGILL, &[
        "ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK",
        "ILL_BADIADDR",
    ]),
    (libc::SIGTRAP, &["TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT", "TRAP_UNK", "TRAP_PERF"]),
    (libc::SIGPOLL, &["POLL_IN", "POLL_OUT", "POLL_MSG", "POLL_ERR", "POLL_PRI", "POLL_HUP"]),
    (libc::SIGSYS, &["SYS_SECCOMP", "SYS_USER_DISPATCH"]),
];

/// The types of files.
pub(super) const FILE_TYPES: Names = Names {
    stem: "",
    table: of_libc![S_IFREG S_IFSOCK S_IFIFO S_IFLNK S_IFDIR S_IFBLK S_IFCHR],
};

/// `linux/stat.h`.
#[rustfmt::skip]
pub(super) const STATX: Flags = Flags {
    stem: "STATX_",
    table: &[
        (0xfff, "STATX_ALL"), (0x7ff, "STATX_BASIC_STATS"), (0x1, "STATX_TYPE"), (0x2, "STATX_MODE"), (0x4, "STATX_NLINK"),
        (0x8, "STATX_UID"), (0x10, "STATX_GID"), (0x20, "STATX_ATIME"), (0x40, "STATX_MTIME"), (0x80, "STATX_CTIME"),
        (0x100, "STATX_INO"), (0x200, "STATX_SIZE"), (0x400, "STATX_BLOCKS"), (0x800, "STATX_BTIME"),
        (0x1000, "STATX_MNT_ID"), (0x2000, "STATX_DIOALIGN"), (0x4000, "STATX_MNT_ID_UNIQUE"), (0x8000, "STATX_SUBVOL"),
        (0x1_0000, "STATX_WRITE_ATOMIC"), (0x2_0000, "STATX_DIO_READ_ALIGN"),
    ],
};

/// `linux/stat.h`.
pub(super) const STATX_ATTRIBUTES: Flags = Flags {
    stem: "STATX_ATTR_",
    table: &[
        (0x4, "STATX_ATTR_COMPRESSED"),
        (0x10, "STATX_ATTR_IMMUTABLE"),
        (0x20, "STATX_ATTR_APPEND"),
        (0x40, "STATX_ATTR_NODUMP"),
        (0x800, "STATX_ATTR_ENCRYPTED"),
        (0x1000, "STATX_ATTR_AUTOMOUNT"),
        (0x2000, "STATX_ATTR_MOUNT_ROOT"),
        (0x10_0000, "STATX_ATTR_VERITY"),
        (0x20_0000, "STATX_ATTR_DAX"),
        (0x40_0000, "STATX_ATTR_WRITE_ATOMIC"),
    ],
};
