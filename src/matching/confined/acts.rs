//! What a deed does of what `expect.confined` speaks of.

use super::ioctls::changes_file;
use super::kernels::is_loader;
use super::made::nameless;
use super::passing::Passing;
use super::reaches::Sockets;
use super::table::{
    EXECUTES, GIVES, LIMITS, NETWORK, OPENS, READ, RECEIVES, RESTRICTS, Realm, UNNAMED, WRITTEN,
};
use super::worlds::{is_no_file, memory_of};
use crate::matching::answer::Answer;
use crate::matching::field::numbers;
use crate::scenario::{PRIVILEGED, StartedAs};
use crate::trace::{Deed, Part, Value};
use core::net::{IpAddr, Ipv4Addr};
use std::borrow::Cow;
use syscall_model::native_calls;

/// What a deed did, or may have done.
#[derive(Clone, Debug)]
pub(super) struct Act<'d> {
    pub(super) realm: Realm,
    pub(super) thing: Thing<'d>,
    /// Whether it was done at all; never [`Answer::No`].
    pub(super) is_done: Answer,
}

/// What it was done to.
#[derive(Clone, Debug)]
pub(super) enum Thing<'d> {
    /// A file, by a path or a descriptor.
    File(Cow<'d, Part>),
    /// An address of IPv4 or IPv6.
    Internet(IpAddr, u16),
    /// A socket of a family, by the kernel's word in lower case.
    Family(String),
    /// A socket of IPv4 or IPv6 whose protocol is another than TCP, UDP and ICMP.
    Raw,
    /// A socket that waits for others without an address of its own.
    Unbound,
    /// A change of privileges, by the call's native name.
    Privilege(&'static str),
    /// What a descriptor refers to that came with a message.
    Came {
        /// Whether the name service's cache gave it, or the run itself.
        of_system: bool,
    },
    /// What the kernel may write of a process that dies, wherever core dumps go.
    Core,
    /// A program that a loader executes, which no call names.
    Loaded,
    /// What the kernel executes in the place of a program, and was not recorded.
    Untold,
    /// It was not read.
    Unread,
}

/// `O_CREAT`.
const MAKES: u32 = 0o100;

/// `__O_TMPFILE` (include/uapi/asm-generic/fcntl.h): the file is made in the folder of the path.
const NAMELESS: u32 = 0o20_000_000;

/// What the other deeds of a run say of what one does.
#[derive(Debug)]
pub(super) struct Others {
    sockets: Sockets,
    passing: Passing,
    /// Whether some process may be under Landlock: it may be allowed to make a file and not to open
    /// it, which is asked later (`hook_file_open()`, security/landlock/fs.c).
    is_restricted: bool,
}

impl Others {
    pub(super) fn of(deeds: &[&Deed]) -> Self {
        let restricts = |deed: &&Deed| {
            let returns = deed.returns.as_ref().map(|part| &part.value);
            &*deed.name == RESTRICTS && !matches!(returns, Some(Value::Error(_)))
        };
        Self {
            sockets: Sockets::default(),
            passing: Passing::of(deeds),
            is_restricted: deeds.iter().any(restricts),
        }
    }
}

/// Returns all that a deed does of a command that was `started_as` these.
pub(super) fn acts<'d>(deed: &'d Deed, started_as: StartedAs, others: &mut Others) -> Vec<Act<'d>> {
    // An event is named by its system.
    if deed.name.contains(':') {
        return Vec::new();
    }
    // Which of the calls on sockets it was is not known.
    if &*deed.name == "socketcall" {
        let unread = |realm| Act {
            realm,
            thing: Thing::Unread,
            is_done: Answer::Unknown,
        };
        return vec![unread(Realm::Writes), unread(Realm::Network)];
    }
    let natives = native_calls(&deed.name);
    let is_one = natives.len() == 1;
    let mut all = Vec::new();
    for name in natives {
        let doer = Doer {
            deed,
            name,
            is_one,
            started_as,
            is_restricted: others.is_restricted,
            passing: &others.passing,
        };
        all.extend(doer.acts(&mut others.sockets));
    }
    all
}

pub(super) struct Doer<'d, 'n> {
    pub(super) deed: &'d Deed,
    /// The native call.
    pub(super) name: &'n str,
    /// Whether the record says that it is this call.
    is_one: bool,
    pub(super) started_as: StartedAs,
    /// [`Others::is_restricted`].
    is_restricted: bool,
    pub(super) passing: &'n Passing,
}

