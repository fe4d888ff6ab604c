//! What a run did to files, ports and others.

use super::acts::{Act, Asking};
use super::adding::Adding;
use super::rights::{Port, Right, Scope};
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::{
    Addressed, Call, Observation, Outcome, Reached, SocketAddress, addressed, files, native_name,
};

/// What the kernel executes of each program beside it: its loader, and the interpreter behind `#!`
/// with its own; or why that is not known. No call names them.
pub type Programs = BTreeMap<Vec<u8>, Result<Vec<Vec<u8>>, String>>;

/// What a run did, with the working directory as [`DIRECTORY`](super::DIRECTORY).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// The rights that it needed, to what was there before.
    pub(super) rights: BTreeSet<(String, Right)>,
    /// Files that went to another folder.
    pub(super) moves: BTreeSet<Moved>,
    /// Ports of TCP.
    pub(super) ports: BTreeSet<(Port, u16)>,
    /// What it reached of others, and by what.
    pub(super) outside: BTreeMap<Scope, String>,
    /// The same of what failed as it does where rules refuse it.
    pub(super) refused: Refused,
    /// What no rule can say, or is not known.
    pub(super) untold: BTreeSet<String>,
}

/// A file that went to another folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moved {
    /// The file, if it was there before the run.
    pub(super) own: Option<String>,
    /// The folder that it was in, and the one that it went to.
    pub(super) from: String,
    pub(super) to: String,
    pub(super) is_folder: bool,
}

/// What was refused by an error that Landlock has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) rights: BTreeSet<(String, Right)>,
    pub(super) moves: BTreeSet<Moved>,
    pub(super) ports: BTreeSet<(Port, u16)>,
    pub(super) outside: BTreeSet<Scope>,
    /// What may have been refused, by rules for files or by those of a scope.
    pub(super) calls: BTreeSet<(&'static str, Option<Scope>)>,
}

impl Touched {
    /// Adds what another run of the same scenario did.
    pub fn add(&mut self, other: &Self) {
        self.rights.extend(other.rights.iter().cloned());
        self.moves.extend(other.moves.iter().cloned());
        self.ports.extend(&other.ports);
        for (scope, why) in &other.outside {
            self.outside.entry(*scope).or_insert_with(|| why.clone());
        }
        let (own, other_refused) = (&mut self.refused, &other.refused);
        own.rights.extend(other_refused.rights.iter().cloned());
        own.moves.extend(other_refused.moves.iter().cloned());
        own.ports.extend(&other_refused.ports);
        own.outside.extend(&other_refused.outside);
        own.calls.extend(&other_refused.calls);
        self.untold.extend(other.untold.iter().cloned());
    }
}

