//! The scenario as a whole.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::crash::CrashSpec;
use super::diagnostic::{Diagnostic, Source};
use super::expect::Expect;
use super::faults::FaultSpec;
use super::key_path::KeyPath;
use super::matrix::label;
use super::places::Places;
use super::requires::Requires;
use super::ring::Last;
use super::rules::Beside;
use super::sandbox::SandboxSpec;
use super::snapshot::SnapshotSpec;
use super::steps::StepSpec;
use super::trace::TraceSpec;
use super::workload::Workload;

/// One scenario file as its author wrote it, checked as far as a file can be checked without a
/// machine to run on.
///
/// Where the reference names a default it is filled in; an `Option` means that the author wrote
/// nothing.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What the scenario shows, in the author's words; never blank.
    pub description: String,
    /// The program to run and what it finds around it.
    pub workload: Workload,
    /// The world that it runs in.
    pub sandbox: SandboxSpec,
    /// The events to record.
    pub trace: TraceSpec,
    /// Stretches of the run that expectations may speak of, by their names.
    pub sections: BTreeMap<String, SectionSpec>,
    /// A second workload, whose counts `expect.delta` compares with.
    pub baseline: Option<Workload>,
    /// What is done to single calls, in the order of the file.
    pub faults: Vec<FaultSpec>,
    /// What a power cut may leave of it, and what is run on that.
    pub crash: Option<CrashSpec>,
    /// What must come out of the run.
    pub expect: Expect,
    /// Whether and how strictly the trace is compared with a stored one.
    pub snapshot: SnapshotSpec,
    /// What the machine must offer, else the scenario is skipped.
    pub requires: Requires,
    /// How much of the run is kept where it is no pass; `None` for nothing.
    pub on_failure: Option<Last>,
    /// Why the scenario is known to fail, never blank; a pass is then a failure.
    pub expect_failure: Option<String>,
    /// Why expectations and snapshot may let many changes of the trace through (`harness mutate`),
    /// never blank.
    pub lenient: Option<String>,
    /// Which row of `matrix` this is: each of its names and the value as text, in the order of the
    /// file; empty without a matrix.
    pub row: Vec<(String, String)>,
    /// What is recorded and judged beside that.
    pub beside: Beside,
    pub(super) source: Source,
    pub(super) places: Places,
}

/// A stretch of the run: what happened, in any task, after the one mark and before the other. Each
/// mark is there exactly once.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `from` and `to`")]
#[schemars(rename = "WrittenSection", description = "The marks of a section.")]
pub struct SectionSpec {
    /// Where it begins.
    pub from: Mark,
    /// Where it ends.
    pub to: Mark,
}

/// A moment of the run.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A write of exactly this, a line feed at its end left out, to any descriptor, whether it
    /// succeeds or not.
    Written(String),
    /// An event.
    Step(StepSpec),
}

impl Scenario {
    /// Its row of `matrix` as names of reports and of files have it: `mode=wal,sync=FULL`; empty
    /// without a matrix.
    #[must_use]
    pub fn label(&self) -> String {
        label(&self.row)
    }

    /// A complaint about what stands at `at`, found after reading: an unknown syscall, a filter on
    /// an absent field.
    ///
    /// It points at the value, or at its key after [`KeyPath::key_itself`]; where the file has no
    /// such path, at the nearest ancestor, so that one path serves a value that may be written in a
    /// short and in a long form.
    #[must_use]
    pub fn complaint(
        &self,
        at: &KeyPath,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Diagnostic {
        let range = self.places.range_of(&self.source, at);
        let complaint = self.source.diagnostic(range, message);
        match help {
            Some(help) => complaint.with_help(help),
            None => complaint,
        }
    }
}
