//! What the reader of a run's records is given, and the observer that it reports to.

use super::StoreOptions;
use super::chains::NamedFunction;
use super::error::RunError;
use super::faults::Scene;
use super::ground::Names;
use crate::plan::{Plan, PlannedEvent};
use crate::trace::{Builder, FieldValue, TracedEvent};
use perf_live::events::{Origin, OtherFile};
use perf_live::gate::Log;
use perf_live::probes::Mapped;
use perf_live::units::FileId;
use perf_records::record::{LayoutTable, Sample};
use perf_records::space::Stack;
use perf_records::units::{Cpu, Nanos, Pid, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use syscall_model::files::Initial;
use syscall_model::{Actor, Observation, Remembered};

/// Receives what a run shows, as it shows it.
pub trait Observer {
    /// Takes what is known of tasks and calls.
    fn observe(&mut self, observation: &Observation);
    /// Takes an event that is no call.
    fn event(&mut self, fired: &Fired<'_>);
    /// Whether the observer wants the function in which a software event fired: to find it takes
    /// the symbols of files.
    fn wants_functions(&self) -> bool {
        true
    }
    /// Takes a thread's coming onto a CPU, if [`Wanted::Turns`](crate::plan::Wanted::Turns) is
    /// wanted, or its end, always.
    fn turn(&mut self, _turn: Turn) {}
    /// Takes a record as it lies in its ring, before it is read.
    fn record(&mut self, _table: &LayoutTable<Origin>, _bytes: &[u8]) {}
    /// Takes an observation of a call whose call chain was recorded.
    fn observe_with(&mut self, observation: &Observation, _stack: &Arc<Stack>) {
        self.observe(observation);
    }
    /// Takes a reason why names of functions are missing, once for each reason.
    fn note(&mut self, _note: &str) {}
    /// Says that expectations name a function that no process has, once, at the end.
    fn lacks_functions(&mut self) {}
    /// Called when all records that were there have been delivered.
    fn pause(&mut self) {}
}

/// A thread that comes onto a CPU, or ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its id where the events were opened.
    pub tid: Tid,
    /// The time of the record.
    pub time: Nanos,
    /// The CPU.
    pub cpu: Cpu,
    /// Whether it ends.
    pub is_end: bool,
}

/// An event that fired.
#[derive(Clone, Copy, Debug)]
pub struct Fired<'a> {
    /// The task that the event fired for.
    pub actor: &'a Actor,
    /// The time of the record.
    pub time: Nanos,
    /// The CPU that it fired on.
    pub cpu: Cpu,
    /// The event: its place in [`EventsPlan::named`](crate::plan::EventsPlan::named).
    pub place: usize,
    /// The whole record.
    pub sample: &'a Sample<'a>,
    /// The functions that led to it, if they were recorded.
    pub stack: Option<&'a Arc<Stack>>,
    /// For an event without a payload, where the program was, if that was recorded.
    pub scene: Option<&'a Scene>,
    /// Its fields that are functions of the kernel.
    pub functions: &'a [NamedFunction],
}

impl Fired<'_> {
    /// Adds the event to a trace, with the functions that led to it if they are known.
    ///
    /// # Errors
    /// As [`Self::decode`]; the trace is then as it was.
    pub fn add_to(&self, planned: &PlannedEvent, builder: &mut Builder) -> Result<(), RunError> {
        let event = self.decode(planned)?;
        if let Some(stack) = self.stack {
            builder.led_by(Arc::clone(stack));
        }
        builder.event(self.actor.thread, self.time, event);
        Ok(())
    }

    /// Decodes its name and fields, as planned.
    ///
    /// # Errors
    /// [`RunError::Decode`].
    pub fn decode(&self, planned: &PlannedEvent) -> Result<TracedEvent, RunError> {
        let Some(format) = &planned.format else {
            return Ok(self.software(planned));
        };
        let payload = self.sample.raw.unwrap_or_default();
        let decoded = TracedEvent::decode(&planned.naming, format, payload);
        let mut event = decoded.map_err(|source| RunError::Decode {
            event: planned.name.as_ref().to_owned(),
            source,
        })?;
        for function in self.functions {
            let NamedFunction { place, name, into } = function;
            if let Some((_, value)) = event.fields.get_mut(*place)
                && let FieldValue::Address(address) = *value
            {
                *value = FieldValue::Function {
                    address,
                    name: Arc::clone(name),
                    into: *into,
                };
            }
        }
        Ok(event)
    }
}

/// A planted defect, by which tests see that the account notices a loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fault {
    /// Drops the sample of this number (from 0) after it was read.
    pub drop_sample: Option<u64>,
}

