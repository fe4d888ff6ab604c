//! Stories of processes and their descriptors: what each call was given, even if it changed later.

use super::super::names::{self, Abi};
use super::super::{Actor, Call, Entry, Observation, Outcome, Shares, ShortName, ThreadId};
use super::super::{Shown, Values};
use super::*;
use crate::memory::{Memory, Moment, Piece, State};
use perf_records::units::{Nanos, Pid, Tid};
use std::collections::HashMap;

mod arriving;
mod in_memory;
mod names_and_paths;

const AT_FDCWD: u64 = libc::AT_FDCWD as u64;
const CLOEXEC: u64 = libc::O_CLOEXEC as u64;
const EBADF: i64 = -(libc::EBADF as i64);

/// A run in the making. Threads are numbers; a process is told by its first thread.
struct Story {
    tables: Tables,
    entered: HashMap<u32, (i32, [u64; 6])>,
    processes: HashMap<u32, u32>,
}

fn nr(name: &str) -> i32 {
    names::number(Abi::native(), name).unwrap() as i32
}

fn piece(argument: u8, moment: Moment, bytes: &[u8]) -> Piece {
    Piece {
        argument,
        element: 0,
        moment,
        address: 0x1000,
        state: State::Whole,
        bytes: bytes.into(),
    }
}

fn given(argument: u8, text: &str) -> Piece {
    piece(argument, Moment::Enter, text.as_bytes())
}

fn numbers(argument: u8, numbers: [i32; 2]) -> Piece {
    piece(
        argument,
        Moment::Exit,
        &numbers.map(i32::to_ne_bytes).concat(),
    )
}

fn shown(number: i32, file: Lookup<'_>) -> String {
    let mut out = String::new();
    Shown.descriptor(number, file, &mut out);
    out
}

impl Story {
    /// A program with its three standard streams, in `/home`.
    fn new() -> Self {
        Self::with(Watched {
            complete: true,
            submissions: false,
            names: false,
            paths: true,
        })
    }

    fn with(watched: Watched) -> Self {
        let stream = |name: &str, number| (FileKind::Given(name.as_bytes().into()), vec![number]);
        let initial = Initial {
            files: vec![stream("stdin", 0), stream("stdout", 1), stream("stderr", 2)],
            complete: true,
            directory: Some(b"/home".to_vec()),
        };
        let mut story = Self {
            tables: Tables::new(initial, watched),
            entered: HashMap::new(),
            processes: HashMap::new(),
        };
        story.born(1, None, 1, Shares::default());
        story
    }

    fn actor(&self, thread: u32) -> Actor {
        Actor {
            thread: ThreadId(thread),
            pid: Pid(self.processes.get(&thread).copied().unwrap_or(thread)),
            tid: Tid(thread),
            comm: ShortName::default(),
        }
    }

    fn born(&mut self, child: u32, parent: Option<u32>, process: u32, shares: Shares) {
        self.processes.insert(child, process);
        let child = self.actor(child);
        self.tables.observe(&mut Observation::Born {
            child,
            parent: parent.map(ThreadId),
            shares,
        });
    }

    fn enter(&mut self, thread: u32, name: &str, words: &[u64]) {
        let mut args = [0; 6];
        args[..words.len()].copy_from_slice(words);
        self.entered.insert(thread, (nr(name), args));
        let actor = self.actor(thread);
        self.tables.observe(&mut Observation::Entered {
            is_answered: false,
            actor,
            abi: Abi::native(),
            number: nr(name),
            entry: Entry::Seen {
                time: Nanos(1),
                args,
            },
        });
    }

    fn end(&mut self, thread: u32, outcome: Outcome, pieces: Vec<Piece>) -> Call {
        let (number, args) = self.entered.remove(&thread).unwrap();
        let mut observation = Observation::Call(Call {
            actor: self.actor(thread),
            abi: Abi::native(),
            number,
            entry: Entry::Seen {
                time: Nanos(1),
                args,
            },
            outcome,
            memory: Memory::new(pieces),
            files: Files::default(),
            places: Default::default(),
            injected: Default::default(),
        });
        self.tables.observe(&mut observation);
        match observation {
            Observation::Call(call) => call,
            _ => unreachable!(),
        }
    }

