//! A ring drained forward: its records, one at a time, copied out. And rings that are overwritten,
//! frozen to be read.

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
/// [`refresh`](Source::refresh) looks how far the kernel has come; until the next one, what lies
/// beyond is not seen.
#[derive(Debug)]
pub struct Drain {
    ring: sys::ring::Ring,
    cpu: Cpu,
    at: u64,
    head: u64,
    record: Vec<u8>,
    fullness: Fullness,
}

/// The bytes that the longest record about tasks takes, with some to spare: `PERF_RECORD_MMAP2`
/// with a path of `PATH_MAX` bytes.
const LONGEST_OF_TASKS: u64 = 8 << 10;

/// The least room that the ring had when its last record was written, or since.
#[derive(Clone, Copy, Debug)]
struct Fullness {
    capacity: u64,
    head: u64,
    /// What the kernel knew of the tail when `head` was looked at.
    tail: u64,
    room: u64,
}

impl Fullness {
    fn of_empty(capacity: u64, at: u64) -> Self {
        Self {
            capacity,
            head: at,
            tail: at,
            room: capacity,
        }
    }

    /// Takes in how far the kernel and the reader are. Between two looks the tail was nowhere below
    /// that of the first.
    fn look(&mut self, head: u64, tail: u64) {
        if head != self.head {
            let taken = head.wrapping_sub(self.tail);
            self.room = self.capacity.saturating_sub(taken);
        }
        (self.head, self.tail) = (head, tail);
    }
}

impl Drain {
    /// Takes over a ring that nobody else reads.
    #[must_use]
    pub fn new(ring: sys::ring::Ring, cpu: Cpu) -> Self {
        let at = ring.tail();
        Self {
            fullness: Fullness::of_empty(ring.capacity(), at),
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
        self.fullness = Fullness::of_empty(self.ring.capacity(), self.at);
    }

    /// Whether the kernel may have dropped records about tasks after the last one that is here. A
    /// loss before that one is told by a `PERF_RECORD_LOST`; of this one only the count tells that
    /// Linux 6.0 and later keep.
    #[must_use]
    pub fn may_lack_the_last(&self) -> bool {
        self.fullness.room < LONGEST_OF_TASKS
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
        self.fullness.look(self.head, self.ring.tail());
    }

    fn peek(&mut self) -> Result<Option<&[u8]>, Corrupt> {
        if self.record.is_empty() {
            let there = self.head.wrapping_sub(self.at);
            if there == 0 {
                return Ok(None);
            }
            // The kernel writes multiples of 8 bytes, so that a header never straddles the end of
            // the ring.
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
        // An eighth of the ring at a time: a store into the shared page costs the writer a cache
        // miss.
        if self.at.wrapping_sub(self.ring.tail()) > self.ring.capacity() / 8 {
            self.ring.release(self.at);
        }
    }

    fn settle(&mut self) {
        self.ring.release(self.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_may_lack_its_last_records_if_it_was_full_when_the_last_one_came() {
        const CAPACITY: u64 = 1 << 20;
        let room = |looks: &[(u64, u64)]| {
            let mut fullness = Fullness::of_empty(CAPACITY, 0);
            for &(head, tail) in looks {
                fullness.look(head, tail);
            }
            fullness.room
        };
        assert_eq!(room(&[]), CAPACITY);
        assert_eq!(room(&[(1000, 0), (1000, 1000)]), CAPACITY - 1000);
        // What the reader gave back at this very look, the kernel may not have had before.
        assert_eq!(room(&[(CAPACITY, CAPACITY)]), 0);
        assert_eq!(room(&[(CAPACITY, 0), (CAPACITY, CAPACITY)]), 0);
        // A record that came later would have come with word of the loss.
        let later = [
            (CAPACITY, 0),
            (CAPACITY, CAPACITY),
            (CAPACITY + 8, CAPACITY),
        ];
        assert_eq!(room(&later), CAPACITY - 8);
    }
}
