//! Which calls have descriptors for arguments, and which change a table: by name, once.

use super::super::by_row::ByRow;
use super::super::layout;
use super::super::many;
use super::super::meaning::Commands;
use super::super::names::{self, Abi};
use super::arguments::{PathArgument, descriptors, paths};
use super::climbing::moves;
use super::file::Object;
use super::in_memory;
use std::sync::LazyLock;

/// What is to be done about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) effect: Effect,
    /// A bit for each argument that is a descriptor.
    pub(super) descriptors: u8,
    /// What tells which others are descriptors.
    pub(super) commands: Option<&'static Commands>,
    /// Whether there are descriptors in memory.
    pub(super) in_memory: bool,
    /// Its paths.
    pub(super) paths: &'static [PathArgument],
    /// Whether it may move a folder, or put another in its place.
    pub(super) moves: bool,
}

/// What a call does to tables and directories, if it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    Opens(What, OnExec),
    /// `dup`.
    Duplicates,
    /// `dup2`, `dup3`.
    Replaces,
    /// `fcntl`.
    Controls,
    /// `ioctl`.
    Commands,
    Closes,
    ClosesRange,
    /// Two ends of a pipe; `pipe` has no flags.
    Pipes {
        flags: bool,
    },
    Pairs,
    Binds,
    Connects,
    /// `recvmsg` and `recvmmsg`: descriptors may arrive.
    Receives,
    /// `clone` and similar calls.
    MakesTask,
    Executes,
    Unshares,
    ChangesDirectory,
    /// `fchdir`.
    ChangesDirectoryTo,
    ChangesRoot,
    PivotsRoot,
    EntersNamespace,
    /// `io_uring_enter`.
    Submits,
    /// `socketcall`, of which the arguments are not known.
    Multiplexed,
    /// `getsockopt`: one option is a descriptor (`SO_PEERPIDFD`).
    AsksSocket,
    /// `io_uring_register`.
    SetsRing,
}

/// What a call opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Path(PathArgument),
    /// Nothing that has a name here.
    Unread,
    /// Another descriptor of what is open elsewhere (`pidfd_getfd`).
    Foreign,
    Socket,
    Accepted,
    Object(Object),
    /// `memfd_create`.
    Memory,
    Queue,
    /// Only by some commands.
    Bpf,
    Seccomp,
    Landlock,
    /// Only where it is given none.
    Signalfd,
    IoUring,
}

/// Whether an exec closes what is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnExec {
    Stays,
    Closed,
    /// Where this argument has this bit.
    ByFlag(u8, u64),
    /// By the flags that this argument points to.
    ByFlagsAt(u8),
}

/// `O_CLOEXEC`, and as `SOCK_CLOEXEC`, `EFD_CLOEXEC`, ...; the same on all machines of [`Abi`].
pub(super) const CLOSE_ON_EXEC: u64 = 0o2_000_000;

const NOTHING: Plan = Plan {
    effect: Effect::None,
    descriptors: 0,
    commands: None,
    in_memory: false,
    paths: &[],
    moves: false,
};

static PLANS: LazyLock<ByRow<Plan>> = LazyLock::new(|| {
    ByRow::new(|name| Plan {
        effect: effect(name),
        descriptors: descriptors(name),
        commands: Commands::with_descriptors(name),
        in_memory: in_memory::has_some(name),
        paths: paths(name),
        moves: moves(name),
    })
});

static NEEDED: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| PLANS.names(|plan| plan.effect != Effect::None));

/// The calls that must be recorded for the tables to be right, sorted by name.
#[must_use]
pub fn needed() -> &'static [&'static str] {
    &NEEDED
}

/// What is to be done about a call.
pub(super) fn plan(abi: Abi, number: i32) -> Plan {
    let (abi, number) = layout::form(abi, number);
    let Some((row, plan)) = PLANS.get(abi, number) else {
        return NOTHING;
    };
    // In 32-bit conventions the mask of fanotify_mark() takes two words, and mmap() of i386 has its
    // arguments in memory, as long as it is not told by them.
    let is_displaced = plan.descriptors & !0b111 != 0
        && matches!(abi, Abi::I386 | Abi::Arm)
        && Some(row) != mmap2()
        && many::place(abi, number).is_none();
    if is_displaced {
        Plan {
            descriptors: plan.descriptors & 0b111,
            paths: &[],
            ..plan
        }
    } else {
        plan
    }
}

