//! What a value of a system call is: an address, a descriptor, a process, a number.
//!
//! The kernel's own declarations decide, as tracefs shows them: first what is known of one call's
//! argument, then its C type where that says it, then its name, then its width. Every argument of
//! every call of Linux 5.10, 6.1, 6.12, 6.18 and 7.2 on x86_64 was read against the result; the
//! table that the test compares with is `harness/fixtures/syscall-argument-kinds.txt`. What flags
//! and commands mean is not known here.

use super::assigned;
use super::constants::{Constants, tables as names};
use super::pointers;
use super::structs::StructKind;

/// What an argument is, which decides how it is written and whether it means anything in another
/// run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgKind {
    /// A signed number of 32 bits; the upper half of the register means nothing.
    Int,
    /// An unsigned number of 32 bits; the upper half of the register means nothing.
    Uint32,
    /// A signed number of the register's width.
    Long,
    /// An unsigned number of the register's width: a size or a count.
    Size,
    /// Bits: flags, masks, keys, device numbers.
    Hex,
    /// Bits in 32 of the register's; its upper half means nothing.
    Hex32,
    /// The permission bits of a file, in octal.
    Octal,
    /// The address of something in the caller's memory that the call reads or writes.
    Pointer,
    /// An address for its own sake: the place of a mapping, a stack, the program break.
    Address,
    /// A file descriptor, or a negative number such as `AT_FDCWD`; 32 bits, signed.
    Fd,
    /// A process, thread or process group, or a number such as 0 and -1 in its place; 32 bits,
    /// signed.
    Pid,
    /// A pointer or a number, which only the call's command or flags can tell.
    Word,
    /// The number of a signal, 0 included.
    Signal,
    /// A user or group, -1 for "unchanged"; 32 bits.
    Id,
    /// A place or length in a file, signed, of the register's width.
    Offset,
    /// Flags, a mode or a command, of these names.
    Constants(&'static Constants),
    /// The address of a path, which names a file.
    Path,
    /// The address of a string that is no path: the name of an attribute, of a key, of a file
    /// system's type.
    Text,
    /// The address of a vector of strings: `argv`.
    Strings,
    /// The address of a structure, which the call reads or writes.
    Struct(StructKind),
    /// The address of contents: what is read or written.
    Buffer,
    /// Nothing: with this command or these flags the kernel does not look at it. It is not written.
    Unused,
}

impl ArgKind {
    /// Whether what it means is not in its word but in the caller's memory.
    #[must_use]
    pub fn is_behind_a_pointer(self) -> bool {
        matches!(
            self,
            Self::Path | Self::Text | Self::Strings | Self::Struct(_) | Self::Buffer
        )
    }
}

/// What a result is that is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReturnKind {
    /// A number: a count, a 0, a set of bits.
    Number,
    /// Permission bits, in octal.
    Octal,
    /// A descriptor that the call has opened.
    Fd,
    /// An address.
    Address,
    /// A process, thread, process group or session.
    Pid,
    /// Flags or one of several numbers, of these names.
    Constants(&'static Constants),
}

/// What the argument at `index` of the call `syscall` is.
///
/// `syscall` is the call's own name (`fstat`, not `newfstat`); `arg_name` and `c_type` are what the
/// call's `format` file in tracefs says. Any text is answered, an unknown type as `Size`.
pub fn arg_kind(syscall: &str, index: usize, arg_name: &str, c_type: &str) -> ArgKind {
    if let Some(kind) = pointers::kind(syscall, index) {
        return kind;
    }
    if let Some(constants) = assigned::constants(syscall, index) {
        return ArgKind::Constants(constants);
    }
    let known = SINGLE
        .iter()
        .find(|(call, at, _)| *call == syscall && *at == index);
    if let Some((_, _, kind)) = known {
        return *kind;
    }
    if let Some(kind) = super::pointers::kind(syscall, index) {
        return kind;
    }
    let c_type = c_type.strip_prefix("const ").unwrap_or(c_type).trim();
    kind_of_type(c_type)
        .or_else(|| kind_of_name(arg_name, c_type == "unsigned long"))
        .unwrap_or_else(|| kind_of_width(c_type))
}

/// What the result of a call is, where it is not an error.
///
/// `fcntl`, `bpf`, `seccomp` and `ioctl` return descriptors for some of their commands only:
/// `Number`; what is known of a command is in `meaning`.
pub fn return_kind(syscall: &str) -> ReturnKind {
    match syscall {
        "accept"
        | "accept4"
        | "creat"
        | "dup"
        | "dup2"
        | "dup3"
        | "epoll_create"
        | "epoll_create1"
        | "eventfd"
        | "eventfd2"
        | "fanotify_init"
        | "fsmount"
        | "fsopen"
        | "fspick"
        | "inotify_init"
        | "inotify_init1"
        | "io_uring_setup"
        | "landlock_create_ruleset"
        | "memfd_create"
        | "memfd_secret"
        | "mq_open"
        | "open"
        | "open_by_handle_at"
        | "open_tree"
        | "open_tree_attr"
        | "openat"
        | "openat2"
        | "perf_event_open"
        | "pidfd_getfd"
        | "pidfd_open"
        | "signalfd"
        | "signalfd4"
        | "socket"
        | "timerfd_create"
        | "userfaultfd" => ReturnKind::Fd,
        "brk" | "map_shadow_stack" | "mmap" | "mmap2" | "mremap" | "shmat" => ReturnKind::Address,
        "clone" | "clone3" | "fork" | "getpgid" | "getpgrp" | "getpid" | "getppid" | "getsid"
        | "gettid" | "set_tid_address" | "setsid" | "vfork" | "wait4" | "waitpid" => {
            ReturnKind::Pid
        }
        "umask" => ReturnKind::Octal,
        "personality" => ReturnKind::Constants(&names::PERSONALITIES),
        _ => ReturnKind::Number,
    }
}

