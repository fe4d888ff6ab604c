//! The programs that read the memory of a run's tasks, begun and stopped; the rings, given back.

use super::{EventSet, Rings, written};
use crate::capture::{CaptureError, ReadOf};
use crate::ring::Drain;
use crate::sys;
use perf_records::units::Tid;
use std::io;
use std::sync::Arc;
use std::time::Instant;
use syscall_model::memory::Fetches;

impl EventSet {
    /// Has the memory of these tasks read, and of what they create, if that is `wanted`, and their
    /// calls recorded where programs do that. Without rings that programs write to, nothing is
    /// read.
    ///
    /// # Errors
    /// [`CaptureError`].
    pub fn read_memory(
        &mut self,
        wanted: Option<&Arc<Fetches>>,
        of: ReadOf<'_>,
    ) -> Result<(), CaptureError> {
        if let Some(slot) = self.rings.slot() {
            let nothing = Arc::default();
            slot.begin(wanted.unwrap_or(&nothing), self.calls.as_ref(), of)?;
            self.reads_memory = wanted.is_some();
        }
        Ok(())
    }

    /// Reads the memory of these threads no longer: they have ended, and their ids may be others'.
    pub fn forget(&self, threads: &[Tid]) {
        if let Some(slot) = self.rings.programs() {
            slot.forget(threads);
        }
    }

    /// Whether what is read of the memory of the workload is overwritten.
    #[must_use]
    pub fn overwrites_memory(&self) -> bool {
        self.reads_memory && self.rings.programs().is_some_and(|slot| slot.overwrites())
    }

    /// Whether the memory of the workload is read.
    #[must_use]
    pub fn reads_memory(&self) -> bool {
        self.reads_memory
    }

    /// Stops all events of tasks that live on, and the reading of their memory; waits for what they
    /// were writing into the rings just then.
    ///
    /// # Errors
    /// Those of `ioctl(2)` and `bpf(2)`.
    pub fn disable_for_living(&mut self) -> io::Result<()> {
        if let Some(slot) = self.rings.slot() {
            let deadline = Instant::now() + written::LONGEST;
            for event in &mut self.events {
                event.settled = written::settle(event, slot, deadline)?;
            }
            slot.stop_recording().map_err(io::Error::other)?;
            let _cannot = sys::wait_for_all_cpus();
        }
        // A task that is made meanwhile may come behind the first round.
        self.disable()?;
        self.disable()?;
        if let Some(slot) = self.rings.programs().filter(|_| self.reads_memory) {
            slot.silence().map_err(io::Error::other)?;
        }
        // Where the kernel cannot wait, a record may miss: the account tells.
        let _cannot = sys::wait_for_all_cpus();
        Ok(())
    }

    /// Closes the events and gives the rings back, for another run, if they are such as last and no
    /// program writes into them any more.
    #[must_use]
    pub fn into_rings(self) -> Option<Rings> {
        let rings = self.into_rings_for_another_try()?;
        let is_clean = rings.programs().is_none_or(|slot| !slot.follows_living());
        is_clean.then_some(rings)
    }

    /// The same for another try with the same processes, whose memory programs may still read.
    #[must_use]
    pub fn into_rings_for_another_try(self) -> Option<Rings> {
        let Self {
            mut rings, events, ..
        } = self;
        drop(events);
        if let Some(slot) = rings.slot() {
            slot.end();
            if slot.follows_living() {
                slot.silence().ok()?;
                // Where the kernel cannot wait, a record may come behind: the account tells.
                let _cannot = sys::wait_for_all_cpus();
            }
        }
        rings.drains().iter_mut().for_each(Drain::discard);
        rings.is_lasting().then_some(rings)
    }
}