fn mmap2() -> Option<usize> {
    static ROW: LazyLock<Option<usize>> = LazyLock::new(|| names::row_of("mmap2"));
    *ROW
}

fn effect(name: &str) -> Effect {
    use Effect as E;
    use OnExec as On;
    let object = |object, on| E::Opens(What::Object(object), on);
    let path = |directory, path, on| E::Opens(What::Path(PathArgument { directory, path }), on);
    let cloexec = |argument| On::ByFlag(argument, CLOSE_ON_EXEC);
    match name {
        "open" => path(None, 0, cloexec(1)),
        "creat" => path(None, 0, On::Stays),
        "openat" | "open_tree" | "open_tree_attr" => path(Some(0), 1, cloexec(2)),
        "openat2" => path(Some(0), 1, On::ByFlagsAt(2)),
        "open_by_handle_at" => E::Opens(What::Unread, cloexec(2)),
        "fsopen" => object(Object::FsContext, On::ByFlag(1, 1)),
        "fspick" => object(Object::FsContext, On::ByFlag(2, 1)),
        "fsmount" => object(Object::Mount, On::ByFlag(1, 1)),
        "dup" => E::Duplicates,
        "dup2" | "dup3" => E::Replaces,
        "fcntl" | "fcntl64" => E::Controls,
        "ioctl" => E::Commands,
        "close" => E::Closes,
        "close_range" => E::ClosesRange,
        "pipe" => E::Pipes { flags: false },
        "pipe2" => E::Pipes { flags: true },
        "socketpair" => E::Pairs,
        "socket" => E::Opens(What::Socket, cloexec(1)),
        "accept" => E::Opens(What::Accepted, On::Stays),
        "accept4" => E::Opens(What::Accepted, cloexec(3)),
        "bind" => E::Binds,
        "connect" => E::Connects,
        "recvmsg" | "recvmmsg" | "recvmmsg_time64" => E::Receives,
        "socketcall" => E::Multiplexed,
        "eventfd" => object(Object::Eventfd, On::Stays),
        "eventfd2" => object(Object::Eventfd, cloexec(1)),
        "epoll_create" => object(Object::Epoll, On::Stays),
        "epoll_create1" => object(Object::Epoll, cloexec(0)),
        "signalfd" => E::Opens(What::Signalfd, On::Stays),
        "signalfd4" => E::Opens(What::Signalfd, cloexec(3)),
        "timerfd_create" => object(Object::Timerfd, cloexec(1)),
        "inotify_init" => object(Object::Inotify, On::Stays),
        "inotify_init1" => object(Object::Inotify, cloexec(0)),
        // FAN_CLOEXEC is 1, as is MFD_CLOEXEC.
        "fanotify_init" => object(Object::Fanotify, On::ByFlag(0, 1)),
        "memfd_create" => E::Opens(What::Memory, On::ByFlag(1, 1)),
        "memfd_secret" => object(Object::SecretMemory, cloexec(0)),
        "pidfd_open" => object(Object::Pidfd, On::Closed),
        "pidfd_getfd" => E::Opens(What::Foreign, On::Closed),
        "io_uring_setup" => E::Opens(What::IoUring, On::Closed),
        "io_uring_enter" => E::Submits,
        "io_uring_register" => E::SetsRing,
        "getsockopt" => E::AsksSocket,
        "userfaultfd" => object(Object::Userfaultfd, cloexec(0)),
        "bpf" => E::Opens(What::Bpf, On::Closed),
        // PERF_FLAG_FD_CLOEXEC.
        "perf_event_open" => object(Object::PerfEvent, On::ByFlag(4, 8)),
        "seccomp" => E::Opens(What::Seccomp, On::Closed),
        "landlock_create_ruleset" => E::Opens(What::Landlock, On::Closed),
        // do_mq_open() sets it whatever the flags are.
        "mq_open" => E::Opens(What::Queue, On::Closed),
        "clone" | "clone3" | "fork" | "vfork" => E::MakesTask,
        "execve" | "execveat" => E::Executes,
        "unshare" => E::Unshares,
        "chdir" => E::ChangesDirectory,
        "fchdir" => E::ChangesDirectoryTo,
        "chroot" => E::ChangesRoot,
        "pivot_root" => E::PivotsRoot,
        "setns" => E::EntersNamespace,
        _ => E::None,
    }
}