    fn leave(&mut self, thread: u32, value: i64, pieces: Vec<Piece>) -> Call {
        let time = Nanos(2);
        self.end(thread, Outcome::Returned { time, value }, pieces)
    }

    fn call(
        &mut self,
        thread: u32,
        name: &str,
        words: &[u64],
        value: i64,
        pieces: Vec<Piece>,
    ) -> Call {
        self.enter(thread, name, words);
        self.leave(thread, value, pieces)
    }

    fn plain(&mut self, thread: u32, name: &str, words: &[u64], value: i64) -> Call {
        self.call(thread, name, words, value, Vec::new())
    }

    fn open(&mut self, thread: u32, path: &str, number: i64) -> String {
        self.open_as(thread, path, 0, number)
    }

    fn open_as(&mut self, thread: u32, path: &str, flags: u64, number: i64) -> String {
        let words = [AT_FDCWD, 0x1000, flags];
        let call = self.call(thread, "openat", &words, number, vec![given(1, path)]);
        shown(number as i32, call.files.result())
    }

    /// What `read(2)` shows for a number.
    fn read(&mut self, thread: u32, number: i32) -> String {
        let call = self.plain(thread, "read", &[number as u64], 1);
        shown(number, call.files.argument(0))
    }

    /// A process of its own, with a copy of everything.
    fn fork(&mut self, parent: u32, child: u32) {
        self.enter(parent, "fork", &[]);
        let nothing = Shares {
            files: Some(false),
            directory: Some(false),
            memory: Some(false),
        };
        self.born(child, Some(parent), child, nothing);
        self.leave(parent, i64::from(child), Vec::new());
    }

    /// Another thread of the same process.
    fn thread(&mut self, parent: u32, child: u32) {
        let process = self.processes[&parent];
        self.enter(parent, "clone", &[libc::CLONE_THREAD as u64]);
        let all = Shares {
            files: Some(true),
            directory: Some(true),
            memory: Some(true),
        };
        self.born(child, Some(parent), process, all);
        self.leave(parent, i64::from(child), Vec::new());
    }

    fn exec(&mut self, thread: u32) {
        self.enter(thread, "execve", &[]);
        let actor = self.actor(thread);
        self.tables.observe(&mut Observation::Executed(actor));
        self.leave(thread, 0, Vec::new());
    }
}

#[test]
fn a_number_is_what_was_opened_last_under_it() {
    let mut it = Story::new();
    assert_eq!(it.read(1, 0), "0<stdin>");
    assert_eq!(it.open(1, "/etc/hostname", 3), "3</etc/hostname>");
    assert_eq!(it.read(1, 3), "3</etc/hostname>");
    let dup = it.plain(1, "dup", &[3], 4);
    assert_eq!(shown(4, dup.files.result()), "4</etc/hostname>");
    let close = it.plain(1, "close", &[3], 0);
    assert_eq!(shown(3, close.files.argument(0)), "3</etc/hostname>");
    assert_eq!(it.read(1, 3), "3", "it is closed, and that is known");
    assert_eq!(it.open(1, "/etc/passwd", 3), "3</etc/passwd>");
    assert_eq!(it.read(1, 4), "4</etc/hostname>");
    it.plain(1, "dup2", &[3, 4], 4);
    assert_eq!(it.read(1, 4), "4</etc/passwd>");
    it.plain(1, "dup2", &[4, 4], 4);
    let same = it.plain(1, "read", &[4], 0);
    let other = it.plain(1, "read", &[3], 0);
    let id = |call: &Call| call.files.open().next().map(|file| file.id);
    assert_eq!(id(&same), id(&other), "one description");
}

#[test]
fn a_number_is_looked_up_when_the_call_is_entered() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.thread(1, 2);
    it.enter(2, "read", &[3]);
    it.plain(1, "close", &[3], 0);
    it.open(1, "/b", 3);
    let read = it.leave(2, 0, Vec::new());
    assert_eq!(shown(3, read.files.argument(0)), "3</a>");
    assert_eq!(it.read(2, 3), "3</b>");
}

#[test]
fn a_number_is_free_before_its_close_returns() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.thread(1, 2);
    it.enter(1, "close", &[3]);
    assert_eq!(it.read(2, 3), "3<?>", "before or after is not known");
    it.open(2, "/b", 3);
    it.leave(1, 0, Vec::new());
    assert_eq!(it.read(1, 3), "3</b>");
}

