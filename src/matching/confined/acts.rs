//! What a deed does of what `expect.confined` speaks of.

use super::table::{EXECUTES, GIVES, NETWORK, OPENS, READ, Realm, WRITTEN};
use crate::matching::answer::Answer;
use crate::matching::field::numbers;
use crate::scenario::PRIVILEGED;
use crate::trace::{Deed, Part, Value, ip_of};
use core::net::{IpAddr, Ipv4Addr};
use std::borrow::Cow;
use syscall_model::names::{self, Abi};
use syscall_model::natives_of;

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
    /// It was not read.
    Unread,
}

/// Which sockets were bound, and which wait for others, by their descriptions.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    bound: Vec<u64>,
    listening: Vec<u64>,
}

/// Returns all that a deed does; what other deeds said of its socket is in `sockets`.
pub(super) fn acts<'d>(deed: &'d Deed, sockets: &mut Sockets) -> Vec<Act<'d>> {
    // An event is named by its system.
    if deed.name.contains(':') {
        return Vec::new();
    }
    let is_native = names::number(Abi::native(), &deed.name).is_some();
    let natives = match is_native {
        true => vec![deed.name.as_ref()],
        false => natives_of(&deed.name),
    };
    let is_one = natives.len() == 1;
    let mut all = Vec::new();
    for name in natives {
        let mut acts = Doer { deed, name }.acts(sockets);
        if !is_one {
            // It is one of these calls, and the record does not say which.
            for act in &mut acts {
                act.is_done = act.is_done.and(Answer::Unknown);
            }
        }
        all.extend(acts);
    }
    all
}

struct Doer<'d, 'n> {
    deed: &'d Deed,
    name: &'n str,
}

