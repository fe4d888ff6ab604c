//! Where the kernel, and not strace, is the authority, and why.

/// How many bits the kernel takes of an argument whose declaration is wider.
pub(super) fn width(call: &str, place: usize, words: &[u64; 6]) -> Option<u32> {
    let command = words[1] as u32;
    let is_short = match (call, place) {
        // F_DUPFD_QUERY: a descriptor (`f_dupfd_query()`).
        ("fcntl", 2) => command == 0x403,
        // TIOCSIG, TIOCGPTPEER and USERFAULTFD_IOC_NEW: `(int) arg` in `pty_signal()`,
        // `ptm_open_peer()` and `new_userfaultfd()`; KEYCTL_REJECT: `unsigned error`.
        ("ioctl", 2) => matches!(command, 0x4004_5436 | 0x5441 | 0xaa00),
        ("keyctl", 3) => words[0] as u32 == 19,
        _ => false,
    };
    is_short.then_some(32)
}

/// Names that are right although strace, which knows them from elsewhere, has a number there: the
/// call, the place, the command where it depends on one, how ours begins.
const KNOWN: &[(&str, usize, Option<u64>, &str)] = &[
    // A flag of Linux 7.0 beside a command of 0; a flag beside an operation of 0.
    ("bpf", 0, None, "BPF_MAP_CREATE|BPF_COMMON_ATTRS"),
    ("io_uring_register", 1, None, "IORING_REGISTER_BUFFERS|"),
    ("sched_setscheduler", 1, None, "SCHED_OTHER|"),
    // The kernel takes it for the working directory (`get_path_anchor()`), as of other calls.
    ("open_by_handle_at", 0, None, "AT_FDCWD"),
    // strace 6.1 knows these attributes of mount_setattr(2) only.
    ("fsmount", 2, None, "MOUNT_ATTR_"),
    // strace's is an older name.
    ("ioctl", 1, None, "FS_IOC_SHUTDOWN"),
    // Structures that have grown since, and so the numbers.
    ("ioctl", 1, None, "DRM_IOCTL_SYNCOBJ_"),
    // A type of file that there is not, beside permissions.
    ("mknod", 1, None, "0xf000|"),
    ("mknodat", 2, None, "0xf000|"),
    // Flags, a signal and flags, which strace has in hexadecimal.
    ("ioctl", 2, Some(0x5441), ""),
    ("ioctl", 2, Some(0x4004_5436), ""),
    ("ioctl", 2, Some(0xaa00), ""),
];

/// Whether names that are not strace's are the right ones.
pub(super) fn is_right(call: &str, place: usize, ours: &str, words: &[u64; 6]) -> bool {
    KNOWN.iter().any(|(name, at, command, start)| {
        (*name, *at) == (call, place)
            && command.is_none_or(|command| command == words[1])
            && ours.starts_with(start)
    })
}

/// The command that an argument depends on, to tell one from another.
pub(super) fn command(call: &str, place: usize, words: &[u64; 6]) -> String {
    let at = match call {
        "ioctl" | "fcntl" | "futex" | "fsconfig" | "getsockopt" | "setsockopt" => 1,
        "prctl" | "keyctl" | "ptrace" | "quotactl" | "arch_prctl" | "syslog" | "socket" => 0,
        "semctl" | "kcmp" => 2,
        _ => return String::new(),
    };
    match words.get(at) {
        Some(command) if place > at => format!(" of {command:#x}"),
        _ => String::new(),
    }
}

/// What strace shows of `clone`, in the kernel's order: strace says which is which.
pub(super) fn in_order<'a>(call: &str, shown: Vec<&'a str>) -> Vec<&'a str> {
    if call != "clone" {
        return shown;
    }
    let named = [
        "flags=",
        "child_stack=",
        "parent_tid=",
        "child_tidptr=",
        "tls=",
    ];
    let find = |name: &&str| {
        let mut values = shown.iter().filter_map(|value| value.strip_prefix(*name));
        values.next().unwrap_or("NULL")
    };
    named.iter().map(find).collect()
}
