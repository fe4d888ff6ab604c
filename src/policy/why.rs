//! Which scenario needs each rule, and on which kernels.

use super::demand::{Demand, Needed, Whose};
use super::model::{Policy, Rule};
use std::collections::BTreeSet;
use std::fmt;
use syscall_model::names::Abi;

/// The widest that a line may be, unless a name is longer.
const WIDTH: usize = 100;

/// The text of a file beside a policy: for each rule the scenarios that need it.
#[must_use]
pub fn why(policy: &Policy, demand: &Demand) -> String {
    let mut text = String::new();
    let reasons = Reasons::of(demand);
    for abi in policy.abis.iter().filter(|abi| **abi != Abi::native()) {
        text.push_str(&format!("calls of {}:\n", abi.as_str()));
        for line in demand.foreign() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    for rule in &policy.rules {
        text.push_str(&format!("{rule}:\n"));
        text.push_str(&reasons.who(rule).lines("  "));
    }
    text
}

/// What tells who needs a rule.
pub(super) struct Reasons<'d> {
    needs: Needed<'d>,
    kernels: BTreeSet<&'d str>,
}

impl<'d> Reasons<'d> {
    pub(super) fn of(demand: &'d Demand) -> Self {
        Self {
            needs: demand.needs(&|_| true),
            kernels: demand.kernels(),
        }
    }

    /// Who needs a rule.
    pub(super) fn who(&self, rule: &Rule) -> Who<'d> {
        let of_name = self.needs.iter().filter(|(need, _)| need.name == rule.name);
        let needing = of_name.filter(|(need, _)| match (rule.test, need.word) {
            (Some(test), Some(word)) => word & test.mask == test.value,
            _ => true,
        });
        Who::of(
            needing.flat_map(|(_, all)| all.iter().copied()),
            &self.kernels,
        )
    }
}

/// Who needs something.
pub(super) struct Who<'d> {
    scenarios: BTreeSet<&'d str>,
    /// The kernels on which it is needed, where it is not needed on all.
    alone: BTreeSet<&'d str>,
}

impl<'d> Who<'d> {
    /// Sums up whose need it is, of so many kernels.
    pub(super) fn of(
        all: impl Iterator<Item = &'d Whose> + Clone,
        kernels: &BTreeSet<&'d str>,
    ) -> Self {
        let some: Option<BTreeSet<&str>> = all.clone().map(|it| it.kernel.as_deref()).collect();
        Self {
            scenarios: all.map(|it| it.scenario.as_str()).collect(),
            alone: some.filter(|some| some != kernels).unwrap_or_default(),
        }
    }

    /// `on 6.1.0 and 6.12.0 alone`; `None` if it is needed on every kernel.
    fn where_alone(&self) -> Option<String> {
        let names: Vec<&str> = self.alone.iter().copied().collect();
        (!names.is_empty()).then(|| format!("on {} alone", names.join(" and ")))
    }

    /// Lines with this lead, as many as it takes: the scenarios, and the kernels where not all do.
    pub(super) fn lines(&self, lead: &str) -> String {
        let mut text = lead.to_owned();
        let mut width = lead.len();
        for (place, name) in (1..).zip(&self.scenarios) {
            let comma = match place == self.scenarios.len() {
                true => "",
                false => ",",
            };
            let is_first = width == lead.len();
            if !is_first && width + 1 + name.len() + comma.len() > WIDTH {
                text += &format!("\n{lead}");
                width = lead.len();
            } else if !is_first {
                text.push(' ');
                width += 1;
            }
            text += &format!("{name}{comma}");
            width += name.len() + comma.len();
        }
        text.push('\n');
        if let Some(alone) = self.where_alone() {
            text += &format!("{lead}{alone}\n");
        }
        text
    }
}

/// `a, b on 6.1.0 alone`.
impl fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.scenarios.iter().copied().collect();
        f.write_str(&names.join(", "))?;
        let alone = self.where_alone();
        alone.map_or(Ok(()), |alone| write!(f, " {alone}"))
    }
}
