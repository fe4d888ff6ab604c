//! Calls that only some conventions have, and which call of the native convention each of them is
//! another form of.
//!
//! A person who names a call means what it does, not the number that one convention gives it. So
//! choosing `setuid` chooses `setuid32` of i386, too. A *relative* does the same for the caller as
//! the native call that it is named with: it takes the same function of the kernel, with wider or
//! narrower words (`ftruncate64`, `clock_gettime64`), an older structure (`oldstat`), or less of it
//! (`umount` has no flags). Two calls of i386 are many: `socketcall` and `ipc` take the number of
//! an operation first. Each operation has a name of its own here, `socketcall.socket`, and is a
//! relative of the call that it is.
//!
//! The names are those of `arch/x86/entry/syscalls/syscall_32.tbl` and `arch/arm/tools/syscall.tbl`
//! (Linux 7.2); what they do is in `arch/x86/kernel/sys_ia32.c`, `kernel/uid16.c`,
//! `kernel/signal.c`, `fs/stat.c`, `fs/readdir.c`, `net/compat.c` (`socketcall`) and
//! `ipc/syscall.c` (`ipc`). A row whose native call has no such name either is followed further:
//! `stat64` of arm is `stat`, which aarch64 does not have, and that is `newfstatat`.

use super::names::{self, Abi, OfEach};
use super::{layout, many};
use std::sync::LazyLock;

/// An operation of a call that stands for many.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Operation {
    /// The call that takes it.
    pub(super) of: &'static str,
    /// The number by which it does.
    pub(super) number: u32,
    /// The name of both: `socketcall.socket`.
    pub(super) name: &'static str,
    /// The native call that it is.
    pub(super) native: &'static str,
}

macro_rules! operations {
    ($($of:literal: $($number:literal $native:literal)*;)*) => {
        &[$($(Operation {
            of: $of,
            number: $number,
            name: concat!($of, ".", $native),
            native: $native,
        },)*)*]
    };
}

/// `SYS_SOCKET` and its like of `include/uapi/linux/net.h`; `SEMOP` and its like of
/// `include/uapi/linux/ipc.h`.
pub(super) const OPERATIONS: &[Operation] = operations! {
    "socketcall":
        1 "socket" 2 "bind" 3 "connect" 4 "listen" 5 "accept" 6 "getsockname" 7 "getpeername"
        8 "socketpair" 9 "send" 10 "recv" 11 "sendto" 12 "recvfrom" 13 "shutdown" 14 "setsockopt"
        15 "getsockopt" 16 "sendmsg" 17 "recvmsg" 18 "accept4" 19 "recvmmsg" 20 "sendmmsg";
    "ipc":
        1 "semop" 2 "semget" 3 "semctl" 4 "semtimedop" 11 "msgsnd" 12 "msgrcv" 13 "msgget"
        14 "msgctl" 21 "shmat" 22 "shmdt" 23 "shmget" 24 "shmctl";
};

