//! Finds what differs between runs of a process.

use super::Reason;
use super::reason::Setting;
use crate::trace::{Block, Deed};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Calls of a name that differ between runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varying {
    /// The name.
    pub name: String,
    /// The fewest and the most calls in a run.
    pub times: (u64, u64),
    /// A line of one run, and the line in its place in another run, if there is one.
    pub example: Option<(String, String)>,
    /// The likely reason.
    pub reason: Reason,
}

/// Returns, by name, what differs from the first run. For calls that only changed places, the names
/// that did so come first.
pub(super) fn varying(runs: &[Vec<&Block>], setting: &Setting) -> Vec<Varying> {
    let Some((first, others)) = runs.split_first() else {
        return Vec::new();
    };
    let first_lines = lines(first);
    let mut names: BTreeMap<&str, Option<(String, String)>> = BTreeMap::new();
    for other in others {
        let other_lines = lines(other);
        let is_known = !names.is_empty();
        for name in different(&first_lines, &other_lines) {
            let example = || example(name, first, other);
            names.entry(name).or_insert_with(example);
        }
        if !is_known
            && names.is_empty()
            && let Some((a, b)) = first_places(first, other)
        {
            let example = (a.line(), b.line());
            names.insert(&a.name, Some(example.clone()));
            names.entry(&b.name).or_insert(Some(example));
        }
    }
    let times = |name: &str| {
        let counts = runs.iter().map(|blocks| tally(blocks).get(name).copied());
        let counts: Vec<u64> = counts.map(Option::unwrap_or_default).collect();
        let least = counts.iter().min().copied().unwrap_or_default();
        (least, counts.iter().max().copied().unwrap_or_default())
    };
    let found = names.into_iter().map(|(name, example)| Varying {
        name: name.to_owned(),
        times: times(name),
        reason: setting.reason(name, example.as_ref(), runs),
        example,
    });
    found.collect()
}

/// Returns how often each call was made, by all threads together.
pub(super) fn tally<'a>(blocks: &[&'a Block]) -> BTreeMap<&'a str, u64> {
    let mut tally = BTreeMap::new();
    for (name, count) in blocks.iter().flat_map(|block| &block.tally) {
        *tally.entry(name.as_str()).or_default() += count;
    }
    tally
}

/// How often each line occurs, with its name.
type Lines<'a> = HashMap<(u32, String), (&'a str, u64)>;

fn lines<'a>(blocks: &[&'a Block]) -> Lines<'a> {
    let mut lines = HashMap::new();
    for block in blocks {
        for deed in &block.deeds {
            let key = (block.task.thread, deed.line());
            let (_, count) = lines.entry(key).or_insert((&*deed.name, 0));
            *count += 1;
        }
    }
    lines
}

fn different<'a>(first: &Lines<'a>, other: &Lines<'a>) -> BTreeSet<&'a str> {
    let unlike = |a: &Lines<'a>, b: &Lines<'a>| {
        let here = a.iter();
        let unlike =
            here.filter(|(line, (_, count))| b.get(*line).is_none_or(|(_, there)| there != count));
        unlike.map(|(_, (name, _))| *name).collect::<BTreeSet<_>>()
    };
    let mut names = unlike(first, other);
    names.extend(unlike(other, first));
    names
}

/// Returns the first place at which two calls of a name differ.
fn example(name: &str, first: &[&Block], other: &[&Block]) -> Option<(String, String)> {
    let lines = |blocks: &[&Block]| {
        let deeds = blocks.iter().flat_map(|block| &block.deeds);
        let meant = deeds.filter(|deed| *deed.name == *name);
        meant.map(Deed::line).collect::<Vec<_>>()
    };
    let mut pairs = lines(first).into_iter().zip(lines(other));
    pairs.find(|(a, b)| a != b)
}

/// Returns the first place at which two runs differ.
fn first_places<'a>(first: &[&'a Block], other: &[&'a Block]) -> Option<(&'a Deed, &'a Deed)> {
    let deeds = |blocks: &[&'a Block]| {
        let deeds = blocks.iter().flat_map(|block| &block.deeds);
        deeds.collect::<Vec<_>>()
    };
    let mut pairs = deeds(first).into_iter().zip(deeds(other));
    pairs.find(|(a, b)| a.line() != b.line())
}
