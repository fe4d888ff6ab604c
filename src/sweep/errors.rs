//! Which errors a call can have, from the man pages of section 2.
//!
//! The table is short on purpose. An error is *usual* if a machine gives it to a sound program
//! without anybody's doing: a full disk, a limit, a right that is missing, a peer that has gone. An
//! error that takes a signal handler, a descriptor that does not block, or a mistake of the program
//! is among the *others*, which are tried where they are asked for by name. A call that is in no
//! row is not failed: it cannot fail, or nobody is to look at its answer.

use super::kind::Kind;
use super::meant::opened;
use crate::trace::{Deed, Value};
use libc::{
    E2BIG, EACCES, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, EAGAIN, EBUSY, ECHILD, ECONNABORTED,
    ECONNREFUSED, ECONNRESET, EDQUOT, EEXIST, EFBIG, EHOSTUNREACH, EINPROGRESS, EINTR, EINVAL, EIO,
    EISDIR, ELOOP, EMFILE, EMLINK, ENAMETOOLONG, ENETUNREACH, ENFILE, ENOBUFS, ENODATA, ENODEV,
    ENOENT, ENOEXEC, ENOLCK, ENOMEM, ENOPROTOOPT, ENOSPC, ENOSYS, ENOTCONN, ENOTDIR, ENOTEMPTY,
    ENOTTY, EOPNOTSUPP, EPERM, EPIPE, EROFS, ESPIPE, ESRCH, ETIMEDOUT, ETXTBSY, EXDEV,
};
use std::collections::BTreeSet;
use syscall_model::errno::errno_name;

/// Under which circumstances a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Anywhere,
    /// The call may make a file: not where there was a device, a named pipe or a socket, which
    /// takes no room and is written on a read-only file system as well.
    Creates,
    /// The call makes no file.
    Finds,
    /// The call names its file by a path.
    ByPath,
    /// The descriptor is of one of these, or of what is not known.
    On(&'static [Kind]),
    /// The same, and the call has an empty path.
    ByDescriptorOn(&'static [Kind]),
    /// The argument `cmd` is one of these.
    Command(&'static [&'static str]),
}

/// Calls, and the errors that each of them can have.
struct Row {
    calls: &'static [&'static str],
    place: Where,
    usual: &'static [i32],
    others: &'static [i32],
}

const fn row(
    calls: &'static [&'static str],
    place: Where,
    usual: &'static [i32],
    others: &'static [i32],
) -> Row {
    Row {
        calls,
        place,
        usual,
        others,
    }
}

const OPENS: &[&str] = &["open", "openat", "openat2", "creat"];
const READS: &[&str] = &["read", "pread64", "readv", "preadv", "preadv2"];
const WRITES: &[&str] = &["write", "pwrite64", "writev", "pwritev", "pwritev2"];
const SYNCS: &[&str] = &["fsync", "fdatasync", "msync", "sync_file_range", "syncfs"];
const COPIES: &[&str] = &["copy_file_range", "sendfile", "splice"];
const SIZES: &[&str] = &["ftruncate", "truncate", "fallocate"];
const RENAMES: &[&str] = &["rename", "renameat", "renameat2"];
const LINKS: &[&str] = &["link", "linkat", "symlink", "symlinkat"];
const UNLINKS: &[&str] = &["unlink", "unlinkat", "rmdir"];
const MAKES: &[&str] = &["mkdir", "mkdirat", "mknod", "mknodat"];
const STATS: &[&str] = &[
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
];
const MODES: &[&str] = &[
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "chown",
    "lchown",
    "fchown",
    "fchownat",
    "utimensat",
    "utime",
    "utimes",
    "futimesat",
];
const SETS_ATTRIBUTES: &[&str] = &[
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
];
const GETS_ATTRIBUTES: &[&str] = &[
    "getxattr",
    "lgetxattr",
    "fgetxattr",
    "listxattr",
    "llistxattr",
    "flistxattr",
];
const DESCRIPTORS: &[&str] = &[
    "dup",
    "pipe",
    "pipe2",
    "eventfd",
    "eventfd2",
    "epoll_create",
    "epoll_create1",
    "inotify_init",
    "inotify_init1",
    "timerfd_create",
    "signalfd",
    "signalfd4",
    "memfd_create",
    "pidfd_open",
];
const SENDS: &[&str] = &["send", "sendto", "sendmsg", "sendmmsg"];
const RECEIVES: &[&str] = &["recv", "recvfrom", "recvmsg", "recvmmsg"];
const IDENTITIES: &[&str] = &[
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "setgroups",
    "capset",
    "setrlimit",
    "prlimit64",
    "setpriority",
    "sched_setscheduler",
    "sched_setaffinity",
];
const WORLDS: &[&str] = &[
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "sethostname",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsmount",
    "fsconfig",
];
const WAITS: &[&str] = &[
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "pause",
    "nanosleep",
    "clock_nanosleep",
    "futex",
    "getrandom",
];

