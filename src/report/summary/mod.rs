//! Sums up calls: how many, how many failed, how long they took.
//!
//! Times are by the clock, from the entering half of a call to its leaving half, waiting included.
//! A call that never returned, or that lacks a half, is counted without a time.

mod json;
mod text;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use syscall_model::names::Abi;
use syscall_model::{Actor, Call, Entry, Outcome, ThreadId};

/// The order of the rows; equal rows are ordered by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryOrder {
    /// The most time first.
    #[default]
    Time,
    /// The most calls first.
    Calls,
    /// The most errors first.
    Errors,
    /// By name.
    Name,
}

/// What calls are counted by: the number that they were made by, with their operation.
type Kind = ((Abi, i32), Option<&'static str>);

/// The sums of calls and events, over all threads or for each.
#[derive(Debug, Default)]
pub struct Summary {
    by_thread: bool,
    rows: HashMap<(Option<ThreadId>, Kind), Row>,
    events: BTreeMap<(Option<ThreadId>, Arc<str>), u64>,
    actors: BTreeMap<ThreadId, Actor>,
}

/// The sums for one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    name: String,
    abi: Option<Abi>,
    calls: u64,
    /// How often each error occurred, by its number.
    errors: BTreeMap<i32, u64>,
    times: Times,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    /// How many calls have a time.
    timed: u64,
    total: u64,
    least: u64,
    most: u64,
}

impl Times {
    fn add(&mut self, time: u64) {
        self.merge(&Self {
            timed: 1,
            total: time,
            least: time,
            most: time,
        });
    }

    fn merge(&mut self, other: &Self) {
        self.least = match (self.timed, other.timed) {
            (0, _) => other.least,
            (_, 0) => self.least,
            _ => self.least.min(other.least),
        };
        self.most = self.most.max(other.most);
        self.total = self.total.saturating_add(other.total);
        self.timed += other.timed;
    }

    /// Returns the least, the average and the greatest time, in nanoseconds; `None` if no call has
    /// a time.
    fn spread(&self) -> Option<[u64; 3]> {
        let average = self.total.checked_div(self.timed)?;
        Some([self.least, average, self.most])
    }
}

impl Row {
    fn n_errors(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Returns the name; with the convention in brackets before it, unless that is the native one.
    fn label(&self) -> String {
        match self.abi {
            Some(abi) => format!("[{}] {}", abi.as_str(), self.name),
            None => self.name.clone(),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.times.merge(&other.times);
        for (error, count) in &other.errors {
            *self.errors.entry(*error).or_default() += count;
        }
    }
}

impl Summary {
    /// Makes an empty summary, of all threads together or of each.
    #[must_use]
    pub fn new(by_thread: bool) -> Self {
        Self {
            by_thread,
            ..Self::default()
        }
    }

    /// Counts a call.
    pub fn call(&mut self, call: &Call) {
        let thread = self.thread(&call.actor);
        let row = self
            .rows
            .entry((thread, (call.made_as(), call.operation())))
            .or_insert_with(|| Row {
                name: name(call),
                abi: (call.abi != Abi::native()).then_some(call.abi),
                ..Row::default()
            });
        row.calls += 1;
        if let Some(time) = duration(call) {
            row.times.add(time);
        }
        if let Some(error) = call.error() {
            *row.errors.entry(error).or_default() += 1;
        }
    }

    /// Counts an event that is no call.
    pub fn event(&mut self, actor: &Actor, name: &Arc<str>) {
        let thread = self.thread(actor);
        let counted = self.events.entry((thread, Arc::clone(name))).or_default();
        *counted += 1;
    }

    /// Returns the thread to count for, and keeps its last name.
    fn thread(&mut self, actor: &Actor) -> Option<ThreadId> {
        if !self.by_thread {
            return None;
        }
        self.actors.insert(actor.thread, *actor);
        Some(actor.thread)
    }

    /// Returns the groups of rows: each thread, in the order of their first calls, or all together.
    fn groups(&self) -> Vec<Option<&Actor>> {
        if self.by_thread {
            self.actors.values().map(Some).collect()
        } else {
            vec![None]
        }
    }

    /// The rows of a group.
    fn rows(&self, of: Option<&Actor>, order: SummaryOrder) -> Vec<&Row> {
        let of = of.map(|actor| actor.thread);
        let members = self.rows.iter().filter(|((thread, ..), _)| *thread == of);
        let mut rows: Vec<&Row> = members.map(|(_, row)| row).collect();
        rows.sort_by_cached_key(|row| {
            let first = match order {
                SummaryOrder::Time => row.times.total,
                SummaryOrder::Calls => row.calls,
                SummaryOrder::Errors => row.n_errors(),
                SummaryOrder::Name => 0,
            };
            (Reverse(first), row.name.clone(), row.label())
        });
        rows
    }

    /// The events of a group, by name.
    fn events(&self, of: Option<&Actor>) -> impl Iterator<Item = (&str, u64)> {
        let of = of.map(|actor| actor.thread);
        let members = self
            .events
            .iter()
            .filter(move |((thread, _), _)| *thread == of);
        members.map(|((_, name), count)| (&**name, *count))
    }
}

fn name(call: &Call) -> String {
    let mut name = String::new();
    super::line::name(&mut name, call);
    name
}

/// An error's name, or its number where it has none.
fn error_name(number: i32) -> String {
    match syscall_model::errno::errno_name(number) {
        Some(name) => name.to_owned(),
        None => number.to_string(),
    }
}

/// Returns how long a call took, in nanoseconds, if both its halves were seen.
pub(super) fn duration(call: &Call) -> Option<u64> {
    let Entry::Seen { time: entered, .. } = call.entry else {
        return None;
    };
    match call.outcome {
        Outcome::Returned { time, .. }
        | Outcome::Restarted { time, .. }
        | Outcome::Interrupted { time, .. } => Some(time.0.saturating_sub(entered.0)),
        Outcome::Refused { .. }
        | Outcome::Untold { .. }
        | Outcome::NeverReturned
        | Outcome::Missing => None,
    }
}

#[cfg(test)]
mod tests;
