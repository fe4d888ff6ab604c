//! What calls open, and under which name.

use super::super::Call;
use super::arguments::PathArgument;
use super::calls::{CLOSE_ON_EXEC, Effect, OnExec, What};
use super::directory::{join, own_changes};
use super::effects::{F_DUPFD, F_DUPFD_CLOEXEC, FIOCLEX, FIONCLEX, Over};
use super::file::{End, FileKind, Object, Socket};
use super::lookup::{Lookup, State};
use super::pending::Pending;
use super::table::{Held, Number};
use super::tables::{At, Tables};
use crate::memory::{Moment, State as Read};

/// `BPF_PROG_TEST_RUN`: a program of type `BPF_PROG_TYPE_SYSCALL` makes calls of `bpf(2)` itself,
/// and closes descriptors.
pub(super) const BPF_RUN: u32 = 10;
/// The first command that is not known here.
const BPF_NEW: u32 = 39;

/// The kind of a socket without `SOCK_CLOEXEC` and `SOCK_NONBLOCK`.
const SOCKET_KIND: u64 = 0xf;

/// Whether a call of these arguments opens a descriptor, if it succeeds.
pub(super) fn creates(effect: Effect, args: &[u64; 6]) -> bool {
    let [first, second, third, ..] = *args;
    match effect {
        Effect::Opens(What::Bpf, _) => {
            matches!(
                first as u32,
                0 | 5 | 7 | BPF_RUN | 13 | 14 | 17..=19 | 28 | 30 | 32 | 33 | 36 | BPF_NEW..
            )
        }
        // SECCOMP_SET_MODE_FILTER with SECCOMP_FILTER_FLAG_NEW_LISTENER.
        Effect::Opens(What::Seccomp, _) => first as u32 == 1 && second & 8 != 0,
        // With flags it tells the version.
        Effect::Opens(What::Landlock, _) => third as u32 == 0,
        Effect::Opens(What::Signalfd, _) => first as i32 == -1,
        Effect::Controls => matches!(second as u32, F_DUPFD | F_DUPFD_CLOEXEC),
        Effect::Commands => !is_harmless(second as u32),
        // SOL_SOCKET, SO_PEERPIDFD; other levels have options of their own.
        Effect::AsksSocket => second as u32 == 1 && third as u32 == 77,
        // A later kernel's requests may do anything. IORING_REGISTER_USE_REGISTERED_RING is no part
        // of the number.
        Effect::SetsRing => second as u32 & !(1 << 31) > 35,
        // SYS_SOCKET, SYS_ACCEPT, SYS_SOCKETPAIR, SYS_GETSOCKOPT, SYS_RECVMSG, SYS_ACCEPT4,
        // SYS_RECVMMSG.
        Effect::Multiplexed => matches!(first as u32, 1 | 5 | 8 | 15 | 17..=19),
        Effect::Opens(..)
        | Effect::Duplicates
        | Effect::Pipes { .. }
        | Effect::Pairs
        | Effect::Receives => true,
        _ => false,
    }
}

/// Whether a request of `ioctl(2)` opens no descriptor: those of terminals, sockets, block devices
/// and file systems, by their letter, less the few that do.
pub(super) fn is_harmless(request: u32) -> bool {
    const TIOCGPTPEER: u32 = 0x5441;
    const SIOCGSKNS: u32 = 0x894c;
    // From SIOCPROTOPRIVATE on each protocol has its own: SIOCKCMCLONE opens one.
    const OF_PROTOCOLS: u32 = 0x89e0;
    match request {
        TIOCGPTPEER | SIOCGSKNS | OF_PROTOCOLS..=0x89ff => false,
        FIOCLEX | FIONCLEX => true,
        _ => match (request >> 8) as u8 {
            b'T' | 0x89 | 0x12 | 0x94 | b'f' | b'$' => true,
            // Of XFS' letter those that all file systems have: its own open files by handles.
            b'X' => matches!(request as u8, 31 | 32 | 119..=121),
            _ => false,
        },
    }
}

