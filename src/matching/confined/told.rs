//! What is said of an act that is not allowed, or may not be.

use super::Offence;
use super::acts::{Act, Thing};
use super::kernels::role_of;
use super::lasting::Gone;
use super::stated::unsure;
use super::table::Realm;
use super::worlds::{Allowed, Worlds, is_no_file, memory_of};
use crate::matching::answer::Answer;
use crate::matching::blame::Blamed;
use crate::matching::explain::told;
use crate::matching::judge::ByTest;
use crate::matching::named;
use crate::trace::{Deed, Normalised, Part, Reached, Value};
use std::collections::{BTreeMap, BTreeSet};

impl Worlds<'_> {
    pub(super) fn forbidden(
        &self,
        (key, line): &(String, usize),
        (first, all): (&Offence<'_>, &[Offence<'_>]),
        (family, gone): &(Family, Gone),
    ) -> String {
        let Act { realm, thing, .. } = &first.act;
        let allowed = match thing {
            Thing::File(part) => self.of(*realm, part),
            _ => None,
        };
        let shown = shown(*realm, thing, allowed);
        let what = quoted(shown.as_deref());
        let mut lines = vec![format!("{key} does not allow {what} (line {line})")];
        lines.push(format!("- {}", told(first.deed)));
        lines.push(format!("  in {}", family.line_of(first.deed)));
        if let Thing::File(part) = thing
            && let Some(role) = role_of(part)
        {
            lines.push(format!(
                "  the kernel executed it as {role} of that program"
            ));
        }
        lines.extend(of_test(&first.by));
        let rule = shown.map(|shown| gone.rule(*realm, &shown));
        lines.extend(rule.map(|rule| format!("  what allows it: {}: [{rule:?}]", realm.word())));
        lines.extend(self.others((first, all)));
        lines.join("\n")
    }

    /// What else is not allowed, each with the first test that did it: the offence that matters may
    /// not be the first.
    fn others(&self, (first, all): (&Offence<'_>, &[Offence<'_>])) -> Vec<String> {
        const MOST: usize = 10;
        let what = |offence: &Offence<'_>| {
            let Act { realm, thing, .. } = &offence.act;
            let allowed = match thing {
                Thing::File(part) => self.of(*realm, part),
                _ => None,
            };
            quoted(shown(*realm, thing, allowed).as_deref())
        };
        let mut told = BTreeSet::from([what(first)]);
        let mut lines = Vec::new();
        for offence in all {
            let what = what(offence);
            if told.insert(what.clone()) {
                let test = of_test(&offence.by).unwrap_or_default();
                lines.push(format!(
                    "  nor {what}{}",
                    test.trim_end().replacen("  ", ", ", 1)
                ));
            }
        }
        let more = lines.len().saturating_sub(MOST);
        lines.truncate(MOST);
        lines.extend((more > 0).then(|| format!("  and {more} more")));
        lines
    }
}

fn quoted(shown: Option<&str>) -> String {
    match shown {
        // As a descriptor is called that `O_TMPFILE` gave.
        Some(shown) if shown == "#" || shown.ends_with("/#") => {
            format!("`{shown}`, a file without a name,")
        }
        Some(shown) => format!("`{shown}`"),
        None => "what has no name".to_owned(),
    }
}

pub(super) fn undecided(
    (key, line): &(String, usize),
    (first, all): (&Offence<'_>, &[Offence<'_>]),
    family: &Family,
) -> String {
    let why = match &first.act.thing {
        _ if first.act.is_done == Answer::Unknown => {
            Some("whether it was done is not known".to_owned())
        }
        thing => unsure(thing).map(|why| why.to_string()),
    };
    let is_doubtful = matches!(first.by, Blamed::OneOf(_));
    let why = why.or_else(|| is_doubtful.then(|| "which test did it is not known".to_owned()));
    let why = why.unwrap_or_else(|| "what it was done to was not read".to_owned());
    let mut lines = vec![format!("{key} (line {line}) cannot be decided: {why}")];
    lines.push(format!("~ {}", told(first.deed)));
    lines.push(format!("  in {}", family.line_of(first.deed)));
    lines.extend(of_test(&first.by));
    lines.extend(more(all));
    lines.join("\n")
}

