//! Which test of a suite did something.
//!
//! A runner starts a process for each test, or a thread, or says which test comes next. What a test
//! says itself can be a lie: only [`BlameBy::Process`] cannot be forged by a test, as the first
//! process in a line of descent that was started for a test decides.

mod lines;
mod printed;
mod started;

use crate::scenario::BlameBy;
use crate::trace::{Block, Deed, Normalised, StableName, Value};
use printed::{Printed, State};
use started::{of_arguments, started};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How the test is found that did something.
#[derive(Clone, Debug, Default)]
pub struct Blaming {
    /// By what.
    pub by: BlameBy,
    /// The command and its arguments, which the trace does not show.
    pub command: Vec<String>,
    /// The files that its outputs go to, by their names in the trace.
    pub outputs: Vec<String>,
}

/// The test that did something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blamed {
    /// It was no test.
    Nothing,
    /// It was this one.
    Test(Arc<str>),
    /// It was this one, or none.
    Perhaps(Arc<str>),
    /// It was one of these, or, where the list is empty, any or none.
    OneOf(Vec<Arc<str>>),
}

/// Returns the calls that must be recorded beside others to find tests.
#[must_use]
pub fn needed(by: BlameBy) -> &'static [&'static str] {
    match by {
        BlameBy::Process => &["execve", "execveat"],
        BlameBy::Thread => &["clone", "clone3", "fork", "vfork", "prctl", "write"],
        BlameBy::Output => &["clone", "clone3", "fork", "vfork", "write"],
    }
}

/// The tests of a run.
#[derive(Debug)]
pub struct Tests {
    by: BlameBy,
    /// The task that made each process or thread, and when.
    made: BTreeMap<StableName, (StableName, u64)>,
    /// The first test that each process was started for; `None` where what it was started with was
    /// not read.
    started: BTreeMap<u32, (u64, Option<Arc<str>>)>,
    /// The names that threads gave themselves, and when.
    named: BTreeMap<StableName, Vec<(u64, Vec<u8>)>>,
    /// What processes printed of tests.
    printed: BTreeMap<u32, Printed>,
    /// The names that each process printed, by as much of them as a thread has.
    full: BTreeMap<u32, BTreeMap<Vec<u8>, Vec<Arc<str>>>>,
    /// When each process, or one that descends from it, did something for the last time.
    until: BTreeMap<u32, u64>,
}

/// `PR_SET_NAME`.
const SET_NAME: i128 = 15;

impl Tests {
    /// Finds them; the deeds are those of the trace, in order.
    #[must_use]
    pub fn of(blaming: &Blaming, trace: &Normalised, deeds: &[&Deed]) -> Self {
        let mut tests = Self {
            by: blaming.by,
            made: BTreeMap::new(),
            started: BTreeMap::new(),
            named: BTreeMap::new(),
            printed: BTreeMap::new(),
            full: BTreeMap::new(),
            until: BTreeMap::new(),
        };
        let words = blaming.command.iter().map(String::as_bytes);
        if let Some(name) = of_arguments(words) {
            tests.started.insert(1, (0, Some(name)));
        }
        for deed in deeds {
            tests.take(deed, &blaming.outputs);
        }
        for block in &trace.blocks {
            tests.relate(block);
        }
        if tests.by == BlameBy::Output {
            tests.until = tests.ends(deeds);
        }
        if tests.by == BlameBy::Thread {
            let all = tests.printed.iter();
            tests.full = all
                .map(|(process, it)| (*process, by_thread_name(it)))
                .collect();
        }
        tests
    }

    fn take(&mut self, deed: &Deed, outputs: &[String]) {
        let process = deed.task.process;
        match &*deed.name {
            "execve" | "execveat" if self.by == BlameBy::Process => {
                if let Some(name) = started(deed) {
                    self.started.entry(process).or_insert((deed.entered, name));
                }
            }
            "clone" | "clone3" | "fork" | "vfork" => {
                let returns = deed.returns.as_ref().map(|part| &part.value);
                if let Some(Value::Task {
                    task: Some(made), ..
                }) = returns
                {
                    self.made.insert(*made, (deed.task, deed.entered));
                }
            }
            "prctl" if self.by == BlameBy::Thread => {
                if let Some(name) = own_name(deed) {
                    let names = self.named.entry(deed.task).or_default();
                    names.push((deed.entered, name));
                }
            }
            "write" if self.by != BlameBy::Process => {
                let Some(stream) = stream(deed, outputs) else {
                    return;
                };
                let buffer = deed.fields.get(1).map(|part| &part.value);
                let printed = self.printed.entry(process).or_default();
                match buffer {
                    Some(Value::Bytes { bytes, is_cut }) => {
                        printed.write(stream, deed.entered, bytes, *is_cut);
                    }
                    _ => printed.miss(deed.entered),
                }
            }
            _ => {}
        }
    }

