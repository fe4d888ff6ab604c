//! The flight recorder: rings in which the newest records overwrite the oldest, frozen to be read.
//!
//! Its states are those of perf (`enum bkw_mmap_state`, `tools/perf/util/evlist.h`), as types. What
//! is not mapped is no [`Flight`]; one that is, runs, and cannot be read.
//! [`freeze`](Flight::freeze) makes it [`Frozen`], with its data pending; to [read](Frozen::read)
//! that leaves it [`Empty`], and to [resume](Empty::resume) gives it back. So neither a ring that
//! is being written nor the same records twice can be read:
//!
//! ```compile_fail,E0599
//! fn read(flight: &mut perf_live::ring::Flight) {
//!     let _ = flight.read();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! fn read(frozen: perf_live::ring::Frozen<'_>) {
//!     let _ = frozen.read();
//!     let _ = frozen.read();
//! }
//! ```
//!
//! ```compile_fail,E0499
//! fn freeze(flight: &mut perf_live::ring::Flight) -> std::io::Result<()> {
//!     let first = flight.freeze()?;
//!     let second = flight.freeze()?;
//!     drop((first, second));
//!     Ok(())
//! }
//! ```

use super::Corrupt;
use crate::sys::{self, perf, ring::Overwritable};
use perf_records::record::{HEADER_SIZE, Header};
use perf_records::units::{Cpu, Nanos};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// The overwritten rings of a session, one a CPU, while events write into them.
#[derive(Debug)]
pub struct Flight {
    rings: Vec<Backward>,
}

#[derive(Debug)]
struct Backward {
    ring: Overwritable,
    cpu: Cpu,
    /// An event that writes into it.
    owner: OwnedFd,
    /// Where its newest record started when it was last read: all from there on has been given.
    given: u64,
}

impl Backward {
    /// How many bytes have come since it was last read, those included that are overwritten.
    fn written(&self) -> u64 {
        self.given.wrapping_sub(self.ring.head())
    }

    fn read(&mut self) -> Result<Stretch, Corrupt> {
        let head = self.ring.head();
        let written = self.given.wrapping_sub(head);
        let there = written.min(self.ring.capacity());
        let mut bytes = Vec::new();
        self.ring.append(head, there, &mut bytes);
        let is_overwritten = written > there;
        let mut starts = Vec::new();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let header = rest.first_chunk::<HEADER_SIZE>();
            let size = header.map_or(0, |header| Header::from_bytes(*header).size);
            let is_whole = usize::from(size) <= rest.len();
            if is_whole && usize::from(size) >= HEADER_SIZE {
                starts.push(at);
                at += usize::from(size);
            } else if is_overwritten && !is_whole {
                // The oldest: the newest lies where it ended.
                break;
            } else {
                return Err(Corrupt {
                    cpu: self.cpu,
                    size,
                    there: rest.len() as u64,
                });
            }
        }
        self.given = head;
        bytes.truncate(at);
        Ok(Stretch {
            cpu: self.cpu,
            bytes,
            starts,
            overwritten: written.saturating_sub(at as u64),
        })
    }
}

impl Flight {
    /// Takes over rings without another reader, each with an event that writes into it.
    #[must_use]
    pub fn new(rings: Vec<(Overwritable, Cpu, OwnedFd)>) -> Self {
        let backward = |(ring, cpu, owner): (Overwritable, Cpu, OwnedFd)| Backward {
            given: ring.head(),
            ring,
            cpu,
            owner,
        };
        Self {
            rings: rings.into_iter().map(backward).collect(),
        }
    }

    /// How many bytes have come since they were last read, on all CPUs, those included that are
    /// overwritten.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.rings.iter().map(Backward::written).sum()
    }

    /// Has the rings refuse records until they are [resumed](Empty::resume), or what this gives is
    /// dropped. What is refused meanwhile the kernel counts as lost.
    ///
    /// # Errors
    /// Those of [`perf::pause_output`] and [`sys::wait_for_all_cpus`]; the rings run on then.
    pub fn freeze(&mut self) -> io::Result<Frozen<'_>> {
        let at = sys::monotonic_now();
        let paused = Paused {
            flight: self,
            is_over: false,
        };
        for backward in &paused.flight.rings {
            perf::pause_output(backward.owner.as_fd(), true)?;
        }
        sys::wait_for_all_cpus()?;
        Ok(Frozen { paused, at })
    }
}

/// Runs again when dropped.
#[derive(Debug)]
struct Paused<'a> {
    flight: &'a mut Flight,
    is_over: bool,
}

impl Paused<'_> {
    fn end(&mut self) -> io::Result<()> {
        self.is_over = true;
        let mut all = Ok(());
        for backward in &self.flight.rings {
            // The others run again whatever becomes of this one.
            all = all.and(perf::pause_output(backward.owner.as_fd(), false));
        }
        all
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.end().ok();
        }
    }
}

/// Rings that are not being written, and not yet read.
#[derive(Debug)]
pub struct Frozen<'a> {
    paused: Paused<'a>,
    at: Nanos,
}

impl<'a> Frozen<'a> {
    /// The moment up to which all rings were written: before the first of them was paused.
    #[must_use]
    pub fn at(&self) -> Nanos {
        self.at
    }

    /// Copies out what has come since the last time, and has not been overwritten.
    ///
    /// # Errors
    /// [`Corrupt`]; the rings run on then.
    pub fn read(self) -> Result<(Vec<Stretch>, Empty<'a>), Corrupt> {
        let paused = self.paused;
        let rings = paused.flight.rings.iter_mut();
        let stretches = rings.map(Backward::read).collect::<Result<_, _>>()?;
        Ok((stretches, Empty { paused }))
    }
}

/// Rings that have been read, and are not being written.
#[derive(Debug)]
pub struct Empty<'a> {
    paused: Paused<'a>,
}

impl Empty<'_> {
    /// Has them take records again. The first that a ring takes is preceded by a `PERF_RECORD_LOST`
    /// of those that it refused.
    ///
    /// # Errors
    /// Those of [`perf::pause_output`].
    pub fn resume(mut self) -> io::Result<()> {
        self.paused.end()
    }
}

/// What one ring held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    cpu: Cpu,
    /// As in the ring: the newest record first.
    bytes: Vec<u8>,
    starts: Vec<usize>,
    overwritten: u64,
}

impl Stretch {
    /// The CPU whose events it holds.
    #[must_use]
    pub fn cpu(&self) -> Cpu {
        self.cpu
    }

    /// How many bytes of records that came before it were overwritten unread: with 0 it reaches
    /// back to the last reading.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }

    /// Its records, the oldest first.
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.starts.len()).filter_map(|number| self.record(number))
    }

    /// The record of that number, 0 for the oldest.
    #[must_use]
    pub fn record(&self, number: usize) -> Option<&[u8]> {
        let place = self.starts.len().checked_sub(number)?.checked_sub(1)?;
        let end = self.starts.get(place + 1).copied();
        let start = *self.starts.get(place)?;
        self.bytes.get(start..end.unwrap_or(self.bytes.len()))
    }
}
