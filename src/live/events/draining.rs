//! The rings of an event set, emptied: by looks of the reader's, and once there is a flood by a
//! thread of its own.

use super::EventSet;
use crate::capture::Slot;
use crate::ring::{Apart, Bell, Bounds, Held, Look};
use crate::sys::{self, poll::Ready};
use perf_records::units::Nanos;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

/// How the rings of a set are emptied.
#[derive(Debug, Default)]
pub(super) struct Draining {
    apart: Option<Apart>,
    /// Whether no thread is to be started.
    by_looks: bool,
    /// Which of the descriptors have hung up.
    hung_up: Vec<bool>,
    bounds: Option<Bounds>,
    held: Held,
}

impl Draining {
    pub(super) fn of(n_descriptors: usize) -> Self {
        Self {
            hung_up: vec![false; n_descriptors],
            ..Self::default()
        }
    }
}

impl EventSet {
    /// How much may wait to be read. Without a word of this it is [`Bounds::default`].
    pub fn bound_backlog(&mut self, bounds: Bounds) {
        self.draining.bounds = Some(bounds);
    }

    /// Has a thread drain the rings from now on, for a reader that may have to wait for others, or
    /// that programs may be too fast for. Where it does already, nothing changes.
    ///
    /// # Errors
    /// Those of `pipe(2)` and `pthread_create(3)`.
    pub fn drain_apart(&mut self) -> io::Result<()> {
        match self.draining.apart {
            Some(_) => Ok(()),
            None => self.start(sys::monotonic_now()),
        }
    }

    fn start(&mut self, until: Nanos) -> io::Result<()> {
        let fds = self.leaders().map(|event| Arc::clone(&event.fd)).collect();
        let hung_up = &self.draining.hung_up;
        let bounds = self.draining.bounds.unwrap_or_default();
        let bells: Vec<_> = self.bells().map(Arc::clone).collect();
        let apart = Apart::start(self.rings.drains(), (fds, bells), hung_up, until, bounds)?;
        self.draining.apart = Some(apart);
        Ok(())
    }

    /// Takes what the kernel has written; [`parts`](Self::parts) has it then. Where that was much,
    /// a thread drains the rings from then on, and later looks take some of what it brought.
    ///
    /// # Errors
    /// Those of starting the thread, and its own: of `poll(2)`, or of reading a file.
    pub fn look(&mut self) -> io::Result<Look> {
        if let Some(apart) = &mut self.draining.apart {
            if !apart.is_over() {
                let look = apart.take(self.rings.drains(), &mut self.draining.hung_up)?;
                // The thread may have left something where there was no room for it.
                let is_all = look.is_all && !self.draining.by_looks;
                return Ok(Look { is_all, ..look });
            }
            self.draining.held = apart.held();
            self.draining.apart = None;
        }
        let until = sys::monotonic_now();
        let refilled = self
            .rings
            .drains()
            .iter_mut()
            .map(crate::ring::Drain::refill);
        let is_flood = refilled.fold(false, |any, is_flood| any | is_flood);
        if is_flood && !self.draining.by_looks {
            // Where no thread can be had the reader goes on alone.
            self.draining.by_looks = self.start(until).is_err();
        }
        Ok(Look {
            until,
            is_all: true,
        })
    }

    /// Has the rings emptied by looks alone from now on. What a thread has drained comes with the
    /// looks that follow, to the one that has all.
    ///
    /// # Errors
    /// Where the thread came to no proper end.
    pub fn drain_by_looks(&mut self) -> io::Result<()> {
        self.draining.by_looks = true;
        match &mut self.draining.apart {
            Some(apart) => apart.end(self.rings.drains()),
            None => Ok(()),
        }
    }

    /// The most that waited to be read, in bytes, if there was no room for more; 0 if there always
    /// was.
    #[must_use]
    pub fn full_backlog(&self) -> u64 {
        let apart = self.draining.apart.as_ref();
        let held = apart.map_or(self.draining.held, Apart::held);
        // Even if nothing may wait at all, it was full.
        if held.was_full { held.peak.max(1) } else { 0 }
    }

    /// Waits until a ring has filled by a quarter, a task has ended, or one of the `others` is
    /// ready; at most so long. What each of the others is ready for.
    ///
    /// # Errors
    /// Those of `poll(2)`.
    pub fn wait(&mut self, others: &[BorrowedFd<'_>], at_most: Duration) -> io::Result<Vec<Ready>> {
        let others = others.iter().copied();
        if let Some(apart) = &self.draining.apart {
            let at_most = if apart.has_more() {
                Duration::ZERO
            } else {
                at_most
            };
            let mut ready =
                sys::poll::poll([apart.descriptor()].into_iter().chain(others), at_most)?;
            if ready.remove(0).has_hung_up && !self.draining.by_looks {
                return Err(io::Error::other(
                    "the thread that drains the rings has ended",
                ));
            }
            apart.hung_up(&mut self.draining.hung_up);
            return Ok(ready);
        }
        let open = self.open_descriptors();
        let n_open = open.len();
        let mut ready = sys::poll::poll(open.into_iter().chain(others), at_most)?;
        let others = ready.split_off(n_open);
        let open = self
            .draining
            .hung_up
            .iter_mut()
            .filter(|hung_up| !**hung_up);
        for (hung_up, ready) in open.zip(ready) {
            *hung_up = ready.has_hung_up;
        }
        Ok(others)
    }

    /// What is readable when a ring has filled by a quarter, or hangs up with the last task that is
    /// followed.
    #[must_use]
    pub fn open_descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let leaders = self.leaders().zip(&self.draining.hung_up);
        let open = leaders.filter(|(_, hung_up)| !**hung_up);
        let open = open.map(|(event, _)| event.fd.as_fd());
        open.chain(self.bells().map(|bell| bell.as_fd())).collect()
    }

    /// What wakes the reader of rings that programs write to.
    fn bells(&self) -> impl Iterator<Item = &Arc<Bell>> {
        self.rings.programs().into_iter().flat_map(Slot::bells)
    }

    /// Whether all tasks that are followed have ended, if [tasks are](Self::hang_up).
    #[must_use]
    pub fn have_hung_up(&self) -> bool {
        !self.draining.hung_up.contains(&false)
    }
}
