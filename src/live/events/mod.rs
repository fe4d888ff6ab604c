//! Opening events on the corked task, and the account that is drawn up at the end.
//!
//! For each CPU one ring, owned by a side-band event that tells of names, forks and exits; every
//! other event of that CPU writes into the same ring; those that overwrite (`write_backward`) into
//! a second one, so that names, forks and exits are never overwritten. What is refused is said with
//! the event's name; nothing is left out and no attribute bit is cleared in silence.

mod account;
mod counter;
mod counter_account;
mod draining;
mod error;
mod group;
mod memory;
mod open;
mod overwriting;
mod pins;
mod recorded;
mod request;
mod rings;
mod sleepers;
mod untold;
mod written;

pub use account::{Account, EventAccount, full_rings};
pub use counter::{Counted, Counter};
pub use counter_account::CounterAccount;
pub use error::OpenError;
pub use group::CounterGroup;
pub use overwriting::{Overwriting, Overwritten};
pub use pins::Pins;
pub use recorded::{Opened, Subject};
pub use request::{EventRequest, Follow, Origin, can_count_for};
pub use rings::{RingChoice, RingPages, Rings};
pub use sleepers::{NotAsleep, Sleepers};
pub use untold::{Forgotten, OtherFile, UntoldReturns};

use open::{Wanted, open_all};
use request::{SIDE_BAND, request_attr, side_band_attr};

use crate::capture::{CallEvents, Half};
use crate::ring::{Drain, Flight};
use crate::sys::perf;
use perf_records::attr::{Attr, Maps, Source};
use perf_records::record::LayoutTable;
use perf_records::units::{Cpu, Pid, Tid};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// What to call the records of what was read from memory.
pub const MEMORY: &str = "memory";

#[derive(Debug)]
struct OpenEvent {
    origin: Origin,
    name: String,
    id: u64,
    attr: Attr,
    cpu: Cpu,
    of_group: bool,
    of_everybody: bool,
    /// What a recording calls it, if that is not its name.
    shown: Option<String>,
    /// Which half of calls a program writes its records of; `None` where the kernel writes them.
    written: Option<Half>,
    /// What the kernel had counted when each of it had a record, and how many had; see
    /// [`written::settle`].
    settled: Option<(u64, u64)>,
    fd: Arc<OwnedFd>,
}

/// The open events of one run and the rings they write to.
#[derive(Debug)]
pub struct EventSet {
    rings: Rings,
    /// The rings of those events that overwrite.
    flight: Option<Flight>,
    leaders: Vec<usize>,
    events: Vec<OpenEvent>,
    /// What programs write to: id, CPU, attribute.
    memory: Vec<(u64, Cpu, Attr)>,
    /// What programs that record calls are told; `None` where the kernel records them.
    calls: Option<CallEvents>,
    table: LayoutTable<Origin>,
    /// Of each request, how many records are wanted of it.
    at_most: Vec<Option<u64>>,
    has_lost: bool,
    reads_memory: bool,
    draining: draining::Draining,
}

/// Opens the requested events on every CPU.
///
/// The workload must still be corked: what it created before is not followed. Of threads that live
/// those that are gone are left out, unless all are. `maps` is which mappings of code are told of,
/// `switches` whether threads that come onto a CPU are.
///
/// # Errors
/// [`OpenError`], for the first thing that was refused; what was open is closed again.
pub fn open(
    requests: &[EventRequest],
    follow: Follow<'_>,
    rings: RingChoice<'_>,
    has_lost: bool,
    maps: Maps,
    switches: bool,
) -> Result<EventSet, OpenError> {
    let thread = |tid: &Tid| perf::Target::Task(Pid(tid.0));
    let (tasks, group) = match follow {
        Follow::Tasks(pid) => (vec![perf::Target::Task(pid)], None),
        Follow::Group(pid, group) => {
            let group = [perf::Target::Cgroup(group)];
            (vec![perf::Target::Task(pid)], Some(group))
        }
        Follow::Members(group) => (vec![perf::Target::Cgroup(group)], None),
        Follow::Living(threads) => (threads.iter().map(thread).collect(), None),
    };
    let mut side_band = side_band_attr(0, has_lost);
    (side_band.maps, side_band.switches) = (maps, switches);
    let is_of_members = matches!(follow, Follow::Members(_));
    side_band.inherit &= !is_of_members;
    side_band.enable_on_exec &= !is_of_members && !matches!(follow, Follow::Living(_));
    let everybody = [perf::Target::Everybody];
    let wanted: Vec<_> = requests
        .iter()
        .map(|request| Wanted {
            request,
            attr: request_attr(request, follow, has_lost),
            targets: match &group {
                _ if request.of_everybody && is_of_members => &everybody,
                Some(group) if request.of_group => group,
                _ => &tasks,
            },
        })
        .collect();
    open_all(side_band, &tasks, &wanted, rings)
}

