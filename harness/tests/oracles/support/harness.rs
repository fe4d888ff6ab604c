//! The program under test: `harness trace --format json`, run and read back.

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;

use serde::{Deserialize, Deserializer};

use super::calls::{Call, Outcome, Trace};
use super::command::Place;
use super::oracle::Facts;

/// The built program.
pub(crate) const PATH: &str = env!("CARGO_BIN_EXE_harness");

/// A field that must be there, and may be null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(from)
}

/// A line of the output.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Line {
    /// A call.
    Syscall(Syscall),
    /// Any other event.
    Event(Event),
    /// The last line.
    Summary(Summary),
}

/// A call.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Syscall {
    /// The process.
    pub(crate) pid: i32,
    /// The thread.
    pub(crate) tid: i32,
    /// The thread's name.
    pub(crate) comm: String,
    /// When it was entered.
    pub(crate) time_ns: u64,
    /// How long it took; null where one of its halves was not seen.
    #[serde(deserialize_with = "present")]
    pub(crate) duration_ns: Option<u64>,
    /// The number in the ABI that was used.
    pub(crate) nr: i64,
    /// The name in the ABI that was used.
    pub(crate) name: String,
    /// `i386` for a 32-bit call of a 64-bit program, otherwise absent.
    pub(crate) abi: Option<String>,
    /// The arguments.
    pub(crate) args: Vec<Argument>,
    /// The result; null where there was none.
    #[serde(deserialize_with = "present")]
    pub(crate) ret: Option<i64>,
    /// The error's name.
    #[serde(deserialize_with = "present")]
    pub(crate) errno: Option<String>,
}

/// An operation that was submitted to an io_uring: the only events that come with calls.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Event {
    /// `io_uring:IORING_OP_FSYNC`.
    pub(crate) name: String,
    /// The process.
    pub(crate) pid: i32,
    /// The thread.
    pub(crate) tid: i32,
    /// When.
    pub(crate) time_ns: u64,
    /// Its fields.
    pub(crate) fields: Submission,
}

/// What is told of a submission.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Submission {
    /// The program's own number for it.
    pub(crate) user_data: u64,
    /// Its flags by name.
    pub(crate) flags: String,
    /// 1 where a thread of the kernel's took it.
    #[serde(default)]
    pub(crate) sq_thread: u8,
}

/// An argument of a call.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Argument {
    /// The kernel's name for it.
    pub(crate) name: String,
    /// The register.
    pub(crate) value: u64,
    /// What it means.
    pub(crate) text: String,
}

/// The last line.
#[derive(Debug, Deserialize)]
pub(crate) struct Summary {
    /// Lines before this one.
    pub(crate) events: u64,
    /// Records that the kernel could not deliver.
    pub(crate) lost: u64,
    /// How the workload ended.
    pub(crate) exit: Exit,
}

/// How the workload ended.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Exit {
    /// With this status.
    Code(i32),
    /// By this signal.
    Signal(String),
}

impl Syscall {
    /// How it ended.
    pub(crate) fn outcome(&self) -> Outcome {
        match (&self.errno, self.ret) {
            (Some(errno), None) => Outcome::Interrupted(errno.clone()),
            (Some(errno), Some(_)) => Outcome::Failed(errno.clone()),
            (None, Some(value)) => Outcome::Value(value),
            (None, None) => Outcome::Never,
        }
    }

    /// The call as every witness can tell it.
    pub(crate) fn call(&self) -> Call {
        let (name, outcome) = (self.name.clone(), self.outcome());
        Call { name, outcome }
    }
}

/// A run of the program under test.
#[derive(Debug)]
pub(crate) struct Traced {
    /// Status, stdout and stderr of the program, which are the workload's too.
    pub(crate) output: Output,
    /// The calls, as printed.
    pub(crate) calls: Vec<Syscall>,
    /// What was submitted to io_uring.
    pub(crate) submissions: Vec<Event>,
    /// The last line.
    pub(crate) summary: Summary,
}

impl Traced {
    /// What the workload said of itself.
    pub(crate) fn facts(&self) -> Facts {
        Facts::parse(&self.output.stdout)
    }

    /// The calls of one thread.
    pub(crate) fn thread(&self, tid: i32) -> Vec<&Syscall> {
        self.calls.iter().filter(|call| call.tid == tid).collect()
    }

    /// How often the thread made the call and came back from it without an error.
    pub(crate) fn successes(&self, tid: i32, name: &str) -> i64 {
        let succeeded =
            |call: &&&Syscall| call.name == name && call.errno.is_none() && call.ret.is_some();
        let count = self.thread(tid).iter().filter(succeeded).count();
        i64::try_from(count).expect("a count")
    }

    /// Per thread.
    pub(crate) fn trace(&self) -> Trace {
        let mut threads: BTreeMap<i32, Vec<Call>> = BTreeMap::new();
        for call in &self.calls {
            threads.entry(call.tid).or_default().push(call.call());
        }
        let root = self.calls.first().map_or(0, |call| call.tid);
        Trace { root, threads }
    }
}

/// Who records calls: the default, a BPF program where one may be loaded, and perf.
pub(crate) const SOURCES: [&str; 2] = ["auto", "perf"];

/// Traces a command whose calls this source records.
pub(crate) fn trace_by(source: &str, place: &Place, prepare: &str, command: &[&str]) -> Traced {
    trace_with(place, prepare, (&[], &["--source", source]), command)
}

/// Traces a command of which nothing but its calls is wanted.
pub(crate) fn trace_in(place: &Place, prepare: &str, command: &[&str]) -> Traced {
    trace_with(place, prepare, (&[], &[]), command)
}

/// Traces the command. Some words are put before the program under test, and some among its
/// options.
pub(crate) fn trace_with(
    place: &Place,
    prepare: &str,
    (before, options): (&[&str], &[&str]),
    command: &[&str],
) -> Traced {
    let file = place.beside("harness");
    let file = file.to_str().expect("a path of letters");
    let trace = [PATH, "trace", "--format", "json", "-o", file];
    let words: Vec<&str> = before
        .iter()
        .chain(&trace)
        .chain(options)
        .chain(&["--"])
        .chain(command)
        .copied()
        .collect();
    let output = place.run(prepare, &words);
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    read(&text, output)
}

/// Traces a command in a place of its own.
pub(crate) fn trace(command: &[&str]) -> Traced {
    trace_in(&Place::new(), "", command)
}

fn read(text: &str, output: Output) -> Traced {
    let (mut calls, mut submissions) = (Vec::new(), Vec::new());
    let mut summaries = Vec::new();
    for line in text.lines() {
        assert!(
            summaries.is_empty(),
            "the summary is not the last line: {line}"
        );
        match serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")) {
            Line::Syscall(call) => calls.push(call),
            Line::Event(event) if event.name.starts_with("io_uring:IORING_OP_") => {
                submissions.push(event);
            }
            Line::Event(_) => panic!("an event that was not asked for: {line}"),
            Line::Summary(summary) => summaries.push(summary),
        }
    }
    let summary = summaries.pop();
    let summary = summary.unwrap_or_else(|| panic!("no summary; the program said {output:?}"));
    Traced {
        output,
        calls,
        submissions,
        summary,
    }
}