#[test]
fn a_close_of_what_nobody_had_may_hit_what_another_thread_just_opened() {
    for close_returns_first in [true, false] {
        for value in [0, EBADF] {
            let mut it = Story::new();
            it.thread(1, 2);
            it.enter(1, "openat", &[AT_FDCWD, 0x1000]);
            it.enter(2, "close", &[3]);
            if close_returns_first {
                it.leave(2, value, Vec::new());
                it.leave(1, 3, vec![given(1, "/a")]);
            } else {
                it.leave(1, 3, vec![given(1, "/a")]);
                it.leave(2, value, Vec::new());
            }
            let expected = if value == 0 { "3<?>" } else { "3</a>" };
            assert_eq!(it.read(1, 3), expected, "{close_returns_first} {value}");
        }
    }
}

#[test]
fn the_target_of_a_dup2_is_unknown_to_others_until_it_returns() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.open(1, "/b", 4);
    it.thread(1, 2);
    it.enter(1, "dup2", &[3, 4]);
    assert_eq!(it.read(2, 4), "4<?>");
    it.leave(1, 4, Vec::new());
    assert_eq!(it.read(2, 4), "4</a>");
    it.enter(1, "dup2", &[3, 5]);
    assert_eq!(
        it.plain(2, "close", &[5], 0).files.argument(0),
        Lookup::Unknown
    );
    it.leave(1, 5, Vec::new());
    assert_eq!(it.read(2, 5), "5<?>", "closed before or after is not known");
}

#[test]
fn a_child_has_a_copy_and_changes_only_that() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.fork(1, 2);
    it.plain(2, "close", &[3], 0);
    it.open(2, "/b", 3);
    assert_eq!(it.read(1, 3), "3</a>");
    assert_eq!(it.read(2, 3), "3</b>");
    it.open(1, "/c", 4);
    assert_eq!(it.read(2, 4), "4");
}

#[test]
fn a_child_with_clone_files_has_the_same() {
    let mut it = Story::new();
    it.enter(1, "clone", &[libc::CLONE_FILES as u64]);
    let shares = Shares {
        files: Some(true),
        directory: Some(false),
        memory: Some(false),
    };
    it.born(2, Some(1), 2, shares);
    it.leave(1, 2, Vec::new());
    it.open(2, "/a", 3);
    assert_eq!(it.read(1, 3), "3</a>");
    it.exec(2);
    it.plain(2, "close", &[3], 0);
    assert_eq!(it.read(1, 3), "3</a>", "an exec parts them");
    it.plain(1, "unshare", &[libc::CLONE_FILES as u64], 0);
    it.plain(1, "close", &[3], 0);
    assert_eq!(it.read(1, 3), "3");
}

#[test]
fn where_nobody_knows_what_is_shared_each_is_right_about_its_own_changes_only() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.enter(1, "clone3", &[]);
    it.born(2, Some(1), 2, Shares::default());
    it.leave(1, 2, Vec::new());
    assert_eq!(it.read(2, 3), "3</a>");
    it.plain(2, "close", &[3], 0);
    assert_eq!(it.read(2, 3), "3");
    assert_eq!(it.read(1, 3), "3<?>");
    it.open(1, "/b", 3);
    assert_eq!(it.read(1, 3), "3</b>");
    assert_eq!(it.read(2, 3), "3<?>");
}

#[test]
fn what_others_change_while_a_process_forks_is_unknown_in_the_child() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.open(1, "/b", 4);
    it.thread(1, 2);
    it.thread(1, 3);
    it.enter(3, "close", &[4]);
    it.enter(1, "fork", &[]);
    it.leave(3, 0, Vec::new());
    it.plain(2, "close", &[3], 0);
    it.open(2, "/c", 3);
    let nothing = Shares {
        files: Some(false),
        directory: Some(false),
        memory: Some(false),
    };
    it.born(4, Some(1), 4, nothing);
    it.leave(1, 4, Vec::new());
    assert_eq!(it.read(4, 0), "0<stdin>");
    assert_eq!(it.read(4, 3), "3<?>");
    assert_eq!(it.read(4, 4), "4<?>");
    assert_eq!((it.read(1, 3), it.read(1, 4)), ("3</c>".into(), "4".into()));
}