/// Whether the call ends the thread, so that it has an entry and no exit.
///
/// `rt_sigreturn` and `sigreturn` are not among them: they have an exit, with number -1 and with
/// the register of the interrupted code for a result. Neither is `execve`, which returns 0 into the
/// new program.
pub fn never_returns(syscall: &str) -> bool {
    matches!(syscall, "exit" | "exit_group")
}

/// Whether a result above 0 is a new process or thread, which itself returns 0 from the same call.
pub fn returns_child_pid(syscall: &str) -> bool {
    matches!(syscall, "fork" | "vfork" | "clone" | "clone3")
}

fn kind_of_type(c_type: &str) -> Option<ArgKind> {
    let kind = match c_type {
        pointer if pointer.contains('*') => ArgKind::Pointer,
        "cap_user_header_t" | "cap_user_data_t" => ArgKind::Pointer,
        "aio_context_t" => ArgKind::Address,
        "pid_t" => ArgKind::Pid,
        "mqd_t" => ArgKind::Fd,
        "umode_t" => ArgKind::Octal,
        "loff_t" | "off_t" => ArgKind::Offset,
        "size_t" => ArgKind::Size,
        "key_t" | "rwf_t" => ArgKind::Hex,
        "uid_t" | "gid_t" | "qid_t" => ArgKind::Id,
        "timer_t" | "key_serial_t" => ArgKind::Int,
        _ => return None,
    };
    Some(kind)
}

/// What the name says of a number; only a number of the register's width can be an address.
fn kind_of_name(name: &str, is_wide: bool) -> Option<ArgKind> {
    let kind = match name {
        "fildes" | "fd_in" | "fd_out" | "fdin" | "fdout" => ArgKind::Fd,
        fd if fd.ends_with("fd") => ArgKind::Fd,
        "pid" => ArgKind::Pid,
        "sig" => ArgKind::Signal,
        "mask" | "prot" | "mode" | "options" | "dev" | "personality" => ArgKind::Hex,
        flags if flags.contains("flag") || flags.ends_with("flg") => ArgKind::Hex,
        "addr" | "new_addr" | "start" | "brk" | "newsp" | "tls" if is_wide => ArgKind::Address,
        _ => return None,
    };
    Some(kind)
}

fn kind_of_width(c_type: &str) -> ArgKind {
    match c_type {
        "int" | "__s32" => ArgKind::Int,
        "unsigned int" | "unsigned" | "u32" | "__u32" => ArgKind::Uint32,
        "long" => ArgKind::Long,
        enumeration if enumeration.starts_with("enum ") => ArgKind::Int,
        _ => ArgKind::Size,
    }
}