use Kind::{File, Object, Pipe, Socket, Standard};
use Where::{Anywhere, ByDescriptorOn, ByPath, Command, Creates, Finds, On};

/// What has data elsewhere than in the memory of this machine.
const STORED: &[Kind] = &[File, Standard];

#[rustfmt::skip]
const TABLE: &[Row] = &[
    row(OPENS, Anywhere, &[EACCES, EMFILE],
        &[EPERM, ENFILE, EINTR, EIO, EISDIR, ELOOP, ENAMETOOLONG, ENOMEM, ENOTDIR, ETXTBSY]),
    row(OPENS, Creates, &[ENOSPC, EROFS], &[EDQUOT, EEXIST]),
    row(OPENS, Finds, &[ENOENT], &[]),
    row(READS, On(STORED), &[EIO], &[EINTR]),
    row(READS, On(&[File]), &[], &[EISDIR, ENOMEM]),
    row(READS, On(&[Standard, Pipe, Object]), &[], &[EAGAIN, EINTR]),
    row(READS, On(&[Socket]), &[ECONNRESET], &[EAGAIN, EINTR, ETIMEDOUT]),
    row(WRITES, On(&[File]), &[EIO, ENOSPC], &[EDQUOT, EFBIG, EINTR, EPERM]),
    // EPIPE comes with SIGPIPE, as the kernel sends it.
    row(WRITES, On(&[Standard, Pipe]), &[EPIPE], &[EAGAIN, EINTR]),
    // Where the caller has them in a file or on a terminal.
    row(WRITES, On(&[Standard]), &[], &[EIO, ENOSPC]),
    row(WRITES, On(&[Socket]), &[ECONNRESET, EPIPE], &[EAGAIN, EINTR]),
    row(WRITES, On(&[Object]), &[], &[EAGAIN, EINTR]),
    row(COPIES, Anywhere,
        &[EIO, ENOSPC], &[EAGAIN, EINTR, EINVAL, EOPNOTSUPP, EXDEV]),
    row(SYNCS, Anywhere, &[EIO, ENOSPC], &[EDQUOT, EINTR, EROFS]),
    row(&["close"], On(&[File]), &[EIO], &[EDQUOT, EINTR, ENOSPC]),
    row(&["lseek"], Anywhere, &[], &[EINVAL, ESPIPE]),
    row(RENAMES, Anywhere, &[EACCES, ENOSPC],
        &[EBUSY, EDQUOT, EEXIST, EIO, ENOENT, ENOTEMPTY, EPERM, EROFS, EXDEV]),
    row(LINKS, Anywhere, &[EACCES, EEXIST, ENOSPC], &[EDQUOT, EIO, EMLINK, EPERM, EROFS, EXDEV]),
    row(UNLINKS, Anywhere, &[EACCES], &[EBUSY, EIO, ENOENT, ENOTEMPTY, EPERM, EROFS]),
    row(MAKES, Anywhere, &[EACCES, EEXIST, ENOSPC], &[EDQUOT, EMLINK, EPERM, EROFS]),
    row(SIZES, Anywhere, &[EIO, ENOSPC], &[EFBIG, EINTR, EOPNOTSUPP, EPERM, EROFS]),
    row(STATS, ByPath, &[EACCES, ENOENT], &[EIO, ELOOP, ENAMETOOLONG, ENOMEM, ENOTDIR, EROFS]),
    row(STATS, ByDescriptorOn(STORED), &[EIO], &[ENOMEM]),
    row(&["fstat", "fstatfs"], On(STORED), &[EIO], &[ENOMEM, ENOSYS]),
    row(&["statfs"], Anywhere, &[EIO], &[ENOMEM, ENOSYS]),
    row(&["readlink", "readlinkat"], Anywhere, &[EACCES, ENOENT], &[EINVAL, EIO, ELOOP]),
    row(&["getdents", "getdents64"], Anywhere, &[EIO], &[ENOENT]),
    row(&["chdir", "fchdir", "getcwd"], Anywhere, &[EACCES, ENOENT], &[EIO, ELOOP, ENOTDIR]),
    row(MODES, Anywhere, &[EPERM, EROFS], &[EACCES, EIO, EOPNOTSUPP]),
    row(SETS_ATTRIBUTES, Anywhere, &[ENOSPC, EOPNOTSUPP], &[EACCES, EDQUOT, EPERM]),
    row(GETS_ATTRIBUTES, Anywhere, &[ENODATA, EOPNOTSUPP], &[EACCES]),
    row(DESCRIPTORS, Anywhere, &[EMFILE], &[ENFILE, ENODEV, ENOMEM]),
    // They take a number that the caller chose: only a wrong one is refused.
    row(&["dup2", "dup3"], Anywhere, &[], &[EBUSY, EINTR, EMFILE]),
    row(&["fcntl"], Command(&["F_DUPFD", "F_DUPFD_CLOEXEC"]), &[EMFILE], &[]),
    row(&["fcntl"], Command(&["F_SETLK", "F_SETLKW", "F_OFD_SETLK", "F_OFD_SETLKW"]),
        &[EAGAIN, ENOLCK], &[EACCES, EINTR]),
    row(&["flock"], Anywhere, &[EAGAIN, ENOLCK], &[EINTR]),
    row(&["ioctl"], Anywhere, &[], &[EIO, EINVAL, ENOTTY, EPERM]),
    row(&["mmap", "mremap", "mprotect"], Anywhere, &[ENOMEM], &[EACCES, EAGAIN, ENODEV, EPERM]),
    row(&["munmap", "madvise", "mlock", "mlockall"], Anywhere, &[], &[EAGAIN, EINVAL, ENOMEM]),
    row(&["clone", "clone3", "fork", "vfork"], Anywhere, &[EAGAIN, ENOMEM], &[]),
    row(&["execve", "execveat"], Anywhere, &[EACCES, ENOENT],
        &[E2BIG, EIO, ELOOP, ENOEXEC, ENOMEM, ETXTBSY]),
    row(&["wait4", "waitid"], Anywhere, &[], &[ECHILD, EINTR]),
    row(&["kill", "tkill", "tgkill", "pidfd_send_signal"], Anywhere, &[EPERM, ESRCH], &[]),
    row(&["socket", "socketpair"], Anywhere, &[EMFILE], &[EACCES, EAFNOSUPPORT, ENOBUFS, ENOMEM]),
    row(&["bind"], Anywhere, &[EACCES, EADDRINUSE], &[EADDRNOTAVAIL]),
    row(&["listen"], Anywhere, &[EADDRINUSE], &[]),
    row(&["accept", "accept4"], Anywhere, &[ECONNABORTED, EMFILE], &[EAGAIN, EINTR, ENOBUFS]),
    row(&["connect"], Anywhere, &[ECONNREFUSED, ETIMEDOUT],
        &[EACCES, EADDRNOTAVAIL, EAGAIN, EHOSTUNREACH, EINPROGRESS, EINTR, ENETUNREACH, ENOENT]),
    row(SENDS, Anywhere, &[ECONNRESET, EPIPE], &[EAGAIN, EINTR, ENOBUFS, ENOTCONN]),
    row(RECEIVES, Anywhere, &[ECONNRESET], &[EAGAIN, EINTR, ENOMEM, ENOTCONN, ETIMEDOUT]),
    row(&["setsockopt", "getsockopt"], Anywhere, &[ENOPROTOOPT], &[EPERM, ENOBUFS]),
    row(&["shutdown", "getpeername"], Anywhere, &[ENOTCONN], &[]),
    row(&["epoll_ctl", "inotify_add_watch"], Anywhere, &[ENOSPC], &[ENOMEM, EPERM]),
    row(WAITS, Anywhere, &[], &[EAGAIN, EINTR, ENOSYS]),
    row(IDENTITIES, Anywhere, &[EPERM], &[EAGAIN, EINVAL]),
    row(WORLDS, Anywhere, &[EPERM], &[EACCES, EBUSY, EINVAL, ENOSPC]),
];

