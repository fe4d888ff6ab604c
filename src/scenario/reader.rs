//! From the text of a file to the scenario.

use std::path::Path;

use serde::Deserialize;
use serde_yaml::Value;

use super::assemble::assemble;
use super::diagnostic::{Diagnostic, Source};
use super::expect::WrittenExpect;
use super::explain::explain;
use super::model::Scenario;
use super::places::Places;
use super::requires::WrittenRequires;
use super::sandbox::SandboxSpec;
use super::snapshot::SnapshotSpec;
use super::survey::survey;
use super::trace::WrittenTrace;
use super::workload::WrittenWorkload;

/// The top level of a file, before the checks that see more than one key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenScenario {
    pub(super) description: String,
    pub(super) workload: WrittenWorkload,
    #[serde(default)]
    pub(super) sandbox: SandboxSpec,
    #[serde(default)]
    pub(super) trace: WrittenTrace,
    #[serde(default)]
    pub(super) expect: WrittenExpect,
    #[serde(default)]
    pub(super) snapshot: SnapshotSpec,
    #[serde(default)]
    pub(super) requires: WrittenRequires,
    pub(super) expect_failure: Option<String>,
}

/// Reads the text of a scenario file; `file` is only its name in messages.
///
/// # Errors
///
/// The first thing that is wrong, with its place: broken YAML, an unknown or a duplicate key, a value of the wrong type
/// or out of range, keys that exclude each other.
pub fn read(file: &Path, text: &str) -> Result<Scenario, Diagnostic> {
    let source = Source::new(file, text);
    let places = Places::parse(&source)?;
    let value: Value =
        serde_yaml::from_str(source.text()).map_err(|error| second_opinion(&source, &error))?;
    let survey = survey(&source, &places, &value);
    if let Some(at) = survey.odd_key {
        let key = source.text().get(at.clone()).unwrap_or_default().to_owned();
        let complaint = source.diagnostic(at, format!("a key must be a string, not `{key}`"));
        return Err(complaint.with_help(format!("quote it: \"{key}\"")));
    }
    let written: WrittenScenario = serde_path_to_error::deserialize(value)
        .map_err(|error| explain(&source, &places, &error))?;
    if let Some((name, at)) = survey.no_value {
        return Err(source
            .diagnostic(at, format!("{name} has no value"))
            .with_help("give it one, or leave it out"));
    }
    assemble(source, places, written)
}

/// A complaint of `serde_yaml` about a text that the parser of the places took: they read YAML 1.1 and 1.2.
fn second_opinion(source: &Source, error: &serde_yaml::Error) -> Diagnostic {
    let message = format!("not valid YAML: {error}");
    match error.location() {
        Some(location) => {
            let place = format!(" at line {} column {}", location.line(), location.column());
            let index = location.index();
            source.diagnostic(index..index, message.replacen(&place, "", 1))
        }
        None => source.diagnostic(0..0, message),
    }
}
