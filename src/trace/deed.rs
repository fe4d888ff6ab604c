//! One deed of a thread, by the meaning of its parts: the form in which expectations look at a run.

use super::frames::frames;
use super::people::StableName;
use perf_records::space::Stack;
use perf_records::units::Nanos;
use std::borrow::Cow;
use std::sync::Arc;
use syscall_model::{Injected, ThreadId};

/// A call, another event, or a span from one of these to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Deed {
    /// The call's name (that of its convention), or `system:event`, or `io_uring:IORING_OP_FSYNC`,
    /// or `span:name`.
    pub name: Arc<str>,
    /// The task that did it: `P1`, `P2.T2`.
    pub task: StableName,
    /// The task itself, while its stable name depends on the whole run.
    pub thread: ThreadId,
    /// The name of the program that the process ran at the time, 15 bytes at most.
    pub program: Arc<str>,
    /// The moment of its entry in the order of the run, over all threads.
    pub entered: u64,
    /// The moment of its end in the same order. For a call that never returned it is the thread's
    /// end, or its entry if the call is that end; for an event that is no call, its entry.
    pub left: u64,
    /// The times of these two, by the clock of the events.
    pub clock: (Nanos, Nanos),
    /// The convention, if the call was made by another than the native one: `i386`. It stands
    /// before the name.
    pub convention: Option<&'static str>,
    /// The arguments of a call or the fields of an event, in their order.
    pub fields: Vec<Part>,
    /// The result of a call; `None` for an event that is no call.
    pub returns: Option<Part>,
    /// The functions that led to it, if they were recorded; they are no part of its line.
    pub stack: Option<Box<Part>>,
    /// What stands for arguments that were not seen: `...` after those of the workload's own first
    /// `execve` and if some are not in registers, `?` for all of them.
    pub unseen: Option<&'static str>,
    /// What stands behind pointers, and is no argument by itself: `family`, `ip`, `port` and `unix`
    /// of a socket's address, and the `flags` of a call that has them in a structure.
    pub behind: Vec<Part>,
    /// The two ends of a span; `None` for other deeds.
    pub ends: Option<Box<Ends>>,
    /// What was done to it while it was held.
    pub injected: Injected,
}

/// The begin and the end of a span; at least one of them is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Ends {
    /// `None` if the end came without a begin.
    pub begin: Option<Deed>,
    /// `None` if it did not end.
    pub end: Option<Deed>,
    /// Whether these two certainly belong together: not if a value of the key was not read.
    pub is_known: bool,
}

impl Ends {
    /// How it ended.
    #[must_use]
    pub fn state(&self) -> State {
        match (&self.begin, &self.end) {
            _ if !self.is_known => State::Unknown,
            (Some(_), Some(_)) => State::Finished,
            (Some(_), None) => State::Unfinished,
            (None, _) => State::Unbegun,
        }
    }
}

/// How a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It began and ended.
    Finished,
    /// It did not end.
    Unfinished,
    /// It ended without a begin.
    Unbegun,
    /// It is not known.
    Unknown,
}

impl State {
    /// The states that an author may expect.
    pub const ALL: [Self; 3] = [Self::Finished, Self::Unfinished, Self::Unbegun];

    /// Returns its word in traces and in expectations.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Unfinished => "unfinished",
            Self::Unbegun => "unbegun",
            Self::Unknown => "unknown",
        }
    }
}

/// An argument, a field, or a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The kernel's name of it.
    pub name: Arc<str>,
    /// The name that such a part has in all calls: `path`, `from`, `to`, `fd`, `flags`.
    pub alias: Option<&'static str>,
    /// Its text in a snapshot.
    pub text: String,
    /// Its value.
    pub value: Value,
}

