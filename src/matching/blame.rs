//! Which test of a suite did something.
//!
//! A runner starts a process for each test, or a thread, or says which test comes next. What a test
//! says itself can be a lie: only [`BlameBy::Process`] cannot be forged by a test, as the first
//! process in a line of descent that was started for a test decides.

mod calls;
mod drivers;
mod lines;
mod output;
mod printed;
mod processes;
mod started;
#[cfg(test)]
mod tests;

use crate::scenario::BlameBy;
use crate::trace::{Block, Deed, Normalised, StableName, Value};
use calls::{LONGEST_NAME, own_name, stream, written};
use lines::{Said, Stream};
use printed::{Printed, State};
use started::Started;
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

impl Blamed {
    /// Any test, or none.
    const UNKNOWN: Self = Self::OneOf(Vec::new());

    fn among(names: Vec<Arc<str>>) -> Self {
        match <[Arc<str>; 1]>::try_from(names) {
            Ok([name]) => Self::Test(name),
            Err(names) => Self::OneOf(names),
        }
    }
}

/// Returns the calls that must be recorded beside others to find tests.
#[must_use]
pub fn needed(by: BlameBy) -> &'static [&'static str] {
    match by {
        BlameBy::Process => &["execve", "execveat"],
        BlameBy::Thread => &[
            "clone", "clone3", "fork", "vfork", "prctl", "write", "writev",
        ],
        BlameBy::Output => &[
            "clone",
            "clone3",
            "fork",
            "vfork",
            "write",
            "writev",
            "exit_group",
        ],
    }
}

/// The tests of a run.
#[derive(Debug)]
pub struct Tests {
    by: BlameBy,
    /// The task that made each process or thread, and when.
    made: BTreeMap<StableName, (StableName, u64)>,
    /// The first test that each process was started for.
    started: BTreeMap<u32, (u64, Started)>,
    /// The words of processes that hand the last of these on, and have not done so yet.
    handing_on: BTreeMap<u32, Vec<Vec<u8>>>,
    /// The names that threads gave themselves, and when.
    named: BTreeMap<StableName, Vec<(u64, Vec<u8>)>>,
    /// What processes wrote, until all of it is there: by process and stream.
    written: BTreeMap<(u32, u64), Stream>,
    /// The threads of each process that said that a test begins.
    tellers: BTreeMap<u32, BTreeSet<u32>>,
    /// What processes printed of tests.
    printed: BTreeMap<u32, Printed>,
    /// The names that each process printed, by as much of them as a thread has.
    full: BTreeMap<u32, BTreeMap<Vec<u8>, Vec<Arc<str>>>>,
    /// When each process ended, and when all had that descend from it.
    exited: BTreeMap<u32, u64>,
    until: BTreeMap<u32, u64>,
}

impl Tests {
    /// Finds them; the deeds are those of the trace, in order.
    #[must_use]
    pub fn of(blaming: &Blaming, trace: &Normalised, deeds: &[&Deed]) -> Self {
        let mut tests = Self {
            by: blaming.by,
            made: BTreeMap::new(),
            started: BTreeMap::new(),
            handing_on: BTreeMap::new(),
            named: BTreeMap::new(),
            written: BTreeMap::new(),
            tellers: BTreeMap::new(),
            printed: BTreeMap::new(),
            full: BTreeMap::new(),
            exited: BTreeMap::new(),
            until: BTreeMap::new(),
        };
        tests.commanded(&blaming.command);
        for block in &trace.blocks {
            tests.relate(block);
        }
        for deed in deeds {
            tests.take(deed, &blaming.outputs);
        }
        tests.print();
        if tests.by == BlameBy::Output {
            tests.pass_over_repeaters();
            tests.until = tests.ends();
        }
        if tests.by == BlameBy::Thread {
            let all = tests.printed.iter();
            tests.full = all
                .map(|(process, it)| (*process, it.by_thread_name()))
                .collect();
        }
        tests
    }

