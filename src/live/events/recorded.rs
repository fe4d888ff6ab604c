//! Opens what `perf record` would open: any event, of any tasks.

use super::Origin;
use super::{EventSet, MEMORY, OpenEvent, SIDE_BAND, written};
use crate::sys::perf::{self, Counts};
use perf_records::attr::Attr;
use perf_records::units::{Cpu, Pid};
use std::io;
use std::os::fd::AsFd;

/// The tasks that events follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// These tasks, each by itself, and with `inherit` the tasks that they create.
    Tasks(Vec<Pid>),
    /// Every task of the machine.
    Everybody,
}

impl Subject {
    pub(super) fn targets(&self) -> Vec<perf::Target<'static>> {
        match self {
            Self::Tasks(tasks) => tasks.iter().copied().map(perf::Target::Task).collect(),
            Self::Everybody => vec![perf::Target::Everybody],
        }
    }
}

/// An event that is open on one CPU, and for one task if it follows tasks.
#[derive(Clone, Copy, Debug)]
pub struct Opened<'a> {
    /// Which of the session's events it is.
    pub origin: Origin,
    /// Its name.
    pub name: &'a str,
    /// What a recording calls it, if that is not its name.
    pub shown: Option<&'a str>,
    /// What its records carry.
    pub id: u64,
    /// Its CPU.
    pub cpu: Cpu,
    /// What the kernel was given.
    pub attr: Attr,
    /// What it counted so far. Of what programs write to, one tells it for all CPUs, and the others
    /// nothing.
    pub counts: Option<Counts>,
}

impl EventSet {
    /// How many records of a request are wanted.
    #[must_use]
    pub fn at_most(&self, place: usize) -> Option<u64> {
        self.at_most.get(place).copied().flatten()
    }

    /// Stops one request, also of those that its tasks have created. Some of its records may still
    /// come.
    ///
    /// # Errors
    /// Those of `ioctl(2)`.
    pub fn stop(&self, place: usize) -> io::Result<()> {
        let is_it = |event: &&OpenEvent| event.origin == Origin::Request(place);
        let mut events = self.events.iter().filter(is_it);
        events.try_for_each(|event| perf::disable(event.fd.as_fd()))
    }

    /// All that is open, with what it counted so far.
    ///
    /// # Errors
    /// Those of `read(2)`.
    pub fn opened(&self) -> io::Result<Vec<Opened<'_>>> {
        let mut all = Vec::new();
        // They count for all CPUs together.
        let mut of_programs = None;
        if let Some(slot) = self.rings.programs().filter(|_| self.reads_memory) {
            let (sent, lost) = slot.counts()?;
            of_programs = Some(Counts {
                value: sent + lost,
                lost: Some(lost),
                times: None,
            });
        }
        for event in &self.events {
            let counts = written::counts(event, self.rings.programs())?;
            let name = match event.origin {
                Origin::SideBand => SIDE_BAND,
                _ => &event.name,
            };
            all.push(Opened {
                origin: event.origin,
                name,
                shown: event.shown.as_deref(),
                id: event.id,
                cpu: event.cpu,
                attr: event.attr,
                counts: Some(counts),
            });
        }
        all.extend(self.memory.iter().map(|(id, cpu, attr)| Opened {
            origin: Origin::Memory,
            name: MEMORY,
            shown: None,
            id: *id,
            cpu: *cpu,
            attr: *attr,
            counts: of_programs.take(),
        }));
        Ok(all)
    }
}
