//! The calls with a handful of commands.

use super::{ArgKind, Case, Commands, ReturnKind, case};
use crate::constants::tables as names;
use ArgKind::{
    Address, Constants as Of, Fd, Hex, Hex32, Id, Int, Pid, Pointer, Signal, Size, Uint32, Unused,
    Word,
};

const NONE: &[ArgKind] = &[];
const POINTER: &[ArgKind] = &[Pointer];

const fn arch(name: &str, argument: &'static [ArgKind]) -> Case {
    case(&names::ARCH_OPTIONS, name, argument)
}

pub(super) static ARCH_PRCTL: Commands = Commands::at(
    0,
    &[
        arch("ARCH_SET_FS", &[Address]),
        arch("ARCH_SET_GS", &[Address]),
        arch("ARCH_GET_FS", POINTER),
        arch("ARCH_GET_GS", POINTER),
        arch("ARCH_GET_CPUID", NONE),
        arch("ARCH_GET_XCOMP_SUPP", POINTER),
        arch("ARCH_GET_XCOMP_PERM", POINTER),
        arch("ARCH_GET_XCOMP_GUEST_PERM", POINTER),
    ],
    Some(&[Hex]),
);

/// The last two arguments, from Linux 7.0 on, are looked at only where a flag among the command's
/// bits says so.
pub(super) static BPF: Commands = Commands {
    mask: 1 << 16,
    ..Commands::at(
        0,
        &[case(
            &names::BPF_COMMANDS,
            "BPF_COMMON_ATTRS",
            &[Pointer, Uint32, Pointer, Uint32],
        )],
        Some(&[Pointer, Uint32]),
    )
};

const fn control(name: &str, argument: &'static [ArgKind]) -> Case {
    case(&names::FCNTL_COMMANDS, name, argument)
}

pub(super) static FCNTL: Commands = Commands::at(
    1,
    &[
        control("F_GETFD", NONE).returning(ReturnKind::Constants(&names::DESCRIPTOR_FLAGS)),
        control("F_SETFD", &[Of(&names::DESCRIPTOR_FLAGS)]),
        control("F_GETFL", NONE).returning(ReturnKind::Constants(&names::OPEN_FLAGS)),
        control("F_SETFL", &[Of(&names::OPEN_FLAGS)]),
        control("F_DUPFD", &[Size]).returning(ReturnKind::Fd),
        control("F_DUPFD_CLOEXEC", &[Size]).returning(ReturnKind::Fd),
        control("F_DUPFD_QUERY", &[Fd]),
        control("F_GETLK", POINTER),
        control("F_SETLK", POINTER),
        control("F_SETLKW", POINTER),
        control("F_GETLK64", POINTER),
        control("F_SETLK64", POINTER),
        control("F_SETLKW64", POINTER),
        control("F_OFD_GETLK", POINTER),
        control("F_OFD_SETLK", POINTER),
        control("F_OFD_SETLKW", POINTER),
        control("F_SETOWN", &[Pid]),
        control("F_GETOWN", NONE).returning(ReturnKind::Pid),
        control("F_SETOWN_EX", POINTER),
        control("F_GETOWN_EX", POINTER),
        control("F_GETOWNER_UIDS", POINTER),
        control("F_SETSIG", &[Signal]),
        control("F_GETSIG", NONE).returning(ReturnKind::Constants(&names::SIGNALS)),
        control("F_SETLEASE", &[Of(&names::LEASES)]),
        control("F_GETLEASE", NONE).returning(ReturnKind::Constants(&names::LEASES)),
        control("F_NOTIFY", &[Of(&names::NOTIFY_FLAGS)]),
        control("F_SETPIPE_SZ", &[Size]),
        control("F_GETPIPE_SZ", NONE),
        control("F_ADD_SEALS", &[Of(&names::SEALS)]),
        control("F_GET_SEALS", NONE).returning(ReturnKind::Constants(&names::SEALS)),
        control("F_GET_RW_HINT", POINTER),
        control("F_SET_RW_HINT", POINTER),
        control("F_GET_FILE_RW_HINT", POINTER),
        control("F_SET_FILE_RW_HINT", POINTER),
    ],
    Some(&[Word]),
);

const fn configuration(name: &str, arguments: &'static [ArgKind]) -> Case {
    case(&names::FSCONFIG_COMMANDS, name, arguments)
}

pub(super) static FSCONFIG: Commands = Commands::at(
    1,
    &[
        configuration("FSCONFIG_SET_PATH", &[Pointer, Pointer, Fd]),
        configuration("FSCONFIG_SET_PATH_EMPTY", &[Pointer, Pointer, Fd]),
        configuration("FSCONFIG_SET_FD", &[Pointer, Pointer, Fd]),
    ],
    Some(&[Pointer, Pointer, Int]),
);

