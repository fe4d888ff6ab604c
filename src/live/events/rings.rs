//! The rings that events write to, one a CPU.
//!
//! Mapping a ring of some megabytes takes milliseconds: the kernel clears every page. So the rings
//! of a suite are kept from run to run. Such a ring belongs to an event of its own that follows no
//! task and never fires; the events of a run are redirected into it. Without the right to open such
//! an event each run has rings of its own.

use super::{OpenError, SIDE_BAND, side_band_attr};
use crate::capture::{Capture, CaptureError, Slot};
use crate::ring::Drain;
use crate::sys::ring::{Overwritable, Ring};
use crate::sys::{page_size, perf};
use perf_records::units::Cpu;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Which rings a run writes to.
#[derive(Debug)]
pub enum RingChoice<'a> {
    /// These, which it gives back.
    Kept(Rings),
    /// New ones.
    New {
        /// One for each of these CPUs.
        cpus: &'a [Cpu],
        /// Data pages of each, a power of two.
        pages: usize,
    },
}

/// Data pages of a CPU's rings, powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingPages {
    /// Of the one that perf writes into.
    pub of_perf: usize,
    /// Of the one that programs write calls into, where they do.
    pub of_calls: usize,
}

impl RingPages {
    /// Where perf writes the calls, or may have to.
    #[must_use]
    pub fn all(pages: usize) -> Self {
        Self {
            of_perf: pages,
            of_calls: pages,
        }
    }

    /// Where programs write the calls and perf little else: to clear the memory of a ring is a good
    /// part of a start. A quarter has room for 10 ms of a flood of anything else.
    #[must_use]
    pub fn of_programs(pages: usize) -> Self {
        Self {
            of_perf: (pages / 4).max(LITTLE).min(pages),
            of_calls: pages,
        }
    }
}

/// The pages that a ring of perf's has at least, where it may.
const LITTLE: usize = 256;

/// A ring for each CPU.
#[derive(Debug)]
pub struct Rings {
    drains: Vec<Drain>,
    owners: Vec<OwnedFd>,
    pages: RingPages,
    slot: Option<Box<Slot>>,
}

impl Rings {
    /// Rings that last beyond a run.
    ///
    /// # Errors
    /// [`OpenError`]; `EACCES` or `EPERM` without the right to follow a whole CPU.
    pub fn lasting(cpus: &[Cpu], pages: RingPages) -> Result<Self, OpenError> {
        let mut attr = side_band_attr(wakeup_bytes(pages.of_perf), false);
        (attr.inherit, attr.enable_on_exec, attr.side_band) = (false, false, false);
        let (mut drains, mut owners) = (Vec::new(), Vec::new());
        for &cpu in cpus {
            let owner =
                perf::open(&attr.raw(), perf::Target::Everybody, Some(cpu)).map_err(|source| {
                    OpenError::Open {
                        event: SIDE_BAND.to_owned(),
                        source,
                    }
                })?;
            drains.push(map(owner.as_fd(), cpu, pages.of_perf)?);
            owners.push(owner);
        }
        Ok(Self {
            drains,
            owners,
            pages,
            slot: None,
        })
    }

    /// Lets programs write into them; `for_keeping` and `overwrites` as [`Capture::slot`] has it.
    ///
    /// # Errors
    /// [`CaptureError`].
    pub fn capture(
        &mut self,
        capture: &Arc<Capture>,
        for_keeping: bool,
        overwrites: bool,
    ) -> Result<(), CaptureError> {
        let is_other = |slot: &Slot| slot.overwrites() != overwrites;
        if self.slot.as_ref().is_some_and(|slot| is_other(slot)) {
            self.slot = None;
            self.drains.truncate(self.owners.len());
        }
        if self.slot.is_none() {
            let rings = self.drains.iter().zip(&self.owners);
            let rings: Vec<_> = rings
                .map(|(drain, owner)| (drain.cpu(), owner.as_fd()))
                .collect();
            self.slot = Some(Box::new(capture.slot(&rings, for_keeping, overwrites)?));
        }
        Ok(())
    }

