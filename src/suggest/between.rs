//! Finds what always comes between two calls: a sync between a write and what follows it.

use super::syncs::{self, Brings, brings};
use crate::matching::{Bindings, Expected, Matcher, Scene, judge};
use crate::scenario::{
    Between, CountRange, Expectations, KeyPath, Literal, StepSpec, Suggestion, Test, event,
};
use crate::trace::Deed;
use crate::verdict::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

/// More of them are no help to read: in all, and of the writes to one file.
const MOST: usize = 4;
const MOST_OF_ONE: usize = 2;

/// How many deeds a search may try: what takes longer is not suggested.
const MOST_TRIES: u64 = 100_000;

/// What an answer is written to, by the class that an expectation names it by.
const ANSWERED: &[&str] = &["stdout", "pipe", "tcp", "udp", "unix", "vsock"];

/// Suggests what holds in every run, of what happens twice there: for what happens once `sequence`
/// says as much. Of a file that is also written through a mapping it would say more than is known.
pub(super) fn suggestion(runs: &[Run], mapped: &BTreeSet<Vec<u8>>) -> Option<Suggestion> {
    let runs: Vec<Vec<&Deed>> = runs.iter().map(|run| run.trace.in_order()).collect();
    let deeds = runs.first()?;
    let scenes: Vec<Scene<'_>> = runs.iter().map(|deeds| Scene::new(deeds)).collect();
    let mut between = Vec::new();
    let synced = synced(deeds).into_iter();
    for (sync, file) in synced.filter(|(_, file)| !mapped.contains(file)) {
        let Some(named) = syncs::written(&file) else {
            continue;
        };
        let fd = || ("fd".to_owned(), text(&named));
        let zero = ("returns".to_owned(), Test::Is(Literal::Number(0)));
        let there_is = event(&sync, vec![fd(), zero]);
        let followers = followers(deeds, &file);
        for (write, writers) in writing(deeds, &file) {
            // Another process's call depends on what it was told, and not on what is on the disk.
            let own = followers.iter().filter(|it| !it.by.is_disjoint(&writers));
            let elements = own.map(|follower| {
                let is_alone = follower.by.union(&writers).nth(1).is_none();
                let writer = || ("process".to_owned(), Test::Capture("writer".to_owned()));
                let by = || (!is_alone).then(writer);
                let fields = follower.fd.clone().map(|fd| ("fd".to_owned(), fd));
                Between {
                    first: event(&write, [fd()].into_iter().chain(by()).collect()),
                    then: event(&follower.name, fields.into_iter().chain(by()).collect()),
                    there_is: there_is.clone(),
                    times: CountRange { min: 2, max: None },
                }
            });
            let holding = elements.filter(|element| holds(element, &scenes));
            between.extend(holding.take(MOST_OF_ONE));
        }
    }
    between.truncate(MOST);
    for element in &mut between {
        element.times.min = 1;
    }
    (!between.is_empty()).then(|| Suggestion {
        why: vec![
            "Each time there is a sync between; a `sequence` would take the next one's for it:"
                .to_owned(),
        ],
        expectations: Expectations {
            between,
            ..Expectations::default()
        },
    })
}

/// The files below the working directory that were synced, and by which call.
fn synced(deeds: &[&Deed]) -> BTreeSet<(String, Vec<u8>)> {
    let synced = deeds.iter().filter_map(|deed| match brings(deed)? {
        Brings::File(file) if file.starts_with(b"$DIR/") => Some((deed.name.to_string(), file)),
        _ => None,
    });
    synced.collect()
}

/// The calls that wrote to a file, and the processes that made them.
fn writing(deeds: &[&Deed], file: &[u8]) -> BTreeMap<String, BTreeSet<u32>> {
    let is_of = |deed: &Deed| syncs::writes(deed) && syncs::file(deed).as_deref() == Some(file);
    let mut found: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for deed in deeds.iter().filter(|deed| is_of(deed)) {
        let writers = found.entry(deed.name.to_string()).or_default();
        writers.insert(deed.task.process);
    }
    found
}

/// A call that may depend on a file's being on the disk, and the processes that make it.
struct Follower {
    weight: Weight,
    name: String,
    fd: Option<Test>,
    by: BTreeSet<u32>,
}

/// What such a call does; what its author most likely promises comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Answer,
    Name,
    File,
}

/// What may depend on a file's being on the disk: an answer, a name or its end, another file.
fn followers(deeds: &[&Deed], of: &[u8]) -> Vec<Follower> {
    let mut found: Vec<Follower> = Vec::new();
    let told = |fd: &Option<Test>| fd.as_ref().map(Test::to_string);
    for deed in deeds {
        let Some((weight, fd)) = follower(deed, of) else {
            continue;
        };
        let process = deed.task.process;
        let mut known = found.iter_mut();
        match known.find(|it| *it.name == *deed.name && told(&it.fd) == told(&fd)) {
            Some(known) => drop(known.by.insert(process)),
            None => found.push(Follower {
                weight,
                name: deed.name.to_string(),
                fd,
                by: BTreeSet::from([process]),
            }),
        }
    }
    found.sort_by_key(|follower| follower.weight);
    found
}

/// What a call does, and what its descriptor must be.
fn follower(deed: &Deed, of: &[u8]) -> Option<(Weight, Option<Test>)> {
    let starts_with = |starts: &[&str]| starts.iter().any(|start| deed.name.starts_with(start));
    if starts_with(&["rename", "unlink", "link"]) {
        return Some((Weight::Name, None));
    }
    let is_sent = starts_with(&["sendto", "sendmsg", "sendmmsg"]);
    let file = syncs::file(deed).and_then(|file| Some((syncs::written(&file)?, file)));
    let Some((name, file)) = file else {
        return is_sent.then_some((Weight::Answer, None));
    };
    if !is_sent && (!syncs::writes(deed) || file == of) {
        return None;
    }
    let weight = match file.starts_with(b"$DIR/") {
        true => Weight::File,
        false if ANSWERED.contains(&name.as_str()) => Weight::Answer,
        false => return None,
    };
    Some((weight, Some(text(&name))))
}

/// Whether an element holds in all runs.
fn holds(element: &Between, scenes: &[Scene<'_>]) -> bool {
    let written = Expectations {
        between: vec![element.clone()],
        ..Expectations::default()
    };
    let Ok(expected): Result<Expected, Infallible> = written.try_map(|_, step| Ok(matcher(step)));
    scenes.iter().all(|scene| {
        let judged = judge(&expected, scene, None, &Bindings::default(), MOST_TRIES);
        judged.findings.is_empty()
    })
}

/// A step with an event's own name, as a plan makes a matcher of it.
fn matcher(step: &StepSpec) -> Matcher {
    Matcher {
        word: step.event.clone(),
        names: BTreeSet::from([step.event.clone()]),
        fields: step.fields.clone(),
        is_closed: false,
        at: KeyPath::root(),
        line: 0,
    }
}

fn text(text: &str) -> Test {
    Test::Is(Literal::Text(text.to_owned()))
}
