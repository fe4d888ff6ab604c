//! What a policy allows that no scenario needs, and what they need that it does not allow.

use super::demand::{Demand, Whose};
use super::model::{Answer, Policy, Rule, Test};
use super::needs::looked_at;
use super::why::Who;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use syscall_model::names::Abi;

/// How a policy and what scenarios need differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    lines: Vec<(Order, String)>,
}

/// By name, and what is there before what is missing.
type Order = (String, bool, Option<u64>);

/// Compares a policy with what scenarios need. Without `by_word`, calls are told by their names
/// alone.
#[must_use]
pub fn drift(policy: &Policy, demand: &Demand, by_word: bool) -> Drift {
    let mut drift = Drift::default();
    let made = Policy::of(demand, policy.form, by_word);
    let needs = demand.needs(&|_| true);
    let abis = demand.abis();
    for rule in &policy.rules {
        let mut needs = needs.keys().filter(|need| need.name == rule.name);
        let is_needed = match rule.test {
            None => needs.next().is_some(),
            Some(Test { mask, value, .. }) => {
                needs.any(|need| need.word.is_none_or(|word| word & mask == value))
            }
        };
        if !is_needed {
            drift.push(&rule.name, false, rule.test.map(|test| test.value), {
                format!(
                    "-{}  (line {}: no scenario needs it)",
                    shown(&rule.name, rule.test.map(|test| test.value)),
                    rule.place.line
                )
            });
            continue;
        }
        let mut alike = made.rules.iter().filter(|other| other.name == rule.name);
        if rule.test.is_none() && alike.all(|other| other.test.is_some()) {
            let (name, line) = (&rule.name, rule.place.line);
            let text = format!(
                "-{name} with any argument  (line {line}: scenarios need it with some alone)"
            );
            drift.push(name, false, None, text);
        }
    }
    let kernels = demand.kernels();
    // Words may differ where the kernel does not look.
    let mut missing: BTreeMap<(&str, Option<u64>), BTreeSet<&Whose>> = BTreeMap::new();
    for (need, whose) in &needs {
        // What one convention of the policy allows, all of them do.
        let abi = policy.abis.iter().next().copied();
        let answer = abi.map(|abi| policy.answer(abi, Some(need.name), need.word));
        if !matches!(answer, Some(Answer::Allowed)) {
            let word = need.word.map(|word| looked_at(need.name, word));
            missing.entry((need.name, word)).or_default().extend(whose);
        }
    }
    for ((name, word), whose) in missing {
        let who = Who::of(whose.iter().copied(), &kernels);
        let line = format!("+{}  (needed by {who})", shown(name, word));
        drift.push(name, true, word, line);
    }
    for (sign, abi) in differing(&policy.abis, &abis) {
        let who = match sign {
            '+' if abi != Abi::native() => demand.foreign().join(", "),
            '+' => "scenarios make such calls".to_owned(),
            _ => "no scenario makes such calls".to_owned(),
        };
        let text = format!("{sign}calls of {}  ({who})", abi.as_str());
        drift.push("", sign == '+', None, text);
    }
    drift.sorted()
}

fn differing(there: &BTreeSet<Abi>, needed: &BTreeSet<Abi>) -> Vec<(char, Abi)> {
    let surplus = there.difference(needed).map(|abi| ('-', *abi));
    let missing = needed.difference(there).map(|abi| ('+', *abi));
    surplus.chain(missing).collect()
}

fn shown(name: &str, word: Option<u64>) -> String {
    word.map_or_else(|| name.to_owned(), |word| format!("{name} with {word:#x}"))
}

impl Drift {
    pub(super) fn push(&mut self, name: &str, is_missing: bool, word: Option<u64>, line: String) {
        let order = (name.to_owned(), is_missing, word);
        self.lines.push((order, line));
    }

    /// The same in the order in which it is told.
    pub(super) fn sorted(mut self) -> Self {
        self.lines.sort();
        self
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.lines.is_empty()
    }
}

/// A line each, `-` for what is too much and `+` for what is missing, by the names of the calls.
impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.lines.iter();
        lines.try_for_each(|(_, line)| writeln!(f, "{line}"))
    }
}

/// The text of [`Rule`]s for reports.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.name, self.test.map(|test| test.value)))
    }
}