    /// Has programs write calls into rings of their own. `false` where the
    /// programs that read memory are not [there](Self::capture), or record no calls.
    ///
    /// # Errors
    /// [`CaptureError`].
    pub fn record_calls(&mut self) -> Result<bool, CaptureError> {
        let Some(slot) = &mut self.slot else {
            return Ok(false);
        };
        if slot.has_call_rings() {
            return Ok(true);
        }
        self.drains.truncate(self.owners.len());
        let cpus: Vec<Cpu> = self.drains.iter().map(Drain::cpu).collect();
        let capacity = self.pages.of_calls.saturating_mul(page_size()) as u64;
        let made = slot.make_call_rings(&cpus, capacity)?;
        let is_made = made.is_some();
        self.drains.extend(made.into_iter().flatten());
        Ok(is_made)
    }

    pub(super) fn slot(&mut self) -> Option<&mut Slot> {
        self.slot.as_deref_mut()
    }

    pub(super) fn programs(&self) -> Option<&Slot> {
        self.slot.as_deref()
    }

    pub(super) fn of_one_run(drains: Vec<Drain>, pages: usize) -> Self {
        Self {
            drains,
            owners: Vec::new(),
            pages: RingPages::all(pages),
            slot: None,
        }
    }

    /// Their sizes.
    #[must_use]
    pub fn pages(&self) -> RingPages {
        self.pages
    }

    pub(super) fn is_lasting(&self) -> bool {
        !self.owners.is_empty()
    }

    pub(super) fn cpus(&self) -> Vec<Cpu> {
        // Behind those of perf's come those for calls.
        let of_perf = self.drains.iter().take(self.owners.len());
        of_perf.map(Drain::cpu).collect()
    }

    pub(super) fn owner(&self, place: usize) -> Option<BorrowedFd<'_>> {
        self.owners.get(place).map(AsFd::as_fd)
    }

    pub(super) fn drains(&mut self) -> &mut [Drain] {
        &mut self.drains
    }

    pub(super) fn n_full(&self) -> u64 {
        let full = self.drains.iter().filter(|drain| drain.may_lack_the_last());
        full.count() as u64
    }
}

/// A quarter of a ring: while the reader wakes up, three quarters are left to fill.
pub(super) fn wakeup_bytes(pages: usize) -> u32 {
    u32::try_from(pages.saturating_mul(page_size()) / 4).unwrap_or(u32::MAX)
}

/// A ring of its own for events that overwrite, and a descriptor of the event that it belongs to.
pub(super) fn map_overwritable(
    event: BorrowedFd<'_>,
    cpu: Cpu,
    pages: usize,
) -> Result<(Overwritable, Cpu, OwnedFd), OpenError> {
    let kib = pages.saturating_mul(page_size()) / 1024;
    let refused = |source| OpenError::Ring { cpu, kib, source };
    let ring = Overwritable::map(event, pages).map_err(refused)?;
    Ok((ring, cpu, event.try_clone_to_owned().map_err(refused)?))
}

pub(super) fn map(event: BorrowedFd<'_>, cpu: Cpu, pages: usize) -> Result<Drain, OpenError> {
    let kib = pages.saturating_mul(page_size()) / 1024;
    let ring = Ring::map(event, pages).map_err(|source| OpenError::Ring { cpu, kib, source })?;
    Ok(Drain::new(ring, cpu))
}

#[cfg(test)]
mod tests {
    use super::RingPages;

    #[test]
    fn perfs_ring_is_a_quarter_of_the_programs_but_no_smaller_than_need_be() {
        let of_perf = |pages| RingPages::of_programs(pages).of_perf;
        assert_eq!([4096, 1024, 256, 1].map(of_perf), [1024, 256, 256, 1]);
        assert_eq!(RingPages::of_programs(4096).of_calls, 4096);
        assert_eq!(RingPages::all(4096).of_perf, 4096);
    }
}
