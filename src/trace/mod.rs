//! The normalised trace: what a run did, without what differs between two runs that did the same.
//!
//! # Grammar, version 2
//! ```text
//! trace      = header { "\n" block }
//! header     = "# trace 2, level " level [ ", by program" ] "\n"
//!              [ "# rules: " rule { ", " rule } "\n" ]        only rules that changed something
//! block      = process [ " " name ] [ ", child of " process ] [ ", level " level ] "\n" { line }      in the order of the creation tree
//!            | thread "\n" { line }                                               its further threads behind it
//!            | process ", not in sequence\n" { line }                        what of a process in sequence is only counted, or a set
//!            | "program " name [ ", level " level ] "\n" { line }                 all processes of the program, behind all single ones
//! level      = "sequence" | "counts" | "set"                 of a block where it is not that of the header
//! line       = "  " call | "  " event | "  " span               level sequence: in the thread's order of entering
//!            | "  " name " " number                           level counts, sorted by name; all threads of the process together
//!            | "  " name                                      level set, likewise; and single names at the others
//! call       = [ "[" abi "] " ] name "(" [ argument { ", " argument } ] ")" " = " result [ " " injected ]
//! event      = system ":" name { " " field "=" value }
//! span       = "span:" name { " " field "=" value } [ " unfinished" | " unbegun" | " unknown" ]        behind what begins it
//! injected   = "(INJECTED" [ ": " what ] ")" [ " (DELAYED)" ] | "(DELAYED)"        what was done to a call while it was held
//! process    = "P" number          thread = process ".T" number
//! ```
//! Processes are numbered along the tree of creation (a process, then each of its children with all
//! that descends from it), which scheduling cannot change; a thread's calls stand in its own order.
//! Threads that the kernel makes for a process on its own account (for io_uring) are numbered
//! behind those of the program. Rules act on typed values, never on text:
//!
//! | rule | what becomes what |
//! |---|---|
//! | `addresses` | pointers, and words that hold addresses, become `<addr>`; null stays `NULL` |
//! | `mappings` | an address for its own sake becomes its mapping and an offset: `<heap+0x21000>`, `<map:2>`, `</lib/libc.so.6+0x26000>` |
//! | `tasks` | ids of the run's own processes and threads become `P1`, `P2.T2` |
//! | `foreign-tasks` | any other task's id becomes `<pid>` |
//! | `directory` | the sandbox' working directory inside a string becomes `$DIR` |
//! | `temporary` | a component of a path that differs from run to run, by the view, becomes `<temporary:1>`, numbered likewise |
//! | `descriptors` | a descriptor from 3 on becomes what it refers to: `</etc/hostname>`, `<pipe:1 read>`; 0 to 2 keep their number beside it |
//! | `times`, `durations` | points in time, and lengths of time that the kernel measured, in structures become `<time>`, `<duration>` |
//! | `sizes` | sizes of files, as `stat(2)` tells them, become `<size>` |
//! | `ports` | ports that the kernel chose, and told the program before it named them, become `<port>` |
//! | `machine` | what is so on the machine at the moment, such as free blocks and free memory, becomes `<machine>` |
//! | `cookies` | what a program keeps in the kernel for itself, and is no small number, becomes `<cookie>` |
//!
//! Pipes, sockets and other files without a name are numbered, each class by itself, in the order
//! in which the text names them. A second description of a path that is open in the same table is
//! `</etc/hostname:2>`. A descriptor that nothing is known of keeps its number, with `<?>`; one
//! that is not open is its number alone. A string that could not be read is `<unread>`, one that
//! was cut ends in `...`. The contents of buffers are shown only where the view asks for them.
//! Times, durations and CPU numbers of the calls themselves are left out.

mod behind;
mod build;
mod deed;
mod event;
mod fired;
mod frames;
mod imagined;
mod mappings;
mod meaning;
mod normalised;
mod people;
mod ports;
mod render;
mod stretch;
mod values;

pub use behind::{INTERPRETER, LOADER, OF_CORES, OF_SOCKETS, ip_of};
pub use build::Builder;
pub use deed::{Deed, Ends, Part, Reached, State, Value};
pub use event::{Naming, SUBMISSION};
pub use normalised::{Block, Normalised, TextPart};
pub use people::StableName;
pub use stretch::Stretch;

