//! The guests of `harness matrix`: what runs in each, first for all scenarios and then again for
//! those in doubt.

use crate::formats;
use crate::kernels::Kernels;
use crate::out::{self, note, note_for_now};
use crate::shard;
use crate::status;
use crate::suite::Chosen;
use crate::vm::{Size, job};
use perf_live::errors::chain;
use perf_records::units::shown_lines;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use trace_harness::matrix::{self, Column, Heard, Kernel, Machine, Matrix, Place};

/// How often a scenario is run again if its answers differ: with three more runs, an answer that
/// comes up in every second run is missed on both of two kernels only once in 128 times.
const ROUNDS: u32 = 3;

/// The same scenarios, to be run on several kernels.
pub(super) struct Suite<'a> {
    pub(super) kernels: &'a Kernels,
    pub(super) chosen: &'a Chosen,
    pub(super) size: &'a Size,
    /// How many guests run side by side.
    pub(super) guests: usize,
    /// The names of the scenarios.
    pub(super) scenarios: Vec<String>,
}

impl Suite<'_> {
    /// Runs all scenarios on each of these kernels. Scenarios whose answers differ from a kernel to
    /// the next are run again there: what varies on one kernel is no difference between two.
    pub(super) fn on_each(&self, kernels: &[String]) -> Matrix {
        let work = Work {
            suite: self,
            machine: self.size.machine(),
            is_terminal: out::has_sequences(&std::io::stderr()),
            columns: Mutex::new(kernels.iter().map(|name| Column::of(name)).collect()),
        };
        let all: Vec<usize> = (0..kernels.len()).collect();
        work.side_by_side(&all, &|index| work.first(index));
        let matrix = self.matrix(work.with(|columns| columns.clone()));
        let in_doubt = matrix.in_doubt();
        if in_doubt.is_empty() {
            return matrix;
        }
        let scenarios_of = |index: &usize| {
            let name = kernels.get(*index)?;
            in_doubt.get(name)
        };
        let again: Vec<usize> = all
            .iter()
            .copied()
            .filter(|index| scenarios_of(index).is_some())
            .collect();
        work.side_by_side(&again, &|index| {
            if let Some(scenarios) = scenarios_of(&index) {
                work.again(index, scenarios);
            }
        });
        self.matrix(work.with(|columns| columns.clone()))
    }

    fn matrix(&self, columns: Vec<Column>) -> Matrix {
        Matrix::new(columns, self.scenarios.iter().cloned())
    }

    /// Returns the command for each kernel.
    fn command(&self, only: Option<&BTreeSet<String>>) -> Vec<OsString> {
        let own = std::env::current_exe().unwrap_or_else(|_| "harness".into());
        let mut words: Vec<OsString> = vec![own.into(), "run".into()];
        words.extend(["--format", "json", "--traces"].map(OsString::from));
        let Chosen {
            paths,
            jobs,
            filter,
            exact,
            patience,
            backlog,
        } = self.chosen;
        let jobs = jobs.map_or_else(|| self.size.cpus(), u32::from);
        words.extend(["--jobs".into(), jobs.to_string().into()]);
        if let Some(times) = patience {
            words.extend(["--patience".into(), times.to_string().into()]);
        }
        if let Some(bytes) = backlog {
            words.extend(["--backlog".into(), bytes.to_string().into()]);
        }
        let exact: Vec<&String> = match only {
            None => exact.iter().collect(),
            Some(only) => {
                words.extend(["--rounds".into(), ROUNDS.to_string().into()]);
                only.iter().collect()
            }
        };
        for name in exact {
            words.extend(["--exact".into(), name.into()]);
        }
        if let (None, Some(filter)) = (only, filter) {
            words.extend(["--filter".into(), filter.text.clone().into()]);
        }
        words.push("--".into());
        words.extend(paths.iter().map(|path| path.clone().into_os_string()));
        words
    }
}

/// The suite under way.
struct Work<'a> {
    suite: &'a Suite<'a>,
    machine: Machine,
    is_terminal: bool,
    columns: Mutex<Vec<Column>>,
}

