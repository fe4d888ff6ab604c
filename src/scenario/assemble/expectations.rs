//! Patterns and counts with their places, and what is wrong with them as a whole.

use super::File;
use crate::scenario::counts::CountRange;
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::key_path::KeyPath;
use crate::scenario::patterns::{WrittenBetween, WrittenCounts, WrittenExpectations};
use crate::scenario::steps::{Between, Expectations, NumberOf, Pattern, StepSpec};

/// What holds a list of patterns, which decides what may stand in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Sequence,
    AnyOrder,
}

impl File<'_> {
    /// What stands in the mapping `at`.
    pub(super) fn expectations(
        &self,
        at: &KeyPath,
        written: WrittenExpectations,
    ) -> Result<Expectations, Diagnostic> {
        let key = |name: &str| at.clone().key(name);
        let patterns = |name, holder, list: Option<Vec<_>>| match list {
            Some(list) => self.patterns(&key(name), holder, list),
            None => Ok(Vec::new()),
        };
        let steps = |name, list: Option<Vec<_>>| match list {
            Some(list) => self.steps(&key(name), list),
            None => Ok(Vec::new()),
        };
        Ok(Expectations {
            sequence: patterns("sequence", Holder::Sequence, written.sequence)?,
            any_order: patterns("any_order", Holder::AnyOrder, written.any_order)?,
            never: steps("never", written.never)?,
            only: steps("only", written.only)?,
            count: match written.count {
                Some(count) => self.counts(&key("count"), count)?,
                None => Vec::new(),
            },
            between: match written.between {
                Some(list) => self.betweens(&key("between"), list)?,
                None => Vec::new(),
            },
        })
    }

    /// Each event with how many of it there must be.
    pub(super) fn counts<N>(
        &self,
        at: &KeyPath,
        WrittenCounts(counts): WrittenCounts<N>,
    ) -> Result<Vec<NumberOf<StepSpec, N>>, Diagnostic> {
        self.not_empty(at, &counts)?;
        let counts = counts.into_iter();
        Ok(counts
            .map(|NumberOf { step, times }| {
                let step = step.below(at.clone());
                NumberOf { step, times }
            })
            .collect())
    }

    fn betweens(
        &self,
        at: &KeyPath,
        written: Vec<WrittenBetween>,
    ) -> Result<Vec<Between>, Diagnostic> {
        if written.is_empty() {
            let help = "write { first: ..., then: ..., there_is: ... }, or leave it out";
            return Err(self.empty(at, help));
        }
        let one_at_least = CountRange { min: 1, max: None };
        let elements = written.into_iter().enumerate();
        let elements = elements.map(|(index, written)| {
            let key = |name: &str| at.clone().index(index).key(name);
            Between {
                first: written.first.below(key("first")),
                then: written.then.below(key("then")),
                there_is: written.there_is.below(key("there_is")),
                times: written.times.map_or(one_at_least, |times| times.0),
            }
        });
        Ok(elements.collect())
    }

    fn not_empty<T>(&self, at: &KeyPath, list: &[T]) -> Result<(), Diagnostic> {
        match list.is_empty() {
            true => Err(self.empty(at, "name an event, or leave it out")),
            false => Ok(()),
        }
    }

    fn steps(&self, at: &KeyPath, steps: Vec<StepSpec>) -> Result<Vec<StepSpec>, Diagnostic> {
        self.not_empty(at, &steps)?;
        let steps = steps.into_iter().enumerate();
        Ok(steps
            .map(|(index, step)| step.below(at.clone().index(index)))
            .collect())
    }

    fn patterns(
        &self,
        at: &KeyPath,
        holder: Holder,
        written: Vec<Pattern>,
    ) -> Result<Vec<Pattern>, Diagnostic> {
        self.not_empty(at, &written)?;
        let mut patterns = Vec::new();
        for (index, element) in written.into_iter().enumerate() {
            let at = at.clone().index(index);
            self.check_neighbours(&at, holder, &patterns, &element)?;
            patterns.push(self.pattern(at, element)?);
        }
        if !patterns.iter().any(demands_an_event) {
            let complaint = self.complaint(at, format!("{} demands no event", at.in_words()));
            return Err(
                complaint.with_help("for what must not come at all write `never` beside it")
            );
        }
        Ok(patterns)
    }

    fn pattern(&self, at: KeyPath, written: Pattern) -> Result<Pattern, Diagnostic> {
        Ok(match written {
            Pattern::Step(step) => Pattern::Step(step.below(at)),
            Pattern::Next(step) => Pattern::Next(step.below(at.key("next"))),
            Pattern::Never(steps) => {
                let at = at.key("never");
                self.not_empty(&at, &steps)?;
                let steps = steps.into_iter();
                Pattern::Never(steps.map(|step| step.below(at.clone())).collect())
            }
            Pattern::Sequence(list) => {
                Pattern::Sequence(self.patterns(&at.key("sequence"), Holder::Sequence, list)?)
            }
            Pattern::AnyOrder(list) => {
                Pattern::AnyOrder(self.patterns(&at.key("any_order"), Holder::AnyOrder, list)?)
            }
        })
    }

    /// Refuses `next` and `never` where they have no neighbour that they could speak of.
    fn check_neighbours(
        &self,
        at: &KeyPath,
        holder: Holder,
        before: &[Pattern],
        element: &Pattern,
    ) -> Result<(), Diagnostic> {
        let (key, fault, help) = match (element, holder) {
            (Pattern::Next(_), Holder::AnyOrder) => (
                "next",
                "`next` belongs into a sequence",
                "in any order nothing is next: write { sequence: [...] } as an element",
            ),
            (Pattern::Never(_), Holder::AnyOrder) => (
                "never",
                "`never` belongs into a sequence, or beside `any_order`",
                "in any order nothing lies between: write { sequence: [...] } as an element",
            ),
            (Pattern::Next(_), Holder::Sequence) if !ends_in_a_step(before) => (
                "next",
                "`next` has no step before it",
                "it is the event that the thread of a step makes next: put that step before it",
            ),
            _ => return Ok(()),
        };
        let complaint = self.complaint(&at.clone().key(key).key_itself(), fault);
        Err(complaint.with_help(help))
    }
}

fn demands_an_event(pattern: &Pattern) -> bool {
    !matches!(pattern, Pattern::Never(_))
}

/// Whether one event is the last that these patterns demand; what must not come behind it changes
/// nothing.
fn ends_in_a_step(patterns: &[Pattern]) -> bool {
    match patterns.iter().rfind(|pattern| demands_an_event(pattern)) {
        Some(Pattern::Step(_) | Pattern::Next(_)) => true,
        Some(Pattern::Sequence(patterns)) => ends_in_a_step(patterns),
        Some(Pattern::AnyOrder(_) | Pattern::Never(_)) | None => false,
    }
}