#[test]
fn an_exec_closes_what_was_to_be_closed() {
    let mut it = Story::new();
    it.open(1, "/stays", 3);
    it.open_as(1, "/goes", CLOEXEC, 4);
    it.plain(1, "dup", &[4], 5);
    it.plain(1, "fcntl", &[3, libc::F_DUPFD_CLOEXEC as u64, 10], 10);
    it.plain(1, "fcntl", &[5, libc::F_SETFD as u64, 1], 0);
    it.plain(1, "fcntl", &[10, libc::F_SETFD as u64, 0], 0);
    it.plain(1, "ioctl", &[2, 0x5451], 0);
    it.plain(1, "dup3", &[3, 6, CLOEXEC], 6);
    it.plain(1, "epoll_create1", &[CLOEXEC], 7);
    it.plain(1, "pidfd_open", &[1], 8);
    it.plain(1, "execve", &[], -2);
    assert_eq!(it.read(1, 8), "8<pidfd:1>", "it failed");
    it.exec(1);
    let left = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10].map(|number| it.read(1, number));
    let expected = [
        "0<stdin>",
        "1<stdout>",
        "2",
        "3</stays>",
        "4",
        "5",
        "6",
        "7",
        "8",
        "10</stays>",
    ];
    assert_eq!(left, expected);
}

#[test]
fn an_exec_by_another_thread_takes_that_ones_table_along() {
    let mut it = Story::new();
    it.thread(1, 2);
    it.plain(2, "unshare", &[libc::CLONE_FILES as u64], 0);
    it.open(2, "/a", 3);
    it.open(1, "/b", 3);
    it.enter(2, "execve", &[]);
    it.enter(1, "execve", &[]);
    it.tables.observe(&mut Observation::Gone(ThreadId(2)));
    let actor = it.actor(1);
    it.tables.observe(&mut Observation::Executed(actor));
    it.leave(1, 0, Vec::new());
    assert_eq!(it.read(1, 3), "3</a>");
}

#[test]
fn a_range_is_closed_marked_or_parted() {
    let mut it = Story::new();
    for (number, path) in (3..8).zip(["/a", "/b", "/c", "/d", "/e"]) {
        it.open(1, path, number);
    }
    it.plain(1, "close_range", &[4, 5, 0], 0);
    let read = |it: &mut Story, thread| [3, 4, 5, 6, 7].map(|number| it.read(thread, number));
    assert_eq!(read(&mut it, 1), ["3</a>", "4", "5", "6</d>", "7</e>"]);
    it.plain(1, "close_range", &[3, 9, 8], -22);
    it.plain(1, "close_range", &[3, u64::from(u32::MAX), 0], -38);
    assert_eq!(read(&mut it, 1), ["3</a>", "4", "5", "6</d>", "7</e>"]);
    it.plain(1, "close_range", &[7, u64::from(u32::MAX), 4], 0);
    it.thread(1, 2);
    it.plain(2, "close_range", &[3, 3, 2], 0);
    assert_eq!(read(&mut it, 2), ["3", "4", "5", "6</d>", "7</e>"]);
    assert_eq!(read(&mut it, 1), ["3</a>", "4", "5", "6</d>", "7</e>"]);
    it.exec(1);
    assert_eq!(read(&mut it, 1), ["3</a>", "4", "5", "6</d>", "7"]);
}