/// Each call that some convention lacks, and the calls that do the same there, of which a kernel
/// has some.
const RELATIVES: &[(&str, &[&str])] = &[
    ("_llseek", &["lseek"]),
    ("_newselect", &["select"]),
    ("access", &["faccessat"]),
    ("alarm", &["setitimer"]),
    ("arm_fadvise64_64", &["fadvise64"]),
    ("chmod", &["fchmodat"]),
    ("chown", &["fchownat"]),
    ("chown32", &["chown"]),
    ("clock_adjtime64", &["clock_adjtime"]),
    ("clock_getres_time64", &["clock_getres"]),
    ("clock_gettime64", &["clock_gettime"]),
    ("clock_nanosleep_time64", &["clock_nanosleep"]),
    ("clock_settime64", &["clock_settime"]),
    ("creat", &["openat"]),
    ("dup2", &["dup3"]),
    ("epoll_create", &["epoll_create1"]),
    ("epoll_wait", &["epoll_pwait"]),
    ("eventfd", &["eventfd2"]),
    ("fadvise64_64", &["fadvise64"]),
    ("fchown32", &["fchown"]),
    ("fcntl64", &["fcntl"]),
    ("fork", &["clone"]),
    ("fstat64", &["fstat"]),
    ("fstatat64", &["newfstatat"]),
    ("fstatfs64", &["fstatfs"]),
    ("ftruncate64", &["ftruncate"]),
    ("futex_time64", &["futex"]),
    ("futimesat", &["utimensat"]),
    ("getdents", &["getdents64"]),
    ("getegid32", &["getegid"]),
    ("geteuid32", &["geteuid"]),
    ("getgid32", &["getgid"]),
    ("getgroups32", &["getgroups"]),
    ("getpgrp", &["getpgid"]),
    ("getresgid32", &["getresgid"]),
    ("getresuid32", &["getresuid"]),
    ("getuid32", &["getuid"]),
    ("inotify_init", &["inotify_init1"]),
    ("io_pgetevents_time64", &["io_pgetevents"]),
    ("lchown", &["fchownat"]),
    ("lchown32", &["lchown"]),
    ("link", &["linkat"]),
    ("lstat", &["newfstatat"]),
    ("lstat64", &["lstat"]),
    ("mkdir", &["mkdirat"]),
    ("mknod", &["mknodat"]),
    ("mmap2", &["mmap"]),
    ("mq_timedreceive_time64", &["mq_timedreceive"]),
    ("mq_timedsend_time64", &["mq_timedsend"]),
    ("nice", &["setpriority"]),
    ("oldfstat", &["fstat"]),
    ("oldlstat", &["lstat"]),
    ("oldolduname", &["uname"]),
    ("oldstat", &["stat"]),
    ("olduname", &["uname"]),
    ("open", &["openat"]),
    ("pause", &["ppoll"]),
    ("pipe", &["pipe2"]),
    ("poll", &["ppoll"]),
    ("ppoll_time64", &["ppoll"]),
    ("pselect6_time64", &["pselect6"]),
    ("readdir", &["getdents"]),
    ("readlink", &["readlinkat"]),
    ("recv", &["recvfrom"]),
    ("recvmmsg_time64", &["recvmmsg"]),
    ("rename", &["renameat", "renameat2"]),
    ("rmdir", &["unlinkat"]),
    ("rt_sigtimedwait_time64", &["rt_sigtimedwait"]),
    ("sched_rr_get_interval_time64", &["sched_rr_get_interval"]),
    ("select", &["pselect6"]),
    ("semtimedop_time64", &["semtimedop"]),
    ("send", &["sendto"]),
    ("sendfile64", &["sendfile"]),
    ("setfsgid32", &["setfsgid"]),
    ("setfsuid32", &["setfsuid"]),
    ("setgid32", &["setgid"]),
    ("setgroups32", &["setgroups"]),
    ("setregid32", &["setregid"]),
    ("setresgid32", &["setresgid"]),
    ("setresuid32", &["setresuid"]),
    ("setreuid32", &["setreuid"]),
    ("setuid32", &["setuid"]),
    ("sgetmask", &["rt_sigprocmask"]),
    ("sigaction", &["rt_sigaction"]),
    ("signal", &["rt_sigaction"]),
    ("signalfd", &["signalfd4"]),
    ("sigpending", &["rt_sigpending"]),
    ("sigprocmask", &["rt_sigprocmask"]),
    ("sigreturn", &["rt_sigreturn"]),
    ("sigsuspend", &["rt_sigsuspend"]),
    ("ssetmask", &["rt_sigprocmask"]),
    ("stat", &["newfstatat"]),
    ("stat64", &["stat"]),
    ("statfs64", &["statfs"]),
    ("stime", &["settimeofday", "clock_settime"]),
    ("symlink", &["symlinkat"]),
    ("sync_file_range2", &["sync_file_range"]),
    ("time", &["clock_gettime"]),
    ("timer_gettime64", &["timer_gettime"]),
    ("timer_settime64", &["timer_settime"]),
    ("timerfd_gettime64", &["timerfd_gettime"]),
    ("timerfd_settime64", &["timerfd_settime"]),
    ("truncate64", &["truncate"]),
    ("ugetrlimit", &["getrlimit"]),
    ("umount", &["umount2"]),
    ("unlink", &["unlinkat"]),
    ("ustat", &["statfs"]),
    ("utime", &["utimensat"]),
    ("utimensat_time64", &["utimensat"]),
    ("utimes", &["utimensat"]),
    ("vfork", &["clone"]),
    ("waitpid", &["wait4"]),
];