impl Deed {
    /// Returns the part by the name that an author uses: the kernel's own name for it, or else an
    /// alias ([`Signature::place_of`](syscall_model::Signature::place_of)), or `returns`, `process`
    /// (a task) or `program`. A span also has `state`, `duration` in nanoseconds, and `begin.word`
    /// and `end.word` for the parts of its ends.
    #[must_use]
    pub fn part(&self, word: &str) -> Option<Cow<'_, Part>> {
        let by_name = self.fields.iter().find(|part| *part.name == *word);
        let by_alias = || self.fields.iter().find(|part| part.alias == Some(word));
        let behind = || self.behind.iter().find(|part| *part.name == *word);
        if let Some(part) = by_name.or_else(by_alias).or_else(behind) {
            return Some(Cow::Borrowed(part));
        }
        if let Some(ends) = &self.ends
            && let Some(part) = self.part_of_span(ends, word)
        {
            return Some(part);
        }
        match word {
            "stack" | "from" => self.stack.as_deref().map(Cow::Borrowed),
            "returns" => self.returns.as_ref().map(Cow::Borrowed),
            "process" => {
                let process = StableName {
                    thread: 1,
                    ..self.task
                };
                Some(Cow::Owned(Part {
                    name: word.into(),
                    alias: None,
                    text: process.to_string(),
                    value: Value::Task {
                        id: 0,
                        task: Some(process),
                    },
                }))
            }
            "program" => Some(Cow::Owned(Part {
                name: word.into(),
                alias: None,
                text: self.program.as_ref().to_owned(),
                value: Value::Bytes {
                    bytes: self.program.as_bytes().to_vec(),
                    is_cut: false,
                },
            })),
            _ => None,
        }
    }

    /// Whether only its end was recorded: a seccomp filter of the workload's own answered or
    /// refused it, and the kernel did not make it.
    #[must_use]
    pub fn is_unentered(&self) -> bool {
        self.unseen == Some("?")
    }

    /// Whether such a call was answered as one is that is made: what it returned is no error
    /// ([`Call::is_answered`](syscall_model::Call::is_answered)).
    #[must_use]
    pub fn is_answered(&self) -> bool {
        let returned = self.returns.as_ref().map(|part| &part.value);
        let is_refused =
            |value| matches!(value, &Value::Error(_) | &Value::Never | &Value::Nothing);
        self.is_unentered() && !returned.is_some_and(is_refused)
    }

    /// Says which functions led to it.
    pub fn led_by(&mut self, stack: &Stack) {
        self.stack = Some(Box::new(frames(stack)));
    }

    /// The names of the functions that led to it, the innermost first, as far as these are known.
    #[must_use]
    pub fn functions(&self) -> Vec<String> {
        match self.stack.as_deref().map(|part| &part.value) {
            Some(Value::Frames { names, .. }) => {
                let name = |name: &Option<Box<str>>| name.as_deref().unwrap_or("?").to_owned();
                names.iter().map(name).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether this part stands behind a pointer and is no argument.
    #[must_use]
    pub fn is_behind(&self, word: &str) -> bool {
        self.behind.iter().any(|part| *part.name == *word)
    }

    /// The thread's own name, by which a span may be paired.
    #[must_use]
    pub fn thread_part(&self) -> Part {
        Part {
            name: "thread".into(),
            alias: None,
            text: self.task.to_string(),
            value: Value::Task {
                id: 0,
                task: Some(self.task),
            },
        }
    }

    fn part_of_span(&self, ends: &Ends, word: &str) -> Option<Cow<'_, Part>> {
        let of = |end: &Option<Deed>, word: &str| match end {
            Some(deed) => deed.part(word).map(Cow::into_owned),
            // A part that is not there has no parts of its own, and passes no test.
            None => Some(Part::nothing(word)),
        };
        if let Some(word) = word.strip_prefix("begin.") {
            return of(&ends.begin, word).map(Cow::Owned);
        }
        if let Some(word) = word.strip_prefix("end.") {
            return of(&ends.end, word).map(Cow::Owned);
        }
        let state = ends.state();
        let part = match word {
            "state" | "duration" if state == State::Unknown => Part {
                value: Value::Unread,
                ..Part::nothing(word)
            },
            "state" => Part {
                name: word.into(),
                alias: None,
                text: state.word().to_owned(),
                value: Value::Names(vec![state.word().into()], state as u64),
            },
            "duration" if state == State::Finished => {
                let (from, to) = self.clock;
                let nanos = to.0.saturating_sub(from.0);
                Part {
                    name: word.into(),
                    alias: None,
                    text: Nanos(nanos).as_duration(),
                    value: Value::Number(nanos.into()),
                }
            }
            "duration" => Part::nothing(word),
            _ => return None,
        };
        Some(Cow::Owned(part))
    }

    /// Returns its line in a snapshot, without the task.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = String::new();
        if let Some(convention) = self.convention {
            line += &format!("[{convention}] ");
        }
        line += &self.name;
        match &self.returns {
            Some(returns) => {
                let arguments = self.fields.iter().map(|part| part.text.as_str());
                let arguments: Vec<&str> = arguments.chain(self.unseen).collect();
                line += &format!("({}) = {}", arguments.join(", "), returns.text);
                if !self.injected.is_nothing() {
                    line += &format!(" {}", self.injected);
                }
                line
            }
            None => {
                for part in &self.fields {
                    line += &format!(" {}={}", part.name, part.text);
                }
                match self.ends.as_ref().map(|ends| ends.state()) {
                    None | Some(State::Finished) => line,
                    Some(state) => line + " " + state.word(),
                }
            }
        }
    }
}

