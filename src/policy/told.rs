//! What a policy refuses of a run.

use super::model::{Answer, Policy, Rule};
use super::needs::{Needs, looked_at, told_by};
use std::collections::BTreeSet;
use syscall_model::names::{self, Abi};

/// A call of a run that a policy refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The call, with its word where that is known: `ioctl with 0x5401`.
    pub call: String,
    /// Where the policy says so: the place of what becomes of all calls without a rule, or those of
    /// the rules of this name.
    pub lines: Vec<usize>,
    /// Whether it is another's rules that are meant: the calls of this name are refused unless an
    /// argument is right.
    pub by_word: bool,
    /// Whether it is not known who refused it: the workload has a filter of its own, and the policy
    /// allows such a call with some arguments.
    pub is_unsure: bool,
}

/// The calls of a run that a policy refuses, as the run tells them.
#[must_use]
pub fn told(policy: &Policy, needs: &Needs) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (abi, number, words) in needs.calls() {
        let name = names::name_of(abi, number);
        let mut asked: Vec<Option<u64>> = words.seen.iter().copied().map(Some).collect();
        // Without its word: it is not told by one, or it was not seen.
        if name.and_then(told_by).is_none() || words.unseen {
            asked.push(None);
        }
        for word in asked {
            let (rules, is_unsure) = match policy.answer(abi, name, word) {
                Answer::Allowed => continue,
                Answer::Refused(rules) => (rules, false),
                // It passed, so that its word was right.
                Answer::Unknown(_) if !words.unentered => continue,
                Answer::Unknown(rules) => (rules, needs.filters),
            };
            let refusal = Refusal {
                call: shown(abi, number, word),
                lines: lines(policy, rules),
                by_word: !rules.is_empty(),
                is_unsure,
            };
            // Words may differ where the kernel does not look.
            if !refusals.contains(&refusal) {
                refusals.push(refusal);
            }
        }
    }
    refusals
}

fn shown(abi: Abi, number: i32, word: Option<u64>) -> String {
    let mut text = match names::name_of(abi, number) {
        Some(name) => format!("`{name}`"),
        None => format!("the call {number}"),
    };
    if abi != Abi::native() {
        text.push_str(&format!(" of {}", abi.as_str()));
    }
    if let Some(word) = word {
        let word = names::name_of(abi, number).map_or(word, |name| looked_at(name, word));
        text.push_str(&format!(" with {word:#x}"));
    }
    text
}

fn lines(policy: &Policy, rules: &[Rule]) -> Vec<usize> {
    match rules {
        [] => vec![policy.otherwise.line],
        rules => {
            let lines: BTreeSet<usize> = rules.iter().map(|rule| rule.place.line).collect();
            lines.into_iter().collect()
        }
    }
}
