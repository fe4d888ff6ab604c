//! A ring that a BPF program of ours writes records of calls into, one for each CPU.
//!
//! The ring lies in an array of chunks; a record lies in one chunk, as the verifier lets a program
//! write within one value. Head and tail are free-running byte counters, as those of perf's rings.
//! Where a chunk has less room left than [`SHORTEST`], or four zero bytes where a record's size is,
//! the next record starts in the next chunk.

use crate::sys::shared::Shared;
use perf_records::record::{HEADER_SIZE, Header};
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};

/// The bytes of a chunk, a power of two.
pub(crate) const CHUNK: u64 = 256 << 10;
/// The bytes that any record without contents has room in.
pub(crate) const SHORTEST: u64 = 136;
/// The bytes that any record has room in.
pub(crate) const LONGEST: u64 = SHORTEST + (32 << 10);

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
    /// How many records of each half the program has written; each counts behind its record.
    pub(crate) const WRITTEN_ENTER: u16 = 32;
    pub(crate) const WRITTEN_LEAVE: u16 = 40;
    pub(crate) const SIZE: usize = 192;
}

/// The reader's side of a ring.
#[derive(Debug)]
pub(crate) struct Calls {
    control: Arc<Shared>,
    /// Where its control block starts, in bytes.
    at: usize,
    chunks: Chunks,
    capacity: u64,
}

/// The memory of a ring, each chunk of which is mapped when it is first read: most runs end in the
/// first, and to map all of them takes as long as to run a small command.
#[derive(Debug)]
struct Chunks {
    array: OwnedFd,
    mapped: Vec<OnceLock<Option<Shared>>>,
}

impl Chunks {
    /// The chunk that a position of the ring is in; `None` where it could not be mapped.
    fn of(&self, position: u64) -> Option<&Shared> {
        let n_chunks = self.mapped.len() as u64;
        let place = (position / CHUNK).checked_rem(n_chunks)?;
        let map = || Shared::part(&self.array, place * CHUNK, CHUNK as usize).ok();
        self.mapped.get(place as usize)?.get_or_init(map).as_ref()
    }
}

impl Calls {
    /// Takes over a ring whose control block starts at `at`, with room for `capacity` bytes. It is
    /// empty, and nothing writes to it yet.
    pub(crate) fn new(control: Arc<Shared>, at: usize, array: OwnedFd, capacity: u64) -> Self {
        let mapped = (0..n_chunks(capacity)).map(|_| OnceLock::new());
        let calls = Self {
            control,
            at,
            chunks: Chunks {
                array,
                mapped: mapped.collect(),
            },
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
            if CHUNK - start < SHORTEST {
                from += CHUNK - start;
                continue;
            }
            let Some(chunk) = self.chunks.of(from) else {
                // No reader takes that for a record.
                out.extend([0; HEADER_SIZE]);
                return;
            };
            let end = CHUNK.min(start + (to - from));
            let mut at = start;
            let mut is_last = false;
            while at < end && CHUNK - at >= SHORTEST && !is_last {
                let size = size_at(chunk, at);
                is_last = size == 0 && CHUNK - at < LONGEST;
                if !is_last && !(HEADER_SIZE as u64..=LONGEST.min(end - at)).contains(&size) {
                    chunk.append(start as usize, (end - start) as usize, out);
                    return;
                }
                at += size;
            }
            chunk.append(start as usize, (at - start) as usize, out);
            from += match is_last {
                true => CHUNK - start,
                false => at - start,
            };
        }
    }
}

/// The size that the record at this offset of a chunk says it has.
fn size_at(chunk: &Shared, at: u64) -> u64 {
    let head = chunk.load(at as usize).to_ne_bytes();
    Header::from_bytes(head).size.into()
}

/// How many chunks a ring of so many bytes has, a power of two.
pub(crate) fn n_chunks(capacity: u64) -> u64 {
    capacity.div_ceil(CHUNK).max(1).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::memfd::{MFdFlags, memfd_create};
    use nix::unistd::ftruncate;
    use std::os::fd::OwnedFd;

    /// Memory as a program would have it, and what it can be mapped from again.
    fn memory(length: u64) -> (Shared, OwnedFd) {
        let file: OwnedFd = memfd_create("ring", MFdFlags::MFD_CLOEXEC).unwrap();
        ftruncate(&file, length as i64).unwrap();
        (Shared::of(&file, length as usize).unwrap(), file)
    }

    /// A record of so many bytes, each word of which but its header is `mark`.
    fn record(size: u64, mark: u64) -> Vec<u64> {
        let mut words = vec![mark; size as usize / 8];
        words[0] = 9 | size << 48;
        words
    }

    /// Writes as a program does: `is_long` is a record with contents.
    fn put(memory: &Shared, capacity: u64, head: &mut u64, words: &[u64], is_long: bool) {
        let longest = if is_long { LONGEST } else { SHORTEST };
        let at = |head: u64| (head % (n_chunks(capacity) * CHUNK)) as usize;
        if *head % CHUNK > CHUNK - longest {
            if *head % CHUNK <= CHUNK - SHORTEST {
                memory.store(at(*head), 0);
            }
            *head = head.next_multiple_of(CHUNK);
        }
        for word in words {
            memory.store(at(*head), *word);
            *head += 8;
        }
    }

    #[test]
    fn records_of_any_length_come_one_behind_the_other_over_the_ends_of_chunks() {
        let capacity = 2 * CHUNK;
        let (of_program, array) = memory(capacity);
        let (control, _) = memory(control::SIZE as u64);
        let ring = Calls::new(Arc::new(control), 0, array, capacity);
        // What lay there before is no record of now.
        for at in (0..capacity).step_by(8) {
            of_program.store(at as usize, 9 | 128 << 48);
        }
        let (mut head, mut mark) = (0, 0);
        let sizes = [128, 88, LONGEST, 88, 4096, 128, 20_000, 128, 128, 88];
        for _ in 0..400 {
            let (start, mut expected) = (head, Vec::new());
            for size in sizes.iter().cycle().skip(mark as usize % 7).take(5) {
                mark += 1;
                let words = record(*size, mark);
                put(&of_program, capacity, &mut head, &words, *size > SHORTEST);
                expected.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
            }
            let mut got = Vec::new();
            ring.append(start, head, &mut got);
            assert!(got == expected, "{mark}: {} {}", got.len(), expected.len());
        }
        assert!(head > 20 * CHUNK);
    }

    #[test]
    fn what_cannot_be_mapped_is_no_record() {
        let (control, _) = memory(control::SIZE as u64);
        let (pipe, _other) = std::io::pipe().unwrap();
        let ring = Calls::new(Arc::new(control), 0, pipe.into(), CHUNK);
        let mut got = Vec::new();
        ring.append(0, 128, &mut got);
        assert_eq!(got, [0; HEADER_SIZE]);
    }
}