/// Arguments that neither their type nor their name tells.
const SINGLE: &[(&str, usize, ArgKind)] = &[
    ("arch_prctl", 1, ArgKind::Word),
    // The bounds of a range, which need not be open.
    ("close_range", 0, ArgKind::Uint32),
    ("close_range", 1, ArgKind::Uint32),
    ("copy_file_range", 5, ArgKind::Uint32),
    ("fcntl", 2, ArgKind::Word),
    // A time or a count; mostly a mask.
    ("futex", 3, ArgKind::Word),
    ("futex", 5, ArgKind::Hex),
    ("getpriority", 1, ArgKind::Pid),
    ("ioctl", 2, ArgKind::Word),
    ("ioprio_get", 1, ArgKind::Pid),
    ("ioprio_set", 1, ArgKind::Pid),
    ("ioperm", 0, ArgKind::Hex),
    ("ioperm", 1, ArgKind::Hex),
    ("kcmp", 3, ArgKind::Word),
    ("kcmp", 4, ArgKind::Word),
    ("kexec_load", 0, ArgKind::Address),
    ("keyctl", 1, ArgKind::Word),
    ("keyctl", 2, ArgKind::Word),
    ("keyctl", 3, ArgKind::Word),
    ("keyctl", 4, ArgKind::Word),
    ("lookup_dcookie", 0, ArgKind::Hex),
    // An offset, in hexadecimal as it is one of pages.
    ("mmap", 5, ArgKind::Hex),
    // A descriptor of another process.
    ("pidfd_getfd", 1, ArgKind::Int),
    ("prctl", 1, ArgKind::Word),
    ("prctl", 2, ArgKind::Word),
    ("prctl", 3, ArgKind::Word),
    ("prctl", 4, ArgKind::Word),
    ("preadv", 3, ArgKind::Offset),
    ("preadv", 4, ArgKind::Offset),
    ("preadv2", 3, ArgKind::Offset),
    ("preadv2", 4, ArgKind::Offset),
    ("ptrace", 2, ArgKind::Word),
    ("ptrace", 3, ArgKind::Word),
    ("pwritev", 3, ArgKind::Offset),
    ("pwritev", 4, ArgKind::Offset),
    ("pwritev2", 3, ArgKind::Offset),
    ("pwritev2", 4, ArgKind::Offset),
    ("process_vm_readv", 5, ArgKind::Size),
    ("process_vm_writev", 5, ArgKind::Size),
    ("rseq", 1, ArgKind::Hex),
    // A signature, not a signal.
    ("rseq", 3, ArgKind::Hex),
    ("sched_getattr", 3, ArgKind::Uint32),
    ("sched_setattr", 2, ArgKind::Uint32),
    ("semctl", 3, ArgKind::Word),
    ("setpriority", 1, ArgKind::Pid),
    ("shmat", 1, ArgKind::Address),
    ("shmdt", 0, ArgKind::Address),
    ("sysfs", 1, ArgKind::Word),
    ("sysfs", 2, ArgKind::Word),
    ("truncate", 1, ArgKind::Offset),
    ("umask", 0, ArgKind::Octal),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names as calls;
    use crate::pointers;

    /// One call a line: its name, then its arguments, each `index kind type name`, parted by ` | `.
    const REVIEWED: &str = include_str!("../../harness/fixtures/syscall-argument-kinds.txt");

    fn reviewed() -> impl Iterator<Item = (&'static str, &'static str)> {
        let lines = REVIEWED.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split_once(": ").expect("a call and its arguments"))
    }

    #[test]
    fn every_argument_of_five_kernels_is_what_review_found() {
        let mut checked = 0;
        for (call, arguments) in reviewed() {
            for argument in arguments.split(" | ") {
                let mut words = argument.splitn(3, ' ');
                let mut word = || words.next().expect("index, kind, declaration");
                let (index, kind, declaration) = (word(), word(), word());
                let (c_type, name) = declaration.rsplit_once(' ').expect("a type and a name");
                let index = index.parse().expect("an index");
                // What a pointer points to is for the tests of `pointers`.
                let found = match pointers::kind(call, index) {
                    Some(_) => "Pointer".to_owned(),
                    None => format!("{:?}", arg_kind(call, index, name, c_type)),
                };
                assert_eq!(found, kind, "{call}: {declaration}");
                checked += 1;
            }
        }
        assert!(checked > 1000, "{checked}");
    }

    #[test]
    fn what_is_known_of_single_arguments_concerns_arguments_that_exist() {
        let assigned = assigned::ASSIGNED
            .iter()
            .map(|(call, index, _)| (call, index));
        let single = SINGLE.iter().map(|(call, index, _)| (call, index));
        for (call, index) in assigned.chain(single) {
            let (_, arguments) = reviewed()
                .find(|(name, _)| name == call)
                .expect("a call of the table");
            let start = format!("{index} ");
            assert!(
                arguments.split(" | ").any(|part| part.starts_with(&start)),
                "{call} {index}"
            );
        }
    }

    #[test]
    fn reviewed_calls_go_by_their_own_names() {
        for (call, _) in reviewed() {
            assert!(calls::number(calls::Abi::X86_64, call).is_some(), "{call}");
        }
    }

    #[test]
    fn an_unknown_type_is_a_number_of_full_width() {
        assert_eq!(arg_kind("future", 0, "quux", "frob_t"), ArgKind::Size);
        assert_eq!(arg_kind("future", 9, "", ""), ArgKind::Size);
        assert_eq!(arg_kind("future", 0, "dirfd", "int"), ArgKind::Fd);
        assert_eq!(
            arg_kind("future", 1, "uptr", "struct quux *"),
            ArgKind::Pointer
        );
    }

    #[test]
    fn results_are_known_by_the_call() {
        assert_eq!(return_kind("openat"), ReturnKind::Fd);
        assert_eq!(return_kind("mmap"), ReturnKind::Address);
        assert_eq!(return_kind("wait4"), ReturnKind::Pid);
        assert_eq!(return_kind("read"), ReturnKind::Number);
        assert_eq!(return_kind("fcntl"), ReturnKind::Number);
    }

    #[test]
    fn a_call_that_makes_a_child_returns_its_pid() {
        let makers: Vec<_> = calls::all(calls::Abi::X86_64)
            .map(|(_, name)| name)
            .filter(|name| returns_child_pid(name))
            .collect();
        assert_eq!(makers, ["clone", "fork", "vfork", "clone3"]);
        assert!(
            makers
                .iter()
                .all(|name| return_kind(name) == ReturnKind::Pid)
        );
    }

    #[test]
    fn only_the_exits_never_return() {
        assert!(never_returns("exit") && never_returns("exit_group"));
        assert!(!never_returns("rt_sigreturn") && !never_returns("execve"));
    }
}
