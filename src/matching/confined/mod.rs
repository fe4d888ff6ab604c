//! Judges `expect.confined`: what a run writes, reads, reaches and executes, and its privileges, as
//! closed worlds over whatever call does it.
//!
//! [`acts()`] says what a deed does, of that much that a list of calls is all: what is not known of
//! it is [`Answer::Unknown`], and so is then whether it is allowed.

mod acts;
mod ioctls;
mod reaches;
mod table;
mod worlds;

pub use table::{Realm, needed};

use super::answer::Answer;
use super::explain::told;
use super::judge::Finding;
use super::named;
use crate::scenario::Confined;
use crate::trace::{Deed, Normalised, Reached, StableName, Value};
use acts::{Act, Thing, acts};
use reaches::Sockets;
use std::collections::{BTreeMap, BTreeSet};
use table::closes;
use worlds::{Allowed, Worlds, is_no_file};

#[cfg(test)]
pub(super) use table::all_calls;

/// What a run is confined to, with what its rules mean on this machine.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// The rules, as they were written.
    pub rules: Confined,
    /// The line of each key that stands there, from 1.
    pub lines: BTreeMap<Realm, usize>,
    /// The folders in which a program is looked for by its name (`PATH`).
    pub folders: Vec<String>,
    /// The calls that are recorded for it alone.
    pub hidden: BTreeSet<String>,
}

/// An act that is not allowed, or may not be.
struct Offence<'d> {
    deed: &'d Deed,
    act: Act<'d>,
}

/// Returns what was not allowed in each closed world, or is not known to be; `forgets` says whether
/// earlier deeds were overwritten.
#[must_use]
pub fn confine(
    confinement: &Confinement,
    trace: &Normalised,
    forgets: bool,
) -> Vec<(Realm, Finding)> {
    let deeds = trace.in_order();
    let worlds = Worlds::new(confinement, own_program(&deeds));
    let mut sockets = Sockets::default();
    let mut offences: BTreeMap<(Realm, Answer), Vec<Offence<'_>>> = BTreeMap::new();
    for deed in deeds.iter().copied().filter(|deed| !is_start(deed)) {
        for act in acts(deed, &mut sockets) {
            if !closes(&confinement.rules, act.realm) {
                continue;
            }
            let answer = worlds.allows(&act).or(act.is_done.opposite());
            if answer != Answer::Yes {
                let kind = offences.entry((act.realm, answer)).or_default();
                kind.push(Offence { deed, act });
            }
        }
    }
    let family = Family::of(trace);
    let closed = Realm::ALL.into_iter();
    let closed = closed.filter(|realm| closes(&confinement.rules, *realm));
    let judged = closed.filter_map(|realm| {
        let of = |answer| offences.get(&(realm, answer)).map(Vec::as_slice);
        let line = confinement.lines.get(&realm).copied().unwrap_or_default();
        let key = format!("`expect.confined.{}`", realm.word());
        let finding = if let Some(all @ [first, ..]) = of(Answer::No) {
            Finding::Failed(worlds.forbidden(&key, line, (first, all), &family).into())
        } else if let Some(all @ [first, ..]) = of(Answer::Unknown) {
            Finding::Unknown(undecided(&key, line, (first, all), &family).into())
        } else if forgets {
            let text = format!("{key} (line {line}) may have been broken by what was overwritten");
            Finding::Unknown(text.into())
        } else {
            return None;
        };
        Some((realm, finding))
    });
    judged.collect()
}

/// The workload's own `execve`, which was entered before anything was recorded.
fn is_start(deed: &Deed) -> bool {
    const FIRST: StableName = StableName {
        process: 1,
        thread: 1,
    };
    &*deed.name == "execve" && deed.unseen == Some("...") && deed.task == FIRST
}

