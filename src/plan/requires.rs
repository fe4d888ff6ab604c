//! What a scenario asks of the machine and does not get.

use super::{Facts, calls, operations};
use crate::scenario::{
    EventSpec, EventWish, KernelVersion, Needs, SandboxSpec, Scenario, Since, SnapshotSpec,
};
use perf_live::host::{Catalogue, HostError};
use perf_live::sandbox::WorldSpec;
use std::collections::BTreeSet;

/// What is not met, a reason each.
#[derive(Debug, Default)]
pub(super) struct Unmet {
    /// That skips the scenario.
    pub(super) soft: Vec<String>,
    /// That fails it.
    pub(super) hard: Vec<String>,
    /// That it does without.
    pub(super) best_effort: Vec<String>,
    /// The tracepoints among the last.
    pub(super) absent: BTreeSet<String>,
}

impl Unmet {
    pub(super) fn of(
        scenario: &Scenario,
        facts: &Facts<'_>,
        catalogue: &dyn Catalogue,
    ) -> Result<Self, HostError> {
        let requires = &scenario.requires;
        let mut absent = BTreeSet::new();
        for name in &requires.best_effort.tracepoints {
            if !has_tracepoint(name, catalogue)? {
                absent.insert(name.to_string());
            }
        }
        let mut soft = lacking(&requires.soft, facts, catalogue)?;
        soft.extend(implied(scenario, facts, catalogue, &absent)?);
        let missing = lacking(&requires.best_effort, facts, catalogue)?;
        let without = |needs: String| match needs.strip_prefix("needs ") {
            Some(what) => format!("runs without {what}"),
            None => needs,
        };
        Ok(Self {
            soft,
            hard: lacking(&requires.hard, facts, catalogue)?,
            best_effort: missing.into_iter().map(without).collect(),
            absent,
        })
    }
}

/// What the author asks for in so many words.
fn lacking(
    needs: &Needs,
    facts: &Facts<'_>,
    catalogue: &dyn Catalogue,
) -> Result<Vec<String>, HostError> {
    let mut lacking = Vec::new();
    if let Some(range) = needs.kernel
        && !KernelVersion::of_release(facts.release).is_some_and(|version| range.contains(version))
    {
        lacking.push(format!("needs kernel {range}, this is {}", facts.release));
    }
    for name in &needs.tracepoints {
        if !has_tracepoint(name, catalogue)? {
            lacking.push(format!("needs tracepoint `{name}`"));
        }
    }
    for command in &needs.commands {
        if !(facts.has_command)(command) {
            lacking.push(format!("needs command `{command}`"));
        }
    }
    for feature in &needs.features {
        if let Some(why) = (facts.lacks)(*feature) {
            lacking.push(format!("needs {}: {why}", feature.word()));
        }
    }
    Ok(lacking)
}

fn has_tracepoint(
    name: &perf_records::units::TracepointName,
    catalogue: &dyn Catalogue,
) -> Result<bool, HostError> {
    if operations::is_operation(name.as_str()) {
        return Ok(operations::tracepoint(catalogue)?.is_some());
    }
    match catalogue.format(name) {
        Err(HostError::NoTracepoint { .. }) => Ok(false),
        format => format.map(|_| true),
    }
}

/// What follows from the rest of the scenario.
fn implied(
    scenario: &Scenario,
    facts: &Facts<'_>,
    catalogue: &dyn Catalogue,
    absent: &BTreeSet<String>,
) -> Result<Vec<String>, HostError> {
    let mut unmet = Vec::new();
    if let SandboxSpec::Own(WorldSpec { user: Some(_), .. }) = &scenario.sandbox
        && !facts.is_root
    {
        unmet.push("needs root, to run the workload as another user".to_owned());
    }
    let workloads = [Some(&scenario.workload), scenario.baseline.as_ref()];
    let mut files = workloads
        .into_iter()
        .flatten()
        .flat_map(|workload| workload.files.values());
    if !facts.is_root && files.any(|file| file.owner.is_some()) {
        unmet.push("needs root, to give files to others".to_owned());
    }
    if matches!(scenario.trace.since, Since::Main) {
        unmet.extend(calls::cannot_tell_starts(facts.reach).map(str::to_owned));
    }
    let untold = scenario.expect.limit.and_then(facts.cannot_tell);
    unmet.extend(untold.map(|why| format!("needs to count calls that fail for a limit: {why}")));
    if names_operations(scenario, absent) {
        let [tracepoint, _] = operations::TRACEPOINTS;
        if operations::tracepoint(catalogue)?.is_none() {
            unmet.push(format!("needs tracepoint `{tracepoint}`"));
        }
        if facts.io_uring_disabled == Some(NOBODY) {
            unmet.push("needs io_uring, which `kernel.io_uring_disabled` forbids here".to_owned());
        }
    }
    Ok(unmet)
}

// Of `kernel.io_uring_disabled`; 1 allows it to those with CAP_SYS_ADMIN and to a group.
const NOBODY: i64 = 2;

/// Whether a scenario speaks of operations of io_uring that it does not do without.
fn names_operations(scenario: &Scenario, absent: &BTreeSet<String>) -> bool {
    let events = scenario.trace.events.iter().filter_map(|spec| match spec {
        EventSpec::Event(EventWish { name, .. }) => Some(name),
        EventSpec::Syscalls(_) | EventSpec::Chained(..) | EventSpec::Counted(_) => None,
    });
    let shown = match &scenario.snapshot {
        SnapshotSpec::On { hide, show, .. } => [hide.as_slice(), show.as_slice()],
        SnapshotSpec::Off => Default::default(),
    };
    let sections = scenario.expect.sections.values();
    let expected = sections
        .chain([&scenario.expect.events])
        .flat_map(|expectations| expectations.steps());
    events
        .chain(expected.map(|step| &step.event))
        .chain(shown.into_iter().flatten())
        .any(|word| operations::is_operation(word) && !absent.contains(word))
}