/// The native calls that a name of another convention is a form of; none for a native name, and for
/// a call that is its convention's alone.
pub(super) fn natives(native: Abi, name: &str) -> Vec<&'static str> {
    if names::number(native, name).is_some() {
        return Vec::new();
    }
    if let Some(operation) = OPERATIONS.iter().find(|it| it.name == name) {
        return in_native(native, operation.native);
    }
    let known = RELATIVES.iter().find(|(known, _)| *known == name);
    let natives = known.map_or(&[][..], |(_, natives)| natives);
    let mut all: Vec<&str> = natives
        .iter()
        .flat_map(|name| in_native(native, name))
        .collect();
    all.dedup();
    all
}

/// The same for the convention of this program's target.
#[must_use]
pub fn natives_of(name: &str) -> Vec<&'static str> {
    natives(Abi::native(), name)
}

/// The name itself where the convention has it, else what it is a form of.
fn in_native(native: Abi, name: &str) -> Vec<&str> {
    match names::number(native, name) {
        Some(_) => vec![name],
        None => natives(native, name),
    }
}

/// The native calls that the name of a recorded call may stand for: itself, where it is one, else
/// those that it is a form of.
#[must_use]
pub fn native_calls(name: &str) -> Vec<&str> {
    recorded(Abi::native(), name)
}

fn recorded(native: Abi, name: &str) -> Vec<&str> {
    let all = in_native(native, name);
    // Of 32-bit calls that only the other convention has, some are told in the places of one.
    let form = || {
        let compat = native.compat()?;
        let number = names::number(compat, name)?;
        let (abi, number) = layout::form(compat, i32::try_from(number).ok()?);
        names::name_of(abi, number).filter(|_| abi == native)
    };
    match all.len() {
        0 | 1 => all,
        _ => form().map_or(all, |form| vec![form]),
    }
}

/// The native call that a name stands for; the name itself where that is none, or one of several.
#[must_use]
pub fn native_name(name: &str) -> &str {
    match native_calls(name).as_slice() {
        [native] => native,
        _ => name,
    }
}

/// The operation that a call takes by its first word; of `ipc` the upper half of that is a version
/// (`ipc_parse_version()`).
pub(super) fn operation(abi: Abi, number: i32, first: u64) -> Option<&'static Operation> {
    if abi != Abi::I386 {
        return None;
    }
    if let Some(operation) = many::operation(abi, number) {
        return Some(operation);
    }
    let name = names::name_of(abi, number)?;
    let wanted = match name {
        "socketcall" => first as u32,
        "ipc" => first as u32 & 0xffff,
        _ => return None,
    };
    OPERATIONS
        .iter()
        .find(|it| it.of == name && it.number == wanted)
}

/// Whether a call stands for many.
pub(super) fn is_many(name: &str) -> bool {
    matches!(name, "socketcall" | "ipc")
}

/// Whether a set of names has all that a call which stands for many may be: true of any other call.
#[must_use]
pub fn has_all_of(name: &str, holds: impl Fn(&str) -> bool) -> bool {
    let mut operations = OPERATIONS.iter().filter(|it| it.of == name);
    operations.all(|it| holds(it.name))
}

