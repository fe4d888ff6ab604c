//! `harness matrix`: the same scenarios on every kernel of a list.

use crate::kernels::{Kernels, Listed};
use crate::status;
use crate::suite::{Chosen, exit_status, print};
use crate::vm::{Size, job};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, IsTerminal};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use trace_harness::errors::chain;
use trace_harness::matrix::{self, Column, Heard, Kernel, Machine, Matrix, Place};
use trace_harness::report::{matrix_human, matrix_json};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each kernel of the list is booted in a virtual machine, which needs no rights, and `harness run` runs the scenarios there. A \
kernel that cannot be had, or a guest that hangs, panics or runs out of memory, makes its scenarios broken, with the end of its console.\n\n\
Exit status: 0 all passed on all kernels, 1 some scenario failed, 2 usage error, 77 all were skipped, 99 something was broken.\n\n\
Environment: HARNESS_CACHE is where kernels are kept [default: harness in XDG_CACHE_HOME or ~/.cache]; HARNESS_REQUIRE=all turns skips into \
failures."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    listed: Listed,
    /// Only these kernels of the list, by their names; may be given several times
    #[arg(long, short, value_name = "NAME")]
    kernel: Vec<String>,
    /// How many guests run side by side [default: as many as have CPUs of their own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    guests: Option<u16>,
    #[command(flatten)]
    size: Size,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    Json,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    match run(arguments) {
        Ok(status) | Err(status) => status,
    }
}

fn run(arguments: &Arguments) -> Result<u8, u8> {
    let items = arguments.chosen.find().map_err(|message| {
        anstream::eprintln!("harness: {message}");
        status::USAGE
    })?;
    let kernels = arguments.listed.read()?;
    let names: Vec<String> = match arguments.kernel.as_slice() {
        [] => kernels.specs.iter().map(|spec| spec.name.clone()).collect(),
        names => names.to_vec(),
    };
    for name in &names {
        kernels.choose(Some(name))?;
    }
    let suite = Suite {
        kernels: &kernels,
        command: command(&arguments.chosen, &arguments.size),
        machine: arguments.size.machine(),
        total: items.len(),
        is_terminal: std::io::stderr().is_terminal(),
        columns: Mutex::new(names.iter().map(|name| Column::of(name)).collect()),
    };
    suite.run(guests(arguments, names.len()));
    let columns = suite
        .columns
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let matrix = Matrix::new(columns, items.into_iter().map(|item| item.name));
    let mut text = String::new();
    match arguments.format {
        Format::Human => matrix_human(&mut text, &matrix),
        Format::Json => matrix_json(&mut text, &matrix),
    }
    print(&text);
    Ok(exit_status(&matrix.verdicts()))
}

fn guests(arguments: &Arguments, kernels: usize) -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let each = usize::try_from(arguments.size.cpus()).unwrap_or(1).max(1);
    let usual = (cpus / each).max(1);
    arguments.guests.map_or(usual, usize::from).min(kernels)
}

/// What runs on each kernel.
fn command(chosen: &Chosen, size: &Size) -> Vec<OsString> {
    let own = std::env::current_exe().unwrap_or_else(|_| "harness".into());
    let mut words: Vec<OsString> = vec![own.into(), "run".into(), "--format".into(), "json".into()];
    let jobs = chosen.jobs.map_or_else(|| size.cpus(), u32::from);
    words.extend(["--jobs".into(), jobs.to_string().into()]);
    if let Some(filter) = &chosen.filter {
        words.extend(["--filter".into(), filter.as_str().into()]);
    }
    words.push("--".into());
    words.extend(
        chosen
            .paths
            .iter()
            .map(|path| path.clone().into_os_string()),
    );
    words
}

struct Suite<'a> {
    kernels: &'a Kernels,
    command: Vec<OsString>,
    machine: Machine,
    total: usize,
    is_terminal: bool,
    columns: Mutex<Vec<Column>>,
}

impl Suite<'_> {
    fn run(&self, guests: usize) {
        let waiting: VecDeque<usize> = (0..self.with(|columns| columns.len())).collect();
        let waiting = Mutex::new(waiting);
        let next = || {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            // What has been told by then is shown.
            if self.machine.stop.is_asked() {
                None
            } else {
                waiting.pop_front()
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..guests {
                scope.spawn(|| {
                    while let Some(index) = next() {
                        self.column(index);
                    }
                });
            }
        });
        if self.is_terminal {
            anstream::eprint!("\r\u{1b}[K");
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Vec<Column>) -> T) -> T {
        work(&mut self.columns.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes a column.
    fn edit(&self, index: usize, work: impl FnOnce(&mut Column)) {
        self.with(|columns| columns.get_mut(index).map(work));
    }

    /// Runs all scenarios on one kernel.
    fn column(&self, index: usize) {
        let begun = Instant::now();
        let name = self.with(|columns| columns.get(index).map(|column| column.kernel.clone()));
        let name = name.unwrap_or_default();
        let ended = match self.kernels.find(&name, &mut |text| self.say(&text)) {
            Ok(Place::Guest(kernel)) => self.in_guest(index, &kernel),
            Ok(Place::Host) => self.on_host(index),
            Err(trouble) => Err(trouble),
        };
        self.edit(index, |column| {
            column.took = begun.elapsed();
            column.trouble = ended.err();
        });
        let trouble = self.with(|columns| {
            columns
                .get(index)
                .is_some_and(|column| column.trouble.is_some())
        });
        let how = if trouble { "broken" } else { "done" };
        self.say(&format!(
            "{name}: {how} after {:.1} s",
            begun.elapsed().as_secs_f64()
        ));
    }

    fn in_guest(&self, index: usize, kernel: &Kernel) -> Result<(), String> {
        let mut job = job(self.command.clone(), &[]);
        // Nobody would find what is written there.
        job.environment.retain(|(name, _)| name != "CI");
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
        let code = ended.map_err(|error| with_hint(chain(&error), error.hint()))?;
        tell(code.shell_status(), &said)
    }

    fn on_host(&self, index: usize) -> Result<(), String> {
        let (program, words) = self.command.split_first().ok_or("there is no command")?;
        let failed = |error: std::io::Error| format!("cannot run the harness: {}", chain(&error));
        let mut child = Command::new(program)
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
        let mut is_end = false;
        self.edit(index, |column| is_end = column.line(line));
        if is_end {
            self.show_progress();
        }
    }

    fn say(&self, text: &str) {
        let clear = if self.is_terminal { "\r\u{1b}[K" } else { "" };
        anstream::eprintln!("{clear}harness: {text}");
        self.show_progress();
    }

    fn show_progress(&self) {
        if !self.is_terminal {
            return;
        }
        let done = self.with(|columns| {
            let under_way = columns.iter().filter(|column| column.done() < self.total);
            let shown = under_way
                .map(|column| format!("{}: {}/{}", column.kernel, column.done(), self.total));
            shown.collect::<Vec<_>>().join("  ")
        });
        anstream::eprint!("\r\u{1b}[K{done}");
    }
}

fn with_hint(text: String, hint: Option<String>) -> String {
    match hint {
        Some(hint) => format!("{text}\nhint: {hint}"),
        None => text,
    }
}

/// Whether `harness run` did its work, which it says by its status; else what it said.
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
        // A scenario was broken, which its cell tells.
        return Ok(());
    }
    let lines: String = said.lines().map(|line| format!("\n    {line}")).collect();
    Err(format!(
        "`harness run` ended with status {status} there:{lines}"
    ))
}

/// Whole lines of what comes in pieces.
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
