//! What differs from each kernel to the next one of the list, and why.

use super::results::{Column, Matrix};
use crate::upgrade::{self, Answer, Class};
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// One upgrade: from a kernel to the next of the list that did not break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What the older one is called in the list.
    pub from: String,
    /// What the newer one is called.
    pub to: String,
    /// What differs, the gravest class first; the same in several scenarios is one.
    pub changes: Vec<Explained>,
}

/// A difference with the scenarios that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Why it is there.
    pub class: Class,
    /// What differs.
    pub what: String,
    /// Where it was seen, at least once.
    pub seen: Vec<Seen>,
}

/// A difference in one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The scenario.
    pub scenario: String,
    /// What it came to on the older kernel and on the newer one. Two passes: the scenario allows the difference, or has a snapshot for either.
    pub verdicts: (Verdict, Verdict),
    /// What shows it, as in [`upgrade::Difference::evidence`].
    pub evidence: Vec<String>,
}

impl Matrix {
    /// Each upgrade, in the order of the list. A kernel that broke is left out: the next is compared with the one before.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let pairs = self.neighbours().into_iter();
        pairs.map(|(from, to)| self.step(from, to)).collect()
    }

    /// For each kernel the scenarios that have to be run again there, so that what varies anyway is told from what the kernels change: those
    /// whose runs differ between neighbours. What did not run at all does not vary.
    #[must_use]
    pub fn in_doubt(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in self.neighbours() {
            for scenario in &self.scenarios {
                let answers = [from, to].map(|column| column.answers(scenario).first());
                let [Some(before), Some(after)] = answers else {
                    continue;
                };
                let is_plain = |answer: &Answer| answer.verdict == Verdict::Skipped.word();
                if is_plain(before) || is_plain(after) || before.is_as(after) {
                    continue;
                }
                for column in [from, to] {
                    let scenarios = all.entry(column.kernel.clone()).or_default();
                    scenarios.insert(scenario.clone());
                }
            }
        }
        all
    }

    fn neighbours(&self) -> Vec<(&Column, &Column)> {
        let whole: Vec<&Column> = self.columns.iter().filter(|it| it.is_whole()).collect();
        let pairs = whole.iter().zip(whole.iter().skip(1));
        pairs.map(|(from, to)| (*from, *to)).collect()
    }

    fn step(&self, from: &Column, to: &Column) -> Step {
        let mut changes: Vec<Explained> = Vec::new();
        for scenario in &self.scenarios {
            let before = (&from.facts, from.answers(scenario));
            let after = (&to.facts, to.answers(scenario));
            for found in upgrade::explain(before, after) {
                let seen = Seen {
                    scenario: scenario.clone(),
                    verdicts: (from.verdict(scenario), to.verdict(scenario)),
                    evidence: found.evidence,
                };
                let is_same =
                    |it: &&mut Explained| it.class == found.class && it.what == found.what;
                match changes.iter_mut().find(is_same) {
                    Some(known) => known.seen.push(seen),
                    None => changes.push(Explained {
                        class: found.class,
                        what: found.what,
                        seen: vec![seen],
                    }),
                }
            }
        }
        changes.sort_by_key(|change| change.class);
        Step {
            from: from.kernel.clone(),
            to: to.kernel.clone(),
            changes,
        }
    }
}