/// The operation at this place among all.
pub(super) fn place_of_operation(name: &str) -> Option<usize> {
    OPERATIONS.iter().position(|it| it.name == name)
}

/// What else is chosen with each row of the table of names: rows, and operations behind the last of
/// them.
pub(super) fn chosen_with(native: Abi, row: usize) -> &'static [usize] {
    static OF_X86_64: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| all_chosen(Abi::X86_64));
    static OF_AARCH64: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| all_chosen(Abi::Aarch64));
    let all = match native {
        Abi::Aarch64 => &OF_AARCH64,
        _ => &OF_X86_64,
    };
    all.get(row).map_or(&[], Vec::as_slice)
}

/// The rows of the native calls that a row, or an operation behind the last, is a form of.
pub(super) fn rows_of_natives(native: Abi, slot: usize) -> &'static [usize] {
    static OF_EACH: OfEach<Vec<Vec<usize>>> = OfEach::new();
    let all = OF_EACH.get(native, || {
        let operations = OPERATIONS.iter().map(|operation| operation.name);
        let names = (0..names::ROW_COUNT).map(names::row_name).chain(operations);
        let rows = |name| natives(native, name).into_iter().filter_map(names::row_of);
        names.map(|name| rows(name).collect()).collect()
    });
    all.get(slot).map_or(&[], Vec::as_slice)
}