/// Opens what is to be recorded of the followed tasks, including tasks that already live.
///
/// # Errors
/// [`OpenError`], as above; `ESRCH` if every one of the tasks has exited.
pub fn record(
    requests: &[EventRequest],
    subject: &Subject,
    side_band: Attr,
    rings: RingChoice<'_>,
) -> Result<EventSet, OpenError> {
    let targets = subject.targets();
    let wanted: Vec<_> = requests
        .iter()
        .map(|request| Wanted {
            request,
            attr: request.attr,
            targets: &targets,
        })
        .collect();
    open_all(side_band, &targets, &wanted, rings)
}

impl EventSet {
    /// Starts those events that no `execve(2)` starts: the events of a control group, and those of
    /// all tasks that accompany them.
    ///
    /// # Errors
    /// [`OpenError::Enable`].
    pub fn enable_group(&self) -> Result<(), OpenError> {
        let is_waiting = |event: &&OpenEvent| event.of_group || event.of_everybody;
        for event in self.events.iter().filter(is_waiting) {
            perf::enable(event.fd.as_fd()).map_err(|source| OpenError::Enable {
                event: event.name.clone(),
                source,
            })?;
        }
        Ok(())
    }

    /// Starts the events that tell of names, births and ends.
    ///
    /// # Errors
    /// [`OpenError::Enable`].
    pub fn enable_side_band(&self) -> Result<(), OpenError> {
        self.leaders().try_for_each(|event| {
            perf::enable(event.fd.as_fd()).map_err(|source| OpenError::Enable {
                event: event.name.clone(),
                source,
            })
        })
    }

    /// Starts all events.
    ///
    /// # Errors
    /// [`OpenError::Enable`].
    pub fn enable(&self) -> Result<(), OpenError> {
        for event in &self.events {
            perf::enable(event.fd.as_fd()).map_err(|source| OpenError::Enable {
                event: event.name.clone(),
                source,
            })?;
        }
        Ok(())
    }

    /// Whether a program of ours writes the records of calls.
    #[must_use]
    pub fn records_by_programs(&self) -> bool {
        self.calls.is_some()
    }

    /// Whether some of them are counted for a control group.
    #[must_use]
    pub fn has_group(&self) -> bool {
        self.events.iter().any(|event| event.of_group)
    }

    /// Whether the descriptors hang up when the last task has exited: those of a control group
    /// never do.
    #[must_use]
    pub fn hang_up(&self) -> bool {
        self.leaders().next().is_some_and(|leader| !leader.of_group)
    }

    /// Stops all events, those of descendants as well: what is in the rings then is all there will
    /// be.
    ///
    /// # Errors
    /// Those of `ioctl(2)`.
    pub fn disable(&self) -> io::Result<()> {
        self.events
            .iter()
            .try_for_each(|event| perf::disable(event.fd.as_fd()))
    }

    /// One event for each ring and task that is followed.
    fn leaders(&self) -> impl Iterator<Item = &OpenEvent> {
        self.leaders
            .iter()
            .filter_map(|place| self.events.get(*place))
    }

    /// The rings, and the table that their records are read by.
    pub fn parts(&mut self) -> (&mut [Drain], &LayoutTable<Origin>) {
        (self.rings.drains(), &self.table)
    }

