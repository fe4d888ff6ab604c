//! Why an expectation was not met.

use super::bindings::Bindings;
use super::order::{Place, Scene};
use super::search::Search;
use super::shape::Shape;
use super::{Matcher, words};
use crate::scenario::CountRange;

/// Says why.
pub(super) struct Explainer<'s, 'a> {
    pub(super) scene: &'s Scene<'a>,
    /// Whose expectations these are.
    pub(super) label: &'s str,
}

impl Explainer<'_, '_> {
    pub(super) fn gave_up(&self, _: &Shape<'_>, most: u64) -> String {
        let label = self.label;
        format!("`{label}`: whether its steps occur could not be told within {most} attempts")
    }

    pub(super) fn unknown(&self, search: &Search<'_, '_>) -> String {
        let _search = search;
        format!(
            "`{}`: whether its steps occur hangs on values that were not read",
            self.label
        )
    }

    pub(super) fn failed(&self, shape: &Shape<'_>, outer: &Bindings) -> String {
        const TRIES: u64 = 200_000;
        let mut search = Search::new(self.scene, shape, outer, true, TRIES);
        search.run_as_far_as_possible();
        let met = search.best.len();
        let step = shape.leaves.get(met);
        let said = step.map_or_else(String::new, |leaf| {
            format!(
                ": step {} (line {}): {}",
                leaf.number,
                leaf.matcher.line,
                words::of_matcher(leaf.matcher)
            )
        });
        format!("`{}` is not met{said}", self.label)
    }

    pub(super) fn occurs(&self, matcher: &Matcher, deeds: &[Place]) -> String {
        let lines = self.lines(deeds);
        format!(
            "`{}` occurs, and must not\n{lines}",
            words::of_matcher(matcher)
        )
    }

    pub(super) fn may_occur(&self, matcher: &Matcher, deeds: &[Place]) -> String {
        let lines = self.lines(deeds);
        format!(
            "whether `{}` occurs is unknown\n{lines}",
            words::of_matcher(matcher)
        )
    }

    pub(super) fn not_allowed(&self, _: &[Matcher], deeds: &[Place]) -> String {
        format!("`only` does not allow\n{}", self.lines(deeds))
    }

    pub(super) fn may_not_be_allowed(&self, _: &[Matcher], deeds: &[Place]) -> String {
        format!(
            "whether `only` allows these is unknown\n{}",
            self.lines(deeds)
        )
    }

    pub(super) fn miscounted(
        &self,
        matcher: &Matcher,
        range: CountRange,
        deeds: &[Place],
    ) -> String {
        let (word, count) = (words::of_matcher(matcher), deeds.len());
        format!("expected {range} of `{word}`, got {count}")
    }

    pub(super) fn uncounted(
        &self,
        matcher: &Matcher,
        range: CountRange,
        least: u64,
        unknown: &[Place],
    ) -> String {
        let (word, more) = (words::of_matcher(matcher), unknown.len());
        format!("expected {range} of `{word}`, got {least}, and {more} of which nobody knows")
    }

    fn lines(&self, deeds: &[Place]) -> String {
        const MOST: usize = 5;
        let found = deeds
            .iter()
            .filter_map(|place| self.scene.deeds.get(*place));
        let lines: Vec<String> = found
            .take(MOST)
            .map(|deed| format!("  {} {}", deed.task, deed.line()))
            .collect();
        lines.join("\n")
    }
}
