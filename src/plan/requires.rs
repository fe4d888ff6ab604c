//! Finds the requirements of a scenario that the machine does not meet.

use super::{Facts, calls, native, operations};
use crate::scenario::{
    Architecture, EventSpec, EventWish, KernelVersion, Needs, SandboxSpec, Scenario, Since,
};
use perf_live::host::{Catalogue, HostError};
use perf_live::sandbox::WorldSpec;
use std::collections::BTreeSet;
use syscall_model::names::Abi;

/// The part of the system that lacks something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LackOf {
    /// In the kernel: its version, its events, its features.
    Kernel,
    /// In its architecture, whatever the kernel: calls that this one does not have.
    Architecture,
    /// In the machine apart from its kernel: programs, rights, settings; or in a recording.
    Machine,
    /// In what a recording says of its machine: whether that lacked it is not known.
    Recording,
}

/// A requirement that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The part that lacks it.
    pub of: LackOf,
    /// The text for a report: `needs tracepoint ...`.
    pub text: String,
}

impl Lack {
    /// Says that the kernel lacks it.
    pub fn of_kernel(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            of: LackOf::Kernel,
            text,
        }
    }

    /// Says that no machine of this architecture has it.
    pub(super) fn of_architecture(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            of: LackOf::Architecture,
            text,
        }
    }

    /// Says that the machine lacks it, apart from its kernel.
    pub fn of_machine(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            of: LackOf::Machine,
            text,
        }
    }
}

impl AsRef<str> for Lack {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// The unmet requirements, by their consequence.
#[derive(Debug, Default)]
pub(super) struct Unmet {
    /// These skip the scenario.
    pub(super) soft: Vec<Lack>,
    /// These fail the scenario.
    pub(super) hard: Vec<Lack>,
    /// A note for each that the scenario does without.
    pub(super) best_effort: Vec<String>,
    /// The absent tracepoints among the last.
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
        let lacking = |needs| lacking(needs, facts, catalogue);
        let mut soft = needed(lacking(&requires.soft)?);
        soft.extend(implied(scenario, facts, catalogue, &absent)?);
        let without = lacking(&requires.best_effort)?.into_iter();
        let without = without.map(|(_, what)| format!("runs without {what}"));
        Ok(Self {
            soft,
            hard: needed(lacking(&requires.hard)?),
            best_effort: without.collect(),
            absent,
        })
    }
}

fn needed(lacking: Vec<(LackOf, String)>) -> Vec<Lack> {
    let needed = lacking.into_iter().map(|(of, what)| Lack {
        of,
        text: format!("needs {what}"),
    });
    needed.collect()
}

/// Returns the requirements that the author wrote down and that are not met, by name.
fn lacking(
    needs: &Needs,
    facts: &Facts<'_>,
    catalogue: &dyn Catalogue,
) -> Result<Vec<(LackOf, String)>, HostError> {
    let mut lacking = Vec::new();
    let of = |of: LackOf| match facts.untold {
        None => of,
        Some(_) => LackOf::Recording,
    };
    let told = |what: String| match facts.untold {
        None => what,
        Some(untold) => format!("{what}: {untold}"),
    };
    if let Some(arch) = needs.arch
        && arch != Architecture::OWN
    {
        let (wanted, own) = (arch.word(), Architecture::OWN.word());
        lacking.push((LackOf::Architecture, format!("{wanted}, this is {own}")));
    }
    if let Some(range) = needs.kernel
        && !KernelVersion::of_release(facts.release).is_some_and(|version| range.contains(version))
    {
        let what = format!("kernel {range}, this is {}", facts.release);
        lacking.push((LackOf::Kernel, what));
    }
    for name in &needs.tracepoints {
        if !has_tracepoint(name, catalogue)? {
            lacking.push((of(LackOf::Kernel), format!("tracepoint `{name}`")));
        }
    }
    for command in &needs.commands {
        if !(facts.has_command)(command) {
            lacking.push((of(LackOf::Machine), told(of_command(command))));
        }
    }
    for feature in &needs.features {
        if let Some(why) = (facts.lacks)(*feature) {
            lacking.push((of(LackOf::Kernel), format!("{}: {why}", feature.word())));
        }
    }
    Ok(lacking)
}

