//! States what a run did of all that could be confined, without a rule.

use super::acts::{Act, Others, Thing, acts};
use super::signals::signalled;
use super::table::{PROCESSES, Realm};
use super::told::{self, reached};
use super::worlds::{is_no_file, is_usual};
use super::{is_start, shown};
use crate::matching::answer::Answer;
use crate::matching::blame::{Blamed, Blaming, Tests};
use crate::scenario::StartedAs;
use crate::trace::{Deed, Normalised};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use syscall_model::native_name;

/// What was done to a thing, in the order of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deeds {
    /// A program was executed.
    Executed,
    /// A file outside of the working directory was read.
    Read,
    /// A file was made or changed.
    Written,
    /// A file or folder was removed.
    Deleted,
    /// A file or folder got another name.
    Renamed,
    /// An address was connected to, or sent to.
    Connected,
    /// An address was served.
    Bound,
    /// A socket was made that needs no address.
    Opened,
    /// Privileges were changed.
    Privileges,
    /// A signal was sent to a process that is not the command's.
    Signalled,
    /// A descriptor was there from the start, of a file or a socket.
    Handed,
}

impl Deeds {
    /// Every one, in that order.
    pub const ALL: [Self; 11] = [
        Self::Executed,
        Self::Read,
        Self::Written,
        Self::Deleted,
        Self::Renamed,
        Self::Connected,
        Self::Bound,
        Self::Opened,
        Self::Privileges,
        Self::Signalled,
        Self::Handed,
    ];

    /// Its word in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Executed => "executed",
            Self::Read => "read",
            Self::Written => "written",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::Connected => "connected",
            Self::Bound => "bound",
            Self::Opened => "opened",
            Self::Privileges => "privileges",
            Self::Signalled => "signalled",
            Self::Handed => "handed",
        }
    }
}

/// Why it is not known in full what was done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsure {
    /// Whether it was done.
    Whether,
    /// Which file it was, for this reason.
    Which(String),
    /// What it was done to was not read, or has no name.
    What,
    /// What a descriptor refers to that another process gave.
    Came,
    /// Whether the kernel wrote a core dump, and where.
    Core,
    /// What a loader executed.
    Loaded,
    /// What the kernel executed in the place of a program.
    Untold,
}

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whether => "whether it was done is not known",
            Self::Which(why) => why,
            Self::Came => "another process gave a descriptor, and what it refers to is not known",
            Self::Core => "core dumps were turned on, and the kernel writes one by no call",
            Self::Loaded => "a loader was executed by itself, and what it executes no call names",
            Self::Untold => "its interpreter and its loader were not recorded",
            Self::What => "what it was done to was not read, or has no name",
        })
    }
}

/// One thing that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// What.
    pub what: Deeds,
    /// To what, as a rule names it; for a renamed file the old name. `None` if it was not read or
    /// has no name.
    pub to: Option<String>,
    /// For a renamed file, the new name.
    pub new: Option<String>,
    /// What else its file was called until then, through links and mounts, and for a renamed file
    /// the other new name: rules have to allow all of its names. Of a file in the working directory
    /// that was read, the names outside alone.
    pub others: Vec<(String, Option<String>)>,
    /// The key of `confined` that is about it; `None` for a signal, and for a standard stream.
    pub realm: Option<Realm>,
    /// Why it is not known that it was done, and to what; `None` if it is.
    pub unsure: Option<Unsure>,
    /// Whether nearly every program does it.
    pub is_usual: bool,
    /// Whether it is the command itself, which needs no rule.
    pub is_own: bool,
    /// The test that did it.
    pub by: Blamed,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    /// Everything, in order.
    pub done: Vec<Done>,
    /// The tests that were seen.
    pub tests: BTreeSet<Arc<str>>,
}

/// States what the run of a command did that was `started_as` these.
#[must_use]
pub fn statement(blaming: &Blaming, started_as: StartedAs, trace: &Normalised) -> Statement {
    let deeds = trace.in_order();
    let tests = Tests::of(blaming, trace, &deeds);
    let mut others = Others::of(&deeds);
    let mut done = Vec::new();
    for deed in &deeds {
        let by = || tests.blame(deed);
        for act in acts(deed, started_as, &mut others) {
            done.extend(Done::of(deed, &act, by));
        }
        done.extend(signalled(deed, by));
    }
    Statement {
        done,
        tests: tests.seen(),
    }
}

impl Done {
    pub(super) fn signal(to: String, is_known: bool, by: Blamed) -> Self {
        Self {
            what: Deeds::Signalled,
            to: Some(to),
            new: None,
            others: Vec::new(),
            realm: None,
            unsure: (!is_known).then_some(Unsure::What),
            is_usual: false,
            is_own: false,
            by,
        }
    }

