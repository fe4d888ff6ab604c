//! Mutants of a recorded run: what it would look like if the program had left something out, done
//! it twice, in another order, or with other values.
//!
//! Pure. An expectation that passes a mutant does not look at what the mutant changed, so mutants
//! show what a scenario does not test. A mutant changes what the run recorded, never the program,
//! so a run has hundreds of them. Where expectations alone judge, only what they tell of is changed
//! ([`Tells`]).
//!
//! | operator | what becomes of the run |
//! |---|---|
//! | `drop` | an event is left out |
//! | `repeat` | an event is there twice in a row |
//! | `swap` | an event and the next of its thread change places |
//! | `exchange` | an event and one further on in its thread change places |
//! | `delay` | an event comes after all others of its thread |
//! | `drop_all` | all events of a name are left out, in all tasks |
//! | `drop_process` | a process does nothing |
//! | `reassign` | another task does it |
//! | `edit` | an argument, a field or a result is another |
//! | `insert` | an event is there that was not |
//!
//! A change that leaves the text of a trace at full detail as it is makes no mutant, and mutants
//! with the same text are one. Which thread came first is up to the scheduler and in no trace, so
//! no mutant changes only that.

mod apply;
mod edit;
mod foreign;
mod list;
mod pool;
mod sample;
mod told;

pub use list::Mutants;
pub use told::{Least, Number, Step, Tells, Told};

use crate::trace::{Deed, StableName};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use syscall_model::{Signatures, ThreadId};

/// A thread of the run, with its deeds in the order of entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    /// Its stable name.
    pub task: StableName,
    /// The thread itself, as events know it.
    pub thread: ThreadId,
    /// The program that its process ran at first.
    pub program: Arc<str>,
    /// Its deeds.
    pub deeds: Vec<Deed>,
}

/// A run to make mutants of.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    /// Its threads.
    pub threads: &'a [Thread],
    /// The names of events that would have been recorded and did not occur.
    pub absent: &'a [String],
    /// Fields, each after its event's name, by which the kernel chose what to record: with another
    /// value the event would not have been recorded.
    pub chosen_by: &'a BTreeSet<(String, String)>,
    /// What is told of it, where not all is.
    pub tells: Option<&'a dyn Tells>,
    /// The forms of calls.
    pub signatures: &'a Signatures<'a>,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// An event is left out.
    Drop,
    /// An event is there twice in a row.
    Repeat,
    /// An event and the next of its thread change places.
    Swap,
    /// An event and one further on in its thread change places.
    Exchange,
    /// An event comes after all others of its thread.
    Delay,
    /// All events of a name are left out, in all tasks.
    DropAll,
    /// A process does nothing.
    DropProcess,
    /// Another task does it.
    Reassign,
    /// Replaces an argument, a field or a result.
    Edit,
    /// An event is there that was not.
    Insert,
}

impl Operator {
    /// Every operator, in the order of reports.
    pub const ALL: [Self; 10] = [
        Self::Drop,
        Self::DropAll,
        Self::DropProcess,
        Self::Repeat,
        Self::Insert,
        Self::Swap,
        Self::Exchange,
        Self::Delay,
        Self::Reassign,
        Self::Edit,
    ];

    /// Returns its word in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Repeat => "repeat",
            Self::Swap => "swap",
            Self::Exchange => "exchange",
            Self::Delay => "delay",
            Self::DropAll => "drop_all",
            Self::DropProcess => "drop_process",
            Self::Reassign => "reassign",
            Self::Edit => "edit",
            Self::Insert => "insert",
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A mutant, by its change.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutant {
    /// Its place among all mutants, event by event, whatever the order in which they are tried.
    pub place: usize,
    /// What is done to the run.
    pub operator: Operator,
    /// The event's name; for a process, its stable name.
    pub event: String,
    /// The field that was edited.
    pub field: Option<String>,
    /// The task that was changed.
    pub task: StableName,
    /// The line of the trace that was changed; empty if there was none.
    pub line: String,
    /// The new line, if it says more than the operator does.
    pub now: Option<String>,
    /// The places of the threads that change, and the new deeds of each.
    pub changed: Vec<(usize, Vec<Deed>)>,
}

#[cfg(test)]
mod tests;
