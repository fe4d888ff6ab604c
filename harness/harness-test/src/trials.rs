//! A folder of scenarios as the tests of a target.

use crate::outcome::{Outcome, Verdict};
use crate::program;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::ffi::OsString;
use std::path::Path;
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
    let trials = match program::list(&path) {
        Ok(items) => items.into_iter().map(trial).collect(),
        Err(error) => {
            // A list of no tests would pass.
            eprintln!("harness-test: {error}");
            return ExitCode::FAILURE;
        }
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial((name, file): (String, std::path::PathBuf)) -> Trial {
    let exact = name.clone();
    Trial::ignorable_test(name, move || {
        let mut words: Vec<OsString> =
            vec!["--exact".into(), exact.clone().into(), file.clone().into()];
        words.extend(is_update().then(|| "--update".into()));
        let run = program::command(words).and_then(|command| Outcome::of(command, None));
        let outcome = run.map_err(|error| Failed::from(error.to_string()))?;
        match outcome.verdict() {
            Verdict::Pass => Ok(Completion::Completed),
            Verdict::Skipped => skipped(&outcome),
            _ => {
                let again = by_hand(&exact, &file).map_err(|error| error.to_string())?;
                Err(format!("{outcome}this one alone: {again}").into())
            }
        }
    })
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

fn is_update() -> bool {
    let is = |name, value| std::env::var_os(name).is_some_and(|set| set == value);
    let is_ci = std::env::var("CI").is_ok_and(|set| !matches!(set.as_str(), "" | "0" | "false"));
    !is_ci && (is("HARNESS_UPDATE", "1") || is("INSTA_UPDATE", "always"))
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