pub(crate) use values::STAND_INS;

use perf_records::glob::glob;
use perf_records::space::Stack;
use perf_records::units::Nanos;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use syscall_model::{Call, ThreadId};

/// The version of the grammar above.
pub const VERSION: u32 = 2;

/// How much of the order a trace keeps; the strictest level comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Each thread's calls in its order.
    #[default]
    Sequence,
    /// How often each process made which call.
    Counts,
    /// Which calls each process made.
    Set,
}

impl Level {
    /// Returns its word in scenarios and headers.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sequence => "sequence",
            Self::Counts => "counts",
            Self::Set => "set",
        }
    }
}

/// What has a block of its own if the order is not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Processes.
    #[default]
    Process,
    /// Programs: all processes of a name together.
    Program,
}

/// The level of some processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Treatment {
    /// The processes: a glob for the program's name, or for the process' number and name, `P3 sh`.
    pub of: String,
    /// How much of the order is kept.
    pub level: Level,
    /// Names that are shown with less, or not at all (`None`).
    pub others: HashMap<String, Option<Level>>,
}

impl Treatment {
    /// Whether it is of every process: by any name, or by any number and name.
    fn is_of_all(&self) -> bool {
        let rest = self.of.trim_end_matches('*');
        rest.len() < self.of.len() && matches!(rest, "" | "P" | "P* ")
    }
}

/// Which parts of a trace are shown, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// How much of the order is kept.
    pub level: Level,
    /// Levels of single processes that differ from that of the trace; the first that matches
    /// counts.
    pub levels: Vec<Treatment>,
    /// What has a block of its own if the order is not kept.
    pub by: By,
    /// Names left out.
    pub hidden: HashSet<String>,
    /// The only names shown, unless it is empty.
    pub shown: HashSet<String>,
    /// The working directory, which becomes `$DIR`.
    pub directory: Option<String>,
    /// How many bytes of what is read and written are shown.
    pub contents: usize,
    /// Globs for names of files that differ from run to run.
    pub temporary: Vec<String>,
    /// The only part of the run that is shown; `None` for all of it.
    pub stretch: Option<Stretch>,
}

/// How one process is shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// How much of the order is kept.
    pub level: Level,
    view: &'a View,
    treatment: Option<(usize, &'a Treatment)>,
}

impl View {
    /// Whether calls and events of this name are shown for any process.
    #[must_use]
    pub fn shows(&self, name: &str) -> bool {
        !self.hidden.contains(name) && (self.shown.is_empty() || self.shown.contains(name))
    }

    /// Whether calls and events of this name are shown for some process, whatever its number and
    /// program are.
    #[must_use]
    pub fn may_show(&self, name: &str) -> bool {
        // Behind one for all processes none counts.
        let Some(last) = self.levels.iter().position(Treatment::is_of_all) else {
            return self.shows(name);
        };
        self.levels.iter().enumerate().take(last + 1).any(|it| {
            let shown = Shown {
                level: it.1.level,
                view: self,
                treatment: Some(it),
            };
            shown.level_of(name).is_some()
        })
    }

    /// Returns how the process of this number, which runs this program, is shown.
    #[must_use]
    pub fn of(&self, process: u32, program: &str) -> Shown<'_> {
        let numbered = format!("P{process} {program}");
        let is_of = |(_, treatment): &(usize, &Treatment)| {
            let matches = |name: &str| glob(&treatment.of, name);
            matches(program) || matches(&numbered)
        };
        let treatment = self.levels.iter().enumerate().find(is_of);
        Shown {
            level: treatment.map_or(self.level, |(_, treatment)| treatment.level),
            view: self,
            treatment,
        }
    }

    /// Whether the order of any calls is shown.
    #[must_use]
    pub fn keeps_order(&self) -> bool {
        let mut levels = self.levels.iter().map(|treatment| treatment.level);
        self.level == Level::Sequence || levels.any(|level| level == Level::Sequence)
    }
}

