//! Which test of a suite did something.
//!
//! A runner starts a process for each test, or a thread, or says which test comes next. What a test
//! says itself can be a lie: only [`BlameBy::Process`] cannot be forged by a test, as the first
//! process in a line of descent that was started for a test decides.

mod printed;

use crate::scenario::BlameBy;
use crate::trace::{Block, Deed, Normalised, StableName, Value};
use printed::{Printed, State};
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
            BlameBy::Output => {
                let found = line.iter().find_map(|(task, moment)| {
                    let printed = self.printed.get(&task.process)?;
                    let (then, now) = (printed.at(*moment)?, printed.at(deed.entered));
                    // What a test started and what outlives it works for whom nobody knows.
                    let outlives = then.is_of_a_test() && now.as_ref() != Some(&then);
                    Some(if outlives { State::Unknown } else { then })
                });
                match found {
                    None => Blamed::Nothing,
                    Some(State::Unknown) => Blamed::OneOf(Vec::new()),
                    Some(State::Running(names)) => match names.as_slice() {
                        [] => Blamed::Nothing,
                        [name] => Blamed::Test(Arc::clone(name)),
                        names => Blamed::OneOf(names.to_vec()),
                    },
                }
            }
        }
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

/// The test that a program was executed for: `Some(None)` if that is not known.
fn started(deed: &Deed) -> Option<Option<Arc<str>>> {
    if matches!(
        deed.returns.as_ref().map(|part| &part.value),
        Some(Value::Error(_))
    ) {
        return None;
    }
    let part = deed.part("argv")?;
    match &part.value {
        Value::Strings { strings, .. } => of_arguments(strings.iter().map(Vec::as_slice)).map(Some),
        Value::Unread => Some(None),
        _ => None,
    }
}

/// The only test that these arguments choose: `--exact NAME` of Rust's tests and of nextest, or
/// `-test.run=^NAME$` of Go's. A word `--` stands for a program that hands the rest on.
fn of_arguments<'a>(words: impl Iterator<Item = &'a [u8]>) -> Option<Arc<str>> {
    let mut words: Vec<&[u8]> = words.skip(1).collect();
    if words.contains(&b"--".as_slice()) {
        return None;
    }
    let text = |name: &[u8]| Some(Arc::from(String::from_utf8_lossy(name).as_ref()));
    let go = words.iter().find_map(|word| {
        let name = word.strip_prefix(b"-test.run=^")?.strip_suffix(b"$")?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 128;
        name.iter().all(is_plain).then_some(name)
    });
    if let Some(name) = go {
        return text(name);
    }
    let before = words.len();
    words.retain(|word| *word != b"--exact");
    if words.len() == before || words.contains(&b"--list".as_slice()) {
        return None;
    }
    let mut names = words.into_iter().filter(|word| !word.starts_with(b"-"));
    let name = names.next()?;
    match names.next() {
        Some(_) => None,
        None => text(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(words: &[&str]) -> Option<String> {
        of_arguments(words.iter().map(|word| word.as_bytes())).map(|name| name.to_string())
    }

    #[test]
    fn a_process_that_was_started_for_one_test_is_that_test() {
        for words in [
            &["t-1a2b", "--exact", "net::connects", "--nocapture"][..],
            &["t-1a2b", "net::connects", "--exact"],
            &["t-1a2b", "--exact", "net::connects", "--ignored"],
        ] {
            assert_eq!(name(words).as_deref(), Some("net::connects"));
        }
        let go = name(&["x.test", "-test.timeout=10m0s", "-test.run=^TestNet$"]);
        assert_eq!(go.as_deref(), Some("TestNet"));
    }

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

    #[test]
    fn a_process_of_several_tests_or_of_none_is_no_test() {
        for words in [
            &["t-1a2b", "net::connects"][..],
            &["t-1a2b", "--exact", "--list"],
            &["t-1a2b", "--exact"],
            &["t-1a2b", "--exact", "one", "two"],
            &["cargo", "test", "--", "--exact", "one"],
            &["x.test", "-test.run=^Test.*$"],
            &["x.test", "-test.run=TestNet"],
            &["--exact", "one"],
            &[],
        ] {
            assert_eq!(name(words), None, "{words:?}");
        }
    }
}
