//! The operations of io_uring: what a program may submit instead of making a call.
//!
//! The names are those of `enum io_uring_op` in the kernel's header `linux/io_uring.h`, of Linux
//! 7.2 (Debian's `linux-libc-dev` 7.2.13-1), in its order; the kernel only ever adds to the end. A
//! test compares them with the header of the machine that it runs on. Made by:
//!
//! ```sh
//! sed -n '/^enum io_uring_op {/,/IORING_OP_LAST/s/^\tIORING_OP_\(.*\),$/    "\1",/p' linux/io_uring.h | sed '/"LAST"/d'
//! ```

use super::{Call, Outcome, files};
use std::sync::{Arc, LazyLock};

/// What every operation's name in a trace begins with: the system of the kernel's tracepoints of
/// io_uring, and the prefix of its header.
pub const PREFIX: &str = "io_uring:IORING_OP_";

/// The operations in order of their numbers, without `IORING_OP_`.
#[rustfmt::skip]
const OPERATIONS: [&str; 65] = [
    "NOP",
    "READV",
    "WRITEV",
    "FSYNC",
    "READ_FIXED",
    "WRITE_FIXED",
    "POLL_ADD",
    "POLL_REMOVE",
    "SYNC_FILE_RANGE",
    "SENDMSG",
    "RECVMSG",
    "TIMEOUT",
    "TIMEOUT_REMOVE",
    "ACCEPT",
    "ASYNC_CANCEL",
    "LINK_TIMEOUT",
    "CONNECT",
    "FALLOCATE",
    "OPENAT",
    "CLOSE",
    "FILES_UPDATE",
    "STATX",
    "READ",
    "WRITE",
    "FADVISE",
    "MADVISE",
    "SEND",
    "RECV",
    "OPENAT2",
    "EPOLL_CTL",
    "SPLICE",
    "PROVIDE_BUFFERS",
    "REMOVE_BUFFERS",
    "TEE",
    "SHUTDOWN",
    "RENAMEAT",
    "UNLINKAT",
    "MKDIRAT",
    "SYMLINKAT",
    "LINKAT",
    "MSG_RING",
    "FSETXATTR",
    "SETXATTR",
    "FGETXATTR",
    "GETXATTR",
    "SOCKET",
    "URING_CMD",
    "SEND_ZC",
    "SENDMSG_ZC",
    "READ_MULTISHOT",
    "WAITID",
    "FUTEX_WAIT",
    "FUTEX_WAKE",
    "FUTEX_WAITV",
    "FIXED_FD_INSTALL",
    "FTRUNCATE",
    "BIND",
    "LISTEN",
    "RECV_ZC",
    "EPOLL_WAIT",
    "READV_FIXED",
    "WRITEV_FIXED",
    "PIPE",
    "NOP128",
    "URING_CMD128",
];

/// What calls do that operations do as well (`io_issue_defs`, `io_uring/opdef.c`): the operations
/// without `IORING_OP_`.
const DONE_BY: [(&str, &[&str]); 38] = [
    ("READV READV_FIXED", &["readv", "preadv", "preadv2"]),
    ("WRITEV WRITEV_FIXED", &["writev", "pwritev", "pwritev2"]),
    ("READ READ_FIXED READ_MULTISHOT", &["read", "pread64"]),
    ("WRITE WRITE_FIXED", &["write", "pwrite64"]),
    ("FSYNC", &["fsync", "fdatasync"]),
    ("POLL_ADD", &["poll", "ppoll", "select", "pselect6"]),
    ("SYNC_FILE_RANGE", &["sync_file_range"]),
    ("SENDMSG SENDMSG_ZC", &["sendmsg", "sendmmsg"]),
    ("RECVMSG", &["recvmsg", "recvmmsg"]),
    ("SEND SEND_ZC", &["sendto"]),
    ("RECV RECV_ZC", &["recvfrom"]),
    ("ACCEPT", &["accept", "accept4"]),
    ("CONNECT", &["connect"]),
    ("SOCKET", &["socket"]),
    ("BIND", &["bind"]),
    ("LISTEN", &["listen"]),
    ("SHUTDOWN", &["shutdown"]),
    ("FALLOCATE", &["fallocate"]),
    ("FTRUNCATE", &["ftruncate", "truncate"]),
    ("PIPE", &["pipe", "pipe2"]),
    ("WAITID", &["waitid", "wait4"]),
    (
        "FUTEX_WAIT FUTEX_WAKE",
        &["futex", "futex_wait", "futex_wake"],
    ),
    ("FUTEX_WAITV", &["futex_waitv"]),
    ("OPENAT OPENAT2", &["open", "openat", "openat2", "creat"]),
    ("CLOSE", &["close"]),
    ("STATX", &["stat", "lstat", "fstat", "newfstatat", "statx"]),
    ("FADVISE", &["fadvise64"]),
    ("MADVISE", &["madvise"]),
    ("EPOLL_CTL", &["epoll_ctl"]),
    ("EPOLL_WAIT", &["epoll_wait", "epoll_pwait", "epoll_pwait2"]),
    ("SPLICE TEE", &["splice", "tee"]),
    ("RENAMEAT", &["rename", "renameat", "renameat2"]),
    ("UNLINKAT", &["unlink", "unlinkat", "rmdir"]),
    ("MKDIRAT", &["mkdir", "mkdirat"]),
    (
        "SYMLINKAT LINKAT",
        &["symlink", "symlinkat", "link", "linkat"],
    ),
    (
        "FSETXATTR SETXATTR",
        &["fsetxattr", "setxattr", "lsetxattr", "setxattrat"],
    ),
    (
        "FGETXATTR GETXATTR",
        &["fgetxattr", "getxattr", "lgetxattr", "getxattrat"],
    ),
    (
        "URING_CMD URING_CMD128",
        &[
            "ioctl",
            "setsockopt",
            "getsockopt",
            "getsockname",
            "getpeername",
        ],
    ),
];

