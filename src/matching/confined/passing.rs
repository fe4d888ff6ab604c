//! Descriptors that come with messages (`SCM_RIGHTS`): from the run itself, or from elsewhere.

use super::acts::{Doer, bits};
use super::table::{MEETS, SYSTEM_SOCKETS};
use crate::matching::answer::Answer;
use crate::trace::{Deed, Part, Reached, Value};
use std::collections::BTreeMap;
use syscall_model::native_name;

/// Which Unix sockets of a run are connected with each other.
#[derive(Debug, Default)]
pub(super) struct Passing {
    /// By the descriptions of sockets.
    sockets: BTreeMap<u64, End>,
    /// By names of sockets.
    names: BTreeMap<Vec<u8>, Uses>,
    /// Whether a socket may be connected that is none of these, or none that is known.
    has_unknown: bool,
}

/// Which end of a connection a socket is, or whether it waits for some, and under which name.
#[derive(Debug)]
enum End {
    /// It is of another family.
    Other,
    Bound(Vec<u8>),
    Connected(Vec<u8>),
    Accepted(Vec<u8>),
}

/// How often a run did something by a name.
#[derive(Debug, Default)]
struct Uses {
    bound: usize,
    listened: usize,
    connected: usize,
    accepted: usize,
}

impl Uses {
    /// Whether each connection by this name has both of its ends in the run. What is sent to a
    /// socket that waits for no connections may come from anywhere.
    fn are_within(&self) -> bool {
        self.bound > 0 && self.listened == self.bound && self.connected == self.accepted
    }
}

impl Passing {
    pub(super) fn of(deeds: &[&Deed]) -> Self {
        let mut passing = Self::default();
        for deed in deeds {
            passing.has_unknown |= passing.add(deed).is_none();
        }
        passing
    }

    /// Adds what succeeded; `None` where it is not known of which sockets it was.
    fn add(&mut self, deed: &Deed) -> Option<()> {
        let name = native_name(&deed.name);
        // Of which socket it was, is in memory that was not read.
        if deed.name.starts_with("socketcall") && deed.unseen.is_some() {
            return None;
        }
        let is_accepted = name.starts_with("accept");
        if !is_accepted && !MEETS.contains(&name) {
            return Some(());
        }
        self.is_foreign(deed);
        let returned = &deed.returns.as_ref()?.value;
        let is_failed = match returned {
            Value::Error(_) | Value::Never => true,
            // It was waiting when its thread ended.
            Value::Nothing => is_accepted,
            _ => false,
        };
        if is_failed {
            return Some(());
        }
        if name == "socket" {
            // What has no peer takes messages from every one, by a name that the kernel may give it
            // as it sends (`SO_PASSCRED` in unix(7)).
            return (!is_datagram(deed)).then_some(());
        }
        if name.starts_with("send") {
            return self.keeps(deed).then_some(());
        }
        let own = deed.description("fd")?;
        if is_accepted {
            let name = match self.sockets.get(&own)? {
                End::Bound(own) => own.clone(),
                End::Other => return Some(()),
                End::Connected(_) | End::Accepted(_) => return None,
            };
            self.names.entry(name.clone()).or_default().accepted += 1;
            let made = deed.description("returns")?;
            self.sockets.insert(made, End::Accepted(name));
            return Some(());
        }
        if name == "listen" {
            if let End::Bound(name) = self.sockets.get(&own)? {
                self.names.entry(name.clone()).or_default().listened += 1;
            }
            return Some(());
        }
        let unix = deed.part("unix")?;
        if unix.value == Value::Nothing {
            let old = self.sockets.insert(own, End::Other);
            // Without a family it loses its peer, and is as one that never had any.
            let is_without = name == "connect" && bits(deed, "family").is_none_or(|it| it == 0);
            let is_lost = is_without && !matches!(old, Some(End::Other));
            return (!is_lost).then_some(());
        }
        let to = name_of(&unix)?;
        let uses = self.names.entry(to.clone()).or_default();
        let end = match name {
            "bind" => {
                uses.bound += 1;
                End::Bound(to)
            }
            _ => {
                uses.connected += 1;
                End::Connected(to)
            }
        };
        self.sockets.insert(own, end);
        Some(())
    }

