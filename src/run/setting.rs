//! What a reader of records is given, and whom it tells.

use crate::syscall::files::Initial;
use crate::syscall::{Actor, Observation};
use crate::units::{Cpu, Nanos, Pid};

/// What becomes of what a run shows, as it shows it.
pub trait Observer {
    /// Tasks and calls.
    fn observe(&mut self, observation: &Observation);
    /// A tracepoint: the place in [`EventsPlan::tracepoints`](crate::plan::EventsPlan::tracepoints), and its raw record.
    fn event(&mut self, actor: &Actor, time: Nanos, cpu: Cpu, tracepoint: usize, payload: &[u8]);
    /// Everything that is there has been delivered for now.
    fn pause(&mut self) {}
}

/// A planted defect, to see that the account catches it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fault {
    /// Drops the sample of this number (from 0) after it was read.
    pub drop_sample: Option<u64>,
}

/// What must be known of a run to understand its records.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The process whose own doings are none of the workload's.
    pub init: Option<Pid>,
    /// What the workload starts with.
    pub initial: Initial,
    /// What is to go wrong.
    pub fault: Fault,
    /// Whether the workload's memory is read, and signals are told of.
    pub reads_memory: bool,
    /// Whether all events are counted for a control group.
    pub of_group: bool,
    /// Whether processes that outlive the main one are looked for and ended, after [`GRACE`](super::GRACE).
    pub forbids_survivors: bool,
    /// Whether the end of a run on the bare host is the end of all its processes: nobody may leave some of them alone.
    pub ends_all: bool,
}