/// The same while the run goes on.
#[derive(Clone, Debug, Default)]
pub struct Touching {
    /// With whether it was refused.
    sure: BTreeSet<(Act, bool)>,
    /// The programs that were executed.
    executed: BTreeSet<Vec<u8>>,
    /// What another thread may still put in doubt.
    unsure: Vec<(&'static str, Vec<Reached>, Vec<Act>, bool)>,
    /// The ids of the run's own threads, where it runs.
    own: BTreeSet<i32>,
    /// Whom it signalled, and whether that was refused.
    signalled: BTreeSet<(&'static str, i32, bool)>,
    /// Names of sockets that are no files: those that it bound.
    bound: BTreeSet<Vec<u8>>,
    connected: BTreeSet<(Vec<u8>, bool)>,
    /// The ports that it asked the kernel for, of its own sockets.
    told: BTreeSet<u16>,
    outside: BTreeMap<Scope, String>,
}

/// `F_SETOWN`, `F_SETOWN_EX`.
const SET_OWNER: u32 = 8;
const SET_OWNER_OF_KIND: u32 = 15;
/// `FIOSETOWN`, `SIOCSPGRP`.
const SET_OWNER_BY_REQUEST: [u32; 2] = [0x8901, 0x8902];

impl Touching {
    /// Notes what an observation tells.
    pub fn note(&mut self, observation: &Observation) {
        match observation {
            Observation::Named { id, .. } => {
                self.own.insert(*id);
            }
            // What a fault answers does not get as far as the kernel's rules.
            Observation::Call(call) if call.injected.answer.is_none() => self.called(call),
            _ => {}
        }
    }

    fn called(&mut self, call: &Call) {
        let Some(name) = call.name() else { return };
        let name = native_name(name);
        let asking = Asking::of(call, name);
        self.signals(call, name);
        self.speaks(call, name);
        if name == "getsockname"
            && let Some(Addressed::At(SocketAddress::Internet { port, .. })) = addressed(call, name)
        {
            self.told.insert(port);
        }
        let acts = asking.acts();
        if acts.is_empty() {
            return;
        }
        let is_refused = asking.is_refused();
        let reached = (0..6).map(|place| call.files.reached(place));
        let in_doubt: Vec<Reached> = reached
            .filter(|it| matches!(it, Reached::Known { doubt: Some(_), .. }))
            .cloned()
            .collect();
        match in_doubt.is_empty() {
            true => acts.into_iter().for_each(|act| self.add(act, is_refused)),
            false => self.unsure.push((name, in_doubt, acts, is_refused)),
        }
    }

    fn add(&mut self, act: Act, is_refused: bool) {
        match act {
            // Its loader is looked for when the run is over.
            Act::Change(path) if self.executed.contains(&path) => {
                let path = path.escape_ascii();
                let why = format!("`{path}` was changed after it was executed");
                self.sure.insert((Act::Untold(why), false));
            }
            Act::Change(path) => {
                // What was beside it when it was refused is in it no more.
                if self.sure.remove(&(Act::Execute(path), true)) {
                    self.sure.insert((Act::Refused("execve", None), true));
                }
            }
            act => {
                if let (Act::Execute(path), false) = (&act, is_refused) {
                    self.executed.insert(path.clone());
                }
                self.sure.insert((act, is_refused));
            }
        }
    }

    fn signals(&mut self, call: &Call, name: &'static str) {
        let Some(args) = call.entry.args() else {
            return;
        };
        let target = match name {
            "kill" | "tkill" | "tgkill" | "rt_sigqueueinfo" | "rt_tgsigqueueinfo" => args[0],
            "fcntl" if args[1] as u32 == SET_OWNER => args[2],
            // Whom they are for is not known: like all.
            "fcntl" if args[1] as u32 == SET_OWNER_OF_KIND => u64::from(u32::MAX),
            "ioctl" if SET_OWNER_BY_REQUEST.contains(&(args[1] as u32)) => u64::from(u32::MAX),
            "pidfd_send_signal" => u64::from(u32::MAX),
            _ => return,
        };
        let is_refused = match call.error() {
            Some(libc::EPERM) => true,
            Some(_) => return,
            None => false,
        };
        self.signalled.insert((name, target as i32, is_refused));
    }

    /// Whom it speaks to by names that are no files'.
    fn speaks(&mut self, call: &Call, name: &'static str) {
        if !matches!(name, "bind" | "connect" | "sendto" | "sendmsg" | "sendmmsg") {
            return;
        }
        let is_unix = match call.files.argument(0) {
            files::Lookup::Open(file) => match &file.kind {
                files::FileKind::Socket(socket) => {
                    socket.family.is_none_or(|family| family == libc::AF_UNIX)
                }
                _ => false,
            },
            files::Lookup::Closed => false,
            _ => true,
        };
        let is_refused = call.error() == Some(libc::EPERM);
        let is_done = matches!(call.outcome, Outcome::Returned { .. }) && call.error().is_none();
        match addressed(call, name) {
            _ if !is_unix => {}
            Some(Addressed::At(SocketAddress::Abstract(to))) => {
                if name == "bind" && is_done {
                    self.bound.insert(to.clone());
                } else if name != "bind" && call.error() != Some(libc::ECONNREFUSED) {
                    self.connected.insert((to.clone(), is_refused));
                }
            }
            Some(Addressed::Unread) if is_refused => {
                let act = Act::Refused(name, Some(Scope::Abstract));
                self.sure.insert((act, true));
            }
            Some(Addressed::Unread) if is_done => {
                let why = format!("`{name}`: its address was not read");
                self.outside.entry(Scope::Abstract).or_insert(why);
            }
            _ => {}
        }
    }

    /// The programs that it executed, by the names that they had then.
    #[must_use]
    pub fn programs(&self) -> BTreeSet<Vec<u8>> {
        let unsure = self.unsure.iter().flat_map(|(_, _, acts, _)| acts);
        let all = self.sure.iter().map(|(act, _)| act).chain(unsure);
        all.filter_map(|act| match act {
            Act::Execute(path) => Some(path.clone()),
            _ => None,
        })
        .collect()
    }

    /// What a run did that is over and whose records are complete: it worked in this directory,
    /// and its first process had this id there.
    #[must_use]
    pub fn finish(
        mut self,
        directory: Option<&str>,
        main: Option<i32>,
        programs: &Programs,
    ) -> Touched {
        self.own.extend(main);
        for (name, reached, acts, is_refused) in std::mem::take(&mut self.unsure) {
            let why = reached.iter().find_map(|it| it.names()?.err());
            match why {
                Some(why) => self.add(Act::Untold(format!("`{name}`: {why}")), false),
                None => acts.into_iter().for_each(|act| self.add(act, is_refused)),
            }
        }
        let mut touched = Touched {
            outside: self.outside,
            ..Touched::default()
        };
        let is_own = |target: i32| match target {
            0 => true,
            -1 => false,
            target => self.own.contains(&target.saturating_abs()),
        };
        for (name, target, is_refused) in &self.signalled {
            match (is_own(*target), is_refused) {
                (true, _) => {}
                (false, true) => {
                    touched.refused.outside.insert(Scope::Signal);
                }
                (false, false) => {
                    let why = format!("`{name}` signals a process that is none of the run's");
                    touched.outside.entry(Scope::Signal).or_insert(why);
                }
            }
        }
        for (name, is_refused) in &self.connected {
            if self.bound.contains(name) {
                continue;
            }
            if *is_refused {
                touched.refused.outside.insert(Scope::Abstract);
                continue;
            }
            let why = format!("a socket `@{}` is none of the run's", name.escape_ascii());
            touched.outside.entry(Scope::Abstract).or_insert(why);
        }
        // The kernel chose it: of one that the program chose it need not ask.
        let is_bound = |port: u16| self.sure.contains(&(Act::Port(Port::Bind, port), false));
        for port in self.told.iter().filter(|port| !is_bound(**port)) {
            if self
                .sure
                .contains(&(Act::Port(Port::Connect, *port), false))
            {
                let why = "it connects to a port of its own that the kernel chose";
                touched.untold.insert(why.to_owned());
            }
        }
        let mut to = Adding {
            touched,
            directory: directory.unwrap_or_default(),
        };
        for (act, is_refused) in self.sure {
            to.add(act, is_refused, programs);
        }
        to.touched
    }
}
