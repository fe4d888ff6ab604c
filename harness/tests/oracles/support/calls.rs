//! Calls as every witness can tell them: per thread, the names and the results in order.

use std::collections::BTreeMap;
use std::fmt;

/// How a call ended, as the kernel returned it to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The value it returned.
    Value(i64),
    /// The error, by name.
    Failed(String),
    /// `ERESTARTSYS` and its kin: the program sees `EINTR`, or sees nothing as the call is entered
    /// again.
    Interrupted(String),
    /// It did not return.
    Never,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(formatter, "{value}"),
            Self::Failed(errno) => write!(formatter, "-1 {errno}"),
            Self::Interrupted(errno) => write!(formatter, "? {errno}"),
            Self::Never => write!(formatter, "?"),
        }
    }
}

/// A call without its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The name in the ABI that was used.
    pub(crate) name: String,
    /// How it ended.
    pub(crate) outcome: Outcome,
}

/// Every thread's calls in its own order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    /// The thread that made the first call.
    pub(crate) root: i32,
    /// The calls of each thread id.
    pub(crate) threads: BTreeMap<i32, Vec<Call>>,
}

const BIRTHS: [&str; 4] = ["clone", "clone3", "fork", "vfork"];
/// Their results are thread or process ids.
const IDENTITIES: [&str; 8] = [
    "getpid",
    "gettid",
    "getppid",
    "set_tid_address",
    "wait4",
    "waitpid",
    "setsid",
    "waitid",
];
/// Their results are groups or sessions, which may be the caller's or made for the workload by its
/// tracer.
const GROUPS: [&str; 3] = ["getpgrp", "getpgid", "getsid"];

impl Call {
    /// Whether a new thread of execution begins with this call.
    pub(crate) fn is_birth(&self) -> bool {
        BIRTHS.contains(&self.name.as_str())
    }

    /// Whether the result is the id of a thread or process.
    fn is_identity(&self) -> bool {
        self.is_birth() || IDENTITIES.contains(&self.name.as_str())
    }

    /// Whether this is the second return of such a call, the one in the child.
    ///
    /// The tracepoint fires there with the result 0; a tracer that uses ptrace reports no call that
    /// was not entered.
    pub(crate) fn is_return_in_child(&self) -> bool {
        self.is_birth() && self.outcome == Outcome::Value(0)
    }
}

impl Trace {
    /// What is left without the calls of these names.
    pub(crate) fn without(mut self, names: &[&str]) -> Self {
        for calls in self.threads.values_mut() {
            calls.retain(|call| !names.contains(&call.name.as_str()));
        }
        self
    }

    /// What is left with the calls of these names alone.
    pub(crate) fn only(mut self, names: &[&str]) -> Self {
        for calls in self.threads.values_mut() {
            calls.retain(|call| names.contains(&call.name.as_str()));
        }
        self
    }

    /// The threads under names that are the same in every run: `0` is the first, `0.1` the second
    /// thread that it made.
    ///
    /// Each call is a line of text; ids in results are replaced by those names.
    pub(crate) fn by_creation(&self) -> BTreeMap<String, Vec<String>> {
        let names = self.names();
        self.threads
            .iter()
            .map(|(tid, calls)| {
                let name = names
                    .get(tid)
                    .cloned()
                    .unwrap_or_else(|| format!("orphan {tid}"));
                (name, lines_of(calls, &names))
            })
            .collect()
    }

    fn names(&self) -> BTreeMap<i32, String> {
        let mut names = BTreeMap::from([(self.root, "0".to_owned())]);
        let mut unread = vec![self.root];
        while let Some(tid) = unread.pop() {
            let parent = names.get(&tid).cloned().unwrap_or_default();
            let calls = self.threads.get(&tid).map_or(&[][..], Vec::as_slice);
            let births = calls.iter().filter(|call| call.is_birth());
            let children = births.filter_map(|call| match call.outcome {
                Outcome::Value(child) if child > 0 => i32::try_from(child).ok(),
                _ => None,
            });
            for (index, child) in children.enumerate() {
                names.insert(child, format!("{parent}.{index}"));
                unread.push(child);
            }
        }
        names
    }
}

fn lines_of(calls: &[Call], names: &BTreeMap<i32, String>) -> Vec<String> {
    let returned_in_child = calls.first().is_some_and(Call::is_return_in_child);
    let calls = calls
        .get(usize::from(returned_in_child)..)
        .unwrap_or_default();
    let mut lines: Vec<String> = calls.iter().map(|call| line_of(call, names)).collect();
    // A thread that is killed in a blocking call: on the way to its death the call still returns
    // ERESTARTSYS, which the tracepoint reports and ptrace, whose tracee is gone by then, mostly
    // does not.
    if let (Some(last), Some(line)) = (calls.last(), lines.last_mut())
        && matches!(last.outcome, Outcome::Interrupted(_))
    {
        *line = format!("{} = ?", last.name);
    }
    lines
}

fn line_of(call: &Call, names: &BTreeMap<i32, String>) -> String {
    let Call { name, outcome } = call;
    let Outcome::Value(value) = *outcome else {
        return format!("{name} = {outcome}");
    };
    let known = i32::try_from(value).ok().and_then(|id| names.get(&id));
    let known = known.map(String::as_str);
    let is_group = GROUPS.contains(&name.as_str());
    match known {
        _ if value == 0 => format!("{name} = 0"),
        Some("0") | None if is_group => format!("{name} = <the workload's group>"),
        // The register that it restores may be the result of an interrupted wait.
        Some(known) if is_group || call.is_identity() || name == "rt_sigreturn" => {
            format!("{name} = <{known}>")
        }
        None if call.is_identity() => format!("{name} = <outside>"),
        _ => format!("{name} = {value}"),
    }
}

/// The first place at which the threads differ, with the calls before it; nothing where they are
/// the same.
pub(crate) fn difference(
    left: &BTreeMap<String, Vec<String>>,
    right: &BTreeMap<String, Vec<String>>,
) -> Option<String> {
    let threads: Vec<&String> = left.keys().collect();
    let others: Vec<&String> = right.keys().collect();
    if threads != others {
        return Some(format!("threads {threads:?} against {others:?}"));
    }
    left.iter().zip(right.values()).find_map(|((thread, left), right)| {
        let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
        if same == left.len() && same == right.len() {
            return None;
        }
        let context = same.saturating_sub(3);
        let part = |calls: &[String]| {
            let calls: Vec<&str> = calls.iter().skip(context).take(8).map(String::as_str).collect();
            calls.join("\n    ")
        };
        Some(format!(
            "thread {thread} differs at call {same}\n  left, from call {context}:\n    {}\n  right:\n    {}",
            part(left),
            part(right)
        ))
    })
}