/// Whether a request of `ioctl(2)` installs a descriptor in the table of another task:
/// `SECCOMP_IOCTL_NOTIF_ADDFD`, of whatever size its argument is (`EA_IOCTL()`,
/// `kernel/seccomp.c`).
pub(super) fn installs_elsewhere(effect: Effect, args: &[u64; 6]) -> bool {
    effect == Effect::Commands && args[1] & 0xffff == 0x2103
}

/// Whether descriptors may arrive by a call that receives; true for others.
pub(super) fn may_receive(effect: Effect, first: Option<&Number>) -> bool {
    match (effect, first) {
        (Effect::Receives, Some(Number::Open(held))) => match &held.description.now().kind {
            FileKind::Socket(socket) => socket.may_pass_descriptors(),
            FileKind::Given(_) | FileKind::Unread => true,
            _ => false,
        },
        _ => true,
    }
}

impl Effect {
    /// Whether the call returns the descriptor that it was given, where it opens none.
    pub(super) fn is_given_descriptor(self) -> bool {
        matches!(self, Self::Opens(What::Signalfd, _))
    }
}

impl Tables {
    /// The result of a call that opens one descriptor.
    pub(super) fn opened(
        &mut self,
        over: Over<'_>,
        (what, on_exec): (What, OnExec),
        number: u32,
        call: &mut Call,
    ) {
        if what == What::IoUring {
            match self.made_ring(over.at, number, call) {
                Some(true) => {}
                Some(false) => return,
                None => return call.files.set_result(State::Unknown),
            }
        }
        let Some(kind) = self.kind(over, what, call) else {
            return;
        };
        if let FileKind::Object(Object::Fanotify | Object::Userfaultfd) = kind {
            self.reads_open(over.at);
        }
        let description = self.describe_here(over.at, kind);
        if let What::Path(argument) = what {
            let direct = self.opened_directly(&over, argument, call);
            description.lies(self.opened_at(call, argument, over.pending), direct);
        }
        call.files.set_result(State::Open(description.now()));
        let held = Held {
            description,
            on_exec: closes_on_exec(on_exec, over.args, call),
        };
        self.install(over.at, number, held, over.disturbed);
    }

    /// A new io_uring; whether the number that was returned is a descriptor, and no place in the
    /// task's table of rings (`IORING_SETUP_REGISTERED_FD_ONLY`). Where the parameters were not
    /// read, it is one if it was closed before: the kernel gives no number that is open.
    fn made_ring(&mut self, at: At, number: u32, call: &Call) -> Option<bool> {
        const REGISTERED_FD_ONLY: u32 = 1 << 15;
        self.moves.enter(); // What it is given to do may be that, at any time.
        let table = self.tables.get(at.table);
        let was_closed = table.is_some_and(|table| matches!(table.get(number), Number::Closed));
        if !self.watched.submissions && polls_itself(call) != Some(false) {
            self.ring_works(at, true, true);
        }
        let is_descriptor = ring_flags(call).map(|flags| flags & REGISTERED_FD_ONLY == 0);
        is_descriptor.or(was_closed.then_some(true))
    }

    /// What a call opened; `None` where its result is no descriptor.
    fn kind(&self, over: Over<'_>, what: What, call: &Call) -> Option<FileKind> {
        let args = over.args;
        let kind = match what {
            What::Path(argument) => self.path_kind(over, argument, call),
            What::Unread => FileKind::Unread,
            What::Foreign => return None,
            What::Socket => FileKind::Socket(socket(args)),
            What::Accepted => {
                let mut socket = match &over.pending.first {
                    Some(Number::Open(held)) => match &held.description.now().kind {
                        FileKind::Socket(socket) => socket.clone(),
                        _ => Socket::default(),
                    },
                    _ => Socket::default(),
                };
                socket.peer = whole(call, 1, Moment::Exit).map(Into::into);
                FileKind::Socket(socket)
            }
            What::Object(object) => FileKind::Object(object),
            What::Memory => named(call, 0, FileKind::Memory),
            What::Queue => named(call, 0, FileKind::Queue),
            What::Bpf => FileKind::Object(Object::Bpf),
            What::Seccomp => FileKind::Object(Object::Seccomp),
            What::Landlock => FileKind::Object(Object::Landlock),
            What::Signalfd => FileKind::Object(Object::Signalfd),
            What::IoUring => FileKind::Object(Object::IoUring),
        };
        Some(kind)
    }

