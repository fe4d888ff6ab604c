//! The file of rules that `harness check` holds a command to: a scenario's expectations that make
//! sense for any command, and what single tests of it may do.

use std::collections::BTreeSet;
use std::path::Path;

use schemars::{JsonSchema, Schema};
use serde::Deserialize;

use super::assemble::assemble_rules;
use super::confined::{Confined, WrittenConfined};
use super::counts::CountRange;
use super::diagnostic::Diagnostic;
use super::expect::WrittenExit;
use super::explain::explain;
use super::flexible::{Entries, Text, deserialize_flexible};
use super::key_path::KeyPath;
use super::model::Scenario;
use super::nearest::one_of;
use super::patterns::WrittenCounts;
use super::reader::Parsed;
use super::schema::words;
use super::steps::StepSpec;
use super::trace::WrittenTrace;
use perf_records::glob::glob;

/// What is recorded and judged beside what a scenario says; nothing, for a scenario's own run.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Calls that are recorded as well.
    pub calls: BTreeSet<&'static str>,
    /// Calls that are recorded as well, of which nothing is stated.
    pub looked_at: BTreeSet<&'static str>,
    /// How many bytes of what is written are read, at least.
    pub contents: u16,
    /// The files that the command's outputs go to, by their names in the trace.
    pub outputs: Vec<String>,
    /// What single tests of the command may do; the first whose name matches counts.
    pub tests: Vec<TestRules>,
    /// How the test is found that did something, where that was said.
    pub blame: Option<BlameBy>,
    /// The paths of the folder that the command runs in, where rules may speak of it: where it
    /// lies, and then the link by which the command came there.
    pub directories: Vec<String>,
    /// The ids that the command is started with.
    pub started_as: StartedAs,
}

/// The ids that a command is started with: real, effective and saved ones, where these are one;
/// `None` where they are not, or not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartedAs {
    /// The user.
    pub user: Option<u32>,
    /// The group.
    pub group: Option<u32>,
}

impl Beside {
    /// Whether the test is looked for that did something.
    #[must_use]
    pub fn finds_tests(&self) -> bool {
        self.blame.is_some() || !self.tests.is_empty()
    }
}

/// What tests of these names may do.
#[derive(Clone, Debug)]
pub struct TestRules {
    /// A glob of their names.
    pub name: String,
    /// What they may do. For a key that it does not have the rules of the whole command hold.
    pub confined: Confined,
    /// Where it stands in the file.
    pub at: KeyPath,
}

impl TestRules {
    /// Whether they hold for a test of this name.
    #[must_use]
    pub fn is_of(&self, name: &str) -> bool {
        glob(&self.name, name)
    }
}

/// How the test is found that did something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlameBy {
    /// By the process that the runner started for it, `... --exact NAME`, and all that descends
    /// from that. A test cannot take another one's name.
    #[default]
    Process,
    /// By the name that its thread gave itself. A test can lie.
    Thread,
    /// By what the runner had last printed. A test can lie.
    Output,
}

/// The words of a file for [`BlameBy`].
const BLAME: [(&str, BlameBy); 3] = [
    ("process", BlameBy::Process),
    ("thread", BlameBy::Thread),
    ("output", BlameBy::Output),
];

impl BlameBy {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        let mut all = BLAME.into_iter();
        all.find(|(_, by)| *by == self).map_or("", |(word, _)| word)
    }
}

impl Text for BlameBy {
    const EXPECTED: &'static str = "`process`, `thread` or `output`";

    fn schema() -> Schema {
        words(BLAME.map(|(word, _)| word))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        one_of(text, "way to find a test", &BLAME)
    }
}

deserialize_flexible!(BlameBy);

/// The top level of a file of rules.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenRules {
    /// What they are for.
    pub(super) description: Option<String>,
    /// The events to record for `only`, and beside those that the other rules name.
    #[serde(default)]
    pub(super) trace: WrittenTrace,
    /// What must hold for all that the command does.
    #[serde(default)]
    pub(super) expect: WrittenHeld,
    /// What single tests may do, by globs of their names.
    pub(super) tests: Option<Entries<WrittenTest>>,
    /// How the test is found that did something.
    pub(super) blame: Option<BlameBy>,
}

/// What must hold for all that a command does.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenHeld {
    /// How the command must end: a status, or `{ signal: SIGKILL }`; without it with status 0.
    pub(super) exit: Option<WrittenExit>,
    /// None of these.
    pub(super) never: Option<Vec<StepSpec>>,
    /// Nothing but these.
    pub(super) only: Option<Vec<StepSpec>>,
    /// So many of each.
    pub(super) count: Option<WrittenCounts<CountRange>>,
    /// What it may write, read, reach and execute, whatever call does it.
    pub(super) confined: Option<WrittenConfined>,
}

/// What tests of a name may do.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `confined`")]
pub(super) struct WrittenTest {
    /// What they may write, read, reach and execute.
    pub(super) confined: WrittenConfined,
}

/// Reads a file of rules for a command; `file` is only its name in messages.
///
/// # Errors
/// As [`read`](super::read).
pub fn read_rules(file: &Path, text: &str, command: &[String]) -> Result<Scenario, Diagnostic> {
    let Parsed {
        source,
        places,
        value,
    } = Parsed::read(file, text)?;
    let written: WrittenRules = serde_path_to_error::deserialize(value)
        .map_err(|error| explain(&source, &places, &error))?;
    if let Some((name, at)) = places.no_value(&source) {
        return Err(source
            .diagnostic(at, format!("{name} has no value"))
            .with_help("give it one, or leave it out"));
    }
    assemble_rules(source, places, written, command)
}
