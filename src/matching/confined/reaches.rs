//! What a call reaches or serves through sockets.

use super::acts::{Doer, Thing};
use crate::matching::answer::Answer;
use crate::trace::{Part, Value, ip_of};
use std::collections::{BTreeMap, BTreeSet};

/// Which sockets were bound, and which wait for others, by their descriptions.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    /// Those that were bound, or may have been.
    bound: BTreeMap<u64, Answer>,
    listening: BTreeSet<u64>,
}

/// How calls fail before anything is reached.
const BEFORE: [&str; 13] = [
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "EAFNOSUPPORT",
    "EALREADY",
    "EBADF",
    "EDESTADDRREQ",
    "EFAULT",
    "EINVAL",
    "EISCONN",
    "ENOSYS",
    "ENOTSOCK",
    "EOPNOTSUPP",
    "EPROTOTYPE",
];

impl<'d> Doer<'d, '_> {
    /// Whether it reached something: to connect or send counts also if it fails by what became of
    /// that.
    pub(super) fn reached(&self) -> Answer {
        const FAST_OPEN: u32 = 0x2000_0000;
        let sends = self.name.starts_with("send");
        if !sends && self.name != "connect" {
            return self.done();
        }
        match self.error() {
            // It may have connected before it looked at what to send.
            Some("EFAULT" | "EINVAL") if sends => {
                self.has_bit("flags", FAST_OPEN).or(Answer::Unknown)
            }
            Some(error) => (!BEFORE.contains(&error)).into(),
            // An attempt that did not end is one.
            None if self
                .part("returns")
                .is_some_and(|it| it.value == Value::Nothing) =>
            {
                Answer::Yes
            }
            None => self.done(),
        }
    }

    /// What it reaches or serves; `None` for nothing, or nothing new.
    pub(super) fn reaches(&self, sockets: &mut Sockets) -> Option<Thing<'d>> {
        let description = self.deed.description("fd");
        match self.name {
            "socket" => self.socket(),
            // It may be a socket that is connected.
            "pidfd_getfd" => Some(Thing::Unread),
            "listen" => {
                let bound = description.map(|it| sockets.bound.get(&it));
                if self.done() == Answer::Yes {
                    sockets.listening.extend(description);
                }
                match bound {
                    Some(Some(Answer::Yes)) => None,
                    Some(None | Some(Answer::No)) => Some(Thing::Unbound),
                    Some(Some(Answer::Unknown)) | None => Some(Thing::Unread),
                }
            }
            "accept" | "accept4" => {
                let is_known = description.is_some_and(|it| sockets.listening.contains(&it));
                (!is_known).then_some(Thing::Unread)
            }
            "bind" => {
                if let Some(it) = description {
                    let known = sockets.bound.entry(it).or_insert(Answer::No);
                    *known = known.or(self.done());
                }
                self.address()
            }
            _ => self.address(),
        }
    }

    fn address(&self) -> Option<Thing<'d>> {
        const UNSPECIFIED: u32 = 0;
        const UNIX: u32 = 1;
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
        const STREAM: u32 = 1;
        const DATAGRAM: u32 = 2;
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
}

/// The word of a family: `netlink` of `AF_NETLINK`.
fn word_of(family: &Part) -> String {
    let word = family.text.strip_prefix("AF_").unwrap_or(&family.text);
    word.to_lowercase()
}
