//! What a command was handed open: no call of it says that it has it.

use super::acts::{Act, Thing};
use super::stated::{Deeds, Done, Unsure, is_inside};
use super::table::Realm;
use super::told::shown;
use super::worlds::{Worlds, is_usual};
use super::{Confinement, closes};
use crate::matching::answer::Answer;
use crate::matching::blame::Blamed;
use crate::trace::{Part, Reached, Value};
use core::net::SocketAddr;
use std::borrow::Cow;

/// A descriptor that a command was started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    /// Its number.
    pub number: i32,
    /// What it refers to.
    pub to: HandedTo,
}

/// What a descriptor refers to that a command was started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandedTo {
    /// A file.
    File {
        /// Its path, with `$DIR` in place of the working directory.
        path: Vec<u8>,
        /// Whether it is open for reading, or may be.
        reads: bool,
        /// Whether it is open for writing, or may be.
        writes: bool,
    },
    /// A socket of IPv4 or IPv6: the address of the other side, or its own where it has none.
    Internet(SocketAddr),
    /// The same of `AF_UNIX`: a path, or an `@` and a name that is no file's.
    Unix(Vec<u8>),
    /// A socket of which neither side has an address that is known.
    Nameless,
}

/// Whether a handed descriptor is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The rule that it is about.
    pub realm: Realm,
    /// What it is, as the rule names it; `None` if no rule can.
    pub what: Option<String>,
    /// Whether it is forbidden; else that is not known.
    pub is_forbidden: bool,
}

impl Handed {
    /// Whether it is standard input, output or error.
    fn is_standard(&self) -> bool {
        self.number <= 2
    }

    /// What can be done by it.
    fn acts(&self) -> Vec<Act<'static>> {
        let act = |realm, thing| Act {
            realm,
            thing,
            is_done: Answer::Yes,
        };
        match &self.to {
            HandedTo::File {
                path,
                reads,
                writes,
            } => {
                let realms = [(Realm::Writes, *writes), (Realm::Reads, *reads)];
                let realms = realms.into_iter().filter(|(_, is_its)| *is_its);
                realms.map(|(realm, _)| act(realm, file(path))).collect()
            }
            HandedTo::Internet(address) => {
                let thing = Thing::Internet(address.ip(), address.port());
                vec![act(Realm::Network, thing)]
            }
            HandedTo::Unix(name) => {
                let thing = match name.starts_with(b"@") {
                    true => Thing::File(Cow::Owned(part(Value::Bytes {
                        bytes: name.clone(),
                        is_cut: false,
                    }))),
                    false => file(name),
                };
                vec![act(Realm::Network, thing)]
            }
            HandedTo::Nameless => vec![act(Realm::Network, Thing::Unread)],
        }
    }

    /// What a statement says of it; `None` for a file of the working directory that is only read.
    #[must_use]
    pub fn done(&self) -> Option<Done> {
        let acts = self.acts().into_iter();
        let told = acts.map(|act| (shown(act.realm, &act.thing, None), act));
        let is_told = |(to, act): &(Option<String>, Act<'_>)| {
            act.realm != Realm::Reads || !to.as_ref().is_some_and(|to| is_inside(to))
        };
        let (to, act) = told.into_iter().find(is_told)?;
        let is_stream = self.is_standard() && matches!(self.to, HandedTo::File { .. });
        Some(Done {
            what: Deeds::Handed,
            unsure: to.is_none().then_some(Unsure::What),
            to,
            new: None,
            others: Vec::new(),
            // Where standard streams go is the caller's choice, and takes no rule.
            realm: (!is_stream).then_some(act.realm),
            is_usual: is_usual(&act),
            is_own: false,
            by: Blamed::Nothing,
        })
    }
}

impl Confinement {
    /// Whether one of its rules closes a world.
    #[must_use]
    pub fn closes(&self, realm: Realm) -> bool {
        let mut all = self.all().into_iter();
        all.any(|rules| closes(rules.confined(), realm))
    }

    /// Returns what of a handed descriptor one of these rules does not allow, or may not.
    #[must_use]
    pub fn judge(&self, handed: &Handed) -> Vec<Judged> {
        if handed.is_standard() && matches!(handed.to, HandedTo::File { .. }) {
            return Vec::new();
        }
        let judged = handed.acts().into_iter().filter_map(|act| {
            let answers = self.all().into_iter().map(|rules| {
                let worlds = Worlds::new(rules.confined(), &self.folders, &[]);
                match closes(rules.confined(), act.realm) {
                    true => worlds.allows(&act),
                    false => Answer::Yes,
                }
            });
            let answer = answers.fold(Answer::Yes, Answer::and);
            (answer != Answer::Yes).then(|| Judged {
                realm: act.realm,
                what: shown(act.realm, &act.thing, None),
                is_forbidden: answer == Answer::No,
            })
        });
        judged.collect()
    }
}

/// The file of a path from the root.
pub(super) fn file(path: &[u8]) -> Thing<'static> {
    Thing::File(Cow::Owned(part(Value::Path {
        given: path.to_vec(),
        absolute: Some(path.to_vec()),
        reached: Reached::Known {
            names: vec![path.to_vec()],
            is_led: false,
        },
    })))
}

fn part(value: Value) -> Part {
    Part {
        name: "path".into(),
        alias: None,
        text: String::new(),
        value,
    }
}
