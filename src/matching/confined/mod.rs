//! Judges `expect.confined`: what a run writes, reads, reaches and executes, and its privileges, as
//! closed worlds over whatever call does it.
//!
//! [`acts()`] says what a deed does, of that much that a list of calls is all: what is not known of
//! it is [`Answer::Unknown`], and so is then whether it is allowed.

mod acts;
mod handed;
mod ioctls;
mod kernels;
mod lasting;
mod made;
mod passing;
mod privileges;
mod reaches;
mod signals;
mod stated;
mod table;
mod told;
mod worlds;

pub use handed::{Handed, HandedTo, Judged};
pub use stated::{Deeds, Done, Statement, Unsure, changed_among, statement};
pub use table::{PROCESSES, Realm, needed, stated};
pub use told::of_test;

use super::answer::Answer;
use super::blame::{Blamed, Blaming, Tests};
use super::judge::{Finding, Said, Told};
use crate::scenario::{BlameBy, Confined, StartedAs, TestRules};
use crate::trace::{Deed, INTERPRETER, Normalised, Reached, StableName, Value};
use acts::{Act, Others, Thing, acts};
use lasting::Gone;
use perf_records::glob::is_glob;
use std::collections::{BTreeMap, BTreeSet};
use table::closes;
use told::{Family, by_tests, shown, undecided};
use worlds::Worlds;

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
    /// What single tests may do, with the line of each.
    pub tests: Vec<(TestRules, usize)>,
    /// Whether the test is told that did what is not allowed.
    pub finds_tests: bool,
    /// How tests are found.
    pub blaming: Blaming,
    /// The ids that the command was started with.
    pub started_as: StartedAs,
}

/// Rules that hold for some of a run: for a test, or for what is of no test that has rules.
#[derive(Clone, Copy, Debug)]
struct Rules<'c> {
    confinement: &'c Confinement,
    /// The test; `None` for the whole.
    test: Option<&'c (TestRules, usize)>,
}

impl<'c> Rules<'c> {
    fn confined(self) -> &'c Confined {
        self.test
            .map_or(&self.confinement.rules, |(test, _)| &test.confined)
    }

    /// What its key is called, and its line.
    fn key(self, realm: Realm) -> (String, usize) {
        let word = realm.word();
        match self.test {
            Some((test, line)) => {
                let name = test.name.escape_debug();
                (format!("`tests.\"{name}\".confined.{word}`"), *line)
            }
            None => {
                let line = self.confinement.lines.get(&realm).copied();
                (
                    format!("`expect.confined.{word}`"),
                    line.unwrap_or_default(),
                )
            }
        }
    }

    /// A finding in these words, on what these did.
    fn said(self, realm: Realm, text: String, all: &[Offence<'_>]) -> Said {
        let by = by_tests(realm, all);
        let Some((test, _)) = self.test else {
            return Said {
                by,
                ..Said::from(text)
            };
        };
        let at = test.at.clone().key("confined").key(realm.word());
        let of = Told {
            at,
            event: realm.word().to_owned(),
            expected: test.name.clone(),
            ..Told::default()
        };
        Said {
            text,
            of: Some(Box::new(of)),
            by,
        }
    }
}

