//! Which scenario needs each rule.

use super::demand::{Demand, Need};
use super::model::{Policy, Rule};
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::names::Abi;

/// The widest that a line may be, unless a name is longer.
const WIDTH: usize = 100;

/// The text of a file beside a policy: for each rule the scenarios that need it.
#[must_use]
pub fn why(policy: &Policy, demand: &Demand) -> String {
    let mut text = String::new();
    let needs = demand.needs(&|_| true);
    for abi in policy.abis.iter().filter(|abi| **abi != Abi::native()) {
        text.push_str(&format!("calls of {}:\n", abi.as_str()));
        for line in demand.foreign() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    for rule in &policy.rules {
        text.push_str(&format!("{rule}:\n"));
        for line in wrapped(&who(rule, &needs), "  ") {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

/// The scenarios that need a rule.
pub(super) fn who<'d>(rule: &Rule, needs: &BTreeMap<Need, BTreeSet<&'d str>>) -> BTreeSet<&'d str> {
    let of_name = needs.iter().filter(|(need, _)| need.name == rule.name);
    let needing = of_name.filter(|(need, _)| match (rule.test, need.word) {
        (Some(test), Some(word)) => word & test.mask == test.value,
        _ => true,
    });
    needing.flat_map(|(_, who)| who.iter().copied()).collect()
}

/// Names behind a lead, in as many lines as it takes.
pub(super) fn wrapped(names: &BTreeSet<&str>, lead: &str) -> Vec<String> {
    let mut lines = vec![lead.to_owned()];
    for (place, name) in names.iter().enumerate() {
        let comma = match place + 1 == names.len() {
            true => "",
            false => ",",
        };
        let Some(line) = lines.last_mut() else {
            continue;
        };
        let is_first = line.len() == lead.len();
        if !is_first && line.len() + 1 + name.len() + comma.len() > WIDTH {
            lines.push(format!("{lead}{name}{comma}"));
            continue;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(name);
        line.push_str(comma);
    }
    lines
}
