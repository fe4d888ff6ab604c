//! Descriptors that come with messages (`SCM_RIGHTS`): from the run itself, or from elsewhere.

use super::acts::Doer;
use super::table::SYSTEM_SOCKETS;
use crate::matching::answer::Answer;
use crate::trace::{Deed, Part, Reached, Value};
use std::collections::BTreeMap;

/// Which Unix sockets of a run are connected with each other.
#[derive(Debug, Default)]
pub(super) struct Passing {
    /// By the descriptions of sockets.
    sockets: BTreeMap<u64, End>,
    /// By names of sockets.
    names: BTreeMap<Vec<u8>, Uses>,
}

/// Which end of a connection a socket is, or whether it waits for some, and under which name.
#[derive(Debug)]
enum End {
    Bound(Vec<u8>),
    Connected(Vec<u8>),
    Accepted(Vec<u8>),
}

/// How often a run did something by a name.
#[derive(Debug, Default)]
struct Uses {
    bound: usize,
    connected: usize,
    accepted: usize,
}

impl Passing {
    pub(super) fn of(deeds: &[&Deed]) -> Self {
        let mut passing = Self::default();
        for deed in deeds {
            passing.add(deed);
        }
        passing
    }

    /// Adds what succeeded.
    fn add(&mut self, deed: &Deed) -> Option<()> {
        let returned = &deed.returns.as_ref()?.value;
        let own = description(&deed.part("fd")?.value);
        let name = || name_of(deed.part("unix")?.as_ref());
        let is_done = *returned == Value::Number(0);
        match &*deed.name {
            "bind" if is_done => {
                self.names.entry(name()?).or_default().bound += 1;
                self.sockets.insert(own?, End::Bound(name()?));
            }
            "connect" if is_done => {
                self.names.entry(name()?).or_default().connected += 1;
                self.sockets.insert(own?, End::Connected(name()?));
            }
            "accept" | "accept4" => {
                let End::Bound(name) = self.sockets.get(&own?)? else {
                    return None;
                };
                let name = name.clone();
                let made = description(returned)?;
                self.names.entry(name.clone()).or_default().accepted += 1;
                self.sockets.insert(made, End::Accepted(name));
            }
            _ => {}
        }
        Some(())
    }

    /// Whether the other end of a socket is one of the run: that of a connection to a name that the
    /// run bound, and of one that it accepted where it made as many connections as it accepted.
    fn is_within(&self, socket: u64) -> bool {
        let uses = |name| self.names.get(name);
        match self.sockets.get(&socket) {
            Some(End::Connected(name)) => {
                let is_system = SYSTEM_SOCKETS.iter().any(|it| it.as_bytes() == name);
                is_system || uses(name).is_some_and(|it| it.bound > 0)
            }
            Some(End::Accepted(name)) => uses(name).is_some_and(|it| it.connected == it.accepted),
            Some(End::Bound(_)) | None => false,
        }
    }
}

impl Doer<'_, '_> {
    /// Whether descriptors came with a message that no process of the run sent.
    pub(super) fn came(&self) -> Answer {
        let is_of_pair = self
            .part("of_pair")
            .is_some_and(|it| it.value != Value::Nothing);
        let socket = self.part("fd").and_then(|it| description(&it.value));
        if is_of_pair || socket.is_some_and(|it| self.passing.is_within(it)) {
            return Answer::No;
        }
        let done = match self.error() {
            // They are installed before their numbers are written.
            Some("EFAULT") => Answer::Unknown,
            _ => self.done(),
        };
        match self.part("descriptors").map(|it| it.value.clone()) {
            None | Some(Value::Nothing) => Answer::No,
            Some(Value::Number(_)) => done,
            Some(_) => done.and(Answer::Unknown),
        }
    }
}

fn description(value: &Value) -> Option<u64> {
    match value {
        Value::File { description, .. } | Value::UnknownFile { description, .. } => *description,
        _ => None,
    }
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
