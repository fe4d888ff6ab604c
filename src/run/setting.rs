//! What a reader of records is given, and whom it tells.

use super::StoreOptions;
use super::chains::NamedFunction;
use super::error::RunError;
use super::faults::Scene;
use super::ground::Names;
use crate::plan::PlannedEvent;
use crate::trace::{Builder, FieldValue, TracedEvent};
use perf_live::events::Origin;
use perf_records::record::{LayoutTable, Sample};
use perf_records::space::Stack;
use perf_records::units::{Cpu, Nanos, Pid, Tid};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use syscall_model::files::Initial;
use syscall_model::{Actor, Observation, Remembered};

/// What becomes of what a run shows, as it shows it.
pub trait Observer {
    /// Tasks and calls.
    fn observe(&mut self, observation: &Observation);
    /// An event that is no call.
    fn event(&mut self, fired: &Fired<'_>);
    /// Whether the function is of interest in which a software event fired: to know it takes the
    /// symbols of files.
    fn wants_functions(&self) -> bool {
        true
    }
    /// A thread comes onto a CPU, or ends; both are told where
    /// [`Wanted::Turns`](crate::plan::Wanted::Turns) is wanted, and the end always.
    fn turn(&mut self, _turn: Turn) {}
    /// A record as it lies in its ring, before anything is made of it.
    fn record(&mut self, _table: &LayoutTable<Origin>, _bytes: &[u8]) {}
    /// The same of a call whose call chain was recorded.
    fn observe_with(&mut self, observation: &Observation, _stack: &Arc<Stack>) {
        self.observe(observation);
    }
    /// Why names of functions are missing, once each.
    fn note(&mut self, _note: &str) {}
    /// Everything that is there has been delivered for now.
    fn pause(&mut self) {}
}

/// A thread that comes onto a CPU, or ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Which, by the id that it has where the events were opened.
    pub tid: Tid,
    /// When.
    pub time: Nanos,
    /// Whether it ends.
    pub is_end: bool,
}

/// An event that fired.
#[derive(Clone, Copy, Debug)]
pub struct Fired<'a> {
    /// In whose doing.
    pub actor: &'a Actor,
    /// When.
    pub time: Nanos,
    /// Where.
    pub cpu: Cpu,
    /// Which: its place in [`EventsPlan::named`](crate::plan::EventsPlan::named).
    pub place: usize,
    /// All that its record has.
    pub sample: &'a Sample<'a>,
    /// The functions that led to it, where that was recorded.
    pub stack: Option<&'a Arc<Stack>>,
    /// Of an event without a payload, where that was.
    pub scene: Option<&'a Scene>,
    /// Its fields that are functions of the kernel's.
    pub functions: &'a [NamedFunction],
}

impl Fired<'_> {
    /// Puts it into a trace, with the functions that led to it where they are known.
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

    /// Its name and fields, as the plan reads them.
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

/// A planted defect, to see that the account catches it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fault {
    /// Drops the sample of this number (from 0) after it was read.
    pub drop_sample: Option<u64>,
}

/// What is done with a run besides judging it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// What is to go wrong.
    pub fault: Fault,
    /// Which file its records are kept in, and what is said there of who made it.
    pub save: Option<(&'a Path, &'a StoreOptions)>,
}

/// What must be known of a run to understand its records.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The process whose own doings are none of the workload's.
    pub init: Option<Pid>,
    /// What is executed, and what it is given; nothing where it was there already.
    pub command: Vec<String>,
    /// What the workload starts with.
    pub initial: Initial,
    /// What lay under each name before; `None` where nobody can tell.
    pub names: Option<Names>,
    /// What is to go wrong.
    pub fault: Fault,
    /// Whether the workload's memory is read, and signals are told of.
    pub reads_memory: bool,
    /// Whether all events are counted for a control group.
    pub of_group: bool,
    /// The name of the workload's control group, where it has one.
    pub group: Option<String>,
    /// Whether the records are of what was there already, instead of a program that begins with its
    /// execve.
    pub attached: bool,
    /// How much of the calls is in the records, to begin with.
    pub calls: Remembered,
    /// Whether processes that outlive the main one are looked for and ended, after
    /// [`GRACE`](super::GRACE).
    pub forbids_survivors: bool,
    /// Whether the end of a run on the bare host is the end of all its processes: nobody may leave
    /// some of them alone.
    pub ends_all: bool,
    /// What the workload knows by the first path lies at the second.
    pub moved: Option<(PathBuf, PathBuf)>,
}
