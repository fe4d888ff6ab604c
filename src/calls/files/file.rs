//! Open file descriptions: what they are, and by which name they are shown.

use super::super::tree::{Where, Why};
use super::climbing::Direct;
use super::code::DELETED;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// What a descriptor refers to: an open file description, as far as it was known at that moment.
///
/// Descriptors that share one (by `dup(2)`, by `fork(2)`) have the same [`OpenFile::id`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// One for each description of the run.
    pub id: u64,
    /// What is counted by [`OpenFile::ordinal`]: the same for both ends of a pipe.
    pub thing: u64,
    /// Of a path: which one this is among the descriptions of that path that were open in the table
    /// when it was opened, from 1. Of anything else: how many of its class were there before it,
    /// from 1; that depends on scheduling where several threads make some.
    pub ordinal: u32,
    /// What it is.
    pub kind: FileKind,
    /// Which file, where that was followed.
    pub(crate) place: Where,
    /// How far `..` leads along its name.
    pub(crate) direct: Direct,
}

/// What an open file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file that was opened by this path: absolute, or as the call had it where its directory is
    /// unknown. Symbolic links are as they were given, and so is a `..` that may follow one.
    Path(Box<[u8]>),
    /// A file without a name, made in this directory (`O_TMPFILE`).
    Unnamed(Box<[u8]>),
    /// One end of a pipe.
    Pipe(End),
    /// A socket.
    Socket(Socket),
    /// Memory under a name that says nothing to the kernel.
    Memory(Box<[u8]>),
    /// A message queue; the kernel has its name without the slash.
    Queue(Box<[u8]>),
    /// Something that the kernel made and that has no name.
    Object(Object),
    /// What the workload was started with, under the name that its starter gave it.
    Given(Box<[u8]>),
    /// Something whose name was not read.
    Unread,
}

/// Which end of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one that is read from.
    Read,
    /// The one that is written to.
    Write,
}

/// What is known of a socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Socket {
    /// Its family (`AF_*`); `None` where it came from a socket that is unknown.
    pub family: Option<i32>,
    /// Its type without flags (`SOCK_STREAM`).
    pub kind: Option<i32>,
    /// Its protocol.
    pub protocol: Option<i32>,
    /// The address that it was bound to, as the kernel was given it (`struct sockaddr`).
    pub local: Option<Box<[u8]>>,
    /// The address of the other side, in the same form.
    pub peer: Option<Box<[u8]>>,
    /// Whether it is one of a pair (`socketpair(2)`).
    pub is_of_pair: bool,
}

/// What the kernel makes that has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// `eventfd(2)`.
    Eventfd,
    /// `epoll_create(2)`.
    Epoll,
    /// `signalfd(2)`.
    Signalfd,
    /// `timerfd_create(2)`.
    Timerfd,
    /// `inotify_init(2)`.
    Inotify,
    /// `fanotify_init(2)`.
    Fanotify,
    /// `memfd_secret(2)`.
    SecretMemory,
    /// A process: `pidfd_open(2)`, or `CLONE_PIDFD`.
    Pidfd,
    /// `io_uring_setup(2)`.
    IoUring,
    /// `userfaultfd(2)`.
    Userfaultfd,
    /// A map, program, link or type information: `bpf(2)`.
    Bpf,
    /// `perf_event_open(2)`.
    PerfEvent,
    /// A set of rules: `landlock_create_ruleset(2)`.
    Landlock,
    /// A listener: `seccomp(2)`.
    Seccomp,
    /// A file system in the making: `fsopen(2)`, `fspick(2)`.
    FsContext,
    /// `fsmount(2)`.
    Mount,
}

impl Object {
    /// Every one.
    const ALL: [Self; 16] = [
        Self::Eventfd,
        Self::Epoll,
        Self::Signalfd,
        Self::Timerfd,
        Self::Inotify,
        Self::Fanotify,
        Self::SecretMemory,
        Self::Pidfd,
        Self::IoUring,
        Self::Userfaultfd,
        Self::Bpf,
        Self::PerfEvent,
        Self::Landlock,
        Self::Seccomp,
        Self::FsContext,
        Self::Mount,
    ];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eventfd => "eventfd",
            Self::Epoll => "epoll",
            Self::Signalfd => "signalfd",
            Self::Timerfd => "timerfd",
            Self::Inotify => "inotify",
            Self::Fanotify => "fanotify",
            Self::SecretMemory => "secretmem",
            Self::Pidfd => "pidfd",
            Self::IoUring => "io_uring",
            Self::Userfaultfd => "userfaultfd",
            Self::Bpf => "bpf",
            Self::PerfEvent => "perf_event",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::FsContext => "fscontext",
            Self::Mount => "mount",
        }
    }
}

