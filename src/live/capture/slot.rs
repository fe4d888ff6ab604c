//! A run's part of the capture.

use super::asked;
use super::recorded::{CallEvents, Calls};
use super::wire::{self, BY_NUMBER, MAX_CALLS, PLACES, slot, task};
use super::{Capture, CaptureError, system};
use perf_records::attr::Attr;
use perf_records::units::{Cpu, Tid};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use syscall_model::many::made_as;
use syscall_model::memory::Fetches;
use syscall_model::names::Abi;

/// A run's part of the capture; given back when dropped.
#[derive(Debug)]
pub struct Slot {
    pub(super) capture: Arc<Capture>,
    pub(super) number: u32,
    pub(super) events: Vec<(Cpu, OwnedFd)>,
    pub(super) attr: Attr,
    pub(super) before: (u64, u64),
    /// By which a task asks to be let in, while a run goes on.
    pub(super) token: Option<u64>,
    /// Whether tasks were let in that may outlive the run: nothing takes them out again.
    pub(super) follows_living: bool,
    /// `None` where programs record no calls.
    pub(super) calls: Option<Calls>,
}

/// The tasks whose memory is read for a run, with what they create.
#[derive(Clone, Copy, Debug)]
pub enum ReadOf<'a> {
    /// The task that asks for it with this token.
    Claimant(u64),
    /// These threads, by their ids in the first namespace of pids.
    Living(&'a [Tid]),
}

impl Slot {
    /// The events that the programs' records belong to.
    pub fn events(&self) -> impl Iterator<Item = (BorrowedFd<'_>, Cpu, Attr)> {
        let attr = self.attr;
        self.events
            .iter()
            .map(move |(cpu, event)| (event.as_fd(), *cpu, attr))
    }

    /// Whether its rings are overwritten.
    #[must_use]
    pub fn overwrites(&self) -> bool {
        self.attr.write_backward
    }

