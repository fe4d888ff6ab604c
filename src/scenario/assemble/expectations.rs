//! Patterns and counts with their places, and what is wrong with them as a whole.

use super::File;
use crate::scenario::counts::CountRange;
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::field_test::Test;
use crate::scenario::key_path::KeyPath;
use crate::scenario::patterns::{
    WrittenCounted, WrittenCounts, WrittenExpectations, WrittenPattern, WrittenStep, WrittenSteps,
};
use crate::scenario::steps::{CountSpec, Expectations, PatternSpec, StepSpec};

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
        let count = match written.count {
            Some(count) => self.counts(&key("count"), count)?,
            None => Vec::new(),
        };
        Ok(Expectations {
            sequence: patterns("sequence", Holder::Sequence, written.sequence)?,
            any_order: patterns("any_order", Holder::AnyOrder, written.any_order)?,
            never: steps("never", written.never)?,
            only: steps("only", written.only)?,
            count: count
                .into_iter()
                .map(|(step, times): (_, CountRange)| CountSpec { step, times })
                .collect(),
        })
    }

    /// Each event with how many of it there must be.
    pub(super) fn counts<N>(
        &self,
        at: &KeyPath,
        written: WrittenCounts<N>,
    ) -> Result<Vec<(StepSpec, N)>, Diagnostic> {
        let counts: Vec<_> = match written {
            WrittenCounts::Mapping(entries) => {
                let spec = |(event, times)| (step_of(at.clone(), event, Vec::new()), times);
                entries.into_iter().map(spec).collect()
            }
            WrittenCounts::List(list) => {
                let list = list.into_iter().enumerate();
                let spec = |(index, counted): (usize, _)| {
                    let WrittenCounted { step, times } = counted;
                    (placed(at.clone().index(index), step), times)
                };
                list.map(spec).collect()
            }
        };
        if counts.is_empty() {
            return Err(self.empty(at, "name an event, or leave it out"));
        }
        Ok(counts)
    }

    fn steps(&self, at: &KeyPath, written: Vec<WrittenStep>) -> Result<Vec<StepSpec>, Diagnostic> {
        if written.is_empty() {
            return Err(self.empty(at, "name an event, or leave it out"));
        }
        let steps = written.into_iter().enumerate();
        Ok(steps
            .map(|(index, step)| placed(at.clone().index(index), step))
            .collect())
    }

    fn patterns(
        &self,
        at: &KeyPath,
        holder: Holder,
        written: Vec<WrittenPattern>,
    ) -> Result<Vec<PatternSpec>, Diagnostic> {
        if written.is_empty() {
            return Err(self.empty(at, "name an event, or leave it out"));
        }
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

    fn pattern(&self, at: KeyPath, written: WrittenPattern) -> Result<PatternSpec, Diagnostic> {
        Ok(match written {
            WrittenPattern::Step(step) => PatternSpec::Step(placed(at, step)),
            WrittenPattern::Next(step) => PatternSpec::Next(placed(at.key("next"), step)),
            WrittenPattern::Never(WrittenSteps::One(step)) => {
                PatternSpec::Never(vec![placed(at.key("never"), step)])
            }
            WrittenPattern::Never(WrittenSteps::Many(steps)) => {
                PatternSpec::Never(self.steps(&at.key("never"), steps)?)
            }
            WrittenPattern::Sequence(list) => {
                PatternSpec::Sequence(self.patterns(&at.key("sequence"), Holder::Sequence, list)?)
            }
            WrittenPattern::AnyOrder(list) => PatternSpec::AnyOrder(self.patterns(
                &at.key("any_order"),
                Holder::AnyOrder,
                list,
            )?),
        })
    }

    /// Refuses `next` and `never` where they have no neighbour that they could speak of.
    fn check_neighbours(
        &self,
        at: &KeyPath,
        holder: Holder,
        before: &[PatternSpec],
        element: &WrittenPattern,
    ) -> Result<(), Diagnostic> {
        let (key, fault, help) = match (element, holder) {
            (WrittenPattern::Next(_), Holder::AnyOrder) => (
                "next",
                "`next` belongs into a sequence",
                "in any order nothing is next: write { sequence: [...] } as an element",
            ),
            (WrittenPattern::Never(_), Holder::AnyOrder) => (
                "never",
                "`never` belongs into a sequence, or beside `any_order`",
                "in any order nothing lies between: write { sequence: [...] } as an element",
            ),
            (WrittenPattern::Next(_), Holder::Sequence) if !ends_in_a_step(before) => (
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

fn placed(holder: KeyPath, step: WrittenStep) -> StepSpec {
    step_of(holder, step.event, step.fields)
}

/// The step that stands in `holder`, under its name or as the name alone: [`KeyPath`] leads to
/// both.
fn step_of(holder: KeyPath, event: String, fields: Vec<(String, Test)>) -> StepSpec {
    StepSpec {
        at: holder.key(&event).key_itself(),
        event,
        fields,
    }
}

fn demands_an_event(pattern: &PatternSpec) -> bool {
    !matches!(pattern, PatternSpec::Never(_))
}

/// Whether one event is the last that these patterns demand; what must not come behind it changes
/// nothing.
fn ends_in_a_step(patterns: &[PatternSpec]) -> bool {
    match patterns.iter().rfind(|pattern| demands_an_event(pattern)) {
        Some(PatternSpec::Step(_) | PatternSpec::Next(_)) => true,
        Some(PatternSpec::Sequence(patterns)) => ends_in_a_step(patterns),
        Some(PatternSpec::AnyOrder(_) | PatternSpec::Never(_)) | None => false,
    }
}