impl Shown<'_> {
    /// Returns the level of calls and events of this name; `None` if they are not shown.
    #[must_use]
    pub fn level_of(&self, name: &str) -> Option<Level> {
        let other = |(_, treatment): (usize, &Treatment)| treatment.others.get(name).copied();
        let level = match self.treatment.and_then(other) {
            Some(other) => other?.max(self.level),
            None => self.level,
        };
        self.view.shows(name).then_some(level)
    }

    /// Whether each of them is shown in its place.
    #[must_use]
    pub fn keeps_order_of(&self, name: &str) -> bool {
        self.level_of(name) == Some(Level::Sequence)
    }

    /// Whether a deed with this entry and this end belongs to the shown part of the run.
    fn holds(&self, (entered, left): (u64, u64)) -> bool {
        let stretch = self.view.stretch;
        stretch.is_none_or(|stretch| stretch.holds(entered, left))
    }

    /// The place of its treatment among the view's.
    fn place(&self) -> Option<usize> {
        self.treatment.map(|(place, _)| place)
    }
}

/// An event that is no system call, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedEvent {
    /// `system:name`, where `system` and `name` are a tracepoint's, or `io_uring` and an
    /// operation's (`IORING_OP_FSYNC`).
    pub name: std::sync::Arc<str>,
    /// Its fields in the order of its format.
    pub fields: Vec<(std::sync::Arc<str>, FieldValue)>,
}

/// The value of a field, by its meaning and not by its width.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue {
    /// A number.
    Number(i128),
    /// The id of a task, in the tracepoint's pid namespace.
    Task(i32),
    /// An address.
    Address(u64),
    /// An address in a function of the kernel.
    Function {
        /// The address.
        address: u64,
        /// The function's name.
        name: Arc<str>,
        /// The offset in the function, in bytes, if the event shows it.
        into: Option<u64>,
    },
    /// A string.
    Text(Vec<u8>),
    /// A value that could not be read from memory.
    Unread,
    /// A number that has a name.
    Named(std::borrow::Cow<'static, str>, i128),
    /// Anything else, as decoded text.
    Other(String),
}

/// One item in a thread's log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Call {
        call: Box<Call>,
        /// The time of its return: by then the id that it returns may have been used again.
        moment: u64,
        /// The time of its end; for a call that never returns by its nature, the time of its entry.
        left: Nanos,
    },
    Event(Box<TracedEvent>),
}

/// The place of an item in its thread's order.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// When it was entered, in the order of the observations.
    pub(crate) moment: u64,
    /// The time of its entry.
    pub(crate) entered: Nanos,
    /// The program that the process ran then.
    pub(crate) program: Arc<str>,
    /// `None` while its end is not known, and always if the plan did not ask for it.
    pub(crate) item: Option<Item>,
    /// The functions that led to it.
    pub(crate) stack: Option<Arc<Stack>>,
}

/// What is counted: a call by its number, or an event by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Call(syscall_model::names::Abi, i32),
    /// An operation of a call that stands for many, by the operation's name.
    Operation(&'static str),
    Event(std::sync::Arc<str>),
}

/// A thread's life in the trace.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub(crate) thread: ThreadId,
    pub(crate) parent: Option<ThreadId>,
    pub(crate) is_leader: bool,
    /// A thread that the kernel made by itself: its creator was in no call that makes one.
    pub(crate) is_kernels: bool,
    pub(crate) name: Arc<str>,
    /// How often each of them occurred.
    pub(crate) tally: HashMap<Kind, u64>,
    /// How often one of those was answered and not made ([`Call::is_answered`]).
    pub(crate) answered: HashMap<Kind, u64>,
    /// In the order of entering; only where the order is kept.
    pub(crate) slots: Vec<Recorded>,
}

/// The trace of a run, as collected.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub(crate) logs: Vec<Log>,
    pub(crate) ids: people::Ids,
    ports: ports::Ports,
}

impl Trace {
    /// The number of the process that had an id last: in the workload's own namespace, or that of
    /// the machine where `is_bare` says that these are one.
    pub(crate) fn process(&self, id: i32, is_bare: bool) -> Option<u32> {
        let outer = || self.ids.outer(id, u64::MAX).filter(|_| is_bare);
        let thread = self.ids.inner(id, u64::MAX).or_else(outer)?;
        let name = *people::number(&self.logs).get(&thread)?;
        Some(name.process)
    }
}

#[cfg(test)]
mod tests;