const fn futex(name: &str, arguments: &'static [ArgKind]) -> Case {
    case(&names::FUTEX_OPERATIONS, name, arguments)
}

const MASK: ArgKind = Of(&names::FUTEX_BITS);

/// Without `FUTEX_PRIVATE_FLAG` and `FUTEX_CLOCK_REALTIME`. The fourth word is a time or a count.
pub(super) static FUTEX: Commands = Commands {
    mask: 0x7f,
    ..Commands::at(
        1,
        &[
            futex("FUTEX_WAIT", &[Uint32, Pointer]),
            futex("FUTEX_WAKE", &[Uint32]),
            futex("FUTEX_FD", &[Uint32]),
            futex("FUTEX_REQUEUE", &[Uint32, Uint32, Pointer]),
            futex("FUTEX_CMP_REQUEUE", &[Uint32, Uint32, Pointer, Uint32]),
            futex(
                "FUTEX_WAKE_OP",
                &[Uint32, Uint32, Pointer, Of(&names::FUTEX_WAKE_OP)],
            ),
            futex("FUTEX_LOCK_PI", &[Unused, Pointer]),
            futex("FUTEX_UNLOCK_PI", NONE),
            futex("FUTEX_TRYLOCK_PI", NONE),
            futex("FUTEX_WAIT_BITSET", &[Uint32, Pointer, Unused, MASK]),
            futex("FUTEX_WAKE_BITSET", &[Uint32, Unused, Unused, MASK]),
            futex("FUTEX_WAIT_REQUEUE_PI", &[Uint32, Pointer, Pointer]),
            futex("FUTEX_CMP_REQUEUE_PI", &[Uint32, Uint32, Pointer, Uint32]),
            futex("FUTEX_LOCK_PI2", &[Unused, Pointer]),
        ],
        Some(&[Uint32, Pointer, Pointer, Hex32]),
    )
};

/// `getpriority` and `setpriority`.
pub(super) static PRIORITY: Commands = Commands::of_some(
    0,
    1,
    &[case(&names::PRIORITY_WHICH, "PRIO_USER", &[Id])],
    None,
);

/// `ioprio_get` and `ioprio_set`.
pub(super) static IO_PRIORITY: Commands = Commands::of_some(
    0,
    1,
    &[case(&names::IOPRIO_WHICH, "IOPRIO_WHO_USER", &[Id])],
    None,
);

const fn comparison(name: &str, arguments: &'static [ArgKind]) -> Case {
    case(&names::KCMP_TYPES, name, arguments)
}

/// The descriptors are those of other processes.
pub(super) static KCMP: Commands = Commands::at(
    2,
    &[
        comparison("KCMP_FILE", &[Int, Int]),
        comparison("KCMP_VM", NONE),
        comparison("KCMP_FILES", NONE),
        comparison("KCMP_FS", NONE),
        comparison("KCMP_SIGHAND", NONE),
        comparison("KCMP_IO", NONE),
        comparison("KCMP_SYSVSEM", NONE),
        comparison("KCMP_EPOLL_TFD", &[Int, Pointer]),
    ],
    Some(&[Hex, Hex]),
);

const KEY: ArgKind = Of(&names::KEYS);

const fn key(name: &str, arguments: &'static [ArgKind]) -> Case {
    case(&names::KEY_COMMANDS, name, arguments)
}

