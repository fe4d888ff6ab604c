//! Events that are counted at the same times or not at all.

use super::counter::{Counted, open_one};
use super::open::all_but_gone;
use super::{EventRequest, OpenError};
use crate::sys::perf::{self, Counts};
use perf_records::attr::ReadFormat;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// A group of counters. The kernel has all of them count, or none of them, and they are read at one
/// moment.
#[derive(Debug)]
pub struct CounterGroup {
    /// The counters and their ids; the first one leads.
    events: Vec<(OwnedFd, u64)>,
}

/// How long a task may take to give its events back.
const SETTLING: Duration = Duration::from_secs(2);

/// Reads a group that tasks may be leaving. While one gives back its copies one by one, the kernel
/// has no sum of them, and says `ECHILD` (`__perf_read_group_add()`, kernel/events/core.c): it has
/// one when the task is gone.
fn settled<T>(mut read: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let deadline = Instant::now() + SETTLING;
    loop {
        match read() {
            Err(error)
                if error.raw_os_error() == Some(libc::ECHILD) && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            answer => return answer,
        }
    }
}

impl CounterGroup {
    /// Opens all of them.
    ///
    /// # Errors
    /// [`OpenError`], for the first that cannot be.
    pub fn open(events: &[&EventRequest], whom: Counted) -> Result<Self, OpenError> {
        let mut group = Self { events: Vec::new() };
        for event in events {
            let mut attr = event.attr;
            attr.read_format.0 |= ReadFormat::GROUP.0 | ReadFormat::ID.0;
            let leader = group.events.first().map(|(leader, _)| leader.as_fd());
            // A member of a group counts whenever its leader does.
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
    pub fn open_each(events: &[&EventRequest], places: &[Counted]) -> Result<Vec<Self>, OpenError> {
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
        let read = settled(|| perf::read_group(leader.as_fd(), self.events.len()))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_a_task_is_leaving_is_read_when_it_is_gone() {
        let mut left = 3;
        let read = settled(|| {
            left -= 1;
            match left {
                0 => Ok(7),
                _ => Err(io::Error::from_raw_os_error(libc::ECHILD)),
            }
        });
        assert_eq!((read.unwrap(), left), (7, 0));
        let other = settled(|| Err::<(), _>(io::Error::from_raw_os_error(libc::EBADF)));
        assert_eq!(other.unwrap_err().raw_os_error(), Some(libc::EBADF));
    }
}
