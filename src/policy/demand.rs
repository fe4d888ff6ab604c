//! What all scenarios need together, and which of them needs it.

use super::needs::{Needs, Words, told_by};
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::names::{self, Abi};

/// What scenarios need: each by its name, on each kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    of: BTreeMap<Whose, Needs>,
}

/// Whose need it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Whose {
    /// The scenario.
    pub scenario: String,
    /// The release of the kernel that it ran on; `None` if the need is one on any kernel.
    pub kernel: Option<String>,
}

/// Each need and whose it is.
pub type Needed<'d> = BTreeMap<Need, BTreeSet<&'d Whose>>;

/// A call that is needed: its name, and the word that tells it from others of that name where all
/// calls of the name are known by theirs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// Its name.
    pub name: &'static str,
    /// The word of [`told_by`], all bits of it.
    pub word: Option<u64>,
}

impl Demand {
    /// Adds what a scenario needs; `kernel` is the release of the kernel where that is known of
    /// one alone.
    pub fn add(&mut self, scenario: &str, kernel: Option<&str>, needs: &Needs) {
        let whose = Whose {
            scenario: scenario.to_owned(),
            kernel: kernel.map(str::to_owned),
        };
        let own = self.of.entry(whose);
        own.and_modify(|own| own.add(needs))
            .or_insert_with(|| needs.clone());
    }

    /// Each need and whose it is.
    pub(super) fn each(&self) -> impl Iterator<Item = (&Whose, &Needs)> {
        self.of.iter()
    }

    /// The releases of the kernels.
    #[must_use]
    pub fn kernels(&self) -> BTreeSet<&str> {
        let all = self.of.keys();
        all.filter_map(|whose| whose.kernel.as_deref()).collect()
    }

    /// The conventions of the calls, the native one among them.
    #[must_use]
    pub fn abis(&self) -> BTreeSet<Abi> {
        let all = self.of.values().flat_map(Needs::calls);
        let seen = all.map(|(abi, ..)| abi);
        seen.chain([Abi::native()]).collect()
    }

    /// The scenarios that made a call in another convention than this machine's, a line each.
    #[must_use]
    pub fn foreign(&self) -> Vec<String> {
        let native = Abi::native();
        let mut lines = Vec::new();
        for (Whose { scenario, .. }, needs) in &self.of {
            let abis: BTreeSet<Abi> = needs.calls().map(|(abi, ..)| abi).collect();
            let foreign = abis.iter().filter(|abi| **abi != native);
            lines.extend(foreign.map(|abi| format!("{scenario} makes calls of {}", abi.as_str())));
        }
        lines.dedup();
        lines
    }

    /// The calls that no policy can name, a line each.
    #[must_use]
    pub fn nameless(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (Whose { scenario, .. }, needs) in &self.of {
            let nameless = needs
                .calls()
                .filter(|(abi, number, _)| names::name_of(*abi, *number).is_none());
            lines.extend(nameless.map(|(abi, number, _)| {
                format!(
                    "{scenario} makes the call {number} of {}, which has no name",
                    abi.as_str()
                )
            }));
        }
        lines
    }

    /// The calls that a filter of the workload's own refused, a line each: what they were given is
    /// not recorded, and without that filter the program would do something else.
    #[must_use]
    pub fn refused(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (Whose { scenario, .. }, needs) in &self.of {
            let refused = needs.calls().filter(|(.., words)| words.unentered);
            lines.extend(refused.map(|(abi, number, _)| {
                let name = names::name_of(abi, number).unwrap_or("?");
                format!("{scenario} has `{name}` refused by a filter of its own")
            }));
        }
        lines
    }

    /// Each need and whose it is. Where `by_word` says so of a name, its calls are told by an
    /// argument, if that is known of all of them.
    #[must_use]
    pub fn needs(&self, by_word: &dyn Fn(&str) -> bool) -> Needed<'_> {
        let all = || {
            let calls = self.of.iter().flat_map(|(whose, needs)| {
                needs.calls().map(move |(abi, number, words)| {
                    names::name_of(abi, number).map(|name| (whose, name, words))
                })
            });
            calls.flatten()
        };
        let is_any = |name: &str, words: &Words| {
            !by_word(name) || words.unseen || words.seen.is_empty() || told_by(name).is_none()
        };
        let any: BTreeSet<&str> = all()
            .filter(|(_, name, words)| is_any(name, words))
            .map(|(_, name, _)| name)
            .collect();
        let mut found = Needed::new();
        for (whose, name, words) in all() {
            let words = match any.contains(name) {
                true => vec![None],
                false => words.seen.iter().copied().map(Some).collect(),
            };
            for word in words {
                found.entry(Need { name, word }).or_default().insert(whose);
            }
        }
        found
    }
}
