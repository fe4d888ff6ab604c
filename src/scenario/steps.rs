//! What is expected of single events: which, in which order, and how often.

use std::convert::Infallible;

use super::counts::CountRange;
use super::field_test::Test;
use super::key_path::KeyPath;

/// What is expected of the events of a run, or of one of its sections.
///
/// `S` is what says which events are meant: a [`StepSpec`] as it stands in the file, or what a plan
/// makes of it.
#[derive(Clone, Debug)]
pub struct Expectations<S = StepSpec> {
    /// In this order; other events may lie between.
    pub sequence: Vec<Pattern<S>>,
    /// In any order, each another event.
    pub any_order: Vec<Pattern<S>>,
    /// None of these.
    pub never: Vec<S>,
    /// Nothing but these; empty where the author wrote nothing.
    pub only: Vec<S>,
    /// So many of each.
    pub count: Vec<NumberOf<S>>,
    /// Something between each of one and the next of another behind it.
    pub between: Vec<Between<S>>,
}

/// An element of `between`.
#[derive(Clone, Debug)]
pub struct Between<S = StepSpec> {
    /// Each of these that has a `then` behind it.
    pub first: S,
    /// The next of these behind it.
    pub then: S,
    /// Behind `first` and before `then` one of these must come.
    pub there_is: S,
    /// How many `first` must have a `then` behind them.
    pub times: CountRange,
}

/// An element of `sequence` or `any_order`.
#[derive(Clone, Debug)]
pub enum Pattern<S = StepSpec> {
    /// An event.
    Step(S),
    /// An event that the thread of the step before makes next, with none between.
    Next(S),
    /// In a `sequence`: none of these between the step before and the step behind (or the end of
    /// all).
    Never(Vec<S>),
    /// All of these in this order.
    Sequence(Vec<Pattern<S>>),
    /// All of these, in any order, each another event.
    AnyOrder(Vec<Pattern<S>>),
}

/// An element of `count`, or with a [`Difference`](super::Difference) of `delta`.
#[derive(Clone, Debug)]
pub struct NumberOf<S = StepSpec, N = CountRange> {
    /// What is counted.
    pub step: S,
    /// How many there must be.
    pub times: N,
}

/// What is said of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It must come.
    Step,
    /// It must be the next of its thread.
    Next,
    /// It must not come, at all or between two others.
    Never,
    /// It may come, and no other.
    Only,
    /// It must come so often.
    Count(CountRange),
    /// Each of it begins a stretch of `between`.
    First,
    /// The next of it ends such a stretch.
    Then,
    /// It must come in each such stretch.
    ThereIs,
}

impl Role {
    /// Whether an event is looked for that may bind captures of the whole run.
    #[must_use]
    pub fn binds(self) -> bool {
        matches!(self, Self::Step | Self::Next)
    }

    /// Whether it is said in `between`, whose elements have captures of their own.
    #[must_use]
    pub fn is_of_between(self) -> bool {
        matches!(self, Self::First | Self::Then | Self::ThereIs)
    }
}

impl<S> Default for Expectations<S> {
    fn default() -> Self {
        Self {
            sequence: Vec::new(),
            any_order: Vec::new(),
            never: Vec::new(),
            only: Vec::new(),
            count: Vec::new(),
            between: Vec::new(),
        }
    }
}

impl<S> Expectations<S> {
    /// Every step in it with what is said of it, in the order of the keys.
    #[must_use]
    pub fn roles(&self) -> Vec<(Role, &S)> {
        let mut all = Vec::new();
        let Ok(_) = self.try_map(|role, step| -> Result<(), Infallible> {
            all.push((role, step));
            Ok(())
        });
        all
    }

    /// Every step in it, in the order of the keys.
    #[must_use]
    pub fn steps(&self) -> Vec<&S> {
        self.roles().into_iter().map(|(_, step)| step).collect()
    }

    /// The same of what `map` makes of each step.
    ///
    /// # Errors
    /// The first of `map`.
    pub fn try_map<'a, T, E>(
        &'a self,
        mut map: impl FnMut(Role, &'a S) -> Result<T, E>,
    ) -> Result<Expectations<T>, E> {
        Ok(Expectations {
            sequence: each(&self.sequence, |pattern| pattern.try_map(&mut map))?,
            any_order: each(&self.any_order, |pattern| pattern.try_map(&mut map))?,
            never: each(&self.never, |step| map(Role::Never, step))?,
            only: each(&self.only, |step| map(Role::Only, step))?,
            count: each(&self.count, |NumberOf { step, times }| {
                let step = map(Role::Count(*times), step)?;
                Ok(NumberOf {
                    step,
                    times: *times,
                })
            })?,
            between: each(&self.between, |between| between.try_map(&mut map))?,
        })
    }
}

impl<S> Between<S> {
    /// Its steps, in the order in which their captures get values.
    #[must_use]
    pub fn steps(&self) -> [&S; 3] {
        [&self.first, &self.then, &self.there_is]
    }

    fn try_map<'a, T, E>(
        &'a self,
        map: &mut impl FnMut(Role, &'a S) -> Result<T, E>,
    ) -> Result<Between<T>, E> {
        Ok(Between {
            first: map(Role::First, &self.first)?,
            then: map(Role::Then, &self.then)?,
            there_is: map(Role::ThereIs, &self.there_is)?,
            times: self.times,
        })
    }
}

impl<S> Pattern<S> {
    /// Every step in it with what is said of it.
    #[must_use]
    pub fn roles(&self) -> Vec<(Role, &S)> {
        let mut all = Vec::new();
        let Ok(_) = self.try_map(&mut |role, step| -> Result<(), Infallible> {
            all.push((role, step));
            Ok(())
        });
        all
    }

    /// Every step in it.
    #[must_use]
    pub fn steps(&self) -> Vec<&S> {
        self.roles().into_iter().map(|(_, step)| step).collect()
    }

    fn try_map<'a, T, E>(
        &'a self,
        map: &mut impl FnMut(Role, &'a S) -> Result<T, E>,
    ) -> Result<Pattern<T>, E> {
        Ok(match self {
            Self::Step(step) => Pattern::Step(map(Role::Step, step)?),
            Self::Next(step) => Pattern::Next(map(Role::Next, step)?),
            Self::Never(steps) => Pattern::Never(each(steps, |step| map(Role::Never, step))?),
            Self::Sequence(inner) => Pattern::Sequence(each(inner, |it| it.try_map(map))?),
            Self::AnyOrder(inner) => Pattern::AnyOrder(each(inner, |it| it.try_map(map))?),
        })
    }
}

fn each<'a, A, B, E>(all: &'a [A], map: impl FnMut(&'a A) -> Result<B, E>) -> Result<Vec<B>, E> {
    all.iter().map(map).collect()
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

    /// The step that stands below `holder`, where its place has been told from.
    pub(super) fn below(self, holder: KeyPath) -> Self {
        Self {
            at: holder.join(self.at),
            ..self
        }
    }
}
