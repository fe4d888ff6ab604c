//! What a reader of records is given, and whom it tells.

use super::store::StoreOptions;
use crate::events::Origin;
use crate::record::LayoutTable;
use crate::syscall::files::Initial;
use crate::syscall::{Actor, Observation, Remembered};
use crate::units::{Cpu, Nanos, Pid};
use std::path::Path;

/// What becomes of what a run shows, as it shows it.
pub trait Observer {
    /// Tasks and calls.
    fn observe(&mut self, observation: &Observation);
    /// A tracepoint: the place in [`EventsPlan::tracepoints`](crate::plan::EventsPlan::tracepoints), and its raw record.
    fn event(&mut self, actor: &Actor, time: Nanos, cpu: Cpu, tracepoint: usize, payload: &[u8]);
    /// A record as it lies in its ring, before anything is made of it.
    fn record(&mut self, _table: &LayoutTable<Origin>, _bytes: &[u8]) {}
    /// Everything that is there has been delivered for now.
    fn pause(&mut self) {}
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
    /// What is to go wrong.
    pub fault: Fault,
    /// Whether the workload's memory is read, and signals are told of.
    pub reads_memory: bool,
    /// Whether all events are counted for a control group.
    pub of_group: bool,
    /// Whether the records are of what was there already, instead of a program that begins with its execve.
    pub attached: bool,
    /// How much of the calls is in the records, to begin with.
    pub calls: Remembered,
    /// Whether processes that outlive the main one are looked for and ended, after [`GRACE`](super::GRACE).
    pub forbids_survivors: bool,
    /// Whether the end of a run on the bare host is the end of all its processes: nobody may leave some of them alone.
    pub ends_all: bool,
}
