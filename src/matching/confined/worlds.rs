//! The rules of a run as tests of what it does.

use super::acts::{Act, Thing};
use super::table::{Realm, SYSTEM_READS, SYSTEM_SOCKETS, SYSTEM_WRITES};
use crate::matching::answer::Answer;
use crate::matching::named;
use crate::matching::paths::anchored;
use crate::scenario::{AddressPattern, Confined, Literal, Test};
use crate::trace::{LOADER, Part, Reached, Value};
use perf_records::glob::{escaped, is_glob, path_glob};

/// The rules of a run as tests.
pub(super) struct Worlds<'c> {
    rules: &'c Confined,
    writes: Allowed,
    reads: Allowed,
    programs: Allowed,
    /// Paths of sockets.
    sockets: Allowed,
    /// Names of sockets that are no files.
    abstracts: Allowed,
}

/// The files of one world, or names of sockets.
pub(super) struct Allowed {
    /// By the author's rules.
    rules: Test,
    /// By the preset, which is about where a file is and not how its path is spelled.
    preset: Test,
}

impl Allowed {
    fn new(rules: Vec<Test>, preset: Vec<Test>) -> Self {
        let (rules, preset) = (Test::OneOf(rules), Test::OneOf(preset));
        Self { rules, preset }
    }

    pub(super) fn takes(&self, part: &Part) -> Answer {
        match self.has_any() {
            true => named::is_within(&self.rules, &self.preset, part),
            false => Answer::No,
        }
    }

    fn has_any(&self) -> bool {
        let has_any = |test: &Test| !matches!(test, Test::OneOf(tests) if tests.is_empty());
        has_any(&self.rules) || has_any(&self.preset)
    }
}

impl<'c> Worlds<'c> {
    pub(super) fn new(rules: &'c Confined, folders: &[String], own: &[Vec<u8>]) -> Self {
        let system = |globs: &[&str]| -> Vec<Test> {
            let globs = globs.iter().filter(|_| rules.has_system);
            globs.map(|glob| path_test(glob)).collect()
        };
        let given = |globs: &Option<Vec<String>>| -> Vec<Test> {
            globs.iter().flatten().map(|glob| path_test(glob)).collect()
        };
        let own: Vec<Test> = own.iter().map(|name| is(&text(name))).collect();
        let programs: Vec<Test> = rules
            .programs
            .iter()
            .flatten()
            .flat_map(|name| match name.contains('/') {
                true => vec![path_test(name)],
                false => folders.iter().map(|it| program_test(it, name)).collect(),
            })
            .collect();
        let mut reads = given(&rules.reads);
        reads.extend(["$DIR", "$DIR/**"].map(path_test));
        reads.extend(own.iter().cloned());
        // What may be executed is read for it.
        reads.extend(programs.iter().cloned());
        let network = || rules.network.iter().flatten();
        let sockets = network().filter_map(|pattern| match pattern {
            AddressPattern::Path(glob) => Some(path_test(glob)),
            _ => None,
        });
        let abstracts = network().filter_map(|pattern| match pattern {
            AddressPattern::Abstract(glob) => Some(Test::Glob(format!("@{glob}"))),
            _ => None,
        });
        Self {
            rules,
            writes: Allowed::new(given(&rules.writes), system(SYSTEM_WRITES)),
            reads: Allowed::new(reads, system(SYSTEM_READS)),
            programs: Allowed::new([programs, own].concat(), Vec::new()),
            sockets: Allowed::new(sockets.collect(), system(SYSTEM_SOCKETS)),
            abstracts: Allowed::new(abstracts.collect(), Vec::new()),
        }
    }

    /// What is allowed of things such as this one; `None` where no path or name matters.
    pub(super) fn of(&self, realm: Realm, part: &Part) -> Option<&Allowed> {
        Some(match realm {
            Realm::Writes => &self.writes,
            Realm::Reads => &self.reads,
            Realm::Programs => &self.programs,
            Realm::Network if matches!(part.value, Value::Bytes { .. }) => &self.abstracts,
            Realm::Network => &self.sockets,
            Realm::Privileges => return None,
        })
    }

