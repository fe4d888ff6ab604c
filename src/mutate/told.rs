//! What the expectations of a scenario tell of a run, so that mutants change only that.
//!
//! A scenario without a snapshot tells of a few events. That it lets other changes through is what
//! its author meant, and says nothing of how strict it is.

use super::Thread;
use super::apply::{Change, Spot};
use crate::trace::{Deed, Part};
use std::collections::{BTreeMap, BTreeSet};

/// A step of the expectations, by its place among them.
pub type Step = usize;

/// How many events may be one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// At least so many.
    pub least: Least,
    /// At most so many; `None` where one more makes no difference.
    pub most: Option<usize>,
}

/// The least number of events that may be one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Least {
    /// This.
    Number(usize),
    /// One, beside one for each other step that the same events may be.
    Each,
    /// As many as may be another step.
    Of(Step),
}

/// What is told of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The steps that it may be, each with the names of the fields that the step tests.
    pub steps: BTreeMap<Step, BTreeSet<String>>,
    /// The names of the fields by which it is among the events that alone may come.
    pub allowed_by: BTreeSet<String>,
    /// Whether it is not among the events that alone may come.
    pub is_forbidden: bool,
}

/// What expectations tell.
pub trait Tells {
    /// Returns how many events may be this step.
    fn number(&self, step: Step) -> Number;

    /// Whether the step has a place among others.
    fn is_ordered(&self, step: Step) -> bool;

    /// Returns what is told of this event.
    fn of(&self, deed: &Deed) -> Told;
}

/// The words by which a step says which task makes a call.
const TASKS: [&str; 4] = ["process", "program", "thread", "from"];

/// What is told of each event of a run.
pub(super) struct Scope<'a> {
    tells: &'a dyn Tells,
    threads: &'a [Thread],
    /// Of each event, thread by thread.
    told: Vec<Vec<Told>>,
    /// How many events may be each step, and how many must be there at least.
    numbers: BTreeMap<Step, (usize, usize)>,
}

impl<'a> Scope<'a> {
    pub(super) fn of(tells: &'a dyn Tells, threads: &'a [Thread]) -> Self {
        let of_thread = |thread: &Thread| thread.deeds.iter().map(|deed| tells.of(deed)).collect();
        let told: Vec<Vec<Told>> = threads.iter().map(of_thread).collect();
        let numbers = numbers(tells, &told);
        Self {
            tells,
            threads,
            told,
            numbers,
        }
    }

    /// Whether the expectations tell of what a change changes.
    pub(super) fn asks(&self, spot: Spot, change: &Change) -> bool {
        let Some(here) = self.at(spot) else {
            return matches!(change, Change::Insert(deed) if self.may_not_come(&self.tells.of(deed)));
        };
        match change {
            Change::Drop => self.must_stay(&here.steps),
            Change::Repeat => self.may_not_come(here),
            Change::Exchange(other) => {
                let other = Spot {
                    deed: *other,
                    ..spot
                };
                self.at(other).is_some_and(|it| self.are_apart(here, it))
            }
            Change::Delay => {
                let thread = self.told.get(spot.thread).map_or(&[][..], Vec::as_slice);
                let behind = thread.get(spot.deed.saturating_add(1)..);
                let mut behind = behind.unwrap_or_default().iter();
                behind.any(|it| self.are_apart(here, it))
            }
            Change::DropAll => {
                let name = self.deed(spot).map(|deed| &deed.name);
                self.must_come(&|_, deed| Some(&deed.name) == name)
            }
            Change::DropProcess => {
                let process = self.threads.get(spot.thread).map(|it| it.task.process);
                self.must_come(&|thread, _| Some(thread.task.process) == process)
            }
            Change::Reassign(_) => {
                let mut words = here.steps.values().flatten();
                words.any(|word| TASKS.contains(&word.as_str()))
            }
            Change::Edit(_, part) => self.tests(here, part),
            Change::Insert(deed) => self.may_not_come(&self.tells.of(deed)),
        }
    }

    fn at(&self, spot: Spot) -> Option<&Told> {
        self.told.get(spot.thread)?.get(spot.deed)
    }

    fn deed(&self, spot: Spot) -> Option<&Deed> {
        self.threads.get(spot.thread)?.deeds.get(spot.deed)
    }

    fn n(&self, step: Step) -> usize {
        self.numbers.get(&step).map_or(0, |(n, _)| *n)
    }

    fn least(&self, step: Step) -> usize {
        self.numbers.get(&step).map_or(0, |(_, least)| *least)
    }

    /// Whether one event less is too few for one of these steps.
    fn must_stay(&self, steps: &BTreeMap<Step, BTreeSet<String>>) -> bool {
        steps.keys().any(|step| self.n(*step) <= self.least(*step))
    }

    /// Whether one such event more is one too many.
    fn may_not_come(&self, told: &Told) -> bool {
        let is_full = |step: &Step| {
            let most = self.tells.number(*step).most;
            most.is_some_and(|most| self.n(*step) >= most)
        };
        told.is_forbidden || told.steps.keys().any(is_full)
    }

    /// Whether too few are left for a step without these events.
    fn must_come(&self, is_gone: &dyn Fn(&Thread, &Deed) -> bool) -> bool {
        let mut gone: BTreeMap<Step, usize> = BTreeMap::new();
        for (thread, told) in self.threads.iter().zip(&self.told) {
            let deeds = thread.deeds.iter().zip(told);
            let all_gone = deeds.filter(|(deed, _)| is_gone(thread, deed));
            for step in all_gone.flat_map(|(_, told)| told.steps.keys()) {
                *gone.entry(*step).or_default() += 1;
            }
        }
        gone.iter()
            .any(|(step, gone)| self.n(*step).saturating_sub(*gone) < self.least(*step))
    }

    /// Whether the order of two events is told: they may be different steps of an order.
    fn are_apart(&self, one: &Told, other: &Told) -> bool {
        let ordered = |told: &Told| -> BTreeSet<Step> {
            let steps = told.steps.keys().copied();
            steps.filter(|step| self.tells.is_ordered(*step)).collect()
        };
        let (one, other) = (ordered(one), ordered(other));
        !one.is_empty() && !other.is_empty() && one != other
    }

    /// Whether a step tests this field, and no other event can take the place of this one.
    fn tests(&self, told: &Told, part: &Part) -> bool {
        let is_it = |word: &String| *word == *part.name || part.alias == Some(word.as_str());
        let mut steps = told.steps.iter();
        told.allowed_by.iter().any(is_it)
            || steps.any(|(step, words)| {
                let is_tight = self.n(*step) <= self.least(*step);
                is_tight && words.iter().any(is_it)
            })
    }
}

/// Returns how many events may be each step, and how many must be there at least.
fn numbers(tells: &dyn Tells, told: &[Vec<Told>]) -> BTreeMap<Step, (usize, usize)> {
    let mut events: BTreeMap<Step, Vec<usize>> = BTreeMap::new();
    for (place, told) in told.iter().flatten().enumerate() {
        for step in told.steps.keys() {
            events.entry(*step).or_default().push(place);
        }
    }
    let is_each = |step: Step| tells.number(step).least == Least::Each;
    let least = |step: Step, own: &Vec<usize>| match tells.number(step).least {
        Least::Number(number) => number,
        Least::Of(other) => events.get(&other).map_or(0, Vec::len),
        Least::Each => {
            let same = events.iter();
            same.filter(|(step, other)| is_each(**step) && *other == own)
                .count()
        }
    };
    let all = events.iter();
    all.map(|(step, own)| (*step, (own.len(), least(*step, own))))
        .collect()
}

#[cfg(test)]
mod tests;
