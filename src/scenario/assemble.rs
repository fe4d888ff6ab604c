//! The checks that see more than one key, and the scenario at last.

use super::diagnostic::{Diagnostic, Source};
use super::key_path::KeyPath;
use super::model::Scenario;
use super::places::Places;
use super::reader::WrittenScenario;
use super::ring::{OnFailure, RingSpec};
use super::rules::Beside;
use super::trace::{TraceSpec, WrittenTrace};
use super::workload::{Workload, WrittenWorkload};

mod captures;
mod crash;
mod expect;
mod expectations;
mod faults;
mod rules;
mod sections;
mod spans;
mod workload;

pub(super) use rules::assemble_rules;

/// Builds the scenario from keys and values that are each right by themselves.
pub(super) fn assemble(
    source: Source,
    places: Places,
    written: WrittenScenario,
) -> Result<Scenario, Diagnostic> {
    let file = File {
        source: &source,
        places: &places,
    };
    let description = file.not_blank("description", written.description)?;
    let expect_failure = written
        .expect_failure
        .map(|reason| file.not_blank("expect_failure", reason))
        .transpose()?;
    let lenient = written
        .lenient
        .map(|reason| file.not_blank("lenient", reason))
        .transpose()?;
    let workload = file.workload(&KeyPath::root().key("workload"), written.workload, None)?;
    let baseline = written
        .baseline
        .map(|written| file.baseline(written, &workload))
        .transpose()?;
    let trace = file.trace(written.trace)?;
    let sections = file.sections(written.sections)?;
    let faults = file.faults(written.faults)?;
    let crash = written
        .crash
        .map(|written| file.crash(written, &workload, &faults))
        .transpose()?;
    let expect = file.expect(written.expect)?;
    let expected = KeyPath::root().key("expect").key("sections");
    let spoken_of = expect.sections.keys();
    let spoken_of = spoken_of.map(|name| (name.as_str(), expected.clone().key(name).key_itself()));
    let shown = written.snapshot.section();
    let shown = shown.map(|name| (name, KeyPath::root().key("snapshot").key("section")));
    let spoken_of = spoken_of.chain(shown);
    file.check_sections(&sections, spoken_of)?;
    file.check_delta(baseline.is_some(), !expect.delta.is_empty())?;
    let requires = written.requires.read().map_err(|key| {
        let at = KeyPath::root().key("requires").key(key);
        file.complaint(&at, format!("`{at}` is empty"))
    })?;
    Ok(Scenario {
        description,
        workload,
        sandbox: written.sandbox,
        trace,
        sections,
        baseline,
        faults,
        crash,
        expect,
        snapshot: written.snapshot,
        requires,
        on_failure: written.on_failure.map(|OnFailure(last)| last),
        expect_failure,
        lenient,
        row: Vec::new(),
        beside: Beside::default(),
        source,
        places,
    })
}

/// The file that complaints point into.
pub(super) struct File<'a> {
    source: &'a Source,
    places: &'a Places,
}

impl File<'_> {
    fn complaint(&self, at: &KeyPath, message: impl Into<String>) -> Diagnostic {
        self.source
            .diagnostic(self.places.range_of(self.source, at), message)
    }

    fn not_blank(&self, key: &str, text: String) -> Result<String, Diagnostic> {
        if text.trim().is_empty() {
            return Err(self.complaint(&KeyPath::root().key(key), format!("`{key}` is empty")));
        }
        Ok(text)
    }

    /// A list or a mapping without elements; `help` says what to do.
    fn empty(&self, at: &KeyPath, help: &str) -> Diagnostic {
        let complaint = self.complaint(at, format!("{} is empty", at.in_words()));
        complaint.with_help(help)
    }

    fn baseline(
        &self,
        written: WrittenWorkload,
        workload: &Workload,
    ) -> Result<Workload, Diagnostic> {
        let at = KeyPath::root().key("baseline");
        let baseline = self.workload(&at, written, Some(workload))?;
        if baseline == *workload {
            let complaint = self.complaint(&at, "`baseline` is no other run than `workload`");
            let help = "what is not written is as in `workload`: write what differs";
            return Err(complaint.with_help(help));
        }
        Ok(baseline)
    }

    fn check_delta(&self, has_baseline: bool, has_delta: bool) -> Result<(), Diagnostic> {
        let (at, message, help) = match (has_baseline, has_delta) {
            (true, false) => (
                KeyPath::root().key("baseline"),
                "nothing is compared with `baseline`",
                "say what must differ: `expect: { delta: { openat: +1 } }`",
            ),
            (false, true) => (
                KeyPath::root().key("expect").key("delta"),
                "`delta` has no `baseline` to compare with",
                "give a second workload: `baseline: { run: [...] }`",
            ),
            _ => return Ok(()),
        };
        Err(self.complaint(&at.key_itself(), message).with_help(help))
    }

    fn trace(&self, written: WrittenTrace) -> Result<TraceSpec, Diagnostic> {
        if written.events.as_ref().is_some_and(Vec::is_empty) {
            let at = KeyPath::root().key("trace").key("events");
            return Err(self
                .complaint(&at, "the list of `events` is empty")
                .with_help("leave `events` out to record all syscalls"));
        }
        Ok(TraceSpec {
            events: written.events.unwrap_or_default(),
            spans: self.spans(written.spans)?,
            since: self.since(written.since)?,
            ring: RingSpec {
                size: written.ring.size.map(|size| size.0),
                mode: written.ring.mode,
            },
        })
    }
}