/// The names of the workload's own program.
fn own_program(deeds: &[&Deed]) -> Vec<Vec<u8>> {
    let start = deeds.iter().find(|deed| is_start(deed));
    let path = start.and_then(|deed| deed.part("path"));
    match path.map(|part| part.value.clone()) {
        Some(Value::Path {
            given,
            absolute,
            reached,
        }) => {
            let mut names = match reached {
                Reached::Known { names, .. } => names,
                _ => Vec::new(),
            };
            names.push(absolute.unwrap_or(given));
            names
        }
        _ => Vec::new(),
    }
}

impl Worlds<'_> {
    fn forbidden(
        &self,
        key: &str,
        line: usize,
        (first, all): (&Offence<'_>, &[Offence<'_>]),
        family: &Family,
    ) -> String {
        let Act { realm, thing, .. } = &first.act;
        let allowed = match thing {
            Thing::File(part) => self.of(*realm, part),
            _ => None,
        };
        let shown = shown(*realm, thing, allowed);
        let what = match &shown {
            Some(shown) => format!("`{shown}`"),
            None => "what has no name".to_owned(),
        };
        let mut lines = vec![format!("{key} does not allow {what} (line {line})")];
        lines.push(format!("- {}", told(first.deed)));
        lines.push(format!("  in {}", family.line_of(first.deed)));
        let rule = shown.map(|shown| format!("  what allows it: {}: [{shown:?}]", realm.word()));
        lines.extend(rule);
        lines.extend(more(all));
        lines.join("\n")
    }
}

fn undecided(
    key: &str,
    line: usize,
    (first, all): (&Offence<'_>, &[Offence<'_>]),
    family: &Family,
) -> String {
    let why = match &first.act.thing {
        _ if first.act.is_done == Answer::Unknown => {
            Some("whether it was done is not known".to_owned())
        }
        Thing::File(part) => named::why_unknown(part).map(str::to_owned),
        _ => None,
    };
    let why = why.unwrap_or_else(|| "what it was done to was not read".to_owned());
    let mut lines = vec![format!("{key} (line {line}) cannot be decided: {why}")];
    lines.push(format!("~ {}", told(first.deed)));
    lines.push(format!("  in {}", family.line_of(first.deed)));
    lines.extend(more(all));
    lines.join("\n")
}

fn more(all: &[Offence<'_>]) -> Option<String> {
    let more = all.len().saturating_sub(1);
    (more > 0).then(|| format!("  and {more} more"))
}

/// What was done, in the words of the rule that allows it; `None` for what no rule names.
fn shown(realm: Realm, thing: &Thing<'_>, allowed: Option<&Allowed>) -> Option<String> {
    let path = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        name.strip_prefix("$DIR/").unwrap_or(&name).to_owned()
    };
    Some(match thing {
        Thing::File(part) if is_no_file(part) => return None,
        Thing::File(part) => {
            let names = match &part.value {
                Value::Path {
                    reached: Reached::Known { names, .. },
                    ..
                }
                | Value::File {
                    reached: Reached::Known { names, .. },
                    ..
                } => names.as_slice(),
                _ => &[],
            };
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
                    return Some(format!("unix:{}", String::from_utf8_lossy(bytes)));
                }
                _ => return Some(part.text.clone()),
            };
            let path = path(not_allowed.or(names.first()).unwrap_or(own));
            match realm {
                Realm::Network => format!("unix:{path}"),
                _ => path,
            }
        }
        Thing::Internet(ip, port) => internet(ip, *port),
        Thing::Unbound => internet(&Thing::ANY.0, Thing::ANY.1),
        Thing::Family(family) => format!("family:{family}"),
        Thing::Raw => "raw".to_owned(),
        Thing::Privilege(name) => (*name).to_owned(),
        Thing::Unread => return None,
    })
}

fn internet(ip: &core::net::IpAddr, port: u16) -> String {
    core::net::SocketAddr::new(*ip, port).to_string()
}

/// Who made which process.
struct Family(BTreeMap<u32, (String, Option<u32>)>);

impl Family {
    fn of(trace: &Normalised) -> Self {
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