    /// Notes who made a process where no call says so.
    fn relate(&mut self, block: &Block) {
        let first = block.deeds.first().map_or(u64::MAX, |deed| deed.entered);
        if let Some(parent) = block.parent {
            self.made.entry(block.task).or_insert((parent, first));
        }
    }

    /// Returns the names of all tests that were seen.
    #[must_use]
    pub fn seen(&self) -> BTreeSet<Arc<str>> {
        let started = self.started.values();
        let started = started.filter_map(|(_, name)| name.clone());
        let printed = self.printed.values().flat_map(Printed::names);
        started.chain(printed).collect()
    }

    /// Returns the test that did this.
    #[must_use]
    pub fn blame(&self, deed: &Deed) -> Blamed {
        let line = self.line(deed.task, deed.entered);
        match self.by {
            BlameBy::Process => {
                let mut oldest = line.iter().rev();
                let found = oldest.find_map(|(task, moment)| {
                    let (begun, name) = self.started.get(&task.process)?;
                    (begun <= moment).then_some(name)
                });
                match found {
                    None => Blamed::Nothing,
                    Some(None) => Blamed::OneOf(Vec::new()),
                    Some(Some(name)) => Blamed::Test(Arc::clone(name)),
                }
            }
            BlameBy::Thread => {
                let found = line.iter().find_map(|it| self.by_thread(it));
                found.unwrap_or(Blamed::Nothing)
            }
            BlameBy::Output => match self.by_output(&line, deed.entered) {
                None => Blamed::Nothing,
                Some(State::Unknown) => Blamed::OneOf(Vec::new()),
                Some(State::Over(name)) => Blamed::Perhaps(name),
                Some(State::Running(names)) => match names.as_slice() {
                    [] => Blamed::Nothing,
                    [name] => Blamed::Test(Arc::clone(name)),
                    names => Blamed::OneOf(names.to_vec()),
                },
            },
        }
    }

    /// What ran, by what the nearest process that prints of tests had printed when it did this, or
    /// when it started what did; `None` if it had not begun, or there is no such process.
    fn by_output(&self, line: &[(StableName, u64)], now: u64) -> Option<State> {
        // The process of the line that the next one started, and whether one of them prints.
        let (mut branch, mut prints) = (None, false);
        for (task, moment) in line {
            let printed = self.printed.get(&task.process);
            let Some(printed) = printed.filter(|it| it.has_tests()) else {
                branch = Some(task.process);
                continue;
            };
            // What a test started and what outlives it works for whom nobody knows.
            let still = |then: State| match printed.at(now).as_ref() == Some(&then) {
                true => then,
                false => State::Unknown,
            };
            let is_own = printed.has_own_threads() && !printed.is_elsewhere();
            if task.thread != 1 && is_own {
                let made = self.made.get(task).and_then(|(_, when)| printed.at(*when));
                let made = made.filter(State::is_of_a_test);
                return Some(made.map_or(State::Unknown, still));
            }
            let branch_ends = branch.filter(|process| *process != task.process && !prints);
            let branch_ends = branch_ends.and_then(|process| self.until.get(&process));
            let then = match printed.at(*moment) {
                Some(then) if then.is_of_a_test() => match printed.is_elsewhere() {
                    false => return Some(still(then)),
                    true if branch_ends.is_some() => return Some(State::Unknown),
                    true => Some(State::Running(Vec::new())),
                },
                then => then,
            };
            // What was there before a test and is still there may be what runs it.
            if branch_ends.is_some_and(|end| printed.begins_within(*moment, *end)) {
                return Some(State::Unknown);
            }
            if then.is_some() {
                return then;
            }
            (branch, prints) = (Some(task.process), true);
        }
        None
    }