impl<'d> Doer<'d, '_> {
    fn acts(&self, sockets: &mut Sockets) -> Vec<Act<'d>> {
        let mut all = Vec::new();
        let mut add = |realm, thing, is_done: Answer| {
            if is_done != Answer::No {
                all.push(Act {
                    realm,
                    thing,
                    is_done,
                });
            }
        };
        let done = self.done();
        for (realm, table) in [(Realm::Writes, WRITTEN), (Realm::Reads, READ)] {
            let rows = table.iter().filter(|(calls, _)| calls.contains(&self.name));
            for thing in rows.flat_map(|(_, words)| self.things(words)) {
                add(realm, thing, done);
            }
        }
        if OPENS.contains(&self.name) {
            let (reads, writes) = self.opens();
            let file = || match self.name {
                // A handle is no name.
                "open_by_handle_at" => Thing::Unread,
                _ => self.file("path"),
            };
            add(Realm::Reads, file(), done.and(reads));
            add(Realm::Writes, file(), done.and(writes));
        }
        match self.name {
            "bind"
                if self
                    .part("unix")
                    .is_none_or(|it| it.value != Value::Nothing) =>
            {
                if let Some(file) = self.socket_file() {
                    add(Realm::Writes, file, done);
                }
            }
            "ioctl" => add(
                Realm::Writes,
                self.file("fd"),
                done.and(self.changes_file()),
            ),
            name if GIVES.contains(&name) => {
                add(Realm::Writes, Thing::Unread, done);
                add(Realm::Reads, Thing::Unread, done);
            }
            // BPF_OBJ_PIN makes a file.
            "bpf" if self.is_number("cmd", &[6]) != Answer::No => {
                add(Realm::Writes, Thing::Unread, done);
            }
            _ => {}
        }
        if EXECUTES.contains(&self.name) {
            add(Realm::Programs, self.file("path"), done);
        }
        if NETWORK.contains(&self.name)
            && let Some(thing) = self.reaches(sockets)
        {
            add(Realm::Network, thing, self.tried());
        }
        if let Some(name) = PRIVILEGED.iter().find(|name| **name == self.name) {
            add(
                Realm::Privileges,
                Thing::Privilege(name),
                done.and(self.is_privileged()),
            );
        }
        all
    }

    fn part(&self, word: &str) -> Option<Cow<'d, Part>> {
        self.deed.part(word)
    }

    fn file(&self, word: &str) -> Thing<'d> {
        match self.part(word) {
            Some(part) if part.value != Value::Unread => Thing::File(part),
            _ => Thing::Unread,
        }
    }

    /// The files of these parts; where the path is none, the descriptor's.
    fn things(&self, words: &[&str]) -> Vec<Thing<'d>> {
        let is_nothing = |word: &str| self.part(word).is_some_and(|it| it.value == Value::Nothing);
        match words {
            ["path", "dir"] if is_nothing("path") => vec![self.file("dir")],
            ["path", "dir"] => vec![self.file("path")],
            words => words.iter().map(|word| self.file(word)).collect(),
        }
    }

    /// The file that a socket is bound to; `None` where it is bound to none.
    fn socket_file(&self) -> Option<Thing<'d>> {
        match self.part("unix") {
            Some(part) => match part.value {
                // A name that is no file's.
                Value::Bytes { .. } | Value::Nothing => None,
                Value::Unread => Some(Thing::Unread),
                _ => Some(Thing::File(part)),
            },
            None => Some(Thing::Unread),
        }
    }

    /// Whether it took effect: not if it failed.
    fn done(&self) -> Answer {
        match self.deed.returns.as_ref().map(|part| &part.value) {
            Some(Value::Error(_) | Value::Never) => Answer::No,
            Some(Value::Unread | Value::Nothing) => Answer::Unknown,
            _ => Answer::Yes,
        }
    }

    /// Whether it may have reached somebody: also if it failed by what became of that.
    fn tried(&self) -> Answer {
        const BEFORE: [&str; 15] = [
            "EADDRINUSE",
            "EADDRNOTAVAIL",
            "EAFNOSUPPORT",
            "EALREADY",
            "EBADF",
            "EDESTADDRREQ",
            "EFAULT",
            "EINVAL",
            "EISCONN",
            "ENOENT",
            "ENOSYS",
            "ENOTDIR",
            "ENOTSOCK",
            "EOPNOTSUPP",
            "EPROTOTYPE",
        ];
        match self.deed.returns.as_ref().map(|part| &part.value) {
            Some(Value::Error(name)) => (!BEFORE.contains(&&**name)).into(),
            Some(Value::Never) => Answer::No,
            Some(Value::Unread) => Answer::Unknown,
            _ => Answer::Yes,
        }
    }

    /// The bits of a part; `None` where they were not read.
    fn bits(&self, word: &str) -> Option<u64> {
        let part = self.part(word)?;
        numbers(&part.value).first().map(|number| *number as u64)
    }

    fn is_number(&self, word: &str, wanted: &[u64]) -> Answer {
        let bits = self.bits(word);
        bits.map_or(Answer::Unknown, |bits| wanted.contains(&bits).into())
    }

    fn has_bit(&self, word: &str, mask: u64) -> Answer {
        let bits = self.bits(word);
        bits.map_or(Answer::Unknown, |bits| (bits & mask != 0).into())
    }

    /// Whether it opens for reading, and for writing. Making a file is writing.
    fn opens(&self) -> (Answer, Answer) {
        const ACCESS: u64 = 3;
        const MAKES_OR_CUTS: u64 = 0o100 | 0o1000;
        const ONLY_NAMES: u64 = 0o10_000_000;
        match self.bits("flags") {
            None => (Answer::Unknown, Answer::Unknown),
            Some(flags) if flags & ONLY_NAMES != 0 => (Answer::No, Answer::No),
            Some(flags) => {
                let access = flags & ACCESS;
                let writes = access != 0 || flags & MAKES_OR_CUTS != 0;
                ((access != 1).into(), writes.into())
            }
        }
    }

    /// Whether an `ioctl` is one of file systems that the program hands something to: attributes,
    /// clones, snapshots.
    fn changes_file(&self) -> Answer {
        const HANDED: u64 = 1 << 30;
        self.bits("cmd").map_or(Answer::Unknown, |request| {
            let letter = (request >> 8) as u8;
            let is_of_files = matches!(letter, b'f' | b'v' | b'X' | 0x94);
            (is_of_files && request & HANDED != 0).into()
        })
    }

    fn description(&self) -> Option<u64> {
        match self.part("fd")?.value {
            Value::File { description, .. } | Value::UnknownFile { description, .. } => description,
            _ => None,
        }
    }

    /// What it reaches or serves; `None` for nothing, or nothing new.
    fn reaches(&self, sockets: &mut Sockets) -> Option<Thing<'d>> {
        match self.name {
            "socket" => self.socket(),
            "listen" => {
                let description = self.description();
                let is_bound = description.is_some_and(|it| sockets.bound.contains(&it));
                sockets.listening.extend(description);
                match description {
                    _ if is_bound => None,
                    Some(_) => Some(Thing::Unbound),
                    None => Some(Thing::Unread),
                }
            }
            "accept" | "accept4" => {
                let known = self.description();
                let is_known = known.is_some_and(|it| sockets.listening.contains(&it));
                (!is_known).then_some(Thing::Unread)
            }
            _ => {
                if self.name == "bind" {
                    sockets.bound.extend(self.description());
                }
                self.address()
            }
        }
    }

    fn address(&self) -> Option<Thing<'d>> {
        const UNSPECIFIED: u64 = 0;
        const UNIX: u64 = 1;
        let Some(family) = self.part("family") else {
            return Some(Thing::Unread);
        };
        if family.value == Value::Nothing {
            return None;
        }
        let ip = self.part("ip").and_then(|part| ip_of(&part));
        match (self.bits("family"), ip, self.bits("port")) {
            (Some(_), Some(ip), Some(port)) => {
                Some(u16::try_from(port).map_or(Thing::Unread, |port| Thing::Internet(ip, port)))
            }
            // It takes an association away. To others it is an address of IPv4.
            (Some(UNSPECIFIED), ..) if self.name == "connect" => None,
            (Some(UNSPECIFIED) | None, ..) => Some(Thing::Unread),
            (Some(UNIX), ..) => Some(self.file("unix")),
            _ => Some(Thing::Family(word_of(&family))),
        }
    }

    /// A socket that is made: of a family without addresses that are known here, or of a protocol
    /// that needs none.
    fn socket(&self) -> Option<Thing<'d>> {
        const STREAM: u64 = 1;
        const DATAGRAM: u64 = 2;
        let (Some(family), Some(kind), Some(protocol)) = (
            self.bits("family"),
            self.bits("type"),
            self.bits("protocol"),
        ) else {
            return Some(Thing::Unread);
        };
        match (family, kind & 0xf, protocol) {
            (1, ..) => None,
            // TCP and MPTCP; UDP, UDP-Lite and ICMP echo.
            (2 | 10, STREAM, 0 | 6 | 262) => None,
            (2 | 10, DATAGRAM, 0 | 17 | 136 | 1 | 58) => None,
            (2 | 10, ..) => Some(Thing::Raw),
            _ => self
                .part("family")
                .map(|part| Thing::Family(word_of(&part))),
        }
    }

    /// Whether these arguments of a privileged call change privileges.
    fn is_privileged(&self) -> Answer {
        const NAMESPACES: u64 = 0x7e02_0000;
        const NEW_TIME: u64 = 0x80;
        let is_kept = |words: &[&str]| {
            let all = words.iter().map(|word| self.is_number(word, &[u64::MAX]));
            all.fold(Answer::Yes, Answer::and).opposite()
        };
        match self.name {
            "clone" => self.has_bit("flags", NAMESPACES),
            "clone3" | "unshare" => self.has_bit("flags", NAMESPACES | NEW_TIME),
            // PR_SET_KEEPCAPS, PR_SET_SECUREBITS, PR_SET_MM, PR_SET_PTRACER, and PR_CAP_AMBIENT
            // with PR_CAP_AMBIENT_RAISE.
            "prctl" => match self.bits("option") {
                Some(8 | 28 | 35 | 0x5961_6d61) => Answer::Yes,
                Some(47) => self.is_number("arg2", &[2]),
                Some(_) => Answer::No,
                None => Answer::Unknown,
            },
            "setfsuid" => is_kept(&["uid"]),
            "setfsgid" => is_kept(&["gid"]),
            "setreuid" => is_kept(&["ruid", "euid"]),
            "setregid" => is_kept(&["rgid", "egid"]),
            "setresuid" => is_kept(&["ruid", "euid", "suid"]),
            "setresgid" => is_kept(&["rgid", "egid", "sgid"]),
            _ => Answer::Yes,
        }
    }
}

/// The word of a family: `netlink` of `AF_NETLINK`.
fn word_of(family: &Part) -> String {
    let word = family.text.strip_prefix("AF_").unwrap_or(&family.text);
    word.to_lowercase()
}

impl Thing<'_> {
    /// The address that a socket has that waits for others and was bound to none.
    pub(super) const ANY: (IpAddr, u16) = (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
}
