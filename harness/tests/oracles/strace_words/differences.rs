//! Where strace's text of the same words is another one, and what of that is only form.

use std::collections::BTreeSet;

/// Where this form differs from strace 6.1's, by how it begins, and why.
pub(super) const DIFFERENT: &[(&str, &str)] = &[
    (
        "clone(",
        "strace names the arguments and orders them in its own way",
    ),
    (
        "fanotify_mark(0, FAN_MARK_MNTNS",
        "strace 6.1 does not know the third kind of mark, and takes its bits for the other two",
    ),
    (
        "fanotify_mark(0, FAN_MARK_ADD|FAN_MARK_REMOVE|FAN_MARK_DONT_FOLLOW|FAN_MARK_ONLYDIR|\
         FAN_MARK_MNTNS",
        "the same",
    ),
    (
        "fsmount(",
        "strace 6.1 does not know the newer attributes, and prints them in hexadecimal",
    ),
    (
        "ioctl(0, TIOCGPTPEER",
        "strace prints these arguments in hexadecimal",
    ),
    ("ioctl(4660, TIOCGPTPEER", "the same"),
    ("ioctl(0, TIOCSIG", "the same"),
    ("ioctl(4660, TIOCSIG", "the same"),
    ("ioctl(0, USERFAULTFD_IOC_NEW", "the same"),
    ("ioctl(4660, USERFAULTFD_IOC_NEW", "the same"),
    ("ioctl(0, KVM_CHECK_EXTENSION", "strace names the extension"),
    (
        "ioctl(0, DRM_IOCTL_SYNCOBJ",
        "structures that have grown since, and so the numbers",
    ),
    (
        "ioctl(0, EXT4_IOC_SETVERSION",
        "strace knows another driver's request of that number",
    ),
    (
        "ioctl(0, TIOCSSERIAL",
        "strace has no argument there, the kernel has one",
    ),
    ("ioctl(4660, TIOCSSERIAL", "the same"),
    ("ioctl(0, FS_IOC_SHUTDOWN", "strace's is an older name"),
    ("ioctl(4660, FS_IOC_SHUTDOWN", "the same"),
    ("ioctl(4660, KD", "strace knows the lamps of keyboards"),
    ("mknod(NULL, 0x", "a type of file that there is not"),
    ("mknod(0x1234, 0x", "the same"),
    ("mknodat(0, NULL, 0x", "the same"),
    ("mknodat(4660, 0x1234, 0x", "the same"),
    (
        "mremap(NULL, 0, 0, MREMAP_FIXED",
        "strace shows the new address only with MREMAP_MAYMOVE",
    ),
    ("mremap(NULL, 0, 0, MREMAP_DONTUNMAP", "the same"),
    ("mremap(0x1234, 4660, 4660, MREMAP_FIXED", "the same"),
    ("mremap(0x1234, 4660, 4660, MREMAP_DONTUNMAP", "the same"),
    (
        "msgget(IPC_PRIVATE, 0x",
        "strace leaves out the `|` behind bits without a name",
    ),
    ("msgget(0x1234, 0x", "the same"),
    ("semget(IPC_PRIVATE, 0, 0x", "the same"),
    ("semget(0x1234, 4660, 0x", "the same"),
    ("pkey_alloc(", "PKEY_DISABLE_EXECUTE is not of x86"),
    ("prctl(PR_SET_PDEATHSIG, -1", "no signal"),
    ("prctl(PR_SET_FP_MODE", "of MIPS"),
    (
        "prctl(PR_SVE_SET_VL",
        "strace writes the length apart from bits without a name",
    ),
    ("prctl(PR_SME_SET_VL", "the same"),
    (
        "prctl(PR_SET_TAGGED_ADDR_CTRL",
        "strace writes out what is not asked for, too",
    ),
    (
        "arch_prctl(ARCH_REQ_XCOMP",
        "strace knows the parts of x86's state",
    ),
    (
        "syslog(SYSLOG_ACTION_CONSOLE_LEVEL",
        "strace names the level",
    ),
    ("ptrace(PTRACE_PEEKUSER", "strace names the registers"),
    ("ptrace(PTRACE_POKEUSER", "the same"),
    (
        "statx(0, NULL, 0x6000",
        "two ways of AT_STATX_* at once, which the kernel refuses",
    ),
    ("statx(4660, 0x1234, 0x6000", "the same"),
    ("sysfs(", "strace 6.1 does not decode it"),
];

/// Families and levels of sockets that few use: their protocols and options have no names here.
pub(super) const OBSCURE: &[&str] = &[
    "AF_RXRPC",
    "AF_ISDN",
    "AF_PHONET",
    "AF_CAIF",
    "AF_NFC",
    "AF_KCM",
    "AF_SMC",
    "AF_CAN",
    "AF_IRDA",
    "AF_AX25",
    "AF_NETROM",
    "AF_ROSE",
    "AF_X25",
    "AF_IEEE802154",
    "AF_IUCV",
    "AF_LLC",
    "AF_IPX",
    "AF_APPLETALK",
    "AF_QIPCRTR",
    "SOL_SCTP",
    "SOL_NFC",
    "SOL_LLC",
    "SOL_IPX",
    "SOL_AX25",
    "SOL_CAN_RAW",
    "SOL_IRDA",
    "SOL_DCCP",
    "SOL_TIPC",
    "SOL_RXRPC",
    "SOL_PPPOL2TP",
    "SOL_BLUETOOTH",
    "SOL_PNPIPE",
    "SOL_RDS",
    "SOL_IUCV",
    "SOL_CAIF",
    "SOL_KCM",
    "SOL_XDP",
];

/// With the names that strace puts into comments, without its comments on
/// values that have no name.
pub(super) fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(" /* ") {
        let (comment, after) = after.split_once(" */").expect("the end of a comment");
        let is_name = comment
            .chars()
            .all(|c| matches!(c, 'A'..='Z' | '0'..='9' | '_' | '|'));
        let number = before.rfind([' ', '(']).map_or(0, |at| at + 1);
        out.push_str(if is_name { &before[..number] } else { before });
        if is_name {
            out.push_str(comment);
        }
        rest = after;
    }
    out + rest
}

/// Whether two texts say the same. An address of 0 may be `NULL`; a request of several drivers has
/// the names of all for strace; bits without a name may stand at another place where there are
/// several kinds of bits.
pub(super) fn is_same(ours: &str, theirs: &str) -> bool {
    let sorted = |argument: &str| {
        let mut left = 0;
        let mut names = BTreeSet::new();
        for part in argument.split('|') {
            match part
                .strip_prefix("0x")
                .map(|digits| u64::from_str_radix(digits, 16))
            {
                Some(Ok(bits)) => left |= bits,
                _ => {
                    names.insert(part.to_owned());
                }
            }
        }
        (names, left)
    };
    let is_mixed = ["socket(", "socketpair(", "mbind(", "set_mempolicy("]
        .iter()
        .any(|call| ours.starts_with(call));
    let arguments = |text: &str| -> Vec<String> {
        let text = text.trim_end_matches(')').replace('(', ", ");
        text.split(", ").map(str::to_owned).collect()
    };
    let (ours, theirs) = (arguments(ours), arguments(theirs));
    ours.len() == theirs.len()
        && ours.iter().zip(&theirs).all(|(ours, theirs)| {
            ours == theirs
                || matches!(
                    (ours.as_str(), theirs.as_str()),
                    ("NULL", "0") | ("0", "NULL")
                )
                || theirs.split(" or ").any(|name| name == ours)
                || is_mixed && sorted(ours) == sorted(theirs)
        })
}