/// Returns the commands and features that a scenario requires in any way and that are there.
pub(super) fn met(scenario: &Scenario, facts: &Facts<'_>) -> BTreeSet<String> {
    let requires = &scenario.requires;
    let needs = [&requires.soft, &requires.hard, &requires.best_effort];
    let commands = needs.into_iter().flat_map(|needs| &needs.commands);
    let commands = commands.filter(|command| (facts.has_command)(command));
    let features = needs.into_iter().flat_map(|needs| &needs.features);
    let features = features.filter(|feature| (facts.lacks)(**feature).is_none());
    let features = features.map(|feature| feature.word().to_owned());
    commands
        .map(|command| of_command(command))
        .chain(features)
        .collect()
}

/// A command as reports name it.
pub(crate) fn of_command(command: &str) -> String {
    format!("command `{command}`")
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

/// Returns the unmet requirements that follow from the rest of the scenario.
fn implied(
    scenario: &Scenario,
    facts: &Facts<'_>,
    catalogue: &dyn Catalogue,
    absent: &BTreeSet<String>,
) -> Result<Vec<Lack>, HostError> {
    let mut unmet = native::absent_calls(scenario, Abi::native());
    if let SandboxSpec::Own(WorldSpec { user: Some(_), .. }) = &scenario.sandbox
        && !facts.is_root
    {
        let text = "needs root, to run the workload as another user";
        unmet.push(Lack::of_machine(text));
    }
    let workloads = [Some(&scenario.workload), scenario.baseline.as_ref()];
    let mut files = workloads
        .into_iter()
        .flatten()
        .flat_map(|workload| workload.files.values());
    if !facts.is_root && files.any(|file| file.owner.is_some()) {
        unmet.push(Lack::of_machine("needs root, to give files to others"));
    }
    if matches!(scenario.trace.since, Since::Main) {
        unmet.extend(calls::cannot_tell_starts(facts.reach).map(Lack::of_machine));
    }
    let untold = scenario.expect.limit.and_then(facts.cannot_tell);
    let untold = untold.map(|why| format!("needs to count calls that fail for a limit: {why}"));
    unmet.extend(untold.map(Lack::of_machine));
    if names_operations(scenario, absent) {
        let [tracepoint, _] = operations::TRACEPOINTS;
        if operations::tracepoint(catalogue)?.is_none() {
            unmet.push(Lack::of_kernel(format!("needs tracepoint `{tracepoint}`")));
        }
        if facts.io_uring_disabled == Some(NOBODY) {
            let text = "needs io_uring, which `kernel.io_uring_disabled` forbids here";
            unmet.push(Lack::of_machine(text));
        }
    }
    Ok(unmet)
}

// The value of `kernel.io_uring_disabled` at which none may use it; 1 allows it to processes with
// CAP_SYS_ADMIN and to a group.
const NOBODY: i64 = 2;

/// Whether a scenario names operations of io_uring that it cannot do without.
fn names_operations(scenario: &Scenario, absent: &BTreeSet<String>) -> bool {
    let events = scenario.trace.events.iter().filter_map(|spec| match spec {
        EventSpec::Event(EventWish { name, .. }) => Some(name),
        EventSpec::Syscalls(_) | EventSpec::Chained(..) | EventSpec::Counted(_) => None,
    });
    let shown = scenario.snapshot.keys();
    let shown = shown.map_or([&[][..]; 2], |keys| [&keys.hide, &keys.show]);
    let sections = scenario.expect.sections.values();
    let expected = sections
        .chain([&scenario.expect.events])
        .flat_map(|expectations| expectations.steps());
    events
        .chain(expected.map(|step| &step.event))
        .chain(shown.into_iter().flatten())
        .any(|word| operations::is_operation(word) && !absent.contains(word))
}
