//! How often something happened, without a record of it.

use super::open::all_but_gone;
use super::{EventRequest, OpenError};
use crate::sys::perf::{self, Counts};
use perf_event_open_sys::bindings::perf_event_attr;
use perf_records::units::{Cpu, Pid};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// An event that is counted.
#[derive(Debug)]
pub struct Counter {
    fd: OwnedFd,
    read_format: u64,
}

/// The tasks and CPUs that an event is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// This task, wherever it runs, and with `inherit` the tasks that it creates.
    Task(Pid),
    /// This task, while it runs on this CPU.
    TaskOn(Pid, Cpu),
    /// All tasks, while they run on this CPU.
    Everybody(Cpu),
    /// The calling thread, wherever it runs: to try whether the event can be counted.
    Myself,
}

impl Counter {
    /// Opens it, with its filter.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(event: &EventRequest, whom: Counted) -> Result<Self, OpenError> {
        let fd = open_one(event, &event.attr.raw(), whom, None)?;
        Ok(Self {
            fd,
            read_format: event.attr.read_format.0,
        })
    }

    /// Opens it in each of these places, but for tasks that are gone.
    ///
    /// # Errors
    /// [`OpenError`]; `ESRCH` where none of the tasks is there any more.
    pub fn open_each(event: &EventRequest, places: &[Counted]) -> Result<Vec<Self>, OpenError> {
        all_but_gone(places.iter().map(|place| Self::open(event, *place)))
    }

    /// Starts it, where no `execve(2)` does.
    ///
    /// # Errors
    /// Those of `ioctl(2)`.
    pub fn enable(&self) -> io::Result<()> {
        perf::enable(self.fd.as_fd())
    }

    /// Stops it.
    ///
    /// # Errors
    /// Those of `ioctl(2)`.
    pub fn disable(&self) -> io::Result<()> {
        perf::disable(self.fd.as_fd())
    }

    /// How often it happened so far.
    ///
    /// # Errors
    /// Those of `read(2)`.
    pub fn read(&self) -> io::Result<Counts> {
        perf::read_counts(self.fd.as_fd(), self.read_format)
    }
}

/// Opens one event with its filter, behind a leader if there is one.
pub(super) fn open_one(
    event: &EventRequest,
    raw: &perf_event_attr,
    whom: Counted,
    leader: Option<BorrowedFd<'_>>,
) -> Result<OwnedFd, OpenError> {
    let (target, cpu) = match whom {
        Counted::Task(pid) => (perf::Target::Task(pid), None),
        Counted::TaskOn(pid, cpu) => (perf::Target::Task(pid), Some(cpu)),
        Counted::Everybody(cpu) => (perf::Target::Everybody, Some(cpu)),
        Counted::Myself => (perf::Target::Myself, None),
    };
    let opened = perf::open_beside(raw, target, cpu, leader);
    let fd = opened.map_err(|source| OpenError::Open {
        event: event.name.clone(),
        source,
    })?;
    if let Some(filter) = &event.filter {
        let refused = |source| OpenError::Filter {
            event: event.name.clone(),
            filter: filter.clone(),
            source,
        };
        let text = CString::new(filter.as_str()).map_err(|error| refused(error.into()))?;
        perf::set_filter(fd.as_fd(), &text).map_err(refused)?;
    }
    Ok(fd)
}