pub(super) static KEYCTL: Commands = Commands::at(
    0,
    &[
        key("KEYCTL_GET_KEYRING_ID", &[KEY, Int]),
        key("KEYCTL_JOIN_SESSION_KEYRING", POINTER),
        key("KEYCTL_UPDATE", &[KEY, Pointer, Size]),
        key("KEYCTL_REVOKE", &[KEY]),
        key("KEYCTL_CHOWN", &[KEY, Id, Id]),
        key("KEYCTL_SETPERM", &[KEY, Of(&names::KEY_PERMISSIONS)]),
        key("KEYCTL_DESCRIBE", &[KEY, Pointer, Size]),
        key("KEYCTL_CLEAR", &[KEY]),
        key("KEYCTL_LINK", &[KEY, KEY]),
        key("KEYCTL_UNLINK", &[KEY, KEY]),
        key("KEYCTL_SEARCH", &[KEY, Pointer, Pointer, KEY]),
        key("KEYCTL_READ", &[KEY, Pointer, Size]),
        key("KEYCTL_INSTANTIATE", &[KEY, Pointer, Size, KEY]),
        key("KEYCTL_NEGATE", &[KEY, Uint32, KEY]),
        key(
            "KEYCTL_SET_REQKEY_KEYRING",
            &[Of(&names::KEY_REQUEST_KEYRINGS)],
        ),
        key("KEYCTL_SET_TIMEOUT", &[KEY, Uint32]),
        key("KEYCTL_ASSUME_AUTHORITY", &[KEY]),
        key("KEYCTL_GET_SECURITY", &[KEY, Pointer, Size]),
        key("KEYCTL_SESSION_TO_PARENT", NONE),
        key("KEYCTL_REJECT", &[KEY, Uint32, Of(&names::KEY_ERRORS), KEY]),
        key("KEYCTL_INSTANTIATE_IOV", &[KEY, Pointer, Size, KEY]),
        key("KEYCTL_INVALIDATE", &[KEY]),
        key("KEYCTL_GET_PERSISTENT", &[Id, KEY]),
        key("KEYCTL_DH_COMPUTE", &[Pointer, Pointer, Size, Pointer]),
        key("KEYCTL_PKEY_QUERY", &[KEY, Hex, Pointer, Pointer]),
        key("KEYCTL_PKEY_ENCRYPT", &[Pointer, Pointer, Pointer, Pointer]),
        key("KEYCTL_PKEY_DECRYPT", &[Pointer, Pointer, Pointer, Pointer]),
        key("KEYCTL_PKEY_SIGN", &[Pointer, Pointer, Pointer, Pointer]),
        key("KEYCTL_PKEY_VERIFY", &[Pointer, Pointer, Pointer, Pointer]),
        key("KEYCTL_RESTRICT_KEYRING", &[KEY, Pointer, Pointer]),
        key("KEYCTL_MOVE", &[KEY, KEY, KEY, Of(&names::KEY_MOVE_FLAGS)]),
        key("KEYCTL_CAPABILITIES", &[Pointer, Size]),
    ],
    Some(&[Word, Word, Word, Word]),
);

const fn trace(name: &str, arguments: &'static [ArgKind]) -> Case {
    case(&names::PTRACE_REQUESTS, name, arguments)
}

const ONLY_PID: &[ArgKind] = &[Pid];
/// The address is not looked at; the second word is the signal that the tracee goes on with.
const GO_ON: &[ArgKind] = &[Pid, Pointer, Signal];
const OPTIONS: &[ArgKind] = &[Pid, Pointer, Of(&names::PTRACE_OPTIONS)];
const LENGTH: &[ArgKind] = &[Pid, Size, Pointer];
const REGISTERS: &[ArgKind] = &[Pid, Of(&names::REGISTER_SETS), Pointer];
/// All registers at once: the address is not looked at.
const ALL_REGISTERS: &[ArgKind] = &[Pid, Unused, Pointer];
const POKE: &[ArgKind] = &[Pid, Address, Hex];

pub(super) static PTRACE: Commands = Commands::at(
    0,
    &[
        trace("PTRACE_TRACEME", NONE),
        trace("PTRACE_ATTACH", ONLY_PID),
        trace("PTRACE_INTERRUPT", ONLY_PID),
        trace("PTRACE_KILL", ONLY_PID),
        trace("PTRACE_LISTEN", ONLY_PID),
        trace("PTRACE_CONT", GO_ON),
        trace("PTRACE_DETACH", GO_ON),
        trace("PTRACE_SYSCALL", GO_ON),
        trace("PTRACE_SINGLESTEP", GO_ON),
        trace("PTRACE_SINGLEBLOCK", GO_ON),
        trace("PTRACE_SYSEMU", GO_ON),
        trace("PTRACE_SYSEMU_SINGLESTEP", GO_ON),
        trace("PTRACE_SEIZE", OPTIONS),
        trace("PTRACE_SETOPTIONS", OPTIONS),
        trace("PTRACE_OLDSETOPTIONS", OPTIONS),
        trace("PTRACE_GETREGS", ALL_REGISTERS),
        trace("PTRACE_SETREGS", ALL_REGISTERS),
        trace("PTRACE_GETFPREGS", ALL_REGISTERS),
        trace("PTRACE_SETFPREGS", ALL_REGISTERS),
        trace("PTRACE_GETREGSET", REGISTERS),
        trace("PTRACE_SETREGSET", REGISTERS),
        trace("PTRACE_GETSIGMASK", LENGTH),
        trace("PTRACE_SETSIGMASK", LENGTH),
        trace("PTRACE_GET_SYSCALL_INFO", LENGTH),
        trace("PTRACE_SECCOMP_GET_FILTER", LENGTH),
        trace("PTRACE_SECCOMP_GET_METADATA", LENGTH),
        trace("PTRACE_POKEUSER", POKE),
        trace("PTRACE_POKETEXT", POKE),
        trace("PTRACE_POKEDATA", POKE),
    ],
    Some(&[Pid, Address, Pointer]),
)
.wide();