    /// Whether a message is known to give no descriptor to a process outside: by no socket that the
    /// workload was started with, and to no name but by the connection of its socket.
    fn keeps(&self, deed: &Deed) -> bool {
        let own = deed.description("fd");
        if matches!(own.and_then(|it| self.sockets.get(&it)), Some(End::Other)) {
            return true;
        }
        let is_named = deed
            .part("unix")
            .is_none_or(|it| it.value != Value::Nothing);
        deed.part("handed").is_none() && !is_named
    }

    /// Notes a socket that is meant to be connected to an address of another family.
    fn is_foreign(&mut self, deed: &Deed) {
        let is_other = deed
            .part("unix")
            .is_some_and(|it| it.value == Value::Nothing);
        let has_family = bits(deed, "family").is_some_and(|family| family != 0);
        if let Some(own) = deed.description("fd")
            && (is_other && has_family)
        {
            self.sockets.entry(own).or_insert(End::Other);
        }
    }

    /// Whether what comes by a socket was sent by a process of the run: by one that is connected to
    /// another of the run, or by any, if all are. The name service's cache is of the run if
    /// `takes_system`.
    fn is_within(&self, socket: Option<u64>, is_of_pair: bool, takes_system: bool) -> bool {
        let is_of_run = |name: &Vec<u8>| {
            let is_system = SYSTEM_SOCKETS.iter().any(|it| it.as_bytes() == name);
            match is_system {
                true => takes_system,
                false => self.names.get(name).is_some_and(Uses::are_within),
            }
        };
        let is_known = socket.is_some_and(|it| self.sockets.contains_key(&it));
        // The other one of a pair may have been given away by a connection that leads outside.
        if !self.has_unknown && self.names.keys().all(is_of_run) {
            return true;
        }
        if is_of_pair && !is_known {
            return false;
        }
        match socket.and_then(|it| self.sockets.get(&it)) {
            Some(End::Connected(name) | End::Accepted(name)) => is_of_run(name),
            Some(End::Bound(_) | End::Other) | None => false,
        }
    }
}

impl Doer<'_, '_> {
    /// Whether descriptors came with a message that no process of the run sent, and whether that
    /// was none but the name service's cache.
    pub(super) fn came(&self) -> (bool, Answer) {
        let is = |word: &str| {
            let part = self.part(word);
            part.is_some_and(|it| matches!(it.value, Value::Number(_)))
        };
        let socket = self.deed.description("fd");
        let is_within = |takes_system| {
            let is_of_pair = is("of_pair");
            !is("handed") && self.passing.is_within(socket, is_of_pair, takes_system)
        };
        if is_within(false) {
            return (false, Answer::No);
        }
        let done = match self.error() {
            // They are installed before their numbers are written.
            Some("EFAULT") => Answer::Unknown,
            _ => self.done(),
        };
        let came = match self.part("descriptors").map(|it| it.value.clone()) {
            None | Some(Value::Nothing) => Answer::No,
            Some(Value::Number(_)) => done,
            Some(_) => done.and(Answer::Unknown),
        };
        (is_within(true), came)
    }
}

/// Whether a call may make a Unix socket that sends and receives without a connection.
fn is_datagram(deed: &Deed) -> bool {
    const UNIX: u32 = 1;
    const DATAGRAM: u32 = 2;
    let is_unix = bits(deed, "family").is_none_or(|family| family == UNIX);
    is_unix && bits(deed, "type").is_none_or(|kind| kind & 0xf == DATAGRAM)
}

/// A name as the same one is known by in all calls; `None` where it was not read or is not known.
fn name_of(part: &Part) -> Option<Vec<u8>> {
    match &part.value {
        Value::Bytes {
            bytes,
            is_cut: false,
        } => Some(bytes.clone()),
        Value::Path {
            absolute, reached, ..
        } => match reached {
            Reached::Known { names, .. } => names.first().cloned(),
            _ => absolute.clone(),
        },
        _ => None,
    }
}