/// Which errors are tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Errors {
    /// The usual ones of each call.
    #[default]
    Usual,
    /// Of all that a call can have, these.
    Only(BTreeSet<i32>),
}

/// No call can have this error, by the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no call is failed with `{0}`")]
pub struct NoRow(pub String);

impl Errors {
    /// Those of these names.
    ///
    /// # Errors
    /// The first name that is in no row of the table.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, NoRow> {
        let number = |name: &str| {
            let mut known = known_errors().into_iter();
            known.find(|number| errno_name(*number) == Some(name))
        };
        let numbers = names
            .into_iter()
            .map(|name| number(name).ok_or_else(|| NoRow(name.to_owned())));
        Ok(Self::Only(numbers.collect::<Result<_, _>>()?))
    }
}

/// Whether a call writes data where they outlast a power failure: who ignores that it failed may
/// have lost them, whatever the files hold as long as the machine runs (`fsync(2)`).
pub(super) fn is_sync(call: &str) -> bool {
    SYNCS.contains(&call)
}

/// Whether a call changes what a file holds, of which it has a descriptor.
pub(super) fn is_write(call: &str) -> bool {
    writes().any(|write| write == call)
}

/// All calls that do.
pub(super) fn writes() -> impl Iterator<Item = &'static str> {
    let all = [WRITES, COPIES, SIZES].into_iter().flatten().copied();
    // It changes a file by its name.
    all.filter(|call| *call != "truncate")
}