impl Socket {
    const UNIX: i32 = 1;

    /// Every word of [`Socket::class`].
    const CLASSES: [&'static str; 8] = [
        "unix", "tcp", "udp", "netlink", "packet", "alg", "vsock", "socket",
    ];

    /// Whether descriptors may arrive through it (`SCM_RIGHTS`).
    pub(crate) fn may_pass_descriptors(&self) -> bool {
        self.family.is_none_or(|family| family == Self::UNIX)
    }

    fn class(&self) -> &'static str {
        const STREAM: i32 = 1;
        const DATAGRAM: i32 = 2;
        // IPPROTO_TCP, IPPROTO_UDP, or 0 for the type's own.
        match (self.family, self.kind, self.protocol) {
            (Some(Self::UNIX), ..) => "unix",
            (Some(2 | 10), Some(STREAM), Some(0 | 6)) => "tcp",
            (Some(2 | 10), Some(DATAGRAM), Some(0 | 17)) => "udp",
            (Some(16), ..) => "netlink",
            (Some(17), ..) => "packet",
            (Some(38), ..) => "alg",
            (Some(40), ..) => "vsock",
            _ => "socket",
        }
    }
}

impl OpenFile {
    /// The word that stands in front of its number, where it is told by one: [`OpenFile::ordinal`],
    /// or whatever number a writer gives to its [`OpenFile::thing`].
    #[must_use]
    pub fn class(&self) -> Option<&'static str> {
        self.kind.class()
    }

    /// The path, where it is absolute.
    #[must_use]
    pub fn path(&self) -> Option<&[u8]> {
        match &self.kind {
            FileKind::Path(path) if path.starts_with(b"/") => Some(path),
            _ => None,
        }
    }

    /// The name, with its own ordinal: `/etc/hostname`, `/etc/hostname:2`, `pipe:1 read`, `tcp:2`,
    /// `memfd:cache`, `?`.
    #[must_use]
    pub fn name(&self) -> Vec<u8> {
        self.name_as(self.ordinal)
    }

    /// The name, with another number in the place of its ordinal.
    #[must_use]
    pub fn name_as(&self, number: u32) -> Vec<u8> {
        let mut name = self.kind.word();
        if self.kind == FileKind::Unread {
            return name;
        }
        if number != 1 || self.class().is_some() {
            name.push(b':');
            name.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
        match self.kind {
            FileKind::Pipe(End::Read) => name.extend_from_slice(b" read"),
            FileKind::Pipe(End::Write) => name.extend_from_slice(b" write"),
            _ => {}
        }
        name
    }

    /// Whether another description in the same table would have the same name.
    pub(super) fn is_namesake(&self, kind: &FileKind) -> bool {
        self.class().is_none() && self.kind == *kind
    }
}

/// A description as the tables hold it, of which more may become known.
#[derive(Debug)]
pub(super) struct Description {
    /// [`name_hash`] of its kind.
    pub(super) name_hash: u64,
    now: Mutex<Arc<OpenFile>>,
}

/// The same for what has the same name; so that of thousands of open files few names are compared.
pub(super) fn name_hash(kind: &FileKind) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    std::mem::discriminant(kind).hash(&mut hasher);
    match kind {
        FileKind::Path(name)
        | FileKind::Unnamed(name)
        | FileKind::Memory(name)
        | FileKind::Queue(name)
        | FileKind::Given(name) => name.hash(&mut hasher),
        FileKind::Pipe(_) | FileKind::Socket(_) | FileKind::Object(_) | FileKind::Unread => {}
    }
    hasher.finish()
}