/// What each test did of these that is known to have done it.
pub(super) fn by_tests(realm: Realm, all: &[Offence<'_>]) -> Vec<ByTest> {
    let mut tests: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for offence in all {
        if let Blamed::Test(name) = &offence.by {
            let did = shown(realm, &offence.act.thing, None);
            tests.entry(name).or_default().extend(did);
        }
    }
    let tests = tests.into_iter().map(|(test, did)| ByTest {
        test: test.to_owned(),
        did: did.into_iter().collect(),
    });
    tests.collect()
}

/// The test that did it, in a line of its own.
pub fn of_test(by: &Blamed) -> Option<String> {
    match by {
        Blamed::Nothing => None,
        Blamed::Test(name) => Some(format!("  in test {}", perf_records::units::shown(name))),
        Blamed::OneOf(names) if names.is_empty() => Some("  test unknown".to_owned()),
        Blamed::OneOf(names) => {
            const MOST: usize = 4;
            let shown = names.iter().take(MOST);
            let shown: Vec<_> = shown.map(|name| perf_records::units::shown(name)).collect();
            let more = names.len().saturating_sub(MOST);
            let more = (more > 0).then(|| format!(" and {more} more"));
            Some(format!(
                "  in one of the tests {}{}",
                shown.join(", "),
                more.unwrap_or_default()
            ))
        }
    }
}

fn more(all: &[Offence<'_>]) -> Option<String> {
    let more = all.len().saturating_sub(1);
    (more > 0).then(|| format!("  and {more} more"))
}

/// A path as rules have it: relative to the working directory, if it lies there.
fn as_in_rules(name: &[u8]) -> String {
    let name = letters(name);
    name.strip_prefix("$DIR/").unwrap_or(&name).to_owned()
}

/// A name as a text, with a U+FFFD for each byte that is none of UTF-8, as a glob counts them.
fn letters(name: &[u8]) -> String {
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}

/// The names that a file was known by.
pub(super) fn reached(part: &Part) -> &[Vec<u8>] {
    match &part.value {
        Value::Path {
            reached: Reached::Known { names, .. },
            ..
        }
        | Value::File {
            reached: Reached::Known { names, .. },
            ..
        } => names.as_slice(),
        _ => &[],
    }
}

/// All names of the file that something was done to, as rules have them.
pub(super) fn names(realm: Realm, thing: &Thing<'_>) -> Vec<String> {
    match (realm, thing) {
        (Realm::Reads | Realm::Writes | Realm::Programs, Thing::File(part)) => {
            let names = reached(part).iter();
            names.map(|name| in_realm(realm, name)).collect()
        }
        _ => Vec::new(),
    }
}

/// The name of a file as the rules of a realm have it.
fn in_realm(realm: Realm, name: &[u8]) -> String {
    let path = as_in_rules(name);
    match realm {
        Realm::Network => format!("unix:{path}"),
        // A rule without a slash is of the folders in `PATH`.
        Realm::Programs if !path.contains('/') => format!("./{path}"),
        _ => path,
    }
}

/// What was done, in the words of the rule that allows it; `None` for what no rule names.
pub(super) fn shown(realm: Realm, thing: &Thing<'_>, allowed: Option<&Allowed>) -> Option<String> {
    Some(match thing {
        Thing::File(part) if is_no_file(part) => {
            let memory = memory_of(part).filter(|_| realm == Realm::Programs);
            return memory.map(|name| String::from_utf8_lossy(name).into_owned());
        }
        Thing::File(part) => {
            let names = reached(part);
            let is_allowed = |name: &&Vec<u8>| {
                let part = named::called(part, name);
                allowed.is_some_and(|allowed| allowed.takes(&part) == Answer::Yes)
            };
            let not_allowed = names.iter().find(|name| !is_allowed(name));
            let own = match &part.value {
                Value::Path {
                    given, absolute, ..
                } => absolute.as_ref().unwrap_or(given),
                Value::File { name, .. } => name,
                Value::Bytes { bytes, .. } => {
                    return Some(format!("unix:{}", letters(bytes)));
                }
                _ => return Some(part.text.clone()),
            };
            in_realm(realm, not_allowed.or(names.first()).unwrap_or(own))
        }
        Thing::Internet(ip, port) => internet(ip, *port),
        Thing::Unbound => internet(&Thing::ANY.0, Thing::ANY.1),
        Thing::Family(family) => format!("family:{family}"),
        Thing::Raw => "raw".to_owned(),
        Thing::Privilege(name) => (*name).to_owned(),
        Thing::Came { .. } | Thing::Core | Thing::Loaded | Thing::Unread | Thing::Untold => {
            return None;
        }
    })
}

fn internet(ip: &core::net::IpAddr, port: u16) -> String {
    core::net::SocketAddr::new(*ip, port).to_string()
}

/// Who made which process.
pub(super) struct Family(BTreeMap<u32, (String, Option<u32>)>);

impl Family {
    pub(super) fn of(trace: &Normalised) -> Self {
        let leaders = trace.processes().filter_map(|blocks| blocks.first());
        let known = leaders.map(|block| {
            let parent = block.parent.map(|parent| parent.process);
            (block.task.process, (block.program.clone(), parent))
        });
        Self(known.collect())
    }

    /// `P1 sh > P2 git`: the processes from the first one to that of a deed.
    fn line_of(&self, deed: &Deed) -> String {
        let mut line = vec![format!("{} {}", deed.task, deed.program)];
        let mut next = self
            .0
            .get(&deed.task.process)
            .and_then(|(_, parent)| *parent);
        while let Some(process) = next.filter(|_| line.len() <= self.0.len()) {
            let known = self.0.get(&process);
            let program = known.map_or("", |(program, _)| program);
            line.push(format!("P{process} {program}"));
            next = known.and_then(|(_, parent)| *parent);
        }
        line.reverse();
        line.join(" > ")
    }
}