/// The calls that open files.
pub(super) fn is_open(call: &str) -> bool {
    OPENS.contains(&call)
}

/// All of them.
pub(super) fn opens() -> impl Iterator<Item = &'static str> {
    OPENS.iter().copied()
}

/// The signal that the kernel sends with an error: `SIGPIPE` with `EPIPE` (`write(2)`), unless
/// `MSG_NOSIGNAL` keeps it away (`send(2)`).
pub(super) fn signal_with(deed: &Deed, error: i32) -> Option<i32> {
    let is_quiet = bits(deed, "flags") & libc::MSG_NOSIGNAL as u64 != 0;
    let is_sent = SENDS.contains(&&*deed.name);
    (error == EPIPE && !(is_sent && is_quiet)).then_some(libc::SIGPIPE)
}

/// Returns all errors of the table.
#[must_use]
pub fn known_errors() -> BTreeSet<i32> {
    let rows = TABLE.iter();
    rows.flat_map(|row| row.usual.iter().chain(row.others).copied())
        .collect()
}

/// Returns the errors to try on a call of a run, in the order of their names: none for a call in no
/// row, and never the error that the call returned.
#[must_use]
pub(super) fn errors_of(deed: &Deed, wanted: &Errors, special: &BTreeSet<String>) -> Vec<i32> {
    let mut errors = BTreeSet::new();
    for row in TABLE {
        if row.calls.contains(&&*deed.name) && holds(row.place, deed, special) {
            errors.extend(row.usual);
            if matches!(wanted, Errors::Only(_)) {
                errors.extend(row.others);
            }
        }
    }
    if let Errors::Only(wanted) = wanted {
        errors.retain(|error| wanted.contains(error));
    }
    let returned = match deed.returns.as_ref().map(|part| &part.value) {
        Some(Value::Error(name)) => Some(&**name),
        _ => None,
    };
    let mut errors: Vec<i32> = errors.into_iter().collect();
    errors.retain(|error| errno_name(*error) != returned);
    errors.sort_by_key(|error| errno_name(*error));
    errors
}

fn holds(place: Where, deed: &Deed, special: &BTreeSet<String>) -> bool {
    let creates = || &*deed.name == "creat" || bits(deed, "flags") & libc::O_CREAT as u64 != 0;
    let is_special = || opened(deed).iter().any(|name| special.contains(name));
    let is_on = |kinds: &[Kind]| Kind::of(deed).is_none_or(|kind| kinds.contains(&kind));
    match place {
        Anywhere => true,
        ByPath => !has_empty_path(deed),
        ByDescriptorOn(kinds) => has_empty_path(deed) && is_on(kinds),
        Creates => creates() && !is_special(),
        Finds => !creates(),
        On(kinds) => is_on(kinds),
        Command(words) => deed.part("cmd").is_some_and(|part| {
            matches!(&part.value, Value::Names(names, _)
                if names.iter().any(|name| words.contains(&&**name)))
        }),
    }
}

/// The bits of an argument with flags; none where they are not known.
pub(super) fn bits(deed: &Deed, word: &str) -> u64 {
    match deed.part(word).map(|part| part.value.clone()) {
        Some(Value::Names(_, bits)) => bits,
        _ => 0,
    }
}

fn has_empty_path(deed: &Deed) -> bool {
    let mut values = deed.fields.iter().map(|part| &part.value);
    values.any(|value| matches!(value, Value::Path { given, .. } if given.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscall_model::names::{self, Abi};

    #[test]
    fn every_row_is_of_calls_that_there_are_and_says_no_error_twice() {
        for row in TABLE {
            for call in row.calls {
                let mut abis = [Abi::X86_64, Abi::Aarch64, Abi::I386, Abi::Arm].into_iter();
                assert!(abis.any(|abi| names::number(abi, call).is_some()), "{call}");
            }
            let mut all: Vec<i32> = row.usual.iter().chain(row.others).copied().collect();
            let n = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), n, "{:?}", row.calls);
            assert!(n > 0, "{:?}", row.calls);
            assert!(all.iter().all(|error| errno_name(*error).is_some()));
        }
    }

    #[test]
    fn what_cannot_fail_or_does_not_return_has_no_row() {
        for call in [
            "exit",
            "exit_group",
            "rt_sigreturn",
            "getpid",
            "brk",
            "umask",
        ] {
            assert!(TABLE.iter().all(|row| !row.calls.contains(&call)), "{call}");
        }
    }

    #[test]
    fn an_error_that_no_call_can_have_is_no_choice() {
        assert!(Errors::named(["EIO", "ENOSPC"]).is_ok());
        assert_eq!(
            Errors::named(["EIO", "EILSEQ"]),
            Err(NoRow("EILSEQ".to_owned()))
        );
        assert_eq!(Errors::named(["eio"]), Err(NoRow("eio".to_owned())));
    }
}
