//! What one word of a selection stands for.

use crate::class;
use crate::names::{self, Abi, OfEach};
use crate::relatives::{self, OPERATIONS};
use perf_records::glob::{glob, is_glob};

/// The rows that one word without its `!` stands for; for a word that means nothing what to do
/// about it, where that is known.
pub(super) fn rows_of_word(word: &str, native: Abi) -> Result<Vec<usize>, Option<String>> {
    if word == "none" {
        return Ok(Vec::new());
    }
    if let Some(alone) = word.strip_prefix('=') {
        let rows = rows_of_name(alone, native);
        return if rows.is_empty() { Err(None) } else { Ok(rows) };
    }
    if let Some(wanted) = optional(word) {
        return Ok(rows_of_word(wanted, native).unwrap_or_default());
    }
    let rows: Vec<usize> = if is_match_all(word) {
        served_rows(native).collect()
    } else if let Some(pattern) = word.strip_prefix('/') {
        let pattern = regex::Regex::new(pattern).map_err(|error| Some(flaw(&error)))?;
        let matches = |row: &usize| pattern.is_match(names::row_name(*row));
        served_rows(native).filter(matches).collect()
    } else if let Some(class) = word.strip_prefix('%').or(bare_class(word, native)) {
        let rows = class::class_rows(class).into_iter().flatten();
        rows.filter(|row| is_served(*row, native)).collect()
    } else if is_glob(word) {
        let matches = |row: &usize| glob(word, names::row_name(*row));
        served_rows(native).filter(matches).collect()
    } else {
        rows_of_name(word, native)
    };
    if rows.is_empty() {
        return Err(advice(word));
    }
    Ok(rows)
}

/// strace's mark of a call that may be unknown, `?name`; a `?` in front of a pattern is part of
/// that.
fn optional(word: &str) -> Option<&str> {
    let rest = word.strip_prefix('?')?;
    let is_pattern = rest.starts_with('/') || is_glob(rest);
    (!rest.is_empty() && !is_pattern).then_some(rest)
}

/// The classes that strace also knows without their `%`, where that is not the name of a native
/// call.
fn bare_class(word: &str, native: Abi) -> Option<&str> {
    const BARE: [&str; 7] = [
        "desc", "file", "ipc", "memory", "network", "process", "signal",
    ];
    (BARE.contains(&word) && names::number(native, word).is_none()).then_some(word)
}

fn rows_of_name(word: &str, native: Abi) -> Vec<usize> {
    if let Some(place) = relatives::place_of_operation(word) {
        let slot = names::ROW_COUNT + place;
        return served_operations(native).filter(|it| *it == slot).collect();
    }
    let same = names::row_of(word).filter(|row| is_served(*row, native));
    let aliases = if names::number(native, word).is_none() {
        names::renamed_by_tracefs(word)
            .filter(|name| names::number(native, name).is_some())
            .filter_map(names::row_of)
            .collect()
    } else {
        Vec::new()
    };
    same.into_iter().chain(aliases).collect()
}

fn advice(word: &str) -> Option<String> {
    let (name, _) = word
        .split_once('@')
        .filter(|(_, convention)| matches!(*convention, "64" | "32" | "x32"))?;
    Some(format!(
        "a name stands for the call in every convention: write `{name}`"
    ))
}

/// What is wrong with a regular expression, without the picture of it that its error draws.
fn flaw(error: &regex::Error) -> String {
    let text = error.to_string();
    let reason = text.lines().last().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    format!("it is no regular expression: {reason}")
}

fn is_served(row: usize, native: Abi) -> bool {
    [Abi::X86_64, Abi::I386, Abi::X32, Abi::Aarch64, Abi::Arm]
        .into_iter()
        .any(|abi| native.serves(abi) && names::row_number(abi, row).is_some())
}

/// The slots of every call that a kernel serves: its row, or that of its operation behind all rows.
pub(super) fn served(native: Abi) -> &'static [usize] {
    static OF_EACH: OfEach<Vec<usize>> = OfEach::new();
    let both = || {
        served_rows(native)
            .chain(served_operations(native))
            .collect()
    };
    OF_EACH.get(native, both)
}

fn served_rows(native: Abi) -> impl Iterator<Item = usize> {
    (0..names::ROW_COUNT).filter(move |row| is_served(*row, native))
}

/// The slots of operations of calls that are many, behind all rows.
fn served_operations(native: Abi) -> impl Iterator<Item = usize> {
    let is_served = move |of: &str| names::row_of(of).is_some_and(|row| is_served(row, native));
    let places = OPERATIONS.iter().enumerate();
    places
        .filter(move |(_, operation)| is_served(operation.of))
        .map(|(place, _)| names::ROW_COUNT + place)
}

/// Whether the word stands for every call, those included that no table knows.
pub fn is_match_all(word: &str) -> bool {
    matches!(word, "all" | "?all") || !word.is_empty() && word.bytes().all(|byte| byte == b'*')
}

/// A word longer than this is not compared with the names: none is half as long.
const MAX_COMPARED: usize = 64;

/// The three names that differ least from the word, where a third of its letters may differ.
pub(super) fn nearest(word: &str, native: Abi) -> Vec<String> {
    if word.len() > MAX_COMPARED {
        return Vec::new();
    }
    let allowed = (word.chars().count() / 3).max(1);
    let classes = class::class_names().map(|class| format!("%{class}"));
    let calls = names::all(native).map(|(_, name)| String::from(name));
    let mut ranked: Vec<_> = classes
        .chain(calls)
        .map(|name| (strsim::damerau_levenshtein(word, &name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    ranked.sort();
    ranked.into_iter().take(3).map(|(_, name)| name).collect()
}