    /// Whether an act is allowed, supposed that it was done.
    pub(super) fn allows(&self, act: &Act<'_>) -> Answer {
        let rules = self.rules;
        let network = || rules.network.iter().flatten();
        match (&act.thing, act.realm) {
            // A program may be in memory alone, which its own name allows.
            (Thing::File(part), Realm::Programs) if is_no_file(part) => {
                let name = memory_of(part);
                let mut globs = rules.programs.iter().flatten();
                let is_named = |glob: &String| {
                    let is_memory = glob.starts_with(MEMORY);
                    is_memory && name.is_some_and(|name| path_glob(glob, name))
                };
                globs.any(is_named).into()
            }
            (Thing::File(part), _) if is_no_file(part) => Answer::Yes,
            (Thing::File(part), _) if is_not_open(part) => Answer::Unknown,
            (Thing::File(_), Realm::Programs) if rules.has_system && is_usual(act) => Answer::Yes,
            (Thing::File(part), realm) => match self.of(realm, part) {
                Some(allowed) => allowed.takes(part),
                None => Answer::No,
            },
            (Thing::Internet(ip, port), _) => {
                network().any(|pattern| pattern.takes(*ip, *port)).into()
            }
            (Thing::Unbound, _) => {
                let (ip, port) = Thing::ANY;
                network().any(|pattern| pattern.takes(ip, port)).into()
            }
            (Thing::Family(family), _) => {
                let wanted = AddressPattern::Family(family.clone());
                network().any(|pattern| *pattern == wanted).into()
            }
            (Thing::Raw, _) => network().any(|it| *it == AddressPattern::Raw).into(),
            (Thing::Privilege(name), _) => {
                let mut allowed = rules.privileges.iter().flatten();
                allowed.any(|allowed| allowed == name).into()
            }
            (Thing::Came { of_system: true }, _) if rules.has_system => Answer::Yes,
            // What came may be a pipe. A core dump need not be written, and a loader may only tell
            // of a program.
            (Thing::Came { .. } | Thing::Core | Thing::Loaded | Thing::Untold, _) => {
                Answer::Unknown
            }
            (Thing::Unread, realm) => Answer::unless_more(false, self.allows_any(realm)),
        }
    }

    /// Whether anything at all is allowed there.
    fn allows_any(&self, realm: Realm) -> bool {
        match realm {
            Realm::Writes => self.writes.has_any(),
            Realm::Reads => self.reads.has_any(),
            Realm::Programs => self.programs.has_any(),
            // An address that was not read may be none.
            Realm::Network | Realm::Privileges => true,
        }
    }
}

/// Whether it is the loader that the kernel starts for a program.
fn is_loader(thing: &Thing<'_>) -> bool {
    matches!(thing, Thing::File(part) if *part.name == *LOADER)
}

/// Whether nearly every program does this.
pub(super) fn is_usual(act: &Act<'_>) -> bool {
    let globs = match act.realm {
        Realm::Reads => SYSTEM_READS,
        Realm::Writes => SYSTEM_WRITES,
        Realm::Network => SYSTEM_SOCKETS,
        Realm::Programs if is_loader(&act.thing) => SYSTEM_READS,
        Realm::Programs | Realm::Privileges => return false,
    };
    let preset = globs.iter().map(|glob| path_test(glob)).collect();
    match &act.thing {
        Thing::File(part) => Allowed::new(Vec::new(), preset).takes(part) == Answer::Yes,
        _ => false,
    }
}

fn is(path: &str) -> Test {
    Test::Is(Literal::Text(path.to_owned()))
}

/// The test of a path that a rule names; a relative one, and a glob that begins with a wildcard, is
/// below the working directory.
fn path_test(glob: &str) -> Test {
    let glob = text(&anchored(glob.as_bytes()));
    match is_glob(&glob) {
        true => Test::Glob(glob),
        false => is(&glob),
    }
}

/// The test of a program with this name, or a glob of names, in a folder of `PATH`, where an empty
/// one is the working directory.
fn program_test(folder: &str, name: &str) -> Test {
    if matches!(folder, "" | ".") {
        return path_test(name);
    }
    let folder = folder.trim_end_matches('/');
    if !is_glob(name) {
        return is(&text(&anchored(format!("{folder}/{name}").as_bytes())));
    }
    path_test(&format!("{}/{name}", escaped(folder)))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether a path or a descriptor leads to what is in no folder: a pipe, a socket, memory.
pub(super) fn is_no_file(part: &Part) -> bool {
    match &part.value {
        Value::Path {
            reached: Reached::Nowhere,
            ..
        } => true,
        Value::File {
            name,
            description: Some(_),
            reached: Reached::Untold,
            ..
        } => !name.starts_with(b"/") && !name.starts_with(b"$DIR"),
        _ => false,
    }
}

/// What the name of a file in memory begins with.
const MEMORY: &str = "memfd:";

/// The name of a file that `memfd_create(2)` made, by its descriptor.
pub(super) fn memory_of(part: &Part) -> Option<&[u8]> {
    match &part.value {
        Value::File { name, .. } if is_no_file(part) && name.starts_with(MEMORY.as_bytes()) => {
            Some(name)
        }
        _ => None,
    }
}

/// Whether it is a descriptor that is not open, to what is known.
fn is_not_open(part: &Part) -> bool {
    let description = match &part.value {
        Value::File { description, .. } => description,
        _ => return false,
    };
    description.is_none()
}