    /// When each process, or one that descends from it, did something for the last time.
    fn ends(&self, deeds: &[&Deed]) -> BTreeMap<u32, u64> {
        let mut last: BTreeMap<StableName, u64> = BTreeMap::new();
        for deed in deeds {
            let moment = last.entry(deed.task).or_default();
            *moment = deed.entered.max(*moment);
        }
        let mut until: BTreeMap<u32, u64> = BTreeMap::new();
        for (task, moment) in last {
            for (task, _) in self.line(task, moment) {
                let end = until.entry(task.process).or_default();
                *end = moment.max(*end);
            }
        }
        until
    }

    /// The test whose thread this was then; `None` if it was no test's.
    fn by_thread(&self, (task, moment): &(StableName, u64)) -> Option<Blamed> {
        let names = self.named.get(task)?.iter().rev();
        let mut names = names.filter(|(since, _)| since <= moment);
        let (_, own) = names.next()?;
        let printed = self.printed.get(&task.process)?;
        let of_process = self.full.get(&task.process);
        let full = of_process.and_then(|names| names.get(own));
        match full.map(Vec::as_slice).unwrap_or_default() {
            [] if printed.is_doubtful() => Some(Blamed::OneOf(Vec::new())),
            [] => None,
            [name] => Some(Blamed::Test(Arc::clone(name))),
            full => Some(Blamed::OneOf(full.to_vec())),
        }
    }

    /// A task at a moment, then who made it and when, up to the first.
    fn line(&self, task: StableName, moment: u64) -> Vec<(StableName, u64)> {
        let mut line = vec![(task, moment)];
        let mut last = task;
        while line.len() <= self.made.len().saturating_add(1) {
            // Who made a process made its first thread.
            let leader = StableName { thread: 1, ..last };
            let made = self.made.get(&last).or_else(|| self.made.get(&leader));
            let Some((maker, when)) = made else { break };
            line.push((*maker, *when));
            last = *maker;
        }
        line
    }
}

/// The stream that a call writes to, by a number of its own; `None` for a file that no runner
/// prints to.
fn stream(deed: &Deed, outputs: &[String]) -> Option<u64> {
    match deed.fields.first().map(|part| &part.value) {
        Some(Value::File {
            name, description, ..
        }) => {
            let is_path = name.starts_with(b"/") || name.starts_with(b"$DIR");
            // The workers of pytest-xdist print to no reader.
            let is_path = is_path && name.as_slice() != b"/dev/null";
            let is_output = !is_path || outputs.iter().any(|it| it.as_bytes() == name.as_slice());
            let description = *description;
            is_output.then(|| description.unwrap_or_default())
        }
        Some(Value::UnknownFile { description, .. }) => Some(description.unwrap_or_default()),
        _ => Some(0),
    }
}

/// The names that a process printed, by the name that the thread of each has.
fn by_thread_name(printed: &Printed) -> BTreeMap<Vec<u8>, Vec<Arc<str>>> {
    let mut full: BTreeMap<Vec<u8>, Vec<Arc<str>>> = BTreeMap::new();
    for name in printed.names() {
        full.entry(cut(&name).to_vec()).or_default().push(name);
    }
    full
}

/// As much of a name as a thread has.
fn cut(name: &str) -> &[u8] {
    const LONGEST: usize = 15;
    name.as_bytes().get(..LONGEST).unwrap_or(name.as_bytes())
}

/// The name that a thread gave itself.
fn own_name(deed: &Deed) -> Option<Vec<u8>> {
    let option = deed.fields.first().map(|part| &part.value);
    let is_name = match option {
        Some(Value::Number(number)) => *number == SET_NAME,
        Some(Value::Names(_, number)) => i128::from(*number) == SET_NAME,
        _ => false,
    };
    match deed.fields.get(1).map(|part| &part.value) {
        Some(Value::Bytes { bytes, .. }) if is_name => {
            let end = bytes.len().min(15);
            bytes.get(..end).map(<[u8]>::to_vec)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_once_by_what_a_thread_has_of_them() {
        let mut printed = Printed::default();
        for n in 0..20_000 {
            let line = format!("test group::name_{} ... ok\n", n / 2 * 10 + n % 2);
            printed.write(0, n, line.as_bytes(), false);
        }
        let full = by_thread_name(&printed);
        let all: usize = full.values().map(Vec::len).sum();
        assert_eq!((printed.names().count(), all), (20_000, 20_000));
        let one = full.get(b"group::name_0".as_slice()).unwrap();
        assert_eq!(one, &[Arc::from("group::name_0")]);
        assert!(full.get(b"group::name_100".as_slice()).unwrap().len() > 1);
    }
}
