//! What the author expects of single events: steps and their order.

use super::counts::CountRange;
use super::field_test::Test;
use super::key_path::KeyPath;

/// What is expected of the events of a run, or of one of its sections.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    /// In this order; other events may lie between.
    pub sequence: Vec<PatternSpec>,
    /// In any order, each another event.
    pub any_order: Vec<PatternSpec>,
    /// None of these.
    pub never: Vec<StepSpec>,
    /// Nothing but these; empty where the author wrote nothing.
    pub only: Vec<StepSpec>,
    /// So many of each.
    pub count: Vec<CountSpec>,
}

impl Expectations {
    /// Every step in it, in the order of the file.
    #[must_use]
    pub fn steps(&self) -> Vec<&StepSpec> {
        let patterns = self.sequence.iter().chain(&self.any_order);
        let closed = self.never.iter().chain(&self.only);
        let counted = self.count.iter().map(|spec| &spec.step);
        patterns
            .flat_map(PatternSpec::steps)
            .chain(closed)
            .chain(counted)
            .collect()
    }
}

/// An element of `count`.
#[derive(Clone, Debug)]
pub struct CountSpec {
    /// What is counted.
    pub step: StepSpec,
    /// How many there must be.
    pub times: CountRange,
}

/// An element of `sequence` or `any_order`.
#[derive(Clone, Debug)]
pub enum PatternSpec {
    /// An event.
    Step(StepSpec),
    /// An event that the thread of the step before makes next, with none between.
    Next(StepSpec),
    /// In a `sequence`: none of these between the step before and the step behind (or the end of
    /// all).
    Never(Vec<StepSpec>),
    /// All of these in this order.
    Sequence(Vec<PatternSpec>),
    /// All of these, in any order, each another event.
    AnyOrder(Vec<PatternSpec>),
}

impl PatternSpec {
    /// Every step in it.
    #[must_use]
    pub fn steps(&self) -> Vec<&StepSpec> {
        match self {
            Self::Step(step) | Self::Next(step) => vec![step],
            Self::Never(steps) => steps.iter().collect(),
            Self::Sequence(patterns) | Self::AnyOrder(patterns) => {
                patterns.iter().flat_map(Self::steps).collect()
            }
        }
    }

    /// Every step in it that an event must be found for, which may bind captures.
    #[must_use]
    pub fn binding_steps(&self) -> Vec<&StepSpec> {
        match self {
            Self::Step(step) | Self::Next(step) => vec![step],
            Self::Never(_) => Vec::new(),
            Self::Sequence(patterns) | Self::AnyOrder(patterns) => {
                patterns.iter().flat_map(Self::binding_steps).collect()
            }
        }
    }
}

/// One event by its name and what its fields must be.
#[derive(Clone, Debug)]
pub struct StepSpec {
    /// As in `trace.events`: a call, a glob, a class, a tracepoint, an operation.
    pub event: String,
    /// Each field by its name, in the order of the file.
    pub fields: Vec<(String, Test)>,
    /// Where it stands in the file: the key that is the event's name, or the string.
    pub at: KeyPath,
}

impl StepSpec {
    /// Where the value of the field `name` stands in the file; [`KeyPath::key_itself`] makes of it
    /// where its name does.
    #[must_use]
    pub fn field_at(&self, name: &str) -> KeyPath {
        self.at.clone().key(name)
    }
}
