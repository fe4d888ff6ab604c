//! The groups of calls that systemd has names for (`systemd.exec(5)`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use syscall_model::names::{self, Abi};

/// Its version in the first line, a group a line, and its calls and groups below it.
const CAPTURED: &str = include_str!("groups.txt");

/// The group that systemd adds to each list of what is allowed.
pub(super) const DEFAULT: &str = "@default";

const ALL: [Abi; 5] = [Abi::X86_64, Abi::I386, Abi::X32, Abi::Aarch64, Abi::Arm];

/// The calls of each group, those of groups in it too.
static GROUPS: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| {
    let mut written: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut group = "";
    for line in CAPTURED.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix(' ') {
            Some(member) => {
                written.entry(group).or_default().insert(member);
            }
            None => group = line,
        }
    }
    let names = written.keys();
    names
        .map(|name| (*name, calls_of(name, &written)))
        .collect()
});

fn calls_of<'t>(name: &str, written: &BTreeMap<&str, BTreeSet<&'t str>>) -> BTreeSet<&'t str> {
    let members = written.get(name).into_iter().flatten();
    let calls = members.flat_map(|member| match member.starts_with('@') {
        true => calls_of(member, written),
        false => BTreeSet::from([*member]),
    });
    calls.collect()
}

/// The systemd whose groups these are: `systemd 252`.
pub(super) fn version() -> &'static str {
    let line = CAPTURED.lines().next().unwrap_or_default();
    let words = line.trim_start_matches("# ");
    words.split(" (").next().unwrap_or_default()
}

/// The calls of a group, of any architecture; `None` if there is no group of this name.
pub(super) fn calls(name: &str) -> Option<&'static BTreeSet<&'static str>> {
    GROUPS.get(name)
}

/// Whether one of these conventions has a call.
pub(super) fn is_of(abis: &BTreeSet<Abi>, call: &str) -> bool {
    let mut abis = abis.iter();
    abis.any(|abi| names::number(*abi, call).is_some())
}

/// The groups that allow these calls and no other one, none of which is a part of another: each
/// with its calls.
///
/// What an architecture lacks a filter cannot allow; a call that is not known here it may have.
pub(super) fn fitting<'n>(
    abis: &BTreeSet<Abi>,
    needed: &BTreeSet<&'n str>,
) -> BTreeMap<&'static str, BTreeSet<&'n str>> {
    let known: BTreeSet<Abi> = ALL.into_iter().collect();
    let mut found: BTreeMap<&'static str, BTreeSet<&str>> = BTreeMap::new();
    for (group, calls) in GROUPS.iter().filter(|(name, _)| **name != DEFAULT) {
        let fits = |call: &&str| match is_of(&known, call) {
            true => !is_of(abis, call) || needed.contains(call) || is_default(call),
            false => false,
        };
        if calls.iter().all(fits) {
            let of = needed.iter().filter(|name| calls.contains(*name));
            found.insert(group, of.copied().collect());
        }
    }
    let is_part = |calls: &BTreeSet<&str>| {
        let mut others = found.values();
        others.any(|other| calls.len() < other.len() && calls.is_subset(other))
    };
    let whole = found
        .iter()
        .filter(|(_, calls)| calls.len() > 1 && !is_part(calls));
    whole.map(|(name, calls)| (*name, calls.clone())).collect()
}

/// Whether systemd allows a call whatever a unit says.
pub(super) fn is_default(call: &str) -> bool {
    calls(DEFAULT).is_some_and(|calls| calls.contains(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_captured_table_is_read_whole() {
        assert!(version().starts_with("systemd 2"), "{}", version());
        assert!(GROUPS.len() > 25, "{}", GROUPS.len());
        let all = CAPTURED.lines().filter(|line| line.starts_with('@'));
        assert_eq!(all.count(), GROUPS.len());
        assert!(GROUPS.values().all(|calls| !calls.is_empty()));
        assert!(is_default("execve") && !is_default("openat"));
        let privileged = calls("@privileged").expect("a group");
        assert!(privileged.contains("fchown"), "of @chown, which is in it");
        assert!(privileged.iter().all(|call| !call.starts_with('@')));
    }
}
