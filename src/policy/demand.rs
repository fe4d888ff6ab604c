//! What all scenarios need together, and which of them needs it.

use super::needs::{Needs, told_by};
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::names::{self, Abi};

/// What scenarios need: each by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    of: BTreeMap<String, Needs>,
}

/// A call that is needed: its name, and the word that tells it from others of that name where all
/// calls of the name are known by theirs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// Its name.
    pub name: &'static str,
    /// The word of [`told_by`].
    pub word: Option<u64>,
}

impl Demand {
    /// Adds what a scenario needs.
    pub fn add(&mut self, scenario: &str, needs: &Needs) {
        self.of.entry(scenario.to_owned()).or_default().add(needs);
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
        for (scenario, needs) in &self.of {
            let abis: BTreeSet<Abi> = needs.calls().map(|(abi, ..)| abi).collect();
            let foreign = abis.iter().filter(|abi| **abi != native);
            lines.extend(foreign.map(|abi| format!("{scenario} makes calls of {}", abi.as_str())));
        }
        lines
    }

    /// The calls that no policy can name, a line each.
    #[must_use]
    pub fn nameless(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (scenario, needs) in &self.of {
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
        for (scenario, needs) in &self.of {
            let refused = needs.calls().filter(|(.., words)| words.unentered);
            lines.extend(refused.map(|(abi, number, _)| {
                let name = names::name_of(abi, number).unwrap_or("?");
                format!("{scenario} has `{name}` refused by a filter of its own")
            }));
        }
        lines
    }

    /// Each need and the scenarios that have it. Where `by_word` says so of a name, its calls are
    /// told by an argument, if that is known of all of them.
    #[must_use]
    pub fn needs(&self, by_word: &dyn Fn(&str) -> bool) -> BTreeMap<Need, BTreeSet<&str>> {
        let named = |needs: &Needs| -> Vec<(&'static str, Vec<u64>, bool)> {
            let calls = needs.calls().filter_map(|(abi, number, words)| {
                let name = names::name_of(abi, number)?;
                Some((name, words.seen.iter().copied().collect(), words.unseen))
            });
            calls.collect()
        };
        let all: Vec<_> = self
            .of
            .iter()
            .map(|(scenario, needs)| (scenario.as_str(), named(needs)))
            .collect();
        let any: BTreeSet<&str> = all
            .iter()
            .flat_map(|(_, calls)| calls)
            .filter(|(name, words, unseen)| {
                !by_word(name) || *unseen || words.is_empty() || told_by(name).is_none()
            })
            .map(|(name, ..)| *name)
            .collect();
        let mut found: BTreeMap<Need, BTreeSet<&str>> = BTreeMap::new();
        for (scenario, calls) in &all {
            for (name, words, _) in calls {
                let words = match any.contains(name) {
                    true => vec![None],
                    false => words.iter().copied().map(Some).collect(),
                };
                for word in words {
                    let need = Need { name, word };
                    found.entry(need).or_default().insert(scenario);
                }
            }
        }
        found
    }
}