    fn take(&mut self, deed: &Deed, outputs: &[String]) {
        let process = deed.task.process;
        match &*deed.name {
            "execve" | "execveat" if self.by == BlameBy::Process => self.executed(deed),
            "clone" | "clone3" | "fork" | "vfork" => {
                let returns = deed.returns.as_ref().map(|part| &part.value);
                if let Some(Value::Task {
                    task: Some(made), ..
                }) = returns
                {
                    self.made.insert(*made, (deed.task, deed.entered));
                }
            }
            "exit_group" => {
                self.exited.insert(process, deed.entered);
            }
            "prctl" if self.by == BlameBy::Thread => {
                if let Some(name) = own_name(deed) {
                    let names = self.named.entry(deed.task).or_default();
                    names.push((deed.entered, name));
                }
            }
            "write" | "writev" if self.by != BlameBy::Process => {
                let Some(stream) = stream(deed, outputs) else {
                    return;
                };
                let stream = self.written.entry((process, stream)).or_default();
                let before = stream.tests();
                match written(deed) {
                    Some((bytes, is_cut)) => stream.write(deed.entered, bytes, is_cut),
                    None => stream.miss(deed.entered),
                }
                if stream.tests() > before {
                    let tellers = self.tellers.entry(process).or_default();
                    tellers.insert(deed.task.thread);
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

    /// Brings together what each process says on the streams on which it tells of tests.
    fn print(&mut self) {
        let mut said: BTreeMap<u32, Vec<(u64, Said)>> = BTreeMap::new();
        for ((process, _), stream) in std::mem::take(&mut self.written) {
            if let Some(of_stream) = stream.said() {
                said.entry(process).or_default().extend(of_stream);
            }
        }
        for (process, mut said) in said {
            said.sort_by_key(|(moment, _)| *moment);
            self.printed.insert(process, Printed::of(said));
        }
    }

    /// Takes no process for a runner that only repeats what those below it told: `go test`, and
    /// the process of pytest-xdist that gives tests to the others.
    fn pass_over_repeaters(&mut self) {
        let mut told: BTreeMap<u32, BTreeMap<Arc<str>, u64>> = BTreeMap::new();
        for (process, printed) in &self.printed {
            let task = StableName {
                process: *process,
                thread: 1,
            };
            let line = self.line(task, u64::MAX).into_iter();
            let above: BTreeSet<u32> = line
                .map(|(task, _)| task.process)
                .filter(|above| above != process && self.printed.contains_key(above))
                .collect();
            for above in above {
                let told = told.entry(above).or_default();
                for (name, moment) in printed.begun() {
                    let first = told.entry(Arc::clone(name)).or_insert(moment);
                    *first = moment.min(*first);
                }
            }
        }
        for (process, told) in told {
            let printed = self.printed.get(&process);
            if printed.is_some_and(|printed| printed.repeats(&told)) {
                self.printed.remove(&process);
            }
        }
    }

    /// Returns the names of all tests that were seen.
    #[must_use]
    pub fn seen(&self) -> BTreeSet<Arc<str>> {
        let started = self.started.values();
        let started = started.flat_map(|(_, started)| started.names());
        let printed = self.printed.values().flat_map(Printed::begun);
        let printed = printed.map(|(name, _)| name);
        started.chain(printed).cloned().collect()
    }

    /// Returns the test that did this.
    #[must_use]
    pub fn blame(&self, deed: &Deed) -> Blamed {
        self.at(deed.task, deed.entered)
    }

    fn at(&self, task: StableName, now: u64) -> Blamed {
        let line = self.line(task, now);
        let found = match self.by {
            BlameBy::Process => {
                let mut oldest = line.iter().rev();
                oldest.find_map(|(task, moment)| {
                    let (begun, started) = self.started.get(&task.process)?;
                    (begun <= moment).then(|| Blamed::among(started.names().to_vec()))
                })
            }
            BlameBy::Thread => self.by_thread(&line, now),
            BlameBy::Output => self.by_output(&line, now),
        };
        // Who made the first of the line is not known, if it is not the command itself.
        let is_whole = line.last().is_some_and(|(task, _)| task.process == 1);
        let otherwise = match is_whole {
            true => Blamed::Nothing,
            false => Blamed::UNKNOWN,
        };
        found.unwrap_or(otherwise)
    }

    /// The test whose thread it was, or whose thread made it; `None` if it was no test's.
    fn by_thread(&self, line: &[(StableName, u64)], now: u64) -> Option<Blamed> {
        // The process of the last thread that is not a process' first one.
        let mut thread_of = None;
        for (task, moment) in line {
            let Some(printed) = self.printed.get(&task.process) else {
                continue;
            };
            if let Some(found) = self.by_name(*task, *moment, now, printed) {
                return Some(found);
            }
            // The runner makes threads for tests alone, and may run a test itself.
            let is_first = task.thread == 1;
            let may_run = printed.at(*moment) != State::Outside;
            if is_first && (may_run || thread_of == Some(task.process)) {
                return Some(Blamed::UNKNOWN);
            }
            if !is_first {
                thread_of = Some(task.process);
            }
        }
        None
    }

    /// The test after which a thread was named then.
    fn by_name(
        &self,
        task: StableName,
        moment: u64,
        now: u64,
        printed: &Printed,
    ) -> Option<Blamed> {
        let names = self.named.get(&task)?;
        let last = names.partition_point(|(since, _)| *since <= moment);
        let (_, own) = names.get(last.checked_sub(1)?)?;
        let full = self.full.get(&task.process)?.get(own)?;
        let is_cut = own.len() >= LONGEST_NAME;
        let is_known = !printed.is_doubtful() && (!is_cut || printed.has_all_names());
        // The thread itself is of a test that runs. What outlives that works for nobody knows whom.
        let mut ended = full.iter().map(|name| printed.has_ended(name, now));
        let is_over = match moment == now {
            true => ended.all(|has_ended| has_ended),
            false => ended.any(|has_ended| has_ended),
        };
        Some(match is_known && !is_over {
            true => Blamed::among(full.clone()),
            false => Blamed::UNKNOWN,
        })
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
