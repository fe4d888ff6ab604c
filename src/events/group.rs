//! Events that are counted at the same times or not at all.

use super::counter::{Counted, open_one};
use super::open::all_but_gone;
use super::{OpenError, Recorded};
use crate::attr::ReadFormat;
use crate::sys::perf::{self, Counts};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// A group of counters. The kernel has all of them count, or none of them, and they are read at one moment.
#[derive(Debug)]
pub struct CounterGroup {
    /// The counters and their ids; the first one leads.
    events: Vec<(OwnedFd, u64)>,
}

impl CounterGroup {
    /// Opens all of them.
    ///
    /// # Errors
    /// [`OpenError`], for the first that cannot be.
    pub fn open(events: &[&Recorded], whom: Counted) -> Result<Self, OpenError> {
        let mut group = Self { events: Vec::new() };
        for event in events {
            let mut attr = event.attr;
            attr.read_format.0 |= ReadFormat::GROUP.0 | ReadFormat::ID.0;
            let leader = group.events.first().map(|(leader, _)| leader.as_fd());
            // Who follows a leader counts when that one does.
            let follows = leader.is_some();
            attr.enable_on_exec &= !follows;
            let mut raw = attr.raw();
            raw.set_disabled((!follows).into());
            let opened = open_one(event, &raw, whom, leader)?;
            let id = perf::id(opened.as_fd()).map_err(|source| OpenError::Connect {
                event: event.name.clone(),
                source,
            })?;
            group.events.push((opened, id));
        }
        Ok(group)
    }

    /// Opens all of them in each of these places, but for tasks that are gone.
    ///
    /// # Errors
    /// [`OpenError`]; `ESRCH` where none of the tasks is there any more.
    pub fn open_each(events: &[&Recorded], places: &[Counted]) -> Result<Vec<Self>, OpenError> {
        all_but_gone(places.iter().map(|place| Self::open(events, *place)))
    }

    /// Starts all of them, where no `execve(2)` does.
    ///
    /// # Errors
    /// Those of `ioctl(2)`.
    pub fn enable(&self) -> io::Result<()> {
        self.events
            .first()
            .map_or(Ok(()), |(leader, _)| perf::enable(leader.as_fd()))
    }

    /// Stops all of them.
    ///
    /// # Errors
    /// Those of `ioctl(2)`.
    pub fn disable(&self) -> io::Result<()> {
        self.events
            .first()
            .map_or(Ok(()), |(leader, _)| perf::disable(leader.as_fd()))
    }

    /// How often each of them happened so far, in the order in which they were opened.
    ///
    /// # Errors
    /// Those of `read(2)`; `UnexpectedEof` where one of them is missing.
    pub fn read(&self) -> io::Result<Vec<Counts>> {
        let Some((leader, _)) = self.events.first() else {
            return Ok(Vec::new());
        };
        let read = perf::read_group(leader.as_fd(), self.events.len())?;
        let of = |(_, id): &(OwnedFd, u64)| {
            let (_, value) = read.values.iter().find(|(of, _)| of == id)?;
            Some(Counts {
                value: *value,
                lost: None,
                times: Some(read.times),
            })
        };
        let all: Option<Vec<Counts>> = self.events.iter().map(of).collect();
        all.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