    fn path_kind(&self, over: Over<'_>, argument: PathArgument, call: &Call) -> FileKind {
        const UNNAMED: u64 = 0o20_000_000;
        let Some(given) = whole(call, usize::from(argument.path), Moment::Enter) else {
            return FileKind::Unread;
        };
        let flags = match call.form() {
            Some("openat2") => match whole(call, 2, Moment::Enter) {
                Some(how) => number(how, 0).unwrap_or(0),
                // RESOLVE_IN_ROOT may make it a path below the directory.
                None if given.starts_with(b"/") => return FileKind::Unread,
                None => 0,
            },
            Some("openat") => over.args[2],
            Some("open") => over.args[1],
            _ => 0,
        };
        let path = self.path(over.at, call, argument, over.pending.version);
        let path = path.unwrap_or_else(|| given.to_vec()).into();
        if flags & UNNAMED != 0 {
            FileKind::Unnamed(path)
        } else {
            FileKind::Path(path)
        }
    }

    /// The absolute path of an argument. The directory was looked up when the call was entered, and
    /// must have stayed the same since.
    pub(super) fn path(
        &self,
        at: At,
        call: &Call,
        argument: PathArgument,
        version: Option<u64>,
    ) -> Option<Vec<u8>> {
        const RESOLVE_IN_ROOT: u64 = 0x10;
        let given = whole(call, usize::from(argument.path), Moment::Enter)?;
        let directory = self.directories.get(at.directory)?;
        let args = call.entry.args()?;
        let is_steady = version.is_some()
            && self.steady(at) == version.map(|before| before + own_changes(call));
        let current = || directory.current.as_deref().filter(|_| is_steady);
        let file = match argument.directory.map(usize::from) {
            Some(place) if args.get(place).copied()? as i32 != libc::AT_FDCWD => {
                match call.files.argument(place) {
                    Lookup::Open(file) => Some(file),
                    _ if given.starts_with(b"/") => None,
                    _ => return None,
                }
            }
            _ => None,
        };
        let root = directory.root.as_deref();
        let climbed = file.and_then(|file| self.climb(call, file, root, given));
        let (base, given) = match (file, climbed) {
            (_, Some(climbed)) => (Some(climbed.base), climbed.path),
            (Some(_), None) => (None, given),
            (None, None) => (current(), given),
        };
        let how = (call.name() == Some("openat2")).then(|| whole(call, 2, Moment::Enter));
        if let Some(how) = how
            && given.starts_with(b"/")
            && number(how?, 16).unwrap_or(0) & RESOLVE_IN_ROOT != 0
        {
            return base.map(|base| join(base, given, base));
        }
        if given.starts_with(b"/") && !is_steady && directory.root.as_deref() != Some(b"/") {
            return None;
        }
        directory.resolve(base, given)
    }

    /// A pipe or a pair of sockets: the numbers are in memory.
    pub(super) fn opened_two(&mut self, over: Over<'_>, effect: Effect, call: &mut Call) {
        let (place, flags) = match effect {
            Effect::Pipes { flags: true } => (0, over.args[1]),
            Effect::Pipes { flags: false } => (0, 0),
            _ => (3, over.args[1]),
        };
        let bytes = whole(call, place, Moment::Exit);
        let numbers = bytes.and_then(|bytes| {
            let (first, rest) = bytes.split_first_chunk()?;
            Some([
                u32::from_ne_bytes(*first),
                u32::from_ne_bytes(*rest.first_chunk()?),
            ])
        });
        let Some([first, second]) = numbers else {
            return self.forget_closed(over.at);
        };
        let (one, other) = match effect {
            Effect::Pairs => {
                let socket = FileKind::Socket(Socket {
                    is_of_pair: true,
                    ..socket(over.args)
                });
                (
                    self.describe_here(over.at, socket.clone()),
                    self.describe_here(over.at, socket),
                )
            }
            _ => {
                let read = self.describe_here(over.at, FileKind::Pipe(End::Read));
                let write = self.describe(FileKind::Pipe(End::Write), 1, Some(&read));
                (read, write)
            }
        };
        let on_exec = Some(flags & CLOSE_ON_EXEC != 0);
        for (number, description) in [(first, one), (second, other)] {
            let file = State::Open(description.now());
            call.files.add_in_memory(number as i32, file);
            let held = Held {
                description,
                on_exec,
            };
            self.install(over.at, number, held, over.disturbed);
        }
    }

