//! What has been taken out of the rings and is not read yet: in memory up to a bound, then in
//! files without a name.

use super::{Drain, Look, Tap};
use crate::sys::{self, temporary};
use nix::sys::statvfs::statvfs;
use perf_records::units::Nanos;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// How much a backlog may hold, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The bytes in memory.
    pub memory: u64,
    /// In files in the folder for temporary files (`TMPDIR`), when the memory is used up.
    pub files: u64,
}

impl Bounds {
    /// The most that is kept in memory, in bytes.
    const MEMORY: u64 = 256 << 20;

    /// So much at most, in bytes: 256 MiB of it in memory.
    #[must_use]
    pub fn of(all: u64) -> Self {
        let memory = all.min(Self::MEMORY);
        Self {
            memory,
            files: all - memory,
        }
    }
}

impl Default for Bounds {
    /// 256 MiB of memory, and files as long as 1 GiB is left free in their folder.
    fn default() -> Self {
        Self {
            memory: Self::MEMORY,
            files: u64::MAX,
        }
    }
}

/// What is to be left free in the folder for temporary files, in bytes.
const RESERVE: u64 = 1 << 30;

/// How long to wait with files after one could not be written.
const AGAIN: Duration = Duration::from_secs(1);

/// What is free in the folder for temporary files, in bytes.
fn free() -> u64 {
    let of = statvfs(&temporary::folder());
    of.map_or(0, |of| {
        of.blocks_available().saturating_mul(of.fragment_size())
    })
}

/// What is behind a lock, whatever happened to a thread that held it.
pub(super) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same, if no other thread holds the lock.
fn try_lock<T>(of: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match of.try_lock() {
        Ok(held) => Some(held),
        Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// How much a backlog held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The most at a time, in bytes, in memory and in files.
    pub peak: u64,
    /// Whether there was more than it may hold, so that a ring was left as it was.
    pub was_full: bool,
}

/// How much the reader takes at once, in bytes: it has other things to look after.
const PORTION: u64 = 8 << 20;

/// How much room is kept for pieces to come, in bytes.
const SPARE: u64 = 16 << 20;

/// How long a file gets before the next one is begun: files are given back whole.
const SEGMENT: u64 = 64 << 20;

/// Whole records of one ring.
#[derive(Debug)]
enum Piece {
    Memory(Vec<u8>),
    File {
        segment: Arc<File>,
        at: u64,
        length: usize,
    },
}

impl Piece {
    fn read(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Memory(bytes) => Ok(bytes),
            Self::File {
                segment,
                at,
                length,
            } => {
                let mut bytes = vec![0; length];
                segment.read_exact_at(&mut bytes, at)?;
                Ok(bytes)
            }
        }
    }
}

/// What one look at all rings brought.
#[derive(Debug)]
struct Round {
    /// All that the kernel had written by then came with this round or earlier; `None` if a ring
    /// was left as it was.
    until: Option<Nanos>,
    /// Each with the place of its ring.
    pieces: Vec<(usize, Piece)>,
    in_memory: u64,
    in_files: u64,
}

/// The rounds that have not been read, oldest first.
#[derive(Debug)]
pub(super) struct Backlog {
    rounds: VecDeque<Round>,
    /// How far the rounds go that have been read.
    until: Nanos,
    bounds: Bounds,
    in_memory: u64,
    in_files: u64,
    spare: Vec<Vec<u8>>,
    held: Held,
}

impl Backlog {
    pub(super) fn new(until: Nanos, bounds: Bounds) -> Self {
        Self {
            rounds: VecDeque::new(),
            until,
            bounds,
            in_memory: 0,
            in_files: 0,
            spare: Vec::new(),
            held: Held::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    pub(super) fn held(&self) -> Held {
        self.held
    }

    /// The next rounds, some at a time.
    pub(super) fn take(&mut self) -> Portion {
        let (mut rounds, mut length) = (Vec::new(), 0);
        while length < PORTION
            && let Some(round) = self.rounds.pop_front()
        {
            self.until = round.until.unwrap_or(self.until);
            self.in_memory -= round.in_memory;
            self.in_files -= round.in_files;
            length += round.in_memory + round.in_files;
            rounds.push(round);
        }
        Portion {
            rounds,
            look: Look {
                until: self.until,
                is_all: self.rounds.is_empty(),
            },
        }
    }

    /// Takes back the room of pieces that have been read, and returns those that it has no use for:
    /// they are to be freed behind the lock, as that takes a while.
    pub(super) fn reuse(&mut self, mut pieces: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let kept: usize = self.spare.iter().map(Vec::capacity).sum();
        let mut room = SPARE.saturating_sub(kept as u64);
        let fits = |piece: &mut Vec<u8>| {
            let left = room.checked_sub(piece.capacity() as u64);
            room = left.unwrap_or(room);
            left.is_some()
        };
        self.spare.extend(pieces.extract_if(.., fits));
        pieces
    }

    fn push(&mut self, round: Round) {
        self.in_memory += round.in_memory;
        self.in_files += round.in_files;
        self.held.peak = self.held.peak.max(self.in_memory + self.in_files);
        self.held.was_full |= round.until.is_none();
        match self.rounds.back_mut() {
            Some(last) if round.pieces.is_empty() => last.until = round.until.or(last.until),
            None if round.pieces.is_empty() => self.until = round.until.unwrap_or(self.until),
            _ => self.rounds.push_back(round),
        }
    }
}

/// Some rounds that are to be read.
#[derive(Debug)]
pub(super) struct Portion {
    rounds: Vec<Round>,
    look: Look,
}

impl Portion {
    /// Gives the pieces to the readers of their rings.
    pub(super) fn give(self, drains: &mut [Drain]) -> io::Result<Look> {
        for (place, piece) in self.rounds.into_iter().flat_map(|round| round.pieces) {
            let bytes = piece.read()?;
            if let Some(drain) = drains.get_mut(place) {
                drain.pieces.push_back(bytes);
            }
        }
        Ok(self.look)
    }
}

/// How a round went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filled {
    /// Whether there was room for what all rings held.
    pub(super) is_all: bool,
    /// Whether it, and all before it, are where the reader finds them.
    pub(super) is_there: bool,
    /// Whether something waits there to be read.
    pub(super) has_some: bool,
}

/// Fills a backlog.
///
/// Its thread is in a hurry and the reader is not, so it never waits for the lock: a reader that is
/// preempted while it holds it would keep the rings full for as long.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// Rounds that the reader cannot find yet.
    pending: Vec<Round>,
    /// Whether there was room in memory and in files, when that could last be looked at.
    room: Option<(bool, bool)>,
    /// Room for pieces.
    spare: Vec<Vec<u8>>,
    /// The file that is written to, and its length.
    segment: Option<(Arc<File>, u64)>,
    /// When a file could not be written.
    refused: Option<Instant>,
}

