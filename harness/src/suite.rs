//! Options of the commands that work on scenarios: which scenarios, how many at a time, and how
//! errors in them are reported.

use crate::out::note;
use crate::{bench, complain, out, status};
use perf_live::errors::chain;
use perf_live::host::Host;
use perf_live::ring::Bounds;
use perf_records::units::shown_path;
use regex::Regex;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use trace_harness::run::{Bench, Item, RecordedRun, Suite, SuiteError, discover};
use trace_harness::verdict::Verdict;

/// Which scenarios, and how many of them at a time.
#[derive(Debug, clap::Args)]
pub(crate) struct Chosen {
    /// Scenario files, or folders of them: a folder below one is left out if its name begins with a
    /// dot
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// How many scenarios run side by side [default: the number of CPUs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Only scenarios whose name matches this regular expression, or is this text
    #[arg(long, value_name = "RE")]
    pub(crate) filter: Option<Filter>,
    /// Only the scenario of exactly this name; may be given several times
    #[arg(long, value_name = "NAME", conflicts_with = "filter")]
    pub(crate) exact: Vec<String>,
    /// Multiply the `timeout` of each scenario by this, for a slow machine [default: 1, in an
    /// emulated guest 6]
    #[arg(long, value_name = "N", env = "HARNESS_PATIENCE", hide_env_values = true, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) patience: Option<u32>,
    /// How much of each run may wait to be read, give or take the rings: 256 MiB of it in memory,
    /// the rest in files in TMPDIR [default: until 1 GiB is free there]
    #[arg(long, value_name = "SIZE", value_parser = crate::trace::options::size)]
    pub(crate) backlog: Option<u64>,
}

/// A regular expression, or a name as it is printed, which need not be one.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) text: String,
    regex: Result<Regex, regex::Error>,
}

impl FromStr for Filter {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self {
            text: text.to_owned(),
            regex: Regex::new(text),
        })
    }
}

impl Filter {
    fn is_match(&self, name: &str) -> bool {
        let regex = self.regex.as_ref();
        name == self.text || regex.is_ok_and(|regex| regex.is_match(name))
    }
}

impl Chosen {
    pub(crate) fn jobs(&self) -> usize {
        let of_machine = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(of_machine, usize::from)
    }

