//! What the author expects of single events: steps, their order, and what their fields must be.

use regex::bytes::Regex;

use super::expect::CountRange;
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
    /// In a `sequence`: none of these between the step before and the step behind (or the end of all).
    Never(Vec<StepSpec>),
    /// All of these in this order.
    Sequence(Vec<PatternSpec>),
    /// All of these, in any order, each another event.
    AnyOrder(Vec<PatternSpec>),
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

/// What a field must be.
#[derive(Clone, Debug)]
pub enum Test {
    /// Anything that is there at all: `any`.
    Any,
    /// `$name`: what the same capture was elsewhere; the first that is met binds it.
    Capture(String),
    /// This.
    Is(Literal),
    /// One of these.
    OneOf(Vec<Test>),
    /// It begins so.
    Prefix(String),
    /// A glob; `*` and `?` do not match a slash, `**` does.
    Glob(String),
    /// A match of this somewhere.
    Regex(Regex),
    /// Of flags: all of these. Of anything else: its text holds each of these.
    Contains(Vec<String>),
    /// A number within, both ends included; `None` where there is no end.
    Range(Option<i128>, Option<i128>),
    /// Not this.
    Not(Box<Test>),
}

/// A value as the author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// A string: a path, a flag or flags with `|`, an error's name, what a descriptor refers to.
    Text(String),
    /// A number.
    Number(i128),
}
