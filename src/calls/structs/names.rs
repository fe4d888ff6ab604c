//! The names of values inside structures.
//!
//! In the order in which strace writes them, as far as it knows them. Those that are arguments of
//! calls as well are in `syscall::constants`.

/// Names of bits.
pub(super) struct Flags {
    pub(super) table: &'static [(u64, &'static str)],
}

/// Names of values.
pub(super) struct Names {
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

/// `linux/openat2.h`.
pub(super) const RESOLVE: Flags = Flags {
    table: &[
        (0x01, "RESOLVE_NO_XDEV"),
        (0x02, "RESOLVE_NO_MAGICLINKS"),
        (0x04, "RESOLVE_NO_SYMLINKS"),
        (0x08, "RESOLVE_BENEATH"),
        (0x10, "RESOLVE_IN_ROOT"),
        (0x20, "RESOLVE_CACHED"),
    ],
};

/// `linux/vm_sockets.h`.
pub(super) const MACHINES: Names = Names {
    table: &[
        (0, "VMADDR_CID_HYPERVISOR"),
        (1, "VMADDR_CID_LOCAL"),
        (2, "VMADDR_CID_HOST"),
        (0xffff_ffff, "VMADDR_CID_ANY"),
    ],
};

/// `linux/vm_sockets.h`.
pub(super) const MACHINE_PORTS: Names = Names {
    table: &[(0xffff_ffff, "VMADDR_PORT_ANY")],
};

/// `linux/vm_sockets.h`.
pub(super) const MACHINE_FLAGS: Flags = Flags {
    table: &[(1, "VMADDR_FLAG_TO_HOST")],
};

/// `linux/sched.h`.
#[rustfmt::skip]
pub(super) const CLONE: Flags = Flags {
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
    table: &[
        (0x1, "POLLIN"), (0x2, "POLLPRI"), (0x4, "POLLOUT"), (0x8, "POLLERR"), (0x10, "POLLHUP"), (0x20, "POLLNVAL"),
        (0x40, "POLLRDNORM"), (0x80, "POLLRDBAND"), (0x100, "POLLWRNORM"), (0x200, "POLLWRBAND"), (0x400, "POLLMSG"),
        (0x1000, "POLLREMOVE"), (0x2000, "POLLRDHUP"), (0x8000, "POLL_BUSY_LOOP"),
    ],
};

/// `linux/eventpoll.h`.
#[rustfmt::skip]
pub(super) const EPOLL: Flags = Flags {
    table: &[
        (0x1, "EPOLLIN"), (0x2, "EPOLLPRI"), (0x4, "EPOLLOUT"), (0x8, "EPOLLERR"), (0x10, "EPOLLHUP"), (0x20, "EPOLLNVAL"),
        (0x40, "EPOLLRDNORM"), (0x80, "EPOLLRDBAND"), (0x100, "EPOLLWRNORM"), (0x200, "EPOLLWRBAND"), (0x400, "EPOLLMSG"),
        (0x2000, "EPOLLRDHUP"), (0x1000_0000, "EPOLLEXCLUSIVE"), (0x2000_0000, "EPOLLWAKEUP"),
        (0x4000_0000, "EPOLLONESHOT"), (0x8000_0000, "EPOLLET"),
    ],
};

/// `asm-generic/signal-defs.h`; `SA_RESTORER` is the kernel's own.
pub(super) const SIGNAL_ACTION: Flags = Flags {
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
    table: &[
        (1, "SS_ONSTACK"),
        (2, "SS_DISABLE"),
        (1 << 31, "SS_AUTODISARM"),
    ],
};

/// `asm-generic/siginfo.h`.
pub(super) const NOTIFY: Names = Names {
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
    table: of_libc![S_IFREG S_IFSOCK S_IFIFO S_IFLNK S_IFDIR S_IFBLK S_IFCHR],
};

/// `linux/stat.h`.
pub(super) const STATX_ATTRIBUTES: Flags = Flags {
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

/// Types of control messages of `SOL_SOCKET`.
#[rustfmt::skip]
pub(super) static SOCKET_CONTROLS: Names = Names { table: &[
    (1, "SCM_RIGHTS"), (2, "SCM_CREDENTIALS"), (SCM_SECURITY as u64, "SCM_SECURITY"), (4, "SCM_PIDFD"),
    (29, "SO_TIMESTAMP_OLD"), (35, "SO_TIMESTAMPNS_OLD"), (37, "SO_TIMESTAMPING_OLD"), (40, "SO_RXQ_OVFL"),
    (41, "SO_WIFI_STATUS"), (54, "SO_TIMESTAMPING_OPT_STATS"), (58, "SO_TIMESTAMPING_PKTINFO"),
    (61, "SO_TXTIME"), (63, "SO_TIMESTAMP_NEW"), (64, "SO_TIMESTAMPNS_NEW"), (65, "SO_TIMESTAMPING_NEW"),
] };

/// `SCM_SECURITY` of linux/socket.h; the same number has it among those of `SOL_IP`.
pub(super) const SCM_SECURITY: i32 = 3;
/// `IP_CHECKSUM` of linux/in.h.
pub(super) const IP_CHECKSUM: i32 = 23;

/// Types of control messages of `SOL_IP`.
#[rustfmt::skip]
pub(super) static INTERNET_CONTROLS: Names = Names { table: &[
    (1, "IP_TOS"), (2, "IP_TTL"), (SCM_SECURITY as u64, "SCM_SECURITY"), (6, "IP_RECVOPTS"), (7, "IP_RETOPTS"),
    (8, "IP_PKTINFO"), (11, "IP_RECVERR"), (20, "IP_ORIGDSTADDR"), (IP_CHECKSUM as u64, "IP_CHECKSUM"),
] };

/// The kernel's net/bluetooth/hci_sock.h.
pub(super) const CONTROLLER_CHANNELS: Names = Names {
    table: &[
        (0, "HCI_CHANNEL_RAW"),
        (1, "HCI_CHANNEL_USER"),
        (2, "HCI_CHANNEL_MONITOR"),
        (3, "HCI_CHANNEL_CONTROL"),
        (4, "HCI_CHANNEL_LOGGING"),
    ],
};

/// The kernel's net/bluetooth/l2cap.h.
pub(super) const LINK_SERVICES: Names = Names {
    table: &[
        (0x01, "L2CAP_PSM_SDP"),
        (0x03, "L2CAP_PSM_RFCOMM"),
        (0x21, "L2CAP_PSM_3DSP"),
        (0x23, "L2CAP_PSM_IPSP"),
        (0x80, "L2CAP_PSM_LE_DYN_START"),
        (0xff, "L2CAP_PSM_LE_DYN_END"),
        (0x1001, "L2CAP_PSM_DYN_START"),
        (0x10ff, "L2CAP_PSM_AUTO_END"),
        (0xffff, "L2CAP_PSM_DYN_END"),
    ],
};

/// The kernel's net/bluetooth/l2cap.h.
pub(super) const LINK_CHANNELS: Names = Names {
    table: &[
        (1, "L2CAP_CID_SIGNALING"),
        (2, "L2CAP_CID_CONN_LESS"),
        (3, "L2CAP_CID_A2MP"),
        (4, "L2CAP_CID_ATT"),
        (5, "L2CAP_CID_LE_SIGNALING"),
        (6, "L2CAP_CID_SMP"),
        (7, "L2CAP_CID_SMP_BREDR"),
        (0x40, "L2CAP_CID_DYN_START"),
        (0x7f, "L2CAP_CID_LE_DYN_END"),
        (0xffff, "L2CAP_CID_DYN_END"),
    ],
};

/// The kernel's net/bluetooth/bluetooth.h.
pub(super) const BLUETOOTH_ADDRESSES: Names = Names {
    table: &[
        (0, "BDADDR_BREDR"),
        (1, "BDADDR_LE_PUBLIC"),
        (2, "BDADDR_LE_RANDOM"),
    ],
};

/// The kernel's fs/afs/afs_cm.h, afs_vl.h and protocol_yfs.h.
pub(super) const REMOTE_SERVICES: Names = Names {
    table: &[
        (1, "CM_SERVICE"),
        (2500, "YFS_FS_SERVICE"),
        (2501, "YFS_CM_SERVICE"),
        (2503, "YFS_VL_SERVICE"),
    ],
};

/// The kernel's net/af_ieee802154.h.
pub(super) const PERSONAL_ADDRESSES: Names = Names {
    table: &[
        (0, "IEEE802154_ADDR_NONE"),
        (2, "IEEE802154_ADDR_SHORT"),
        (3, "IEEE802154_ADDR_LONG"),
    ],
};

/// The kernel's net/af_ieee802154.h.
pub(super) const PERSONAL_NETWORKS: Names = Names {
    table: &[(0xffff, "IEEE802154_PANID_BROADCAST")],
};

/// The kernel's net/af_ieee802154.h.
pub(super) const PERSONAL_SHORT: Names = Names {
    table: &[
        (0xfffe, "IEEE802154_ADDR_UNDEF"),
        (0xffff, "IEEE802154_ADDR_BROADCAST"),
    ],
};

/// The kernel's linux/crypto.h.
pub(super) const ALGORITHM_FLAGS: Flags = Flags {
    table: &[(0x1000, "CRYPTO_ALG_KERN_DRIVER_ONLY")],
};

/// `linux/nfc.h`.
pub(super) const NEAR_PROTOCOLS: Names = Names {
    table: &[
        (1, "NFC_PROTO_JEWEL"),
        (2, "NFC_PROTO_MIFARE"),
        (3, "NFC_PROTO_FELICA"),
        (4, "NFC_PROTO_ISO14443"),
        (5, "NFC_PROTO_NFC_DEP"),
        (6, "NFC_PROTO_ISO14443_B"),
        (7, "NFC_PROTO_ISO15693"),
    ],
};

/// The kernel's net/nfc/llcp.h.
pub(super) const NEAR_SERVICES: Names = Names {
    table: &[
        (1, "LLCP_SAP_SDP"),
        (2, "LLCP_SAP_IP"),
        (3, "LLCP_SAP_OBEX"),
        (4, "LLCP_SAP_SNEP"),
        (0xff, "LLCP_SAP_MAX"),
    ],
};

/// `linux/qrtr.h`.
pub(super) const ROUTER_NODES: Names = Names {
    table: &[(0xffff_ffff, "QRTR_NODE_BCAST")],
};

/// `linux/qrtr.h`.
pub(super) const ROUTER_PORTS: Names = Names {
    table: &[(0xffff_fffe, "QRTR_PORT_CTRL")],
};

/// `linux/if_xdp.h`.
pub(super) const EXPRESS_FLAGS: Flags = Flags {
    table: &[
        (1, "XDP_SHARED_UMEM"),
        (2, "XDP_COPY"),
        (4, "XDP_ZEROCOPY"),
        (8, "XDP_USE_NEED_WAKEUP"),
        (16, "XDP_USE_SG"),
    ],
};

/// `linux/mctp.h`.
pub(super) const MANAGEMENT_NETWORKS: Names = Names {
    table: &[(0, "MCTP_NET_ANY")],
};

/// `linux/mctp.h`.
pub(super) const MANAGEMENT_ADDRESSES: Names = Names {
    table: &[(0, "MCTP_ADDR_NULL"), (0xff, "MCTP_ADDR_ANY")],
};