impl Confinement {
    /// Returns the calls that must be recorded to judge it.
    #[must_use]
    pub fn calls(&self) -> BTreeSet<&'static str> {
        let all = self.all().into_iter();
        all.flat_map(|rules| needed(rules.confined())).collect()
    }

    /// Returns the names by which rules allow programs: paths, and of globs their folders, with a
    /// slash behind them.
    #[must_use]
    pub fn programs(&self) -> Vec<String> {
        let all = self.all().into_iter();
        let rules = all.flat_map(|rules| rules.confined().programs.iter().flatten());
        let paths = rules.flat_map(|name| match name.contains('/') {
            true => vec![name.clone()],
            false => {
                let folders = self.folders.iter();
                folders.map(|folder| format!("{folder}/{name}")).collect()
            }
        });
        let named = paths.filter_map(|path| match (is_glob(&path), path.rsplit_once('/')) {
            (false, _) => Some(path),
            (true, Some((folder, _))) if !is_glob(folder) => Some(format!("{folder}/")),
            (true, _) => None,
        });
        named.collect()
    }

    /// The rules of the whole first, then those of each test.
    fn all(&self) -> Vec<Rules<'_>> {
        let tests = self.tests.iter().map(Some);
        let all = std::iter::once(None).chain(tests);
        all.map(|test| Rules {
            confinement: self,
            test,
        })
        .collect()
    }

    /// Which rules may hold for what was done, as places in that list.
    fn holding(&self, realm: Realm, by: &Blamed) -> Vec<usize> {
        let has = |(test, _): &(TestRules, usize)| closes(&test.confined, realm);
        let of = |name: &str| {
            let mut tests = self.tests.iter();
            let place = tests.position(|it| has(it) && it.0.is_of(name));
            place.map_or(0, |place| place + 1)
        };
        let mut all: Vec<usize> = match by {
            Blamed::Nothing => vec![0],
            Blamed::Test(name) => vec![of(name)],
            Blamed::OneOf(names) if names.is_empty() => {
                let tests = (1..).zip(&self.tests).filter(|(_, it)| has(it));
                std::iter::once(0)
                    .chain(tests.map(|(place, _)| place))
                    .collect()
            }
            Blamed::OneOf(names) => names.iter().map(|name| of(name)).collect(),
        };
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// An act that is not allowed, or may not be.
struct Offence<'d> {
    deed: &'d Deed,
    act: Act<'d>,
    by: Blamed,
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
    let start = deeds.iter().find(|deed| is_start(deed));
    let own = start.map_or_else(Vec::new, |deed| own_program(deed));
    let interpreter = start.and_then(|deed| deed.part(INTERPRETER));
    let is_own = |thing: &Thing<'_>| {
        let part = interpreter.as_ref();
        part.is_some_and(|own| matches!(thing, Thing::File(part) if part == own))
    };
    let all = confinement.all();
    let worlds: Vec<Worlds<'_>> = all
        .iter()
        .map(|rules| Worlds::new(rules.confined(), &confinement.folders, &own))
        .collect();
    let tests = Tests::of(&confinement.blaming, trace, &deeds);
    let mut others = Others::of(&deeds);
    let mut offences: BTreeMap<(usize, Realm, Answer), Vec<Offence<'_>>> = BTreeMap::new();
    for deed in deeds.iter().copied() {
        for act in acts(deed, confinement.started_as, &mut others) {
            let is_of_start = is_start(deed) && !matches!(act.thing, Thing::Loaded);
            if is_of_start || is_own(&act.thing) {
                continue;
            }
            let by = match confinement.finds_tests {
                true => tests.blame(deed),
                false => Blamed::Nothing,
            };
            let holding = confinement.holding(act.realm, &by);
            let answers = holding.iter().filter_map(|place| {
                let (rules, worlds) = (all.get(*place)?, worlds.get(*place)?);
                let answer = match closes(rules.confined(), act.realm) {
                    true => worlds.allows(&act).or(act.is_done.opposite()),
                    false => Answer::Yes,
                };
                Some((*place, answer))
            });
            let answers: Vec<(usize, Answer)> = answers.collect();
            let Some((place, first)) = answers.iter().find(|(_, it)| *it != Answer::Yes) else {
                continue;
            };
            // What one of the possible tests may do is not known to be forbidden.
            let is_sure = answers.iter().all(|(_, answer)| answer == first);
            let answer = if is_sure { *first } else { Answer::Unknown };
            let kind = offences.entry((*place, act.realm, answer)).or_default();
            kind.push(Offence { deed, act, by });
        }
    }
    let known = (Family::of(trace), Gone::of(&deeds));
    let mut found = Vec::new();
    let all_worlds = &worlds;
    for (place, (rules, worlds)) in all.iter().zip(all_worlds).enumerate() {
        let closed = Realm::ALL.into_iter();
        for realm in closed.filter(|realm| closes(rules.confined(), *realm)) {
            let of = |answer| offences.get(&(place, realm, answer)).map(Vec::as_slice);
            let key = rules.key(realm);
            let finding = if let Some(all @ [first, ..]) = of(Answer::No) {
                let mut text = worlds.forbidden(&key, (first, all), &known);
                let whole = all_worlds.first().filter(|_| rules.test.is_some());
                text += &replaced(confinement, whole, &first.act).unwrap_or_default();
                Finding::Failed(rules.said(realm, text, all))
            } else if let Some(all @ [first, ..]) = of(Answer::Unknown) {
                let text = undecided(&key, (first, all), &known.0);
                Finding::Unknown(rules.said(realm, text, all))
            } else if forgets {
                let (key, line) = &key;
                let text =
                    format!("{key} (line {line}) may have been broken by what was overwritten");
                Finding::Unknown(rules.said(realm, text, &[]))
            } else {
                continue;
            };
            found.push((realm, finding));
        }
        found.extend(unused(*rules, &tests, forgets));
    }
    found.extend(unnamed(confinement, &tests));
    found
}