/// The calls that do what an operation does; `None` where this is not known, as of an operation of
/// a later kernel.
#[must_use]
pub fn calls_of(opcode: u8) -> Option<&'static [&'static str]> {
    static CALLS: LazyLock<Vec<&[&str]>> = LazyLock::new(|| {
        let calls = |name: &&str| {
            let mut all = DONE_BY.iter();
            let found = all.find(|(names, _)| names.split(' ').any(|one| one == *name));
            found.map_or(&[][..], |(_, calls)| calls)
        };
        OPERATIONS.iter().map(calls).collect()
    });
    CALLS.get(usize::from(opcode)).copied()
}

/// Whether an operation does what a call does.
#[must_use]
pub fn does(call: &str) -> bool {
    DONE_BY.iter().any(|(_, calls)| calls.contains(&call))
}

/// The call that hands operations to the kernel's older queue, whose operations are in no record.
pub const AIO: &str = "io_submit";

/// Whether what has this name in a trace may do what a call does: an operation of io_uring, of
/// which one of a later kernel may do all that operations do, or [`AIO`].
#[must_use]
pub fn may_do(name: &str, call: &str) -> bool {
    match opcode_of(name).map(calls_of) {
        Some(Some(calls)) => calls.contains(&call),
        Some(None) => does(call),
        None => name == AIO && aio_does(call),
    }
}

/// Whether a call hands something to [`AIO`]'s queue, or may have: the thread may have ended in it.
#[must_use]
pub fn hands_over(call: &Call) -> bool {
    let is_it = call.name() == Some(AIO) && !call.is_answered();
    is_it
        && !matches!(
            call.outcome,
            Outcome::Returned { value: ..=0, .. } | Outcome::Refused { .. }
        )
}

/// Whether `io_submit` has an operation that does what a call does (`IOCB_CMD_*`,
/// `linux/aio_abi.h`).
#[must_use]
pub fn aio_does(call: &str) -> bool {
    const OPERATIONS: [&str; 6] = ["READ", "READV", "WRITE", "WRITEV", "FSYNC", "POLL_ADD"];
    let mut all = DONE_BY.iter().filter(|(_, calls)| calls.contains(&call));
    all.any(|(names, _)| names.split(' ').any(|name| OPERATIONS.contains(&name)))
}

/// The number of an operation, by its name in a trace.
#[must_use]
pub fn opcode_of(event: &str) -> Option<u8> {
    let mut events = EVENTS.iter().zip(0..=u8::MAX);
    let found = events.find(|(name, _)| &***name == event);
    found.map(|(_, opcode)| opcode)
}

/// Whether a call hands something to a ring, or sets up one that the kernel takes things from
/// without a call.
#[must_use]
pub fn submits(call: &Call) -> bool {
    match (call.name(), &call.outcome) {
        (Some("io_uring_setup"), Outcome::Returned { value, .. }) => {
            *value >= 0 && files::polls_itself(call) != Some(false)
        }
        (Some("io_uring_enter"), Outcome::Returned { value, .. }) => *value > 0,
        _ => false,
    }
}

static EVENTS: LazyLock<Vec<Arc<str>>> = LazyLock::new(|| {
    let name = |opcode: u8| match OPERATIONS.get(usize::from(opcode)) {
        Some(name) => format!("{PREFIX}{name}"),
        None => format!("{PREFIX}{opcode}"),
    };
    (0..=u8::MAX).map(|opcode| name(opcode).into()).collect()
});

/// The name of an operation in a trace: `io_uring:IORING_OP_FSYNC`, or `io_uring:IORING_OP_200`
/// where the table has none.
#[must_use]
pub fn event_name(opcode: u8) -> Arc<str> {
    EVENTS
        .get(usize::from(opcode))
        .map_or_else(|| PREFIX.into(), Arc::clone)
}

/// The names of all operations that have one, as above.
pub fn event_names() -> impl Iterator<Item = &'static str> {
    EVENTS.iter().take(OPERATIONS.len()).map(AsRef::as_ref)
}

