//! Patterns over the deeds of a run: whether they occur, with which captures, and what came nearest
//! where they do not.
//!
//! Pure. A test of a field has three answers, as a value that was not read may be the one that was
//! meant: such a run is not judged.

mod answer;
mod bindings;
mod candidates;
mod closed;
mod explain;
mod field;
mod frames;
mod gaps;
mod judge;
mod marks;
mod named;
#[cfg(test)]
pub(crate) mod notation;
mod order;
mod pairs;
mod paths;
mod search;
mod shape;
mod spans;
mod tally;
#[cfg(test)]
mod tests;
mod unify;
mod words;

pub use bindings::Bindings;
pub(crate) use field::numeral;
pub use judge::{Finding, Judgement, MOST_TRIES, judge};
pub use marks::{MARKING, Mark, Unmarked, may_mark};
pub use order::Scene;
pub use pairs::Pairs;
pub use spans::{SPAN, SharedBy, SharedField, SpanRule, add_spans, forget_begins, remove_spans};
pub use tally::tally;

use crate::scenario::{CountRange, KeyPath, Test};
use std::collections::BTreeSet;
use syscall_model::has_all_of;

/// What is expected of the events of a run, or of one of its sections; every name in it exists and
/// is recorded.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// In this order.
    pub sequence: Vec<Pattern>,
    /// In any order.
    pub any_order: Vec<Pattern>,
    /// None of these.
    pub never: Vec<Matcher>,
    /// Nothing but these; empty where nothing was said.
    pub only: Vec<Matcher>,
    /// So many of each.
    pub count: Vec<(Matcher, CountRange)>,
}

impl Expected {
    /// Whether it speaks of more than how many there are of a name.
    #[must_use]
    pub fn takes_deeds(&self) -> bool {
        let Self {
            sequence,
            any_order,
            never,
            only,
            count,
        } = self;
        // Which of many a call is, its deed tells.
        let is_one_of_many = |matcher: &Matcher| {
            let mut names = matcher.names.iter();
            names.any(|name| !has_all_of(name, |name| matcher.names.contains(name)))
        };
        let has_fields = |(matcher, _): &(Matcher, CountRange)| {
            !matcher.fields.is_empty() || is_one_of_many(matcher)
        };
        !(sequence.is_empty() && any_order.is_empty() && never.is_empty() && only.is_empty())
            || count.iter().any(has_fields)
    }
}

impl Expected {
    /// Everything in it that is said of single deeds.
    #[must_use]
    pub fn matchers(&self) -> Vec<&Matcher> {
        let mut all = Vec::new();
        for pattern in self.sequence.iter().chain(&self.any_order) {
            pattern.add_matchers(&mut all);
        }
        all.extend(self.never.iter().chain(&self.only));
        all.extend(self.count.iter().map(|(matcher, _)| matcher));
        all
    }
}

impl Expected {
    /// What is said of single deeds that absence, or a number, may meet.
    #[must_use]
    pub fn bounds(&self) -> Vec<&Matcher> {
        let mut all = Vec::new();
        for pattern in self.sequence.iter().chain(&self.any_order) {
            pattern.add_forbidden(&mut all);
        }
        all.extend(&self.never);
        let bounded = self.count.iter().filter(|(_, range)| range.max.is_some());
        all.extend(bounded.map(|(matcher, _)| matcher));
        all
    }
}

/// An element of a sequence.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// A deed.
    Step(Matcher),
    /// The next deed of the thread of the step before.
    Next(Matcher),
    /// None of these between the step before and the step behind.
    Never(Vec<Matcher>),
    /// In this order.
    Sequence(Vec<Pattern>),
    /// In any order, each another deed.
    AnyOrder(Vec<Pattern>),
}

impl Pattern {
    fn add_forbidden<'a>(&'a self, all: &mut Vec<&'a Matcher>) {
        match self {
            Self::Step(_) | Self::Next(_) => {}
            Self::Never(matchers) => all.extend(matchers),
            Self::Sequence(patterns) | Self::AnyOrder(patterns) => {
                for pattern in patterns {
                    pattern.add_forbidden(all);
                }
            }
        }
    }

    fn add_matchers<'a>(&'a self, all: &mut Vec<&'a Matcher>) {
        match self {
            Self::Step(matcher) | Self::Next(matcher) => all.push(matcher),
            Self::Never(matchers) => all.extend(matchers),
            Self::Sequence(patterns) | Self::AnyOrder(patterns) => {
                for pattern in patterns {
                    pattern.add_matchers(all);
                }
            }
        }
    }
}

/// What a single deed must be.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// As the author wrote it: `rename*`.
    pub word: String,
    /// The names that it stands for, all of them recorded.
    pub names: BTreeSet<String>,
    /// What its fields must be, by the names that [`crate::trace::Deed::part`] knows.
    pub fields: Vec<(String, Test)>,
    /// Whether each name that a file has must fit, and not any of them: of what alone is allowed.
    pub is_closed: bool,
    /// Where it stands in the file.
    pub at: KeyPath,
    /// The line there, from 1.
    pub line: usize,
}