#[test]
fn a_pipe_has_two_ends_where_its_numbers_were_read() {
    let mut it = Story::new();
    let first = it.call(1, "pipe2", &[0x1000, 0], 0, vec![numbers(0, [3, 4])]);
    assert!(
        matches!(first.files.in_memory(4), Lookup::Open(file) if *file.name() == *b"pipe:1 write")
    );
    assert_eq!(first.files.in_memory(5), Lookup::Untracked);
    it.call(1, "pipe2", &[0x1000, 0], 0, vec![numbers(0, [5, 6])]);
    let ends = [3, 4, 5, 6].map(|number| it.read(1, number));
    let expected = [
        "3<pipe:1 read>",
        "4<pipe:1 write>",
        "5<pipe:2 read>",
        "6<pipe:2 write>",
    ];
    assert_eq!(ends, expected);
    let call = it.plain(1, "splice", &[3, 0, 4], 0);
    let things: Vec<u64> = call.files.open().map(|file| file.thing).collect();
    assert_eq!(things[0], things[1]);
    it.plain(1, "pipe2", &[0x1000, 0], 0);
    assert_eq!(it.read(1, 7), "7<?>", "one of its ends, perhaps");
    assert_eq!(
        it.read(1, 3),
        "3<pipe:1 read>",
        "what was open was not touched"
    );
    it.plain(1, "close", &[7], 0);
    assert_eq!(it.read(1, 7), "7");
    it.plain(1, "close_range", &[8, u64::from(u32::MAX)], 0);
    assert_eq!(it.read(1, 8), "8");
}

#[test]
fn what_comes_through_a_socket_is_unknown() {
    let mut it = Story::new();
    let unix = [libc::AF_UNIX as u64, libc::SOCK_STREAM as u64, 0, 0x1000];
    it.call(1, "socketpair", &unix, 0, vec![numbers(3, [3, 4])]);
    let inet = [libc::AF_INET as u64, libc::SOCK_STREAM as u64 | CLOEXEC, 0];
    it.plain(1, "socket", &inet, 5);
    assert_eq!(
        (it.read(1, 4), it.read(1, 5)),
        ("4<unix:2>".into(), "5<tcp:1>".into())
    );
    it.plain(1, "recvmsg", &[5, 0x1000], 10);
    assert_eq!(it.read(1, 6), "6", "nothing comes through the internet");
    let header = piece(1, Moment::Exit, &[0; 56]);
    it.call(1, "recvmsg", &[3, 0x1000], 10, vec![header]);
    assert_eq!(it.read(1, 6), "6", "nothing came with it");
    it.plain(1, "recvmsg", &[3, 0x1000], -11);
    assert_eq!(it.read(1, 6), "6");
    it.plain(1, "recvmsg", &[3, 0x1000], 10);
    assert_eq!(it.read(1, 6), "6<?>");
    assert_eq!(it.read(1, 5), "5<tcp:1>");
}

#[test]
fn a_socket_has_the_addresses_that_were_known_at_the_call() {
    let mut it = Story::new();
    let inet = [libc::AF_INET as u64, libc::SOCK_STREAM as u64, 0];
    it.plain(1, "socket", &inet, 3);
    let address = piece(1, Moment::Enter, &[2, 0, 0, 80, 127, 0, 0, 1]);
    let connect = it.call(1, "connect", &[3, 0x1000, 8], 0, vec![address]);
    let send = it.plain(1, "sendto", &[3], 1);
    let peer = |call: &Call| match &call.files.open().next().unwrap().kind {
        FileKind::Socket(socket) => socket.peer.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(peer(&connect), None);
    assert_eq!(
        peer(&send).as_deref(),
        Some(&[2, 0, 0, 80, 127, 0, 0, 1][..])
    );
    let came = piece(1, Moment::Exit, &[2, 0, 4, 0, 10, 0, 0, 1]);
    let accept = it.call(1, "accept4", &[3, 0x1000, 0x1000, 0], 4, vec![came]);
    assert_eq!(shown(4, accept.files.result()), "4<tcp:2>");
    assert_eq!(accept.files.open().count(), 2);
}

#[test]
fn a_call_that_fails_changes_nothing() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    for (name, words) in [
        ("dup2", &[3, 1][..]),
        ("dup", &[3]),
        ("fcntl", &[3, 2, 1]),
        ("openat", &[AT_FDCWD, 0x1000]),
        ("pipe2", &[0x1000]),
        ("fchdir", &[3]),
        ("unshare", &[0x400]),
    ] {
        let call = it.plain(1, name, words, -22);
        assert_eq!(call.files.result(), Lookup::Untracked, "{name}");
    }
    it.plain(1, "close", &[3], -4);
    let now = [0, 1, 3, 4].map(|number| it.read(1, number));
    assert_eq!(now, ["0<stdin>", "1<stdout>", "3", "4"], "but for a close");
    assert_eq!(it.open(1, "x", 3), "3</home/x>");
}