/// `IOSQE_*` of the same header, in the order of their bits. `IOSQE_ASYNC` is left out: the kernel
/// sets it too, for each operation that it has a worker do, so that it does not tell what the
/// program asked for.
const FLAGS: [(u64, &str); 6] = [
    (1 << 0, "IOSQE_FIXED_FILE"),
    (1 << 1, "IOSQE_IO_DRAIN"),
    (1 << 2, "IOSQE_IO_LINK"),
    (1 << 3, "IOSQE_IO_HARDLINK"),
    (1 << 5, "IOSQE_BUFFER_SELECT"),
    (1 << 6, "IOSQE_CQE_SKIP_SUCCESS"),
];

/// The names that a submission's flags may have.
pub fn flag_names() -> impl Iterator<Item = &'static str> {
    FLAGS.iter().map(|(_, name)| *name)
}

/// A submission's flags by name, `0` for none. The kernel keeps its own in the higher bits of the
/// same word (`REQ_F_*`, `linux/io_uring_types.h`); they are left out.
#[must_use]
pub fn flags_text(word: u64) -> String {
    let set = FLAGS.iter().filter(|(bit, _)| word & bit != 0);
    let names: Vec<&str> = set.map(|(_, name)| *name).collect();
    if names.is_empty() {
        "0".to_owned()
    } else {
        names.join("|")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    #[test]
    fn what_operations_do_calls_do_that_there_are() {
        for (operations, calls) in DONE_BY {
            for name in operations.split(' ') {
                let event = format!("{PREFIX}{name}");
                let opcode = opcode_of(&event).expect("an operation");
                assert_eq!(calls_of(opcode), Some(calls), "{name}");
            }
            for call in calls {
                assert!(names::row_of(call).is_some(), "{call}");
            }
        }
        assert_eq!(calls_of(0), Some(&[][..]), "NOP does nothing");
        assert_eq!(calls_of(200), None);
    }

    #[test]
    fn what_is_done_without_its_call_is_known_of_both_kinds_of_rings() {
        let of_rings = ["waitid", "futex", "futex_waitv", "pipe2", "truncate"];
        for call in of_rings.into_iter().chain(["getsockname", "getpeername"]) {
            assert!(does(call) && !aio_does(call), "{call}");
        }
        for call in [
            "fsync",
            "fdatasync",
            "pread64",
            "pwrite64",
            "pwritev2",
            "poll",
        ] {
            assert!(does(call) && aio_does(call), "{call}");
        }
        assert!(!does("getpid") && !aio_does("mkdir"));
    }

    #[test]
    fn what_may_be_done_in_place_of_a_call_is_said_of_operations_and_of_io_submit() {
        assert!(may_do("io_uring:IORING_OP_FSYNC", "fdatasync"));
        assert!(!may_do("io_uring:IORING_OP_FSYNC", "write"));
        assert!(
            may_do("io_uring:IORING_OP_200", "mkdir"),
            "of a later kernel"
        );
        assert!(!may_do("io_uring:IORING_OP_200", "getpid"));
        assert!(may_do("io_submit", "pwrite64") && !may_do("io_submit", "mkdir"));
        assert!(!may_do("write", "write") && !may_do("sched:sched_switch", "write"));
    }

    /// The members of an enumeration of the header, by the prefix of their names.
    fn members(prefix: &str) -> Vec<String> {
        let header =
            std::fs::read_to_string("/usr/include/linux/io_uring.h").expect("linux-libc-dev");
        let word = |line: &str| line.trim().strip_suffix(',').map(str::to_owned);
        let members = header.lines().filter_map(word);
        members
            .filter(|word| word.starts_with(prefix) && !word.ends_with("_LAST"))
            .collect()
    }

    #[test]
    fn the_names_are_those_of_the_kernels_header() {
        let header = members("IORING_OP_");
        assert!(header.len() >= 40, "{header:?}");
        for (opcode, name) in header.iter().enumerate() {
            let ours = event_name(opcode as u8);
            assert_eq!(ours.strip_prefix("io_uring:"), Some(name.as_str()));
        }
    }

    #[test]
    fn the_flags_are_those_of_the_kernels_header() {
        for (bit, name) in members("IOSQE_").iter().enumerate() {
            let name = name.trim_end_matches("_BIT");
            let expected = if name == "IOSQE_ASYNC" { "0" } else { name };
            assert_eq!(flags_text(1 << bit), expected);
        }
        assert_eq!(
            flags_text(0x2010 | 1 << 2 | 1),
            "IOSQE_FIXED_FILE|IOSQE_IO_LINK"
        );
    }

    #[test]
    fn an_operation_of_a_later_kernel_goes_by_its_number() {
        assert_eq!(&*event_name(3), "io_uring:IORING_OP_FSYNC");
        assert_eq!(&*event_name(255), "io_uring:IORING_OP_255");
    }
}
