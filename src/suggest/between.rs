//! Finds what always comes between two calls: a sync between a write and what follows it.

use super::syncs::{self, Brings, brings};
use crate::matching::{Bindings, Expected, Matcher, Scene, judge};
use crate::scenario::{
    Between, CountRange, Expectations, KeyPath, Literal, StepSpec, Suggestion, Test, event,
};
use crate::trace::Deed;
use crate::verdict::Run;
use std::collections::BTreeSet;
use std::convert::Infallible;

/// More of them are no help to read: in all, and of the writes to one file.
const MOST: usize = 4;
const MOST_OF_ONE: usize = 2;

/// How many deeds a search may try: what takes longer is not suggested.
const MOST_TRIES: u64 = 100_000;

/// Suggests what holds in every run, of what happens twice there: for what happens once `sequence`
/// says as much.
pub(super) fn suggestion(runs: &[Run]) -> Option<Suggestion> {
    let runs: Vec<Vec<&Deed>> = runs.iter().map(|run| run.trace.in_order()).collect();
    let deeds = runs.first()?;
    let scenes: Vec<Scene<'_>> = runs.iter().map(|deeds| Scene::new(deeds)).collect();
    let mut between = Vec::new();
    for (sync, file) in synced(deeds) {
        let Some(named) = syncs::written(&file) else {
            continue;
        };
        let fd = || ("fd".to_owned(), text(&named));
        let zero = ("returns".to_owned(), Test::Is(Literal::Number(0)));
        let there_is = event(&sync, vec![fd(), zero]);
        for write in writing(deeds, &file) {
            let first = event(&write, vec![fd()]);
            let elements = followers(deeds, &file).into_iter().map(|then| Between {
                first: first.clone(),
                then,
                there_is: there_is.clone(),
                times: CountRange { min: 2, max: None },
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

/// The calls that wrote to a file.
fn writing(deeds: &[&Deed], file: &[u8]) -> BTreeSet<String> {
    let is_of = |deed: &Deed| syncs::writes(deed) && syncs::file(deed).as_deref() == Some(file);
    let found = deeds.iter().filter(|deed| is_of(deed));
    found.map(|deed| deed.name.to_string()).collect()
}

/// What may depend on a file's being on the disk: an answer, a name or its end, another file.
fn followers(deeds: &[&Deed], of: &[u8]) -> Vec<StepSpec> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for deed in deeds {
        let Some((weight, fd)) = follower(deed, of) else {
            continue;
        };
        if known.insert((&deed.name, fd.as_ref().map(Test::to_string))) {
            let fields = fd.map(|fd| ("fd".to_owned(), fd)).into_iter();
            found.push((weight, event(&deed.name, fields.collect())));
        }
    }
    found.sort_by_key(|(weight, _)| *weight);
    found.into_iter().map(|(_, step)| step).collect()
}

/// What a call is of what may depend on a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Follower {
    Answer,
    Name,
    File,
}

/// What a call is, and what its descriptor must be.
fn follower(deed: &Deed, of: &[u8]) -> Option<(Follower, Option<Test>)> {
    let starts_with = |starts: &[&str]| starts.iter().any(|start| deed.name.starts_with(start));
    if starts_with(&["rename", "unlink", "link"]) {
        return Some((Follower::Name, None));
    }
    if starts_with(&["sendto", "sendmsg"]) {
        return Some((Follower::Answer, None));
    }
    let file = syncs::file(deed).filter(|file| syncs::writes(deed) && file != of)?;
    let file = syncs::written(&file).map(|name| (name, file.starts_with(b"$DIR/")))?;
    match file {
        (name, true) => Some((Follower::File, Some(text(&name)))),
        (name, false) if name == "stdout" => Some((Follower::Answer, Some(text(&name)))),
        (name, false) => {
            let mut sockets = ["tcp:", "unix:"].into_iter();
            let class = sockets.find(|class| name.starts_with(class))?;
            Some((Follower::Answer, Some(Test::Prefix(class.to_owned()))))
        }
    }
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
