//! A ring that a BPF program of ours writes records of calls into, one for each CPU.
//!
//! The ring lies in an array of chunks; a record lies in one chunk, as the verifier lets a program
//! write within one value. Head and tail are free-running byte counters, as those of perf's rings.
//! Where a chunk has less room left than the longest record takes, the next record starts in the
//! next chunk, whatever its length.

use crate::sys::shared::Shared;
use perf_records::record::{HEADER_SIZE, Header};
use std::sync::Arc;

/// The bytes of a chunk, a power of two.
pub(crate) const CHUNK: u64 = 64 << 10;
/// The bytes of the longest record.
pub(crate) const LONGEST: u64 = 128;

/// What program and reader tell each other about a ring: offsets in its control block, in bytes.
/// What the one writes lies on other lines of the cache than what the other writes.
pub(crate) mod control {
    /// How far the program has written.
    pub(crate) const HEAD: u16 = 0;
    /// How many bytes it has written since it last woke the reader.
    pub(crate) const PENDING: u16 = 8;
    /// How many entering halves of calls found no room.
    pub(crate) const LOST_ENTER: u16 = 16;
    /// How many leaving halves did.
    pub(crate) const LOST_LEAVE: u16 = 24;
    /// How far the reader has read.
    pub(crate) const TAIL: u16 = 64;
    /// How many bytes may lie between head and tail.
    pub(crate) const CAPACITY: u16 = 128;
    /// One less than the number of chunks, which is a power of two.
    pub(crate) const CHUNK_MASK: u16 = 136;
    /// After how many bytes the reader is woken.
    pub(crate) const WAKE: u16 = 144;
    /// The ids of the events that the halves' records belong to.
    pub(crate) const ENTER_ID: u16 = 152;
    pub(crate) const LEAVE_ID: u16 = 160;
    /// The numbers of their tracepoints.
    pub(crate) const ENTER_TYPE: u16 = 168;
    pub(crate) const LEAVE_TYPE: u16 = 176;
    pub(crate) const SIZE: usize = 192;
}

/// The reader's side of a ring.
#[derive(Debug)]
pub(crate) struct Calls {
    control: Arc<Shared>,
    /// Where its control block starts, in bytes.
    at: usize,
    chunks: Shared,
    capacity: u64,
}

impl Calls {
    /// Takes over a ring whose control block starts at `at`, with room for `capacity` bytes. It is
    /// empty, and nothing writes to it yet.
    pub(crate) fn new(control: Arc<Shared>, at: usize, chunks: Shared, capacity: u64) -> Self {
        let calls = Self {
            control,
            at,
            chunks,
            capacity,
        };
        calls.put(control::CAPACITY, capacity);
        calls.put(control::CHUNK_MASK, n_chunks(capacity) - 1);
        calls.put(control::WAKE, capacity / 4);
        let head = calls.head();
        calls.release(head);
        calls
    }

    fn put(&self, field: u16, value: u64) {
        self.control.store(self.at + usize::from(field), value);
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    pub(crate) fn head(&self) -> u64 {
        self.control.load(self.at + usize::from(control::HEAD))
    }

    pub(crate) fn tail(&self) -> u64 {
        self.control.load(self.at + usize::from(control::TAIL))
    }

    pub(crate) fn release(&self, tail: u64) {
        self.put(control::TAIL, tail);
    }

    /// Appends copies of the records between two counters, one behind the other. Where there is no
    /// record in their midst, the bytes that are there come, which no reader takes for one.
    pub(crate) fn append(&self, mut from: u64, to: u64, out: &mut Vec<u8>) {
        while from < to {
            let start = from % CHUNK;
            if CHUNK - start < LONGEST {
                from += CHUNK - start;
                continue;
            }
            let base = from / CHUNK % n_chunks(self.capacity) * CHUNK;
            let end = CHUNK.min(start + (to - from));
            let mut at = start;
            while at < end && CHUNK - at >= LONGEST {
                let size = self.size_at(base + at);
                if !(HEADER_SIZE as u64..=LONGEST.min(end - at)).contains(&size) {
                    self.chunks
                        .append((base + start) as usize, (end - start) as usize, out);
                    return;
                }
                at += size;
            }
            self.chunks
                .append((base + start) as usize, (at - start) as usize, out);
            from += at - start;
        }
    }

    /// The size that the record at this offset says it has.
    fn size_at(&self, at: u64) -> u64 {
        let head = self.chunks.load(at as usize).to_ne_bytes();
        Header::from_bytes(head).size.into()
    }
}

/// How many chunks a ring of so many bytes has, a power of two.
pub(crate) fn n_chunks(capacity: u64) -> u64 {
    capacity.div_ceil(CHUNK).max(1).next_power_of_two()
}