    /// Reads all of them, and works on them unless there is an error; returns the exit status.
    pub(crate) fn work(&self, work: impl FnOnce(&Suite<'_>) -> u8) -> u8 {
        match self.found() {
            Ok(items) => self.work_on(items, None, work),
            Err(status) => status,
        }
    }

    /// Reads all of them, for a suite of some of them; says what is wrong with the choice.
    pub(crate) fn found(&self) -> Result<Vec<Item>, u8> {
        self.find().map_err(|message| {
            note!("harness: {message}");
            status::USAGE
        })
    }

    /// Works on these of the scenarios, live or on a recorded run, which takes no right to trace.
    pub(crate) fn work_on(
        &self,
        items: Vec<Item>,
        recording: Option<&Path>,
        work: impl FnOnce(&Suite<'_>) -> u8,
    ) -> u8 {
        self.work_with(|_| {}, items, recording, work)
    }

    /// As above, with a bench that is changed before.
    pub(crate) fn work_with(
        &self,
        change: impl FnOnce(&mut Bench<'_>),
        items: Vec<Item>,
        recording: Option<&Path>,
        work: impl FnOnce(&Suite<'_>) -> u8,
    ) -> u8 {
        let host = Host::running();
        let bench = match bench(&host) {
            Ok(bench) => bench,
            Err(status) => return status,
        };
        let bench = bench
            .for_runs(self.jobs())
            .with_backlog(self.backlog.map(Bounds::of));
        let mut bench = bench.with_patience(self.patience.unwrap_or(1));
        change(&mut bench);
        if let Some(path) = recording {
            let recording = match RecordedRun::open(path) {
                Ok(recording) => recording,
                Err(error) => {
                    complain(&error, None);
                    return status::USAGE;
                }
            };
            if let Some(release) = recording.release() {
                bench.release = release.to_owned();
            }
            return match Suite::of_recording(&bench, &recording, items) {
                Ok(suite) => work(&suite),
                Err(error) => refuse(&error),
            };
        }
        read(&bench, items, work)
    }

    /// Whether all scenarios of the paths are chosen.
    pub(crate) fn is_all(&self) -> bool {
        self.filter.is_none() && self.exact.is_empty()
    }

    pub(crate) fn find(&self) -> Result<Vec<Item>, String> {
        let mut items = discover(&self.paths).map_err(|(path, error)| {
            format!("cannot read `{}`: {}", shown_path(&path), chain(&error))
        })?;
        // One that was moved or mistyped must not be passed over for the sake of the others.
        let is_empty = |path: &&PathBuf| match self.paths.len() {
            1 => items.is_empty(),
            _ => discover(std::slice::from_ref(*path)).is_ok_and(|items| items.is_empty()),
        };
        if let Some(path) = self.paths.iter().find(is_empty) {
            return Err(format!(
                "there is no scenario (*.yaml) in `{}`",
                shown_path(path)
            ));
        }
        if let Some(filter) = &self.filter {
            items.retain(|item| filter.is_match(&item.name));
            if items.is_empty() {
                return Err(match &filter.regex {
                    Ok(_) => format!("no scenario's name matches `{}`", filter.text),
                    Err(error) => format!(
                        "`{}` is no scenario's name, and no regular expression: {error}",
                        filter.text
                    ),
                });
            }
        }
        if let Some(missing) = self.exact.iter().find(|name| !is_there(&items, name)) {
            return Err(format!("there is no scenario `{missing}`"));
        }
        if !self.exact.is_empty() {
            let given: BTreeSet<String> = items.iter().map(|item| item.name.clone()).collect();
            items.retain_mut(|item| {
                // That of another one is not a longer name of this.
                let is_meant = |name: &&String| match given.contains(*name) {
                    true => item.name == **name,
                    false => item.is_called(name),
                };
                let named = self.exact.iter().find(is_meant);
                named.inspect(|name| item.name.clone_from(name)).is_some()
            });
        }
        Ok(items)
    }
}

/// The scenarios of one file that a command is about, or the exit status where it is none.
pub(crate) fn of_file(file: &Path) -> Result<Vec<Item>, u8> {
    match discover(std::slice::from_ref(&file.to_owned())) {
        Ok(items) if file.is_file() => return Ok(items),
        Ok(_) => note!("harness: `{}` is not a file", shown_path(file)),
        Err((path, error)) => note!("harness: cannot read `{}`: {error}", shown_path(&path)),
    }
    Err(status::USAGE)
}

/// Reads scenarios and does something with them; reports what is wrong in them, and what is missing
/// to trace.
pub(crate) fn read(bench: &Bench<'_>, items: Vec<Item>, work: impl FnOnce(&Suite<'_>) -> u8) -> u8 {
    match Suite::read(bench, items) {
        Ok(suite) => match reached(bench).and_then(|()| recordable(bench)) {
            Ok(()) => work(&suite),
            Err(status) => status,
        },
        Err(error) => refuse(&error),
    }
}

/// Says once what is missing to trace, if anything is. Where that is a right, a suite goes on: all
/// of it is skipped.
fn reached(bench: &Bench<'_>) -> Result<(), u8> {
    let Err(error) = bench.reach() else {
        return Ok(());
    };
    complain(&error, error.hint());
    match error.is_of_rights() {
        true => Ok(()),
        false => Err(status::TROUBLE),
    }
}

/// Says what is missing for the source of calls that the user asked for.
fn recordable(bench: &Bench<'_>) -> Result<(), u8> {
    bench.can_record_calls().map_err(|error| {
        complain(&error, error.hint());
        status::TROUBLE
    })
}

fn is_there(items: &[Item], name: &str) -> bool {
    items.iter().any(|item| item.is_called(name))
}

/// Reports errors in scenarios.
pub(crate) fn refuse(error: &SuiteError) -> u8 {
    match error {
        SuiteError::Invalid(complaints) => {
            let color = out::has_colors(&std::io::stderr());
            for complaint in complaints {
                note!("{}\n", complaint.render(color).trim_end());
            }
            complain(error, None);
            status::USAGE
        }
        SuiteError::Read { .. }
        | SuiteError::SameSnapshot { .. }
        | SuiteError::ManyOfOne { .. }
        | SuiteError::Recording(_)
        | SuiteError::NoRow { .. } => {
            complain(error, None);
            status::USAGE
        }
        SuiteError::Unread { .. } => {
            complain(error, None);
            status::TROUBLE
        }
        SuiteError::Host(host) => {
            complain(error, host.hint());
            status::TROUBLE
        }
        SuiteError::Access(access) => {
            complain(error, access.hint());
            status::TROUBLE
        }
    }
}

/// Whether a skip is a failure, as the environment asks for; an error with what it has instead, if
/// that is no such wish.
pub(crate) fn requirement() -> Result<bool, OsString> {
    match std::env::var_os("HARNESS_REQUIRE") {
        None => Ok(false),
        Some(value) if value.is_empty() => Ok(false),
        Some(value) if value == "all" => Ok(true),
        Some(value) => Err(value),
    }
}

/// Whether a skip is a failure. What is no such wish was refused before.
pub(crate) fn require_all() -> bool {
    requirement() == Ok(true)
}

/// The exit status where nothing could be tried.
pub(crate) fn skipped() -> u8 {
    match require_all() {
        true => status::FAILED,
        false => status::ALL_SKIPPED,
    }
}

pub(crate) fn exit_status(verdicts: &[Verdict]) -> u8 {
    let all = |wanted: Verdict| verdicts.iter().all(|verdict| *verdict == wanted);
    let good = |verdict: &Verdict| matches!(verdict, Verdict::Pass | Verdict::Skipped);
    if verdicts.contains(&Verdict::Broken) {
        status::TROUBLE
    } else if !verdicts.iter().all(good) {
        status::FAILED
    } else if all(Verdict::Skipped) {
        status::ALL_SKIPPED
    } else {
        status::PASSED
    }
}

/// Returns the graver of two statuses.
pub(crate) fn graver(one: u8, other: u8) -> u8 {
    const ORDER: [u8; 5] = [
        status::TROUBLE,
        status::USAGE,
        status::FAILED,
        status::ALL_SKIPPED,
        status::PASSED,
    ];
    let is_one = |status: &u8| *status == one || *status == other;
    ORDER.into_iter().find(is_one).unwrap_or(one)
}