impl Writer {
    /// Takes what all rings hold, as far as there is room for it.
    pub(super) fn round(&mut self, mut taps: &mut [Tap], backlog: &Mutex<Backlog>) -> Filled {
        if let Some(mut backlog) = try_lock(backlog) {
            self.room = Some((
                backlog.in_memory < backlog.bounds.memory,
                backlog.in_files < backlog.bounds.files,
            ));
            if self.spare.is_empty() {
                std::mem::swap(&mut self.spare, &mut backlog.spare);
            }
        }
        // What the first look at it must wait for is nothing yet.
        let (has_memory, has_files) = self.room.unwrap_or((true, false));
        let mut round = Round {
            until: Some(sys::monotonic_now()),
            pieces: Vec::new(),
            in_memory: 0,
            in_files: 0,
        };
        // All rings or none: without one of them nothing younger could be delivered of the others.
        // So the bounds may be passed by what the rings hold.
        let goes_to_file = !has_memory && has_files && self.has_room();
        if !has_memory && !goes_to_file {
            round.until = None;
            taps = &mut [];
        }
        for (place, tap) in taps.iter_mut().enumerate() {
            let there = tap.look();
            if there == 0 {
                continue;
            }
            let mut bytes = self.spare.pop().unwrap_or_default();
            tap.copy(&mut bytes);
            // A gap at a chunk's end is no record.
            if bytes.is_empty() {
                tap.release();
                self.spare.push(bytes);
                continue;
            }
            let written = goes_to_file.then(|| self.write(&bytes)).transpose();
            let piece = match written {
                Ok(Some(piece)) => {
                    round.in_files += there;
                    self.spare.push(bytes);
                    piece
                }
                // The rest of the round has to go somewhere.
                Ok(None) | Err(_) => {
                    round.in_memory += there;
                    Piece::Memory(bytes)
                }
            };
            round.pieces.push((place, piece));
            tap.release();
        }
        let is_all = round.until.is_some();
        self.pending.push(round);
        let there = try_lock(backlog).map(|mut backlog| self.hand_over(&mut backlog));
        Filled {
            is_all,
            is_there: there.is_some(),
            has_some: there.unwrap_or(false),
        }
    }

    /// Has the reader find all rounds; whether there is something to be read.
    pub(super) fn hand_over(&mut self, backlog: &mut Backlog) -> bool {
        self.pending.drain(..).for_each(|round| backlog.push(round));
        !backlog.is_empty()
    }

    /// Whether a file may be written to. Asked anew for each file, as others write there too.
    fn has_room(&mut self) -> bool {
        if self.segment.as_ref().is_some_and(|(_, at)| *at < SEGMENT) {
            return true;
        }
        self.segment = None;
        let is_again = self.refused.is_none_or(|since| since.elapsed() >= AGAIN);
        if !is_again || free() <= RESERVE {
            return false;
        }
        match temporary::file() {
            Ok(file) => self.segment = Some((Arc::new(file), 0)),
            Err(_) => self.refused = Some(Instant::now()),
        }
        self.segment.is_some()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<Piece> {
        let (segment, at) = self.segment.as_ref().ok_or(io::ErrorKind::StorageFull)?;
        let (segment, at) = (Arc::clone(segment), *at);
        if let Err(error) = segment.write_all_at(bytes, at) {
            (self.segment, self.refused) = (None, Some(Instant::now()));
            return Err(error);
        }
        self.segment = Some((Arc::clone(&segment), at + bytes.len() as u64));
        Ok(Piece::File {
            segment,
            at,
            length: bytes.len(),
        })
    }
}