fn all_chosen(native: Abi) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); names::ROW_COUNT];
    let mut add = |to: &str, slot| {
        if let Some(known) = names::row_of(to).and_then(|row| all.get_mut(row)) {
            known.push(slot);
        }
    };
    for (row, name) in (0..names::ROW_COUNT).map(|row| (row, names::row_name(row))) {
        for to in natives(native, name) {
            add(to, row);
        }
    }
    for (place, operation) in OPERATIONS.iter().enumerate() {
        for to in natives(native, operation.name) {
            add(to, names::ROW_COUNT + place);
        }
        add(operation.of, names::ROW_COUNT + place);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls that are one convention's alone, each with what was found of it when it was looked up.
    const ALONE: &[(&str, &str)] = &[
        ("_sysctl", "gone since 5.5: ENOSYS in every convention"),
        ("afs_syscall", "never had a function"),
        ("bdflush", "gone since 5.15: ENOSYS"),
        ("break", "never had a function"),
        ("breakpoint", "a trap of arm by its private numbers"),
        ("cacheflush", "of arm's instruction cache"),
        ("ftime", "never had a function"),
        ("get_tls", "arm's thread register"),
        ("gtty", "never had a function"),
        ("idle", "gone since 2.3: ENOSYS"),
        ("lock", "never had a function"),
        ("mpx", "never had a function"),
        ("pciconfig_iobase", "the PCI bus of old arm boards"),
        ("pciconfig_read", "the PCI bus of old arm boards"),
        ("pciconfig_write", "the PCI bus of old arm boards"),
        ("prof", "never had a function"),
        ("profil", "never had a function"),
        ("set_tls", "arm's thread register"),
        ("stty", "never had a function"),
        ("sysfs", "aarch64 has none: the types of file systems"),
        ("ulimit", "never had a function"),
        ("uselib", "aarch64 has none: a.out libraries"),
        ("usr26", "arm's modes of old"),
        ("usr32", "arm's modes of old"),
        ("vm86", "of 32-bit kernels: ENOSYS on x86_64"),
        ("vm86old", "of 32-bit kernels: ENOSYS on x86_64"),
        ("vserver", "never had a function"),
    ];

    /// The rows of a table that are neither native, nor relatives, nor operations of one call, nor
    /// reviewed.
    fn unexplained(native: Abi, other: Abi) -> Vec<&'static str> {
        let is_unexplained = |name: &&str| {
            names::number(native, name).is_none()
                && natives(native, name).is_empty()
                && !is_many(name)
                && !ALONE.iter().any(|(alone, _)| alone == name)
        };
        names::all(other)
            .map(|(_, name)| name)
            .filter(is_unexplained)
            .collect()
    }

    #[test]
    fn a_recorded_call_of_arm_is_the_one_in_whose_places_it_is_told() {
        for (native, name, calls) in [
            (Abi::Aarch64, "rename", &["renameat"][..]),
            (Abi::Aarch64, "unlink", &["unlinkat"]),
            (Abi::Aarch64, "openat", &["openat"]),
            (Abi::X86_64, "rename", &["rename"]),
        ] {
            assert_eq!(recorded(native, name), calls, "{name}");
        }
        // What is expected of it is expected of both.
        assert_eq!(natives(Abi::Aarch64, "rename"), ["renameat", "renameat2"]);
    }

    #[test]
    fn every_row_of_a_foreign_table_is_native_or_a_relative_or_reviewed_as_its_tables_alone() {
        for (native, other) in [
            (Abi::X86_64, Abi::I386),
            (Abi::X86_64, Abi::X32),
            (Abi::Aarch64, Abi::Arm),
        ] {
            assert_eq!(unexplained(native, other), [""; 0], "{other:?}");
        }
    }

    #[test]
    fn what_is_reviewed_as_one_tables_alone_is_no_relative_and_has_no_native_name_there() {
        for (alone, why) in ALONE {
            assert!(!RELATIVES.iter().any(|(name, _)| name == alone), "{alone}");
            let is_foreign = |native, other| {
                names::number(other, alone).is_some() && names::number(native, alone).is_none()
            };
            let is_somewhere = is_foreign(Abi::X86_64, Abi::I386)
                || is_foreign(Abi::Aarch64, Abi::Arm)
                || names::number(Abi::X86_64, alone).is_some();
            assert!(is_somewhere && !why.is_empty(), "{alone}");
        }
    }

    #[test]
    fn a_relative_is_followed_until_the_native_table_has_it() {
        assert_eq!(natives(Abi::X86_64, "setuid32"), ["setuid"]);
        assert_eq!(natives(Abi::X86_64, "stat64"), ["stat"]);
        assert_eq!(natives(Abi::Aarch64, "stat64"), ["newfstatat"]);
        assert_eq!(natives(Abi::Aarch64, "open"), ["openat"]);
        assert_eq!(natives(Abi::Aarch64, "_newselect"), ["pselect6"]);
        assert_eq!(natives(Abi::Aarch64, "rename"), ["renameat", "renameat2"]);
        assert!(natives(Abi::X86_64, "open").is_empty(), "it is native");
        assert_eq!(natives(Abi::X86_64, "socketcall.recv"), ["recvfrom"]);
        assert_eq!(natives(Abi::X86_64, "ipc.shmat"), ["shmat"]);
    }

    #[test]
    fn a_call_that_is_many_is_told_by_its_first_word() {
        let name =
            |number, first| operation(Abi::I386, number, first).map(|operation| operation.name);
        assert_eq!(name(102, 1), Some("socketcall.socket"));
        assert_eq!(name(102, 0xffff_ffff_0000_0003), Some("socketcall.connect"));
        assert_eq!(name(102, 21), None);
        assert_eq!(name(117, 1 << 16 | 12), Some("ipc.msgrcv"));
        assert_eq!(operation(Abi::X86_64, 102, 1), None, "it is getuid there");
        assert_eq!(
            OPERATIONS.iter().filter(|it| it.of == "socketcall").count(),
            20
        );
    }

    #[test]
    fn the_table_is_sorted_and_its_names_exist() {
        assert!(RELATIVES.is_sorted_by(|(a, _), (b, _)| a < b));
        for (name, natives) in RELATIVES {
            for name in [*name].iter().chain(*natives) {
                assert!(names::row_of(name).is_some(), "{name}");
            }
        }
    }
}
