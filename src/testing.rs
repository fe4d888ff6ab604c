//! A scenario file run in one call on this machine, for tests that link this library.
//!
//! What runs need of the machine is looked at once for the process, and shared by all of them: so
//! test functions may run side by side.

use crate::report;
use crate::run::{self, AccessError, Bench, Control, Item, Options, ScenarioReport};
use crate::run::{Suite, SuiteError, Undisturbed, discover};
use crate::scenario::Diagnostic;
use crate::verdict::Verdict;
use perf_live::errors::chain;
use perf_live::host::HostError;
use perf_records::units::shown_path;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A scenario file without a mistake, or all of a folder.
///
/// ```no_run
/// use trace_harness::Scenario;
///
/// Scenario::open("tests/kernel/save.yaml")?.run()?.assert();
/// # Ok::<(), trace_harness::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    items: Vec<Item>,
    options: Options,
}

impl Scenario {
    /// Reads the file and checks it, without a look at the machine.
    ///
    /// # Errors
    /// [`Error::Path`], [`Error::Empty`], [`Error::Invalid`] and [`Error::Suite`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let items = discover(std::slice::from_ref(&path));
        let items = items.map_err(|(path, source)| Error::Path { path, source })?;
        if items.is_empty() {
            return Err(Error::Empty { path });
        }
        run::check(&items)?;
        let options = Options::default();
        Ok(Self { items, options })
    }

    /// Runs it by these options in place of [`Options::default`], which writes no snapshot.
    #[must_use]
    pub fn with(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Runs it, and each row of its `matrix`.
    ///
    /// # Errors
    /// [`Error::Host`], [`Error::Access`] and [`Error::Suite`]: the machine cannot be traced.
    pub fn run(&self) -> Result<Outcome, Error> {
        let bench = bench()?;
        let suite = Suite::read(bench, self.items.clone())?;
        bench.reach()?;
        let reports = Mutex::new(Vec::new());
        let control = || -> Box<dyn Control> { Box::new(Undisturbed) };
        suite.run(&self.options, &control, &|report| {
            let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.push(report);
        });
        let reports = reports.into_inner();
        let mut reports = reports.unwrap_or_else(PoisonError::into_inner);
        reports.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Outcome { reports })
    }
}

/// What all runs of this process share. It lasts as long as the process, and what it leaves is
/// removed as after any end of the harness.
fn bench() -> Result<&'static Bench<'static>, Error> {
    static BENCH: OnceLock<Bench<'static>> = OnceLock::new();
    static MAKING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    match BENCH.get() {
        Some(bench) => Ok(bench),
        None => {
            let made = Bench::of_this_machine()?;
            Ok(BENCH.get_or_init(|| made))
        }
    }
}

/// What came of a scenario, or of each row of its `matrix`. Its text is what a person needs of a
/// failure, as the command line prints it.
#[derive(Clone, Debug)]
#[must_use = "a run fails no test before its outcome is asked: call `assert`"]
pub struct Outcome {
    reports: Vec<ScenarioReport>,
}

impl Outcome {
    /// Returns the report on each, in the order of their names.
    #[must_use]
    pub fn reports(&self) -> &[ScenarioReport] {
        &self.reports
    }

    /// Whether each is a pass. A run that was skipped or is incomplete is none.
    #[must_use]
    pub fn is_pass(&self) -> bool {
        let mut reports = self.reports.iter();
        reports.all(|report| report.verdict == Verdict::Pass)
    }

    /// Panics unless [`is_pass`](Self::is_pass).
    ///
    /// # Panics
    /// See above; the message says what was expected, and what was nearest to it.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.is_pass(), "\n{self}");
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for report in &self.reports {
            report::human(&mut text, report, false);
        }
        f.write_str(&text)
    }
}

/// Why there is no verdict. As `{:?}`, which a test function that returns it prints, it is the
/// text for a person, with causes and hint.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file or a folder cannot be read.
    #[error("cannot read `{}`", shown_path(.path))]
    Path {
        /// What was to be read.
        path: PathBuf,
        /// The error of reading it.
        source: io::Error,
    },
    /// The folder has no scenario.
    #[error("there is no scenario (*.yaml) in `{}`", shown_path(.path))]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// Files that are no scenarios: every complaint about them, with lines and columns.
    #[error("{}", rendered(.0))]
    Invalid(Vec<Diagnostic>),
    /// They cannot be run together.
    #[error(transparent)]
    Suite(SuiteError),
    /// The machine could not be read.
    #[error(transparent)]
    Host(#[from] HostError),
    /// This process may trace nothing.
    #[error(transparent)]
    Access(#[from] AccessError),
}

impl Error {
    /// Returns what the user can do about the error.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Host(error) => error.hint(),
            Self::Access(error) => error.hint(),
            Self::Path { .. } | Self::Empty { .. } | Self::Invalid(_) | Self::Suite(_) => None,
        }
    }
}

impl From<SuiteError> for Error {
    fn from(error: SuiteError) -> Self {
        match error {
            SuiteError::Invalid(complaints) => Self::Invalid(complaints),
            SuiteError::Host(error) => Self::Host(error),
            SuiteError::Access(error) => Self::Access(error),
            error => Self::Suite(error),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A chain is one line, and these are several.
            Self::Invalid(_) => write!(f, "{self}")?,
            _ => f.write_str(&chain(self))?,
        }
        match self.hint() {
            Some(hint) => write!(f, " (hint: {hint})"),
            None => Ok(()),
        }
    }
}

fn rendered(complaints: &[Diagnostic]) -> String {
    let each = complaints.iter().map(|complaint| complaint.render(false));
    let each: Vec<String> = each.map(|text| text.trim_end().to_owned()).collect();
    each.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_mistake_is_an_error_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.yaml");
        std::fs::write(&file, "description: x\nworkloud: { run: [true] }\n").unwrap();
        let error = Scenario::open(&file).unwrap_err();
        let text = format!("{error:?}");
        assert!(
            text.contains("x.yaml:2:1") && text.contains("workloud"),
            "{text}"
        );
        assert_eq!(error.hint(), None);
    }

    #[test]
    fn what_is_not_there_and_what_holds_nothing_is_no_scenario() {
        let folder = tempfile::tempdir().unwrap();
        let error = Scenario::open(folder.path()).unwrap_err();
        assert!(matches!(error, Error::Empty { .. }), "{error}");
        let error = Scenario::open(folder.path().join("x.yaml")).unwrap_err();
        assert!(matches!(error, Error::Path { .. }), "{error}");
        let text = format!("{error:?}");
        assert!(
            text.contains("x.yaml") && text.contains("no such file"),
            "{text}"
        );
    }
}