const fn quota(name: &str, arguments: &'static [ArgKind]) -> Case {
    case(&names::QUOTA_OPERATIONS, name, arguments)
}

static QUOTA: &[Case] = &[
    quota("Q_QUOTAON", &[Of(&names::QUOTA_FORMATS), Pointer]),
    quota("Q_QUOTAOFF", NONE),
    quota("Q_SYNC", NONE),
    quota("Q_XQUOTASYNC", NONE),
    quota("Q_GETFMT", &[Unused, Pointer]),
    quota("Q_GETINFO", &[Unused, Pointer]),
    quota("Q_SETINFO", &[Unused, Pointer]),
    quota("Q_XGETQSTAT", &[Unused, Pointer]),
    quota("Q_XGETQSTATV", &[Unused, Pointer]),
    quota("Q_XQUOTAON", &[Unused, Pointer]),
    quota("Q_XQUOTAOFF", &[Unused, Pointer]),
    quota("Q_XQUOTARM", &[Unused, Pointer]),
];

const OF_QUOTA: Option<&[ArgKind]> = Some(&[Id, Pointer]);

/// The lowest byte is the kind of the quota.
pub(super) static QUOTACTL: Commands = Commands {
    first: 2,
    shift: 8,
    mask: 0xff_ffff,
    ..Commands::at(0, QUOTA, OF_QUOTA)
};

/// The same, where a descriptor stands for the file system.
pub(super) static QUOTACTL_FD: Commands = Commands {
    shift: 8,
    mask: 0xff_ffff,
    ..Commands::at(1, QUOTA, OF_QUOTA)
};

pub(super) static REBOOT: Commands = Commands::at(
    2,
    &[case(
        &names::REBOOT_COMMANDS,
        "LINUX_REBOOT_CMD_RESTART2",
        POINTER,
    )],
    Some(NONE),
);

pub(super) static SECCOMP: Commands = Commands::of_some(
    0,
    1,
    &[case(
        &names::SECCOMP_OPERATIONS,
        "SECCOMP_SET_MODE_FILTER",
        &[Of(&names::SECCOMP_FILTER_FLAGS)],
    )],
    None,
);

/// Without the bit that asks for the newer structures, which all do.
pub(super) static SEMCTL: Commands = Commands {
    mask: 0xffff_feff,
    ..Commands::at(
        2,
        &[case(&names::SEMCTL_COMMANDS, "SETVAL", &[Hex])],
        Some(POINTER),
    )
};

const LEVEL: &[ArgKind] = &[Pointer, Of(&names::LOG_LEVELS)];

const fn log(name: &str, arguments: &'static [ArgKind]) -> Case {
    case(&names::SYSLOG_ACTIONS, name, arguments)
}

/// Those that take no buffer, and the one that takes a level.
pub(super) static SYSLOG: Commands = Commands::at(
    0,
    &[
        log("SYSLOG_ACTION_CLOSE", NONE),
        log("SYSLOG_ACTION_OPEN", NONE),
        log("SYSLOG_ACTION_CLEAR", NONE),
        log("SYSLOG_ACTION_CONSOLE_OFF", NONE),
        log("SYSLOG_ACTION_CONSOLE_ON", NONE),
        log("SYSLOG_ACTION_SIZE_UNREAD", NONE),
        log("SYSLOG_ACTION_SIZE_BUFFER", NONE),
        log("SYSLOG_ACTION_CONSOLE_LEVEL", LEVEL),
    ],
    None,
);

const fn by_number(command: u64, arguments: &'static [ArgKind]) -> Case {
    Case {
        command,
        arguments,
        returns: None,
        then: None,
    }
}

/// The name of a file system to its number, its number to the name, how many there are.
pub(super) static SYSFS: Commands = Commands::at(
    0,
    &[
        by_number(1, POINTER),
        by_number(2, &[Uint32, Pointer]),
        by_number(3, NONE),
    ],
    None,
);

const fn wait(name: &str, argument: &'static [ArgKind]) -> Case {
    case(&names::WAITID_TYPES, name, argument)
}

pub(super) static WAITID: Commands = Commands::of_some(0, 1, &[wait("P_PIDFD", &[Fd])], None);

#[cfg(test)]
pub(super) static ALL: &[&Commands] = &[
    &ARCH_PRCTL,
    &BPF,
    &FCNTL,
    &FSCONFIG,
    &FUTEX,
    &PRIORITY,
    &IO_PRIORITY,
    &KCMP,
    &KEYCTL,
    &PTRACE,
    &QUOTACTL,
    &REBOOT,
    &SECCOMP,
    &SEMCTL,
    &SYSLOG,
    &WAITID,
];