impl Part {
    fn nothing(word: &str) -> Self {
        Self {
            name: word.into(),
            alias: None,
            text: "?".to_owned(),
            value: Value::Nothing,
        }
    }
}

/// The file that a path led to, or that a descriptor refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reached {
    /// The plan did not ask for it.
    #[default]
    Untold,
    /// A file with these names from the root, in the run until then.
    Known {
        /// The first is its name at that time; none if it has no path.
        names: Vec<Vec<u8>>,
        /// Whether the path went through a link that the run or its files made, or `..`.
        is_led: bool,
    },
    /// Something that is in no folder: a pipe, a socket, memory.
    Nowhere,
    /// It is not known, for this reason.
    Unknown(Box<str>),
}

/// A value by what it is. Strings have `$DIR` in place of the working directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// It was not read, or could not be, so that its value is not known.
    Unread,
    /// There is none: the result of a call that did not return, or a null pointer.
    Nothing,
    /// There never was one: the result of a call that was refused by a signal. It passes no test,
    /// not even one for another value.
    Never,
    /// A value known by its text only: a structure, an address.
    Text,
    /// A structure of which a snapshot leaves a part out; this text has that part too.
    Raw(Box<str>),
    /// An address in a tracepoint's record: it means nothing outside of the run, and within it
    /// identifies an object.
    Address(u64),
    /// A number.
    Number(i128),
    /// Flags, or one constant of several, and their number.
    Names(Vec<Box<str>>, u64),
    /// A string that is no path, or contents.
    Bytes {
        /// The part that was read.
        bytes: Vec<u8>,
        /// Whether there was more.
        is_cut: bool,
    },
    /// Strings: the arguments of a program.
    Strings {
        /// The strings.
        strings: Vec<Vec<u8>>,
        /// Whether there were more, or one of them was cut.
        is_cut: bool,
    },
    /// A path.
    Path {
        /// The path in the call's argument.
        given: Vec<u8>,
        /// The path from the root, without empty parts and `.`, if it was asked for and is known.
        absolute: Option<Vec<u8>>,
        /// Which file it led to.
        reached: Reached,
    },
    /// A descriptor.
    File {
        /// Its number.
        number: i32,
        /// Its open file description; `None` if it was not open.
        description: Option<u64>,
        /// The name of its file: a path, `stdout`, `pipe`; empty if it is not open.
        name: Vec<u8>,
        /// The file that it refers to.
        reached: Reached,
    },
    /// A descriptor whose file is not known.
    UnknownFile {
        /// Its number.
        number: i32,
        /// Its open file description, if that alone is known: the same file may be open under
        /// another name.
        description: Option<u64>,
    },
    /// A task.
    Task {
        /// The id in the call.
        id: i32,
        /// Its stable name; `None` for a task outside of the run, or for no task (0, -1).
        task: Option<StableName>,
    },
    /// The error that a call returned: `ENOENT`.
    Error(Box<str>),
    /// The functions that led to it, the innermost first.
    Frames {
        /// Their names; `None` for a function that is not known.
        names: Vec<Option<Box<str>>>,
        /// Whether the chain was cut.
        is_cut: bool,
    },
}