/// What is done with a run besides judging it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// The planted defect, if any.
    pub fault: Fault,
    /// The file for the recording of the run, and what it says of its maker; `None` to keep none.
    pub save: Option<(&'a Path, &'a StoreOptions)>,
}

/// What does not tell by which convention calls were made, in recordings of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// Calls of every convention are there, and have no registers: what their programs map tells.
    ByMappings,
    /// Native calls alone are there.
    NativeAlone,
}

/// A file that has a probe.
#[derive(Clone, Debug)]
pub struct ProbedFile {
    /// The event.
    pub event: String,
    /// Its path before the run, as the workload sees it.
    pub path: Vec<u8>,
    /// What mappings of it are recorded as.
    pub id: FileId,
    /// The same of the file of the machine that it is a copy of, which has no probe.
    pub original: Option<FileId>,
    /// Whether the probe is in all processes that map the file; elsewhere the kernel may forget it.
    pub is_held: bool,
    /// How many copies of the probed function a compiler has made, which have no probe.
    pub copies: u64,
    /// The file itself; `None` for that of a recorded run.
    pub mapped: Option<Mapped>,
}

impl ProbedFile {
    /// Returns that the file was written to, if it was.
    #[must_use]
    pub fn written(&self) -> Option<OtherFile> {
        let is_written = |mapped: &Mapped| !mapped.is_unwritten();
        self.mapped
            .as_ref()
            .is_some_and(is_written)
            .then(|| OtherFile {
                name: self.event.clone(),
                path: String::from_utf8_lossy(&self.path).into_owned(),
                process: None,
            })
    }
}

/// What the reader must know of a run to understand its records.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The sandbox's init, whose own calls are not the workload's.
    pub init: Option<Pid>,
    /// The command and its arguments; empty if the harness did not start it.
    pub command: Vec<String>,
    /// A sum over each thing that it is given besides, by its place in the scenario; kept with its
    /// recording. `None` if that is not known.
    pub given: Option<BTreeMap<String, u64>>,
    /// How long it may take; `None` for as long as it likes, or if that is not known.
    pub timeout: Option<Duration>,
    /// What its scenario requires of a machine and this one has, as reports name it.
    pub met: BTreeSet<String>,
    /// The descriptors that the workload starts with.
    pub initial: Initial,
    /// The files under each name before the run; `None` if they are not known.
    pub names: Option<Names>,
    /// The planted defect, if any.
    pub fault: Fault,
    /// Whether the workload's memory is read, and its signals recorded.
    pub reads_memory: bool,
    /// Whether all events are counted for a control group.
    pub of_group: bool,
    /// The name of the workload's control group, where it has one.
    pub group: Option<String>,
    /// Whether the workload ran before it was recorded, rather than beginning with its execve.
    pub attached: bool,
    /// How much of the calls is in the records at the start.
    pub calls: Remembered,
    /// Whether processes that outlive the main one are looked for and killed, after
    /// [`GRACE`](super::GRACE).
    pub forbids_survivors: bool,
    /// Whether a run on the bare host ends all its processes: none may be left running.
    pub ends_all: bool,
    /// The calls that were held for faults; `None` if none were.
    pub held: Option<Log>,
    /// What records of calls lack that tells by which convention each was made; `None` if they lack
    /// nothing.
    pub convention: Option<Convention>,
    /// The files that have probes; `None` if that is not told.
    pub probed: Option<Vec<ProbedFile>>,
    /// A path as the workload sees it, and where it lies on the host.
    pub moved: Option<(PathBuf, PathBuf)>,
}

impl Setting {
    /// Returns the files with probes that were written to since these were made.
    pub fn written(&self) -> impl Iterator<Item = OtherFile> {
        let probed = self.probed.iter().flatten();
        probed.filter_map(ProbedFile::written)
    }

    /// Returns the events of probes that are in all processes.
    pub(super) fn everywhere(&self) -> Vec<String> {
        let probed = self.probed.iter().flatten();
        let held = probed.filter(|file| file.is_held);
        held.map(|file| file.event.clone()).collect()
    }

    /// Returns how many copies there are of each probed function that has any.
    pub(super) fn copied(&self) -> BTreeMap<String, u64> {
        let probed = self.probed.iter().flatten();
        let copied = probed.filter(|file| file.copies > 0);
        copied
            .map(|file| (file.event.clone(), file.copies))
            .collect()
    }

    /// Returns what a plan alone says of its run.
    pub(super) fn of(plan: &Plan) -> Self {
        let argv = plan.workload.command.argv().into_iter();
        Self {
            command: argv.map(str::to_owned).collect(),
            timeout: Some(plan.workload.timeout),
            met: plan.met.clone(),
            forbids_survivors: plan.forbids_survivors(),
            ends_all: true,
            ..Self::default()
        }
    }
}