impl<'d> Doer<'d, '_> {
    fn acts(&self, sockets: &mut Sockets) -> Vec<Act<'d>> {
        let mut all = Vec::new();
        let mut add = |realm, thing, is_done: Answer| {
            let is_done = match self.is_one {
                true => is_done,
                false => is_done.and(Answer::Unknown),
            };
            if is_done != Answer::No {
                all.push(Act {
                    realm,
                    thing,
                    is_done,
                });
            }
        };
        let done = self.done();
        let wrote = self.wrote();
        let executes = done.and(self.executes());
        for (realm, table) in [(Realm::Writes, WRITTEN), (Realm::Reads, READ)] {
            let rows = table.iter().filter(|(calls, _)| calls.contains(&self.name));
            let is_done = match realm {
                Realm::Reads => executes,
                _ => wrote,
            };
            for thing in rows.flat_map(|(_, words)| self.things(words)) {
                add(realm, thing, is_done);
            }
        }
        if OPENS.contains(&self.name) {
            let (reads, writes) = self.opens();
            let file = || match self.name {
                // A handle is no name.
                "open_by_handle_at" => Thing::Unread,
                "mq_open" => self.queue(),
                _ if self.has_bit("flags", NAMELESS) == Answer::Yes => nameless(self.file("path")),
                _ => self.file("path"),
            };
            add(Realm::Reads, file(), done.and(reads));
            add(Realm::Writes, file(), wrote.and(writes));
        }
        match self.name {
            "bind"
                if self
                    .part("unix")
                    .is_none_or(|it| it.value != Value::Nothing) =>
            {
                if let Some(file) = self.socket_file() {
                    add(Realm::Writes, file, wrote);
                }
            }
            "ioctl" => {
                let changes = self.bits("cmd").map_or(Answer::Unknown, changes_file);
                add(Realm::Writes, self.file("fd"), done.and(changes));
            }
            "mq_unlink" => add(Realm::Writes, self.queue(), done),
            name if UNNAMED.contains(&name) => add(Realm::Writes, Thing::Unread, done),
            name if GIVES.contains(&name) => {
                add(Realm::Writes, Thing::Unread, done);
                add(Realm::Reads, Thing::Unread, done);
            }
            name if RECEIVES.contains(&name) => {
                let (of_system, came) = self.came();
                for realm in [Realm::Writes, Realm::Reads, Realm::Network] {
                    add(realm, Thing::Came { of_system }, came);
                }
            }
            name if LIMITS.contains(&name) => {
                add(Realm::Writes, Thing::Core, done.and(self.dumps_core()));
            }
            // BPF_OBJ_PIN makes a file.
            "bpf" if self.is_number("cmd", &[6]) != Answer::No => {
                add(Realm::Writes, Thing::Unread, done);
            }
            _ => {}
        }
        if EXECUTES.contains(&self.name) {
            add(Realm::Programs, self.program(), executes);
            if self.part("path").is_some_and(|path| is_loader(&path)) {
                add(Realm::Programs, Thing::Loaded, executes);
            }
            for thing in self.beside() {
                add(Realm::Programs, thing.clone(), executes);
                add(Realm::Reads, thing, executes);
            }
        }
        if NETWORK.contains(&self.name)
            && let Some(thing) = self.reaches(sockets)
        {
            add(Realm::Network, thing, self.reached());
        }
        if let Some(name) = PRIVILEGED.iter().find(|name| **name == self.name) {
            add(
                Realm::Privileges,
                Thing::Privilege(name),
                wrote.and(self.is_privileged()),
            );
        }
        all
    }

    pub(super) fn part(&self, word: &str) -> Option<Cow<'d, Part>> {
        self.deed.part(word)
    }

    pub(super) fn file(&self, word: &str) -> Thing<'d> {
        match self.part(word) {
            Some(part) if part.value != Value::Unread => Thing::File(part),
            _ => Thing::Unread,
        }
    }

    /// The files of these parts; where the path is none, the descriptor's.
    fn things(&self, words: &[&str]) -> Vec<Thing<'d>> {
        let is_nothing = |word: &str| self.part(word).is_some_and(|it| it.value == Value::Nothing);
        match words {
            ["path"] if is_nothing("path") => vec![self.file("dir")],
            words => words.iter().map(|word| self.file(word)).collect(),
        }
    }

    /// The program that is executed: where its path is empty and its file is in memory alone, that
    /// is what the descriptor says it is (`fexecve(3)` of what `memfd_create(2)` made).
    fn program(&self) -> Thing<'d> {
        let file = self.file("path");
        let is_empty = |part: &Part| {
            let is_given = matches!(&part.value, Value::Path { given, .. } if given.is_empty());
            is_given && is_no_file(part)
        };
        match (&file, self.part("dir")) {
            (Thing::File(path), Some(memory)) if is_empty(path) && memory_of(&memory).is_some() => {
                Thing::File(memory)
            }
            _ => file,
        }
    }

    /// The name of the error that it returned.
    pub(super) fn error(&self) -> Option<&str> {
        match &self.deed.returns.as_ref()?.value {
            Value::Error(name) => Some(name),
            _ => None,
        }
    }

    /// Whether it took effect: not if it failed.
    pub(super) fn done(&self) -> Answer {
        match self.deed.returns.as_ref().map(|part| &part.value) {
            Some(Value::Error(_) | Value::Never) => Answer::No,
            Some(Value::Unread | Value::Nothing) => Answer::Unknown,
            _ => Answer::Yes,
        }
    }

    /// The same of what may be there although the call failed in the end.
    fn wrote(&self) -> Answer {
        const DIRECTORY: u32 = libc::O_DIRECTORY as u32;
        let opens = OPENS.contains(&self.name);
        match (self.name, self.error()) {
            (_, None) => self.done(),
            // The code of a module ran, and its error is returned.
            ("finit_module" | "init_module", _) => Answer::Unknown,
            // The file was made, and then the socket had an address already.
            ("bind" | "creat", Some("EINVAL")) => Answer::Unknown,
            // The file was made, and then refused `O_DIRECT`, or is no folder.
            (_, Some("EINVAL")) if opens => self.has_bit("flags", MAKES).and(Answer::Unknown),
            // The file was made, and then not to be opened.
            (_, Some("EACCES")) if opens && self.is_restricted => {
                self.has_bit("flags", MAKES).and(Answer::Unknown)
            }
            (_, Some("ENOTDIR")) if opens => {
                let makes = self.has_bit("flags", MAKES);
                makes
                    .and(self.has_bit("flags", DIRECTORY))
                    .and(Answer::Unknown)
            }
            _ => Answer::No,
        }
    }

    /// Whether a call that executes does so, and does not only ask whether it may.
    fn executes(&self) -> Answer {
        const CHECK: u32 = 0x1_0000;
        match self.name {
            "execveat" => self.has_bit("flags", CHECK).opposite(),
            _ => Answer::Yes,
        }
    }

    /// [`bits()`] of its deed.
    pub(super) fn bits(&self, word: &str) -> Option<u32> {
        bits(self.deed, word)
    }

    pub(super) fn is_number(&self, word: &str, wanted: &[u32]) -> Answer {
        let bits = self.bits(word);
        bits.map_or(Answer::Unknown, |bits| wanted.contains(&bits).into())
    }

    pub(super) fn has_bit(&self, word: &str, mask: u32) -> Answer {
        let bits = self.bits(word);
        bits.map_or(Answer::Unknown, |bits| (bits & mask != 0).into())
    }

    /// Whether it opens for reading, and for writing. Making a file is writing.
    fn opens(&self) -> (Answer, Answer) {
        const ACCESS: u32 = 3;
        const CUTS: u32 = 0o1000;
        const ONLY_NAMES: u32 = 0o10_000_000;
        match self.bits("flags") {
            None => (Answer::Unknown, Answer::Unknown),
            Some(flags) if flags & ONLY_NAMES != 0 => (Answer::No, Answer::No),
            Some(flags) => {
                let access = flags & ACCESS;
                let writes = access != 0 || flags & (MAKES | CUTS) != 0;
                ((access != 1).into(), writes.into())
            }
        }
    }
}

/// The bits of a part, as many as an `int` has: the kernel does not look at the others. `None`
/// where they were not read.
pub(super) fn bits(deed: &Deed, word: &str) -> Option<u32> {
    let part = deed.part(word)?;
    numbers(&part.value).first().map(|number| *number as u32)
}

impl Thing<'_> {
    /// The address that a socket has that waits for others and was bound to none.
    pub(super) const ANY: (IpAddr, u16) = (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
}
