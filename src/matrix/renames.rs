//! Finds events that another kernel has under another name.

use super::formats::EventField;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

type Events = BTreeMap<String, Vec<EventField>>;

/// Returns the events of the first kernel that have another name in the second. Neither kernel has
/// both names; the system or the name within it is the same; and the fields are equal, to the byte,
/// and belong to no event that both kernels have, as many events share the same fields. Of several
/// candidates, the one that shares most words of its name is chosen.
pub(super) fn renamed<'a>(old: &'a Events, new: &'a Events) -> BTreeMap<&'a str, &'a str> {
    let in_both = old.iter().filter(|(name, _)| new.contains_key(*name));
    let common: BTreeSet<String> = in_both.map(|(_, fields)| own(fields)).collect();
    let only = |events: &'a Events, other: &Events| -> Vec<(&'a str, String)> {
        let alone = events.iter().filter(|(name, _)| !other.contains_key(*name));
        let told = alone.map(|(name, fields)| (name.as_str(), own(fields)));
        told.filter(|(_, fields)| !fields.is_empty() && !common.contains(fields))
            .collect()
    };
    let (gone, came) = (only(old, new), only(new, old));
    let mut pairs: Vec<(Reverse<usize>, &str, &str)> = Vec::new();
    for (before, fields) in &gone {
        let same = came.iter().filter(|(_, others)| others == fields);
        for (after, _) in same {
            let (is_near, words) = nearness(before, after);
            if is_near {
                pairs.push((Reverse(words), before, after));
            }
        }
    }
    pairs.sort_unstable();
    let mut found = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for (_, before, after) in pairs {
        if !found.contains_key(before) && taken.insert(after) {
            found.insert(before, after);
        }
    }
    found
}

/// Returns its fields without those that all events have.
fn own(fields: &[EventField]) -> String {
    let own = fields
        .iter()
        .filter(|field| !field.name.starts_with("common_"));
    own.map(|field| format!("{field:?}\n")).collect()
}

/// Returns whether one can be the other's name, and how many words they share.
fn nearness(first: &str, second: &str) -> (bool, usize) {
    let split = |name: &'_ str| -> (String, String) {
        let (system, event) = name.split_once(':').unwrap_or(("", name));
        (system.to_owned(), event.to_owned())
    };
    let ((system, event), (other_system, other_event)) = (split(first), split(second));
    let shared = shared_words(&event, &other_event);
    let is_near = (system == other_system && shared > 0) || event == other_event;
    (is_near, shared)
}

/// How many words two names have in common.
pub(super) fn shared_words(first: &str, second: &str) -> usize {
    let words =
        |name: &'_ str| -> BTreeSet<String> { name.split('_').map(str::to_owned).collect() };
    words(first).intersection(&words(second)).count()
}