impl Work<'_> {
    fn side_by_side(&self, indices: &[usize], work: &(dyn Fn(usize) + Sync)) {
        let waiting: Mutex<VecDeque<usize>> = Mutex::new(indices.iter().copied().collect());
        let next = || {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            // Results so far are shown.
            if self.machine.stop.is_asked() {
                None
            } else {
                waiting.pop_front()
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.suite.guests.min(indices.len()) {
                scope.spawn(|| {
                    while let Some(index) = next() {
                        work(index);
                    }
                });
            }
        });
        if self.is_terminal {
            note_for_now!("");
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Vec<Column>) -> T) -> T {
        work(&mut self.columns.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes a column.
    fn edit<T: Default>(&self, index: usize, work: impl FnOnce(&mut Column) -> T) -> T {
        self.with(|columns| columns.get_mut(index).map(work).unwrap_or_default())
    }

    /// Runs all scenarios on one kernel.
    fn first(&self, index: usize) {
        let begun = Instant::now();
        let name = self.edit(index, |column| column.kernel.clone());
        let place = self.place(&name);
        let ended = place.and_then(|place| self.run(index, &place, &self.suite.command(None)));
        let how = match &ended {
            Err(_) if self.machine.stop.is_asked() => "interrupted",
            Err(_) => "broken",
            Ok(()) => "done",
        };
        self.edit(index, |column| {
            column.took = begun.elapsed();
            column.trouble = ended.err();
        });
        let seconds = begun.elapsed().as_secs_f64();
        self.say(&format!("{name}: {how} after {seconds:.1} s"));
    }

    /// Runs the scenarios in doubt again, and reads the formats of the kernel's events.
    fn again(&self, index: usize, scenarios: &BTreeSet<String>) {
        let begun = Instant::now();
        let name = self.edit(index, |column| column.kernel.clone());
        let again = || {
            let place = self.place(&name)?;
            self.run(index, &place, &self.suite.command(Some(scenarios)))?;
            if self.edit(index, |column| column.has_events(scenarios)) {
                let formats = formats::of(&place, &self.machine)?;
                self.edit(index, |column| column.facts.events = formats.lines());
            }
            Ok::<_, String>(())
        };
        let (n, seconds) = (scenarios.len(), begun);
        match again() {
            Ok(()) => {
                let seconds = seconds.elapsed().as_secs_f64();
                let plural = if n == 1 { "" } else { "s" };
                self.say(&format!(
                    "{name}: {n} scenario{plural} that differ again after {seconds:.1} s"
                ));
            }
            // The answers so far are explained as if they did not vary.
            Err(trouble) => self.say(&format!(
                "{name}: what differs could not be looked into there: {trouble}"
            )),
        }
    }

    fn place(&self, name: &str) -> Result<Place, String> {
        self.suite.kernels.find(name, &mut |text| self.say(&text))
    }

    fn run(&self, index: usize, place: &Place, command: &[OsString]) -> Result<(), String> {
        match place {
            Place::Guest(kernel) => self.in_guest(index, kernel, command),
            Place::Host(under) => {
                self.edit(index, |column| column.facts.on_host = true);
                self.on_host(index, &[under.as_slice(), command].concat())
            }
        }
    }

    fn in_guest(&self, index: usize, kernel: &Kernel, command: &[OsString]) -> Result<(), String> {
        let mut job = job(command.to_vec(), &[]);
        // Files that are written in the guest would be lost.
        job.environment.retain(|(name, _)| name != "CI");
        let is_of_shard = |name: &OsString| shard::VARIABLES.iter().any(|it| name == it);
        job.environment.retain(|(name, _)| !is_of_shard(name));
        job.environment.push(("CI".into(), "1".into()));
        let mut lines = Lines::default();
        let mut said = Vec::new();
        let mut hear = |heard: Heard<'_>| match heard {
            Heard::Up(release, after) => {
                self.say(&format!(
                    "{}: {release} is up after {:.1} s",
                    kernel.name,
                    after.as_secs_f64()
                ));
                self.edit(index, |column| release.clone_into(&mut column.release));
            }
            Heard::Out(bytes) => lines.take(bytes, &mut |line| self.line(index, line)),
            Heard::Err(bytes) => said.extend(bytes),
        };
        let ended = matrix::run(kernel, &self.machine, &job, &mut hear);
        let code = ended.map_err(|error| with_hint(chain(&error), error.hint(Some(kernel))))?;
        tell(code.shell_status(), &said)
    }

    fn on_host(&self, index: usize, command: &[OsString]) -> Result<(), String> {
        let (program, words) = command.split_first().ok_or("there is no command")?;
        let failed = |error: std::io::Error| format!("cannot run the harness: {}", chain(&error));
        let mut command = Command::new(program);
        for name in shard::VARIABLES {
            command.env_remove(name);
        }
        let mut child = command
            .args(words)
            .env("CI", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        for line in child
            .stdout
            .take()
            .into_iter()
            .flat_map(|out| BufReader::new(out).lines())
        {
            self.line(index, &line.map_err(failed)?);
        }
        let status = child.wait().map_err(failed)?;
        tell(status.code().unwrap_or(i32::from(status::TROUBLE)), b"")
    }

    fn line(&self, index: usize, line: &str) {
        if self.edit(index, |column| column.line(line)) {
            self.show_progress();
        }
    }

    fn say(&self, text: &str) {
        if self.is_terminal {
            note_for_now!("");
        }
        note!("harness: {text}");
        self.show_progress();
    }

    fn show_progress(&self) {
        if !self.is_terminal {
            return;
        }
        let total = self.suite.scenarios.len();
        let done = self.with(|columns| {
            let under_way = columns.iter().filter(|column| column.done() < total);
            let shown =
                under_way.map(|column| format!("{}: {}/{total}", column.kernel, column.done()));
            shown.collect::<Vec<_>>().join("  ")
        });
        note_for_now!("{done}");
    }
}

fn with_hint(text: String, hint: Option<String>) -> String {
    match hint {
        Some(hint) => format!("{text}\nhint: {hint}"),
        None => text,
    }
}

/// Whether `harness run` did its work, by its status; if not, what it printed.
fn tell(status: i32, said: &[u8]) -> Result<(), String> {
    let is_verdict = [status::PASSED, status::FAILED, status::ALL_SKIPPED]
        .into_iter()
        .any(|known| i32::from(known) == status);
    if is_verdict {
        return Ok(());
    }
    let said = String::from_utf8_lossy(said);
    let said = said.trim();
    if said.is_empty() && status == i32::from(status::TROUBLE) {
        // A scenario was broken, which its cell shows.
        return Ok(());
    }
    let lines: String = shown_lines(said)
        .map(|line| format!("\n    {line}"))
        .collect();
    Err(format!(
        "`harness run` ended with status {status} there:{lines}"
    ))
}

/// Collects pieces into whole lines.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    fn take(&mut self, bytes: &[u8], hear: &mut dyn FnMut(&str)) {
        for byte in bytes {
            if *byte == b'\n' {
                hear(&String::from_utf8_lossy(&std::mem::take(&mut self.0)));
            } else {
                self.0.push(*byte);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_pieces_are_whole() {
        let (mut lines, mut heard) = (Lines::default(), Vec::new());
        for piece in ["a", "b\nc\n", "\n", "d"] {
            lines.take(piece.as_bytes(), &mut |line| heard.push(line.to_owned()));
        }
        assert_eq!(heard, ["ab", "c", ""]);
    }

    #[test]
    fn a_status_that_is_no_verdict_is_trouble() {
        assert_eq!(tell(1, b"warning"), Ok(()));
        assert_eq!(tell(99, b""), Ok(()));
        let told = tell(2, b"error: a\nb\n").unwrap_err();
        assert_eq!(
            told,
            "`harness run` ended with status 2 there:\n    error: a\n    b"
        );
    }
}