    /// `bind(2)` and `connect(2)`: what becomes known of a socket.
    pub(super) fn addressed(&self, effect: Effect, pending: &Pending, call: &Call) {
        let Some(Number::Open(held)) = &pending.first else {
            return;
        };
        let address: Option<Box<[u8]>> = whole(call, 1, Moment::Enter).map(Into::into);
        // AF_UNSPEC dissolves the association.
        let address = address.filter(|bytes| !bytes.starts_with(&[0, 0]));
        held.description.learn(|socket| match effect {
            Effect::Binds => socket.local = address,
            _ => socket.peer = address,
        });
    }
}

fn socket(args: &[u64; 6]) -> Socket {
    Socket {
        family: Some(args[0] as i32),
        kind: Some((args[1] & SOCKET_KIND) as i32),
        protocol: Some(args[2] as i32),
        local: None,
        peer: None,
        is_of_pair: false,
    }
}

fn named(call: &Call, argument: usize, kind: fn(Box<[u8]>) -> FileKind) -> FileKind {
    let name = whole(call, argument, Moment::Enter);
    name.map_or(FileKind::Unread, |name| kind(name.into()))
}

/// The flags with which a call opens; 0 for one that has none, or of which they were not read.
pub(super) fn open_flags(call: &Call) -> u64 {
    let Some(args) = call.entry.args() else {
        return 0;
    };
    match call.form() {
        Some("openat2") => whole(call, 2, Moment::Enter)
            .and_then(|how| number(how, 0))
            .unwrap_or(0),
        Some("openat") => args[2],
        Some("open") => args[1],
        // O_CREAT, O_WRONLY and O_TRUNC.
        Some("creat") => 0o1101,
        _ => 0,
    }
}

/// How a path is to be resolved (`RESOLVE_*`); `None` where that was not read.
pub(super) fn resolve_flags(call: &Call) -> Option<u64> {
    match call.form() {
        Some("openat2") => number(whole(call, 2, Moment::Enter)?, 16),
        _ => Some(0),
    }
}

/// What an argument pointed to, where all of it was read.
pub(super) fn whole(call: &Call, argument: usize, moment: Moment) -> Option<&[u8]> {
    let piece = call.memory.piece(argument, moment)?;
    (piece.state == Read::Whole).then_some(&*piece.bytes)
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*bytes))
}

fn closes_on_exec(on_exec: OnExec, args: &[u64; 6], call: &Call) -> Option<bool> {
    match on_exec {
        OnExec::Stays => Some(false),
        OnExec::Closed => Some(true),
        OnExec::ByFlag(argument, bit) => Some(args.get(usize::from(argument))? & bit != 0),
        OnExec::ByFlagsAt(argument) => {
            let how = whole(call, usize::from(argument), Moment::Enter)?;
            Some(number(how, 0)? & CLOSE_ON_EXEC != 0)
        }
    }
}

/// The flags of `struct io_uring_params`.
fn ring_flags(call: &Call) -> Option<u32> {
    let params = whole(call, 1, Moment::Enter)?;
    Some(u32::from_ne_bytes(*params.get(8..)?.first_chunk()?))
}

/// Whether a thread of the kernel takes what a ring is to do, without a call
/// (`IORING_SETUP_SQPOLL`); `None` where the parameters of `io_uring_setup(2)` were not read.
#[must_use]
pub fn polls_itself(call: &Call) -> Option<bool> {
    const SQPOLL: u32 = 1 << 1;
    Some(ring_flags(call)? & SQPOLL != 0)
}