/// Says that the list of the whole run would allow it, and that the test's own stands for it.
fn replaced(
    confinement: &Confinement,
    whole: Option<&Worlds<'_>>,
    act: &Act<'_>,
) -> Option<String> {
    let is_allowed = closes(&confinement.rules, act.realm) && whole?.allows(act) == Answer::Yes;
    is_allowed.then(|| {
        let whole = Rules {
            confinement,
            test: None,
        };
        let (key, line) = whole.key(act.realm);
        format!("\n  {key} (line {line}) allows it, but a test's own list stands in place of it")
    })
}

/// What a runner must say for a test to be found, where nothing of that was said; `None` for
/// [`BlameBy::Process`], where a command need have no tests.
#[must_use]
pub fn no_names(by: BlameBy) -> Option<&'static str> {
    match by {
        BlameBy::Process => None,
        BlameBy::Thread => Some(
            "no names of tests were printed, which complete those of threads: what was looked for \
             is a line `test NAME ...`, as `cargo test` prints without `-q`",
        ),
        BlameBy::Output => Some(
            "no runner printed names of tests: what was looked for are lines `=== RUN NAME` \
             (`go test -v`), `FILE::NAME RESULT` (`pytest -v`), `test NAME ... RESULT` (`cargo \
             test -- --test-threads=1`) and `Start N: NAME` (`ctest`), so give the runner that \
             option",
        ),
    }
}

/// Says that no test is named, as no name was told, where no rule is of single tests.
fn unnamed(confinement: &Confinement, tests: &Tests) -> Option<(Realm, Finding)> {
    let is_of_whole = confinement.finds_tests && confinement.tests.is_empty();
    let text = no_names(confinement.blaming.by).filter(|_| is_of_whole)?;
    let mut closed = Realm::ALL.into_iter();
    let realm = closed.find(|realm| closes(&confinement.rules, *realm))?;
    let finding = || Finding::Remark(text.to_owned().into());
    tests.seen().is_empty().then(|| (realm, finding()))
}

/// Rules of a test that did not run hold nothing: a failure where no test is known to have run.
fn unused(rules: Rules<'_>, tests: &Tests, forgets: bool) -> Option<(Realm, Finding)> {
    let (test, line) = rules.test?;
    let seen = tests.seen();
    if seen.iter().any(|name| test.is_of(name)) {
        return None;
    }
    let mut closed = Realm::ALL.into_iter();
    let realm = closed.find(|realm| closes(&test.confined, *realm))?;
    let name = test.name.escape_debug();
    let by = rules.confinement.blaming.by;
    let by = match (by, no_names(by).filter(|_| seen.is_empty())) {
        (_, Some(none)) => none,
        (BlameBy::Process, None) => {
            "no process was started for a test of this name; where tests are \
                             threads or functions of one process, `blame` says so"
        }
        (BlameBy::Thread, None) => "no thread was named after a test of this name",
        (BlameBy::Output, None) => "no runner printed that a test of this name ran",
    };
    let text = format!("`tests.\"{name}\"` (line {line}) holds nothing: {by}");
    let said = rules.said(realm, text, &[]);
    let finding = match (forgets, seen.is_empty()) {
        (true, _) => Finding::Unknown(said),
        (false, true) => Finding::Failed(said),
        // A runner may have been asked for other tests alone.
        (false, false) => Finding::Remark(said),
    };
    Some((realm, finding))
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
fn own_program(start: &Deed) -> Vec<Vec<u8>> {
    let path = start.part("path");
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
