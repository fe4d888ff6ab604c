//! Explains what cannot be judged because earlier deeds were overwritten.

use super::Explainer;
use crate::matching::shape::Shape;
use crate::matching::{Matcher, words};
use crate::scenario::CountRange;

impl Explainer<'_, '_> {
    /// Explains an undecided `never`: the deed does not occur in what is left.
    pub(in crate::matching) fn forgot(&self, key: &str, matcher: &Matcher) -> String {
        let (step, line) = (words::of_matcher(matcher), matcher.line);
        let label = self.label;
        format!(
            "`{label}.{key}`: whether `{step}` occurred (line {line}) is not known, as records are missing"
        )
    }

    /// Explains an undecided `only`.
    pub(in crate::matching) fn forgot_others(&self, name: &str) -> String {
        let label = self.label;
        format!(
            "`{label}.only`: whether it allows every `{name}` is not known, as records are missing"
        )
    }

    /// Explains an undecided `count`.
    pub(in crate::matching) fn forgot_some(
        &self,
        matcher: &Matcher,
        range: CountRange,
        least: u64,
    ) -> String {
        let step = words::of_matcher(matcher);
        format!(
            "{} {range} of `{step}`, got {least}, and others have no record",
            self.expected()
        )
    }

    /// Explains an undecided sequence: a forbidden deed may have been between its steps.
    pub(in crate::matching) fn forgot_between(&self, shape: &Shape<'_>) -> String {
        let of = shape.leaves.first().map(|leaf| self.key(leaf));
        let of = of.unwrap_or_else(|| format!("{}.sequence", self.label));
        format!(
            "`{of}`: whether what must not lie between its steps did is not known, as records are missing"
        )
    }

    /// Explains an undecided `sequence` or `any_order`.
    pub(in crate::matching) fn forgot_steps(&self, shape: &Shape<'_>) -> String {
        let mut leaves = shape.leaves.iter();
        let forgotten = leaves.clone().find(|leaf| self.scene.forgets(leaf.matcher));
        let of = forgotten.or(leaves.next()).map(|leaf| self.step(leaf));
        let of = of.unwrap_or_else(|| format!("`{}.sequence`", self.label));
        format!("{of}: it does not occur in what was recorded, and records are missing")
    }
}