impl FileKind {
    /// The word for all of its class, where it has no name of its own.
    #[must_use]
    pub fn class(&self) -> Option<&'static str> {
        match self {
            Self::Pipe(_) => Some("pipe"),
            Self::Socket(socket) => Some(socket.class()),
            Self::Object(object) => Some(object.as_str()),
            Self::Path(_)
            | Self::Unnamed(_)
            | Self::Memory(_)
            | Self::Queue(_)
            | Self::Given(_)
            | Self::Unread => None,
        }
    }

    /// Whether a name is a word for a kind of files, and no path: `stdout`, `pipe`, `tcp`,
    /// `AT_FDCWD`, `memfd:cache`. A file may be called so, too.
    #[must_use]
    pub fn is_word(name: &[u8]) -> bool {
        let with_name = [&b"memfd:"[..], b"mqueue:"];
        Self::words().any(|word| word.as_bytes() == name)
            || with_name.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Whether a name is of the kind that a word means: itself; `socket` is every socket, `memfd`
    /// and `mqueue` are those of any name.
    #[must_use]
    pub fn is_of(name: &[u8], word: &[u8]) -> bool {
        let is_named = |prefix: &[u8]| word == prefix && name.starts_with(&[prefix, b":"].concat());
        let is_socket = || Socket::CLASSES.iter().any(|class| class.as_bytes() == name);
        name == word
            || word == b"socket" && is_socket()
            || is_named(b"memfd")
            || is_named(b"mqueue")
    }

    /// Every word for a kind of files.
    pub fn words() -> impl Iterator<Item = &'static str> {
        const OTHERS: [&str; 7] = [
            "stdin", "stdout", "stderr", "pipe", "memfd", "mqueue", "AT_FDCWD",
        ];
        let objects = Object::ALL.iter().map(|object| object.as_str());
        OTHERS.into_iter().chain(Socket::CLASSES).chain(objects)
    }

    /// The name without any number, as expectations call it: `/etc/hostname`, `pipe`, `tcp`,
    /// `memfd:cache`, `?`.
    #[must_use]
    pub fn word(&self) -> Vec<u8> {
        match self {
            Self::Path(path) | Self::Given(path) => path.to_vec(),
            Self::Unnamed(directory) => [directory, &b"/#"[..]].concat(),
            Self::Memory(name) => [&b"memfd:"[..], name].concat(),
            Self::Queue(name) => [&b"mqueue:"[..], name].concat(),
            Self::Unread => b"?".to_vec(),
            Self::Pipe(_) | Self::Socket(_) | Self::Object(_) => {
                self.class().unwrap_or_default().into()
            }
        }
    }

    /// What a descriptor refers to, by the link that procfs has for it (`proc_pid_fd(5)`).
    #[must_use]
    pub fn of_link(link: Vec<u8>) -> Self {
        // What has no name any more is found by none.
        match link.starts_with(b"/") && !link.ends_with(DELETED) {
            true => Self::Path(link.into()),
            false => Self::Given(link.into()),
        }
    }

    /// Returns its place, if names are not followed.
    pub(super) fn place(&self) -> Where {
        match self {
            Self::Path(_) | Self::Unnamed(_) | Self::Unread => Where::Unknown(Why::Descriptor),
            // The root of some file system.
            Self::Object(Object::Mount) => Where::Unknown(Why::Descriptor),
            _ => Where::Nowhere,
        }
    }
}

impl Description {
    /// Tells which file it is, and how it was named.
    pub(super) fn lies(&self, place: Where, direct: Direct) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = OpenFile::clone(&now);
        (file.place, file.direct) = (place, direct);
        *now = Arc::new(file);
    }

    pub(super) fn new(file: OpenFile) -> Arc<Self> {
        Arc::new(Self {
            name_hash: name_hash(&file.kind),
            now: Mutex::new(Arc::new(file)),
        })
    }

    /// What is known now.
    pub(super) fn now(&self) -> Arc<OpenFile> {
        Arc::clone(&self.now.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes what is known of a socket. Calls made before keep what was known then.
    pub(super) fn learn(&self, learn: impl FnOnce(&mut Socket)) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = OpenFile::clone(&now);
        if let FileKind::Socket(socket) = &mut file.kind {
            learn(socket);
            *now = Arc::new(file);
        }
    }
}
