//! What one word of a selection stands for.

use super::glob::glob_matches;
use crate::syscall::class;
use crate::syscall::names::{self, Abi};

/// The rows that one word without its `!` stands for.
pub(super) fn rows_of_word(word: &str, native: Abi) -> Vec<usize> {
    let served = |row: &usize| is_served(*row, native);
    if let Some(class) = word.strip_prefix('%') {
        return class::class_rows(class)
            .into_iter()
            .flatten()
            .filter(served)
            .collect();
    }
    if word.contains(['*', '?', '[']) {
        let matches = |row: &usize| glob_matches(word.as_bytes(), names::row_name(*row).as_bytes());
        return served_rows(native).filter(matches).collect();
    }
    let same = names::row_of(word).filter(served);
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

fn is_served(row: usize, native: Abi) -> bool {
    [Abi::X86_64, Abi::I386, Abi::X32, Abi::Aarch64, Abi::Arm]
        .into_iter()
        .any(|abi| native.serves(abi) && names::row_number(abi, row).is_some())
}

pub(super) fn served_rows(native: Abi) -> impl Iterator<Item = usize> {
    (0..names::ROW_COUNT).filter(move |row| is_served(*row, native))
}

pub(super) fn is_match_all(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte == b'*')
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
