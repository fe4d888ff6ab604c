//! A ring drained forward: its records, one at a time, copied out. And rings that are overwritten, frozen to be read.

mod flight;

pub use flight::{Empty, Flight, Frozen, Stretch};

use crate::sys;
use perf_records::merge::Source;
use perf_records::record::{HEADER_SIZE, Header};
use perf_records::units::Cpu;

/// A ring's contents are not what the kernel writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ring of CPU {} holds a record of {size} bytes where {there} are left", cpu.0)]
pub struct Corrupt {
    cpu: Cpu,
    size: u16,
    there: u64,
}

/// Reads one CPU's ring in the order in which it was written, gives the room back as it goes.
///
/// [`refresh`](Source::refresh) looks how far the kernel has come; until the next one, what lies beyond is not seen.
#[derive(Debug)]
pub struct Drain {
    ring: sys::ring::Ring,
    cpu: Cpu,
    at: u64,
    head: u64,
    record: Vec<u8>,
}

impl Drain {
    /// Takes over a ring that nobody else reads.
    #[must_use]
    pub fn new(ring: sys::ring::Ring, cpu: Cpu) -> Self {
        let at = ring.tail();
        Self {
            ring,
            cpu,
            at,
            head: at,
            record: Vec::new(),
        }
    }

    /// Drops whatever is in the ring: what came after the last record that anybody waited for.
    pub fn discard(&mut self) {
        self.record.clear();
        self.head = self.ring.head();
        self.at = self.head;
        self.ring.release(self.at);
    }

    /// The CPU whose events it holds.
    #[must_use]
    pub fn cpu(&self) -> Cpu {
        self.cpu
    }
}

impl Source for Drain {
    type Error = Corrupt;

    fn refresh(&mut self) {
        self.head = self.ring.head();
    }

    fn peek(&mut self) -> Result<Option<&[u8]>, Corrupt> {
        if self.record.is_empty() {
            let there = self.head.wrapping_sub(self.at);
            if there == 0 {
                return Ok(None);
            }
            // The kernel writes multiples of 8 bytes, so that a header never straddles the end of the ring.
            let mut header = [0; HEADER_SIZE];
            self.ring.copy(self.at, &mut header);
            let size = Header::from_bytes(header).size;
            if usize::from(size) < HEADER_SIZE || u64::from(size) > there {
                return Err(Corrupt {
                    cpu: self.cpu,
                    size,
                    there,
                });
            }
            self.record.resize(size.into(), 0);
            self.ring.copy(self.at, &mut self.record);
        }
        Ok(Some(&self.record))
    }

    fn pop(&mut self) {
        self.at = self.at.wrapping_add(self.record.len() as u64);
        self.record.clear();
        // An eighth of the ring at a time: a store into the shared page costs the writer a cache miss.
        if self.at.wrapping_sub(self.ring.tail()) > self.ring.capacity() / 8 {
            self.ring.release(self.at);
        }
    }

    fn settle(&mut self) {
        self.ring.release(self.at);
    }
}
