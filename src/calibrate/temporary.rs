//! Finds names of files that differ from run to run.

use crate::trace::{Deed, Value};
use perf_records::glob::{escaped, glob};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Globs for parts of paths that are other ones in each run, each with an example. `runs` are the
/// deeds of the same process in several runs.
///
/// Such a part stands at the same place of the same line in most runs, and hardly ever comes again.
/// A glob that a name matches which every run has is none.
pub(super) fn find(runs: &[Vec<&Deed>]) -> Vec<(String, String)> {
    let names: Vec<HashSet<&[u8]>> = runs.iter().map(|deeds| names(deeds)).collect();
    let Some(first) = names.first() else {
        return Vec::new();
    };
    let is_in_all = |name: &&&[u8]| names.iter().all(|names| names.contains(**name));
    let lasting: HashSet<&[u8]> = first.iter().filter(is_in_all).copied().collect();
    let mut places: HashMap<(String, usize), BTreeMap<usize, &[u8]>> = HashMap::new();
    for (run, deeds) in runs.iter().enumerate() {
        for deed in deeds {
            for (key, name) in places_in(deed, &lasting) {
                places.entry(key).or_default().insert(run, name);
            }
        }
    }
    let mut globs = BTreeMap::new();
    for of_runs in places.values() {
        let different: BTreeSet<&[u8]> = of_runs.values().copied().collect();
        // Two names that take turns are two names, and not one that is made up in each run.
        if of_runs.len() * 2 <= runs.len() || different.len() * 2 <= of_runs.len() {
            continue;
        }
        if let Some((pattern, example)) = written(&different)
            && !lasting.iter().any(|name| glob(&pattern, name))
        {
            globs.entry(pattern).or_insert(example);
        }
    }
    globs.into_iter().collect()
}

/// The names between the slashes of all that may be a path.
fn names<'a>(deeds: &[&'a Deed]) -> HashSet<&'a [u8]> {
    deeds.iter().flat_map(|deed| names_in(deed)).collect()
}

fn names_in(deed: &Deed) -> impl Iterator<Item = &[u8]> {
    let values = deed
        .fields
        .iter()
        .chain(&deed.returns)
        .map(|part| &part.value);
    let texts = values.flat_map(|value| match value {
        Value::Path { given, .. } => vec![given.as_slice()],
        Value::File { name, .. } => vec![name.as_slice()],
        Value::Strings { strings, .. } => strings.iter().map(Vec::as_slice).collect(),
        _ => Vec::new(),
    });
    let names = texts.flat_map(|text| text.split(|byte| *byte == b'/'));
    names.filter(|name| !name.is_empty())
}

/// The names in a deed that are not in every run: each by the line without such names, and by which
/// of them it is.
fn places_in<'a>(deed: &'a Deed, lasting: &HashSet<&[u8]>) -> Vec<((String, usize), &'a [u8])> {
    let mut others: Vec<&[u8]> = Vec::new();
    for name in names_in(deed).filter(|name| !lasting.contains(name)) {
        if !others.contains(&name) {
            others.push(name);
        }
    }
    if others.is_empty() {
        return Vec::new();
    }
    let mut line = deed.line();
    for name in &others {
        line = line.replace(&*String::from_utf8_lossy(name), "\0");
    }
    let others = others.into_iter().enumerate();
    others
        .map(|(place, name)| ((line.clone(), place), name))
        .collect()
}

// A name without anything that lasts is taken for a made-up one from this length on, in bytes.
const MADE_UP: usize = 8;

/// The glob for names that are alike, and one of them.
fn written(names: &BTreeSet<&[u8]>) -> Option<(String, String)> {
    let mut all = names.iter().map(|name| std::str::from_utf8(name).ok());
    let all: Vec<&str> = all.by_ref().collect::<Option<_>>()?;
    let (first, others) = all.split_first()?;
    if others.is_empty() || !all.iter().all(|name| name.is_ascii()) {
        return None;
    }
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let shortest = all.iter().map(|name| name.len()).min()?;
    let begin = others.iter().map(|name| same(first, name)).min()?;
    let reversed = |name: &str| name.chars().rev().collect::<String>();
    let end = others
        .iter()
        .map(|name| same(&reversed(first), &reversed(name)))
        .min()?
        .min(shortest - begin);
    let is_same_length = all.iter().all(|name| name.len() == first.len());
    let is_number = |name: &&str| {
        let middle = name.get(begin..name.len() - end);
        middle.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let (mut begin, mut end) = (begin, end);
    let middle = if all.iter().all(is_number) {
        // Of a number that grows (a clock, an id) the first digits are another in some later run.
        let n_digits =
            |bytes: &mut dyn Iterator<Item = u8>| bytes.take_while(u8::is_ascii_digit).count();
        begin -= n_digits(&mut first.bytes().take(begin).rev());
        end -= n_digits(&mut first.bytes().skip(first.len() - end));
        "[0-9]*".to_owned()
    } else if is_same_length {
        "?".repeat(shortest - begin - end)
    } else {
        "*".to_owned()
    };
    if begin + end == 0 && (!is_same_length || shortest < MADE_UP) {
        return None;
    }
    let glob = [
        escaped(first.get(..begin)?),
        middle,
        escaped(first.get(first.len() - end..)?),
    ];
    Some((glob.concat(), (*first).to_owned()))
}