    /// The event of a CPU.
    #[must_use]
    pub fn event(&self, cpu: Cpu) -> Option<BorrowedFd<'_>> {
        let mut events = self.events.iter();
        let event = events.find(|(of, _)| *of == cpu);
        event.map(|(_, event)| event.as_fd())
    }

    /// Whether tasks were let in that may outlive the run: then no other run may use the slot.
    #[must_use]
    pub fn follows_living(&self) -> bool {
        self.follows_living
    }

    /// Begins a run: says what is to be read, which calls are to be recorded, and of which tasks.
    ///
    /// # Errors
    /// [`CaptureError::System`]; [`CaptureError::Shape`] for more than the programs can read of one
    /// call.
    pub fn begin(
        &mut self,
        wanted: &Arc<Fetches>,
        calls: Option<&CallEvents>,
        of: ReadOf<'_>,
    ) -> Result<(), CaptureError> {
        self.end();
        // Nothing is written before it is told what to read.
        self.before = self.numbers().map_err(system("read a map"))?;
        self.tell(wanted)?;
        self.stop_recording()?;
        if let Some(calls) = calls {
            self.record(calls)?;
        }
        let number = self.number.to_ne_bytes();
        match of {
            ReadOf::Claimant(token) => {
                let claims = &self.capture.claims;
                let claimed = claims.set(&token.to_ne_bytes(), &number);
                claimed.map_err(system("fill a map"))?;
                self.token = Some(token);
            }
            ReadOf::Living(threads) => {
                self.follows_living = true;
                let mut value = [0; task::SIZE];
                let place = task::SLOT as usize..task::SLOT as usize + number.len();
                value[place].copy_from_slice(&number);
                for thread in threads {
                    let added = self.capture.tasks.set(&thread.0.to_ne_bytes(), &value);
                    added.map_err(system("fill a map"))?;
                }
            }
        }
        Ok(())
    }

    /// Reads the memory of these threads no longer: they have ended, and their ids may be others'.
    pub fn forget(&self, threads: &[Tid]) {
        for thread in threads {
            // Its own end has mostly taken it out already.
            let _gone = self.capture.tasks.remove(&thread.0.to_ne_bytes());
        }
    }

    /// Has nothing more read, for a run whose tasks live on. What programs are doing just now they
    /// may still write.
    ///
    /// # Errors
    /// [`CaptureError::System`].
    pub fn silence(&self) -> Result<(), CaptureError> {
        self.tell(&Arc::default())
    }

    /// Ends a run, as dropping it does: no more tasks are followed.
    pub fn end(&mut self) {
        if let Some(token) = self.token.take() {
            // A token that cannot be removed is one that no task knows any more.
            let _harmless = self.capture.claims.remove(&token.to_ne_bytes());
        }
        // No task of the run lives, or its calls make the account wrong.
        let _stopped = self.stop_recording();
    }

    /// How many records were written since the run began, and how many found no room.
    ///
    /// # Errors
    /// Those of `bpf(2)`.
    pub fn counts(&self) -> io::Result<(u64, u64)> {
        let now = self.numbers()?;
        Ok((
            now.0.saturating_sub(self.before.0),
            now.1.saturating_sub(self.before.1),
        ))
    }

    fn numbers(&self) -> io::Result<(u64, u64)> {
        let mut value = [0; slot::SIZE];
        self.capture
            .slots
            .get(&self.number.to_ne_bytes(), &mut value)?;
        let word = |at: usize| {
            value
                .get(at..)
                .and_then(<[u8]>::first_chunk)
                .map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        Ok((word(slot::SENT as usize), word(slot::LOST as usize)))
    }

    /// Writes down what is to be read, where that is not what the slot read before.
    fn tell(&self, wanted: &Arc<Fetches>) -> Result<(), CaptureError> {
        let Ok(mut used) = self.capture.used.lock() else {
            return Ok(());
        };
        let Some(Some(known)) = used.get_mut(self.number as usize) else {
            return Ok(());
        };
        if Arc::ptr_eq(known, wanted) || known == wanted {
            return Ok(());
        }
        let (mut places, mut values) = (Vec::new(), Vec::new());
        for place in changed(known, wanted) {
            let value = asked::value(wanted, place).ok_or(CaptureError::Shape {
                what: "more is to be read of a call than there is room for",
            })?;
            places.extend((self.number * PLACES + place).to_ne_bytes());
            values.extend(value);
        }
        let told = self.capture.specs.set_all(&places, &values);
        *known = match told {
            Ok(()) => Arc::clone(wanted),
            // Some may have been told: those of no call are as they were, or as they were to be.
            Err(_) => {
                let calls = known.keys().chain(wanted.keys());
                Arc::new(calls.map(|call| (*call, Vec::new())).collect())
            }
        };
        told.map_err(system("fill a map"))
    }
}

/// The places of which the value may be another one. Of a call whose fetches are empty it is not
/// known what was told; the value of a native call says whether the 32-bit call of its number has
/// any, and that of one that stands for others whether these have.
fn changed(known: &Fetches, wanted: &Fetches) -> BTreeSet<u32> {
    let is_same = |call: &&(Abi, u32)| match (known.get(*call), wanted.get(*call)) {
        (Some(told), Some(wanted)) => !told.is_empty() && told == wanted,
        _ => false,
    };
    let calls = known.keys().chain(wanted.keys());
    let calls = calls.filter(|call| !is_same(call));
    let with_made = calls.flat_map(|(abi, number)| {
        let (_, made) = made_as(*abi, *number as i32);
        [*number, made as u32].map(|number| wire::place(*abi, number))
    });
    let places = with_made.flatten();
    let with_native = places.flat_map(|place| match place < BY_NUMBER {
        true => [place, place % MAX_CALLS],
        false => [place; 2],
    });
    with_native.collect()
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.end();
        for (cpu, _) in &self.events {
            let place = self.number * self.capture.n_cpus + cpu.0;
            // The map holds the event as well; what cannot be taken out goes with the map.
            let _gone_later = self.capture.output.remove(&place.to_ne_bytes());
        }
        self.forget_bells();
        // A number of which it is not known what would be read for it, or for which a task is still
        // followed, is not used again.
        if self.tell(&Arc::default()).is_ok()
            && self.stop_recording().is_ok()
            && !self.follows_living
            && let Ok(mut used) = self.capture.used.lock()
            && let Some(slot) = used.get_mut(self.number as usize)
        {
            *slot = None;
        }
    }
}
