//! A folder of scenarios as the tests of a target.

use crate::outcome::{Outcome, Verdict};
use crate::program;
use crate::update::Update;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs each scenario file below `path`, and each row of a file's `matrix`, as a test with
/// libtest's arguments: the whole `main` of a test target with `harness = false`.
///
/// `path` is relative to the folder of the package. Names of tests are those that `harness run`
/// prints.
#[must_use = "the status is that of the tests: return it from `main`"]
pub fn run(path: impl AsRef<Path>) -> ExitCode {
    let arguments = Arguments::from_args();
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let path = Path::new(&package).join(path);
    // Who lists the tests, or names them exactly, has divided them or will.
    let is_divided = !arguments.list && !arguments.exact;
    let found = Update::of_environment().and_then(|update| {
        let items = program::list(&path, is_divided).map_err(|error| error.to_string())?;
        Ok(items.into_iter().map(|item| trial(item, update)).collect())
    });
    match found {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(message) => {
            // A list of no tests would pass.
            eprintln!("harness-test: {message}");
            ExitCode::FAILURE
        }
    }
}

fn trial((name, file): (String, PathBuf), update: Update) -> Trial {
    let exact = name.clone();
    Trial::ignorable_test(name, move || {
        let outcome = outcome(&exact, &file, update).map_err(|error| error.to_string())?;
        match outcome.verdict() {
            Verdict::Pass => Ok(Completion::Completed),
            Verdict::Fail if outcome.only_snapshot && update.is_forgiven() => {
                Ok(Completion::Completed)
            }
            Verdict::Skipped => skipped(&outcome),
            _ => {
                let again = by_hand(&exact, &file).map_err(|error| error.to_string())?;
                Err(format!("{outcome}this one alone: {again}").into())
            }
        }
    })
}

fn outcome(name: &str, file: &Path, update: Update) -> Result<Outcome, program::Error> {
    let words = [OsStr::new("--exact"), OsStr::new(name), file.as_os_str()];
    let mut command = program::command(words)?;
    match update {
        // As `harness run` knows that nothing is to be written.
        Update::Never => command.env("CI", "1"),
        Update::Pending => &mut command,
        Update::Unseen => command.arg("--update=unseen"),
        Update::Accept => command.arg("--update=all"),
    };
    if update.is_forgiven() {
        // So that it says whether the trace alone is wrong.
        command.arg("--traces");
    }
    Outcome::of(command, None)
}

/// Nextest has no word for a test that finds out that it has to be skipped: it would be a pass.
fn skipped(outcome: &Outcome) -> Result<Completion, Failed> {
    let reasons = outcome.reasons().join("; ");
    if std::env::var_os("NEXTEST").is_some_and(|value| value == "1") {
        let text = format!("skipped, and nextest would take that for a pass: {reasons}");
        Err(text.into())
    } else {
        Ok(Completion::ignored_with(reasons))
    }
}

/// How to run one scenario again by hand, with the programs that its file refers to.
fn by_hand(name: &str, file: &Path) -> Result<String, program::Error> {
    let scenario = std::fs::read_to_string(file).unwrap_or_default();
    // Newer versions of cargo set them for the test, and no shell has them.
    let set = std::env::vars_os().map(|(variable, program)| (variable, program.into()));
    let given =
        set.filter(|(variable, _)| variable.to_string_lossy().starts_with("CARGO_BIN_EXE_"));
    let programs = given.chain(program::built());
    let is_used =
        |variable: &OsString| scenario.contains(&format!("${{{}}}", variable.to_string_lossy()));
    let used = programs.filter(|(variable, _)| is_used(variable));
    let set = used.map(|(variable, program)| {
        let (variable, program) = (variable.to_string_lossy(), program.to_string_lossy());
        format!("{variable}={} ", quoted(&program))
    });
    let set: String = set.collect();
    let harness = program::find()?;
    let (harness, file) = (harness.to_string_lossy(), file.to_string_lossy());
    let (harness, name, file) = (quoted(&harness), quoted(name), quoted(&file));
    Ok(format!("{set}{harness} run --exact {name} {file}"))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
