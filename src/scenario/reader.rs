//! From the text of a file to the scenario.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_yaml::Value;

use super::assemble::assemble;
use super::crash::WrittenCrash;
use super::diagnostic::{Diagnostic, Source};
use super::expect::WrittenExpect;
use super::explain::explain;
use super::faults::WrittenFault;
use super::flexible::Entries;
use super::matrix::{Matrix, Row, Substitution};
use super::model::{Scenario, SectionSpec};
use super::places::Places;
use super::programs::Programs;
use super::requires::WrittenRequires;
use super::ring::OnFailure;
use super::sandbox::SandboxSpec;
use super::snapshot::SnapshotSpec;
use super::trace::WrittenTrace;
use super::workload::WrittenWorkload;
use perf_records::units::NotText;

/// The top level of a file, before the checks that see more than one key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenScenario {
    /// What the scenario shows.
    pub(super) description: String,
    /// The program to run and what it finds around it.
    pub(super) workload: WrittenWorkload,
    /// The world that it runs in.
    #[serde(default)]
    pub(super) sandbox: SandboxSpec,
    /// The events to record.
    #[serde(default)]
    pub(super) trace: WrittenTrace,
    /// Stretches of the run that expectations and the snapshot may speak of, by their names.
    pub(super) sections: Option<Entries<SectionSpec>>,
    /// A second workload, whose events `expect.delta` compares with; what is not written is as in
    /// `workload`.
    pub(super) baseline: Option<WrittenWorkload>,
    /// What is done to single calls in place of making them: an error, a value, fewer bytes, a
    /// delay or a signal.
    pub(super) faults: Option<Vec<WrittenFault>>,
    /// The states of the working directory that a power cut may leave, and what must become of
    /// each.
    pub(super) crash: Option<WrittenCrash>,
    /// What must come out of the run.
    #[serde(default)]
    pub(super) expect: WrittenExpect,
    /// Whether and how strictly the trace is compared with a stored one.
    #[serde(default)]
    pub(super) snapshot: SnapshotSpec,
    /// What the machine must offer.
    #[serde(default)]
    pub(super) requires: WrittenRequires,
    /// What is kept of a run that is no pass.
    pub(super) on_failure: Option<OnFailure>,
    /// Why the scenario is known to fail.
    pub(super) expect_failure: Option<String>,
    /// Why expectations and snapshot may let many changes of the trace through.
    pub(super) lenient: Option<String>,
    /// Taken out before the rest is read: here it is for the list of the keys.
    #[serde(default, rename = "matrix")]
    #[schemars(
        schema_with = "super::schema::matrix",
        description = "Names and their values: the scenario is run for each row, with `${name}` replaced wherever it stands."
    )]
    _matrix: IgnoredAny,
}

/// The text of a file that is read here.
///
/// # Errors
///
/// The place of the first byte that is not UTF-8.
pub fn text(file: &Path, bytes: &[u8]) -> Result<String, Diagnostic> {
    let fault = match NotText::check(bytes) {
        Ok(text) => return Ok(text.to_owned()),
        Err(fault) => fault,
    };
    // Up to there both are the same.
    let shown = String::from_utf8_lossy(bytes);
    let message = format!("this is not UTF-8: the byte {:#04x}", fault.byte);
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    let at = fault.at.saturating_sub(mark);
    let end = at.saturating_add('\u{fffd}'.len_utf8());
    Err(Source::new(file, &shown).diagnostic(at..end, message))
}

/// Reads the text of a scenario file; `file` is only its name in messages. Of a file with a
/// `matrix` it gives the first row.
///
/// # Errors
///
/// The first thing that is wrong, with its place: broken YAML, an unknown or a duplicate key, a
/// value of the wrong type or out of range, keys that exclude each other.
pub fn read(file: &Path, text: &str) -> Result<Scenario, Diagnostic> {
    let all = read_all(file, text, &Programs::default())?;
    let nothing = || Source::new(file, text).diagnostic(0..0, "the file has no scenario");
    all.into_iter().next().ok_or_else(nothing)
}

/// Reads the text of a scenario file that may have a `matrix`: a scenario for each of its rows, at
/// least one. They may refer to `programs`.
///
/// # Errors
///
/// As [`read`], for the first row that is wrong; a reference to a program that is not given.
pub fn read_all(file: &Path, text: &str, programs: &Programs) -> Result<Vec<Scenario>, Diagnostic> {
    let mut parsed = Parsed::read(file, text)?;
    let Some(matrix) = parsed.matrix()? else {
        return Ok(vec![parsed.scenario(programs)?]);
    };
    let mut substitution = Substitution::new();
    let mut scenarios = Vec::new();
    for row in matrix.rows() {
        let mut scenario = parsed.of_row(row, &mut substitution)?.scenario(programs)?;
        scenario.row = row.texts();
        scenarios.push(scenario);
    }
    matrix.check_used(&parsed.source, &parsed.places, &substitution)?;
    Ok(scenarios)
}

/// The labels of the rows of a file, as [`Scenario::label`] has them, without reading the rows
/// themselves: a single empty one where there is no `matrix`.
///
/// # Errors
///
/// Where the file cannot be read so far.
pub fn labels(file: &Path, text: &str) -> Result<Vec<String>, Diagnostic> {
    // A list of many files costs little.
    if !text.contains("matrix") {
        return Ok(vec![String::new()]);
    }
    Ok(match Parsed::read(file, text)?.matrix()? {
        Some(matrix) => matrix.rows().iter().map(Row::label).collect(),
        None => vec![String::new()],
    })
}

/// A file whose values are not yet those of a scenario.
pub(super) struct Parsed {
    pub(super) source: Source,
    pub(super) places: Places,
    pub(super) value: Value,
}

impl Parsed {
    pub(super) fn read(file: &Path, text: &str) -> Result<Self, Diagnostic> {
        let source = Source::new(file, text);
        let places = Places::parse(&source)?;
        let value = places.value();
        Ok(Self {
            source,
            places,
            value,
        })
    }

    pub(super) fn matrix(&mut self) -> Result<Option<Matrix>, Diagnostic> {
        Matrix::take(&self.source, &self.places, &mut self.value)
    }

    pub(super) fn of_row(
        &self,
        row: &Row,
        substitution: &mut Substitution,
    ) -> Result<Self, Diagnostic> {
        let source = self.source.in_row(row.label());
        let (places, value) = substitution.apply(row, &source, &self.places, &self.value)?;
        Ok(Self {
            source,
            places,
            value,
        })
    }

    pub(super) fn scenario(self, programs: &Programs) -> Result<Scenario, Diagnostic> {
        let Self {
            source,
            places,
            mut value,
        } = self;
        let uses = programs.put(&source, &places, &mut value)?;
        let written: WrittenScenario = serde_path_to_error::deserialize(value)
            .map_err(|error| explain(&source, &places, &error))?;
        if let Some((name, at)) = places.no_value(&source) {
            return Err(source
                .diagnostic(at, format!("{name} has no value"))
                .with_help("give it one, or leave it out"));
        }
        let mut scenario = assemble(source, places, written)?;
        programs.lay(&mut scenario, &uses)?;
        Ok(scenario)
    }
}