    fn of(deed: &Deed, act: &Act<'_>, by: impl Fn() -> Blamed) -> Option<Self> {
        let name = native_name(&deed.name);
        let what = match act.realm {
            Realm::Programs => Deeds::Executed,
            // It is among the programs.
            Realm::Reads if name.starts_with("execve") => return None,
            Realm::Reads => Deeds::Read,
            Realm::Writes => match name {
                "unlink" | "unlinkat" | "rmdir" | "mq_unlink" => Deeds::Deleted,
                // Of its two names the second one is with the first.
                _ if name.starts_with("rename") => {
                    if !is_from(deed, &act.thing) {
                        return None;
                    }
                    Deeds::Renamed
                }
                _ => Deeds::Written,
            },
            Realm::Network => match (name, &act.thing) {
                (_, Thing::Family(_) | Thing::Raw) => Deeds::Opened,
                ("connect" | "sendto" | "sendmsg" | "sendmmsg", _) => Deeds::Connected,
                ("socket" | "pidfd_getfd" | "recvmsg" | "recvmmsg", _) => Deeds::Opened,
                _ => Deeds::Bound,
            },
            Realm::Privileges => Deeds::Privileges,
        };
        match &act.thing {
            Thing::Came { of_system: true } => return None,
            // A pipe or a socket is in no folder.
            Thing::File(part) if is_no_file(part) && what != Deeds::Executed => return None,
            _ => {}
        }
        let mut to = shown(act.realm, &act.thing, None).map(without_id);
        let names = |thing: &Thing<'_>, but: &Option<String>| -> Vec<String> {
            let names = told::names(act.realm, thing).into_iter();
            let names = names.map(without_id);
            names.filter(|name| Some(name) != but.as_ref()).collect()
        };
        let mut others = names(&act.thing, &to);
        let doubt = unsure(&act.thing);
        if what == Deeds::Read && doubt.is_none() && to.as_ref().is_some_and(|to| is_inside(to)) {
            // By another name it may lie elsewhere: what is mounted on it, or linked to it.
            others.retain(|name| !is_inside(name));
            if others.is_empty() {
                return None;
            }
            to = Some(others.remove(0));
        }
        let new = (what == Deeds::Renamed).then(|| deed.part("to")).flatten();
        let new = new.map(Thing::File);
        let whether = (act.is_done != Answer::Yes).then_some(Unsure::Whether);
        let unsure = whether
            .or(doubt)
            .or_else(|| new.as_ref().and_then(unsure))
            .or_else(|| to.is_none().then_some(Unsure::What));
        let to_new = new.as_ref();
        let to_new = to_new.and_then(|new| shown(act.realm, new, None));
        let new_others = new.map_or_else(Vec::new, |new| names(&new, &to_new));
        Some(Self {
            what,
            to,
            new: to_new,
            others: paired(others, new_others),
            realm: Some(act.realm),
            unsure,
            is_usual: is_usual(act),
            is_own: is_start(deed),
            by: by(),
        })
    }
}

/// Pairs the other names of a file with the new ones that it got, where each has one.
fn paired(others: Vec<String>, new: Vec<String>) -> Vec<(String, Option<String>)> {
    match others.len() == new.len() {
        true => others.into_iter().zip(new.into_iter().map(Some)).collect(),
        false => others
            .into_iter()
            .chain(new)
            .map(|name| (name, None))
            .collect(),
    }
}

/// Returns those among these names of files by which the run changed a file, and not its name
/// alone.
#[must_use]
pub fn changed_among(trace: &Normalised, names: &BTreeSet<Vec<u8>>) -> BTreeSet<String> {
    const OF_NAMES: [&str; 8] = [
        "link",
        "linkat",
        "rename",
        "renameat",
        "renameat2",
        "rmdir",
        "unlink",
        "unlinkat",
    ];
    let deeds = trace.in_order();
    let mut others = Others::of(&deeds);
    let mut changed = BTreeSet::new();
    for deed in deeds {
        let acts = acts(deed, StartedAs::default(), &mut others).into_iter();
        let writes = acts.filter(|act| act.realm == Realm::Writes);
        for act in writes.filter(|_| !OF_NAMES.contains(&&*deed.name)) {
            let Thing::File(part) = &act.thing else {
                continue;
            };
            if reached(part).iter().any(|name| names.contains(name)) {
                changed.extend(shown(act.realm, &act.thing, None));
            }
        }
    }
    changed
}

/// The path of what is told of a process, for whichever process: `/proc/*/status`.
fn without_id(path: String) -> String {
    let root = PROCESSES.trim_end_matches('*');
    let Some(below) = path.strip_prefix(root) else {
        return path;
    };
    let rest = below.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.starts_with('/') && rest.len() < below.len() {
        true => format!("{PROCESSES}{rest}"),
        false => path,
    }
}

/// Whether it is the old name of what a call renames.
fn is_from(deed: &Deed, thing: &Thing<'_>) -> bool {
    match (thing, deed.part("from")) {
        (Thing::File(part), Some(from)) => **part == *from,
        _ => true,
    }
}

/// Why it is not known what it is; `None` if it is.
pub(super) fn unsure(thing: &Thing<'_>) -> Option<Unsure> {
    match thing {
        Thing::File(part) => {
            let why = crate::matching::named::why_unknown(part)?;
            Some(Unsure::Which(why.to_owned()))
        }
        Thing::Came { .. } => Some(Unsure::Came),
        Thing::Core => Some(Unsure::Core),
        Thing::Loaded => Some(Unsure::Loaded),
        Thing::Untold => Some(Unsure::Untold),
        Thing::Unread => Some(Unsure::What),
        _ => None,
    }
}

/// Whether a path is that of the working directory, or below it.
pub(super) fn is_inside(path: &str) -> bool {
    path == "$DIR" || !path.starts_with('/')
}