    /// The rings that are overwritten, if there are any, and what writes into them.
    pub fn flight(&mut self) -> Option<(&mut Flight, Overwriting<'_>)> {
        let overwriting = Overwriting {
            events: &self.events,
            table: &self.table,
        };
        self.flight.as_mut().map(|flight| (flight, overwriting))
    }

    /// How many requests it was opened for.
    #[must_use]
    pub fn n_requests(&self) -> usize {
        self.at_most.len()
    }

    /// Draws up the account after the last drain: what the kernel counted, against the records that
    /// arrived (one number a request, and last that of what programs read).
    ///
    /// # Errors
    /// Those of `read(2)`.
    pub fn account(
        &mut self,
        delivered: &[u64],
        lost_records: u64,
        out_of_sight: u64,
    ) -> io::Result<Account> {
        let mut events: Vec<EventAccount> = Vec::new();
        for place in 0..self.n_requests() {
            events.push(self.sum(
                Origin::Request(place),
                delivered.get(place).copied().unwrap_or(0),
            )?);
        }
        let side_band = self.sum(Origin::SideBand, 0)?;
        if let Some(slot) = self.rings.slot().filter(|_| self.reads_memory) {
            let (sent, lost) = slot.counts()?;
            events.push(EventAccount {
                name: MEMORY.to_owned(),
                counted: sent + lost,
                delivered: delivered.last().copied().unwrap_or(0),
                said_lost: Some(lost),
                overwritten: 0,
                sampled: false,
            });
        }
        Ok(Account {
            events,
            side_band_lost: side_band.said_lost.unwrap_or(0),
            full_rings: self.full_rings(),
            full_backlog: self.full_backlog(),
            lost_records,
            out_of_sight,
            ..Account::default()
        })
    }

    /// How many rings may lack records about tasks at their end, on a kernel that does not count
    /// what it drops.
    #[must_use]
    pub fn full_rings(&self) -> u64 {
        if self.has_lost {
            0
        } else {
            self.rings.n_full()
        }
    }

    fn sum(&self, origin: Origin, delivered: u64) -> io::Result<EventAccount> {
        let mut account = EventAccount {
            name: String::new(),
            counted: 0,
            delivered,
            said_lost: self.has_lost.then_some(0),
            overwritten: 0,
            sampled: false,
        };
        for event in self.events.iter().filter(|event| event.origin == origin) {
            let counts = written::counts(event, self.rings.programs())?;
            account.name.clone_from(&event.name);
            account.sampled = event.attr.sampling.skips();
            account.counted += counts.value;
            // A program counts what it drops on every kernel.
            let before = account.said_lost.or(event.written.map(|_| 0));
            account.said_lost = before.zip(counts.lost).map(|(sum, lost)| sum + lost);
        }
        Ok(account)
    }
}

/// Tries to open a tracepoint's event on the calling thread, and closes it again: whether this user
/// may trace it, in user mode alone if so asked.
///
/// # Errors
/// [`OpenError::Open`].
pub fn probe(name: &str, tracepoint: u16, exclude_kernel: bool) -> Result<(), OpenError> {
    let attr = Attr {
        exclude_kernel,
        ..Attr::recording(Source::Tracepoint(tracepoint))
    };
    let opened = perf::open(&attr.raw(), perf::Target::Myself, Some(Cpu(0)));
    opened.map(drop).map_err(|source| OpenError::Open {
        event: name.to_owned(),
        source,
    })
}

/// Whether this kernel counts lost records (`PERF_FORMAT_LOST`, Linux 6.0), found by asking it.
#[must_use]
pub fn kernel_counts_lost() -> bool {
    perf::open(
        &side_band_attr(0, true).raw(),
        perf::Target::Myself,
        Some(Cpu(0)),
    )
    .is_ok()
        || perf::open(
            &side_band_attr(0, false).raw(),
            perf::Target::Myself,
            Some(Cpu(0)),
        )
        .is_err()
}
