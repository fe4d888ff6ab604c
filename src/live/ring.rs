//! Rings: drained into copies, by the reader itself or by a thread of their own; rings that a BPF
//! program of ours writes calls into; and rings that are overwritten, frozen to be read.

mod apart;
mod backlog;
mod bell;
pub(crate) mod calls;
mod flight;

pub use backlog::{Bounds, Held};
pub use flight::{Empty, Flight, Frozen, Stretch};

pub(crate) use apart::Apart;
pub(crate) use bell::Bell;

use crate::sys;
use perf_records::merge::Source;
use perf_records::record::{HEADER_SIZE, Header};
use perf_records::units::{Cpu, Nanos};
use std::collections::VecDeque;

/// A ring's contents are not what the kernel writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ring of CPU {} holds a record of {size} bytes where {there} are left", cpu.0)]
pub struct Corrupt {
    cpu: Cpu,
    size: u16,
    there: u64,
}

/// How far the rings have been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// What the kernel had written by then is there.
    pub until: Nanos,
    /// Whether that is all that has been taken out of the rings.
    pub is_all: bool,
}

/// One CPU's ring: its records in the order in which the kernel wrote them, read from copies.
#[derive(Debug)]
pub struct Drain {
    cpu: Cpu,
    /// `None` while a thread drains it.
    tap: Option<Tap>,
    /// Whole records each; the first one is read.
    pieces: VecDeque<Vec<u8>>,
    /// How much of the first piece has been read, in bytes.
    at: usize,
    /// Room for other pieces.
    spare: Vec<Vec<u8>>,
}

impl Drain {
    /// Takes over a ring that has no other reader.
    #[must_use]
    pub fn new(ring: sys::ring::Ring, cpu: Cpu) -> Self {
        Self::of(Pipe::Kernel(ring), cpu)
    }

    /// Takes over a ring that a program writes calls into.
    pub(crate) fn of_calls(ring: calls::Calls, cpu: Cpu) -> Self {
        Self::of(Pipe::Program(ring), cpu)
    }

    fn of(ring: Pipe, cpu: Cpu) -> Self {
        Self {
            cpu,
            tap: Some(Tap::new(ring)),
            pieces: VecDeque::new(),
            at: 0,
            spare: Vec::new(),
        }
    }

    /// The CPU whose events it holds.
    #[must_use]
    pub fn cpu(&self) -> Cpu {
        self.cpu
    }

    /// Copies what the kernel has written since the last time, gives its room back, and says
    /// whether it was so much that the ring might have been full before it is looked at again.
    pub(crate) fn refill(&mut self) -> bool {
        let Some(tap) = &mut self.tap else {
            return false;
        };
        let there = tap.look();
        if there == 0 {
            return false;
        }
        let mut piece = self.spare.pop().unwrap_or_default();
        tap.take(&mut piece);
        if piece.is_empty() {
            self.spare.push(piece);
        } else {
            self.pieces.push_back(piece);
        }
        there >= tap.ring.capacity() / 4
    }

    /// Drops what is in the ring and has not been read.
    pub fn discard(&mut self) {
        self.pieces.clear();
        self.at = 0;
        if let Some(tap) = &mut self.tap {
            tap.discard();
        }
    }

    /// Whether the kernel may have dropped records about tasks after the last one that is here. A
    /// loss before that one is told by a `PERF_RECORD_LOST`; of this one only the count tells that
    /// Linux 6.0 and later keep.
    #[must_use]
    pub fn may_lack_the_last(&self) -> bool {
        let tap = self.tap.as_ref();
        // A program tells of no tasks, and counts what it drops.
        tap.is_none_or(|tap| {
            matches!(tap.ring, Pipe::Kernel(_)) && tap.fullness.room < LONGEST_OF_TASKS
        })
    }
}

impl Source for Drain {
    type Error = Corrupt;

    fn peek(&mut self) -> Result<Option<&[u8]>, Corrupt> {
        let Some(piece) = self.pieces.front() else {
            return Ok(None);
        };
        let rest = piece.get(self.at..).unwrap_or_default();
        let size = rest
            .first_chunk()
            .map_or(0, |head| Header::from_bytes(*head).size);
        let record = rest.get(..size.into());
        match record.filter(|record| record.len() >= HEADER_SIZE) {
            Some(record) => Ok(Some(record)),
            None => Err(Corrupt {
                cpu: self.cpu,
                size,
                there: rest.len() as u64,
            }),
        }
    }

    fn pop(&mut self) {
        let Some(piece) = self.pieces.front() else {
            return;
        };
        let head = piece.get(self.at..).and_then(|rest| rest.first_chunk());
        self.at += head.map_or(0, |head| usize::from(Header::from_bytes(*head).size));
        if self.at >= piece.len() {
            self.at = 0;
            self.spare.extend(self.pieces.pop_front());
        }
    }
}

/// A ring, whoever writes into it.
#[derive(Debug)]
enum Pipe {
    /// The kernel does, for events.
    Kernel(sys::ring::Ring),
    /// A BPF program of ours does, for calls.
    Program(calls::Calls),
}

impl Pipe {
    fn capacity(&self) -> u64 {
        match self {
            Self::Kernel(ring) => ring.capacity(),
            Self::Program(ring) => ring.capacity(),
        }
    }

    fn head(&self) -> u64 {
        match self {
            Self::Kernel(ring) => ring.head(),
            Self::Program(ring) => ring.head(),
        }
    }

    fn tail(&self) -> u64 {
        match self {
            Self::Kernel(ring) => ring.tail(),
            Self::Program(ring) => ring.tail(),
        }
    }

    fn release(&self, tail: u64) {
        match self {
            Self::Kernel(ring) => ring.release(tail),
            Self::Program(ring) => ring.release(tail),
        }
    }

    fn append(&self, from: u64, to: u64, out: &mut Vec<u8>) {
        match self {
            Self::Kernel(ring) => ring.append(from, to.wrapping_sub(from), out),
            Self::Program(ring) => ring.append(from, to, out),
        }
    }
}

/// The end of a ring where its records come out.
#[derive(Debug)]
pub(crate) struct Tap {
    ring: Pipe,
    head: u64,
    fullness: Fullness,
}

impl Tap {
    fn new(ring: Pipe) -> Self {
        let head = ring.tail();
        Self {
            fullness: Fullness::of_empty(ring.capacity(), head),
            ring,
            head,
        }
    }

    /// Looks how far the kernel has come; how many bytes there are to be taken.
    fn look(&mut self) -> u64 {
        self.head = self.ring.head();
        let tail = self.ring.tail();
        self.fullness.look(self.head, tail);
        self.head.wrapping_sub(tail)
    }

    /// Makes a copy of what there is. The kernel writes whole records, so that it holds such.
    fn copy(&self, to: &mut Vec<u8>) {
        to.clear();
        self.ring.append(self.ring.tail(), self.head, to);
    }

    /// Gives back the room of what there was at the last look.
    fn release(&self) {
        self.ring.release(self.head);
    }

    fn take(&self, to: &mut Vec<u8>) {
        self.copy(to);
        self.release();
    }

    fn discard(&mut self) {
        self.look();
        self.release();
        self.fullness = Fullness::of_empty(self.ring.capacity(), self.head);
    }
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
