//! Finds and explains the differences between the answers of two kernels to the same scenario.
//!
//! An answer is a verdict, what was found and the text of the trace: answers of other kernels come
//! from other machines, as lines of JSON, and have no deeds. Two of them are compared as a person
//! would: processes are matched by program and descent, lines by the names of calls and events, and
//! only what is left then is a difference. Each has a class, found from evidence and not from the
//! versions' numbers: what else differs between the kernels ([`Facts`]), and what differs between
//! runs on one kernel.
//!
//! | class | what is seen | evidence |
//! |---|---|---|
//! | [`Class::Noise`] | the answer varies on one kernel as well | two runs there |
//! | [`Class::Absent`] | a requirement that is unmet; a call that ends with `ENOSYS`; an event that only one kernel has | the requirement, the line |
//! | [`Class::Layout`] | an event's fields, where its format is another | the fields that came, went or moved |
//! | [`Class::Environment`] | what the guest is set to: sysctls, filters of calls, what is installed, how slow it is; what files of `/sys` and `/proc` tell of the machine; that one is the host and the other a guest | the settings that differ, the file |
//! | [`Class::Architecture`] | another call that says the same, between architectures | both lines |
//! | [`Class::Path`] | other calls are made | the lines that only one has |
//! | [`Class::Behaviour`] | the same calls with other arguments or results; another end | both lines |

mod abi;
mod align;
mod classify;
mod ends;
mod explain;
mod lines;
mod mask;
mod optimum;
mod pseudo;
mod raw;
mod rows;
mod settings;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_abi;
#[cfg(test)]
mod tests_ends;
#[cfg(test)]
mod tests_lines;
#[cfg(test)]
mod tests_raw;
#[cfg(test)]
mod tests_rows;
mod verdicts;

pub use align::{Change, aligned};
pub use classify::differ_by_abi_alone;
pub use ends::fail_otherwise;
pub use explain::explain;
pub use lines::{Line, TraceText};
pub use mask::numbered;
pub use raw::{INCOMPLETE, normalised, without_end};
pub use rows::{Part, Row, side_by_side};

use crate::verdict::Finding;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The answer of a kernel to a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The word for it: `pass`, `fail`, `skipped`.
    pub verdict: String,
    /// The findings, if it did not pass.
    pub findings: Vec<Finding>,
    /// The normalised trace; empty if there is none to compare.
    pub trace: String,
}

impl Answer {
    /// Whether another answer has the same verdict and trace, and failed by the same.
    #[must_use]
    pub fn is_as(&self, other: &Self) -> bool {
        self.verdict == other.verdict && self.trace == other.trace && ends::are_alike(self, other)
    }

    /// Whether its trace has events that are no calls.
    #[must_use]
    pub fn has_events(&self) -> bool {
        let trace = TraceText::read(&self.trace);
        let mut lines = trace.blocks.iter().flat_map(|block| &block.lines);
        lines.any(Line::is_event)
    }
}

/// Facts about a kernel and the system that it runs in, besides the answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its release.
    pub release: String,
    /// Its architecture, by Debian's word for it; empty if it was not told.
    pub arch: String,
    /// Whether it is the host's kernel rather than a guest's: processors, files and memory differ
    /// there.
    pub on_host: bool,
    /// Its events, each with the lines that describe its fields; empty if the kernel was not asked.
    pub events: BTreeMap<String, BTreeSet<String>>,
    /// Settings by their names, as `fs.protected_symlinks` or `Seccomp`.
    pub settings: BTreeMap<String, String>,
}

/// Why answers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The same calls return something else, or the run ends otherwise.
    Behaviour,
    /// Other calls are made.
    Path,
    /// The fields of an event differ.
    Layout,
    /// An event, a call or a feature is missing.
    Absent,
    /// The kernel's settings, or the system around it.
    Environment,
    /// Only the ABI of another architecture makes the difference.
    Architecture,
    /// It also varies on one kernel.
    Noise,
}

impl Class {
    /// All of them, the gravest first.
    pub const ALL: [Self; 7] = [
        Self::Behaviour,
        Self::Path,
        Self::Layout,
        Self::Absent,
        Self::Environment,
        Self::Architecture,
        Self::Noise,
    ];

    /// Returns its word in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Behaviour => "behaviour",
            Self::Path => "other calls",
            Self::Layout => "event layout",
            Self::Absent => "not there",
            Self::Environment => "environment",
            Self::Architecture => "architecture",
            Self::Noise => "noise",
        }
    }

    /// Returns its meaning, in a sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Behaviour => "the same calls are answered otherwise, or the run ends otherwise",
            Self::Path => "other calls are made to the same end",
            Self::Layout => "the tracing ABI moved: an event has other fields",
            Self::Absent => "an event, a call or a feature is not in this kernel",
            Self::Environment => "what the kernel is set to or runs in differs, not what it does",
            Self::Architecture => "the ABI of the other architecture says the same otherwise",
            Self::Noise => "it varies from run to run on one kernel too",
        }
    }
}

/// The part of two answers that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// The traces.
    Traces,
    /// The verdicts, or what they follow from; the traces do not tell why.
    Verdicts,
    /// Only one of the kernels ran the scenario.
    Skipped,
}

/// What differs between two answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The second answer lacks a line or a process.
    Less(String),
    /// The second answer has a line or a process more.
    More(String),
    /// Another difference, in words.
    Other(String),
}

impl From<String> for What {
    fn from(text: String) -> Self {
        Self::Other(text)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Less(of) => write!(f, "no {of}"),
            Self::More(of) => write!(f, "one more {of}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// One difference, explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The class of its reason.
    pub class: Class,
    /// The part of the answers that differs.
    pub within: Within,
    /// The difference: equal for all scenarios that show the same one.
    pub what: What,
    /// The evidence: lines of either trace after `-` and `+`, settings, fields.
    pub evidence: Vec<String>,
}
