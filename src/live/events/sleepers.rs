//! The user registers of threads that sleep.
//!
//! Of a thread that sleeps in the kernel nothing but a tracer can ask the registers, and procfs has
//! two of them. But it has gone off its CPU, and `context-switches` has a sample of that: the
//! newest of a thread that sleeps has the registers with which it entered the kernel.

use super::{OpenError, rings};
use crate::ring::Drain;
use crate::sys::perf;
use perf_records::attr::{Attr, Layout, SampleType, Source};
use perf_records::merge::Source as _;
use perf_records::record::{self, Header, Other, Record, Registers, Sample, kind};
use perf_records::units::{Cpu, Hashed, Nanos, Pid};
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Data pages of each ring: as many of these as the user may have. Threads that wake each other go
/// to sleep a hundred thousand times a second.
const PAGES: [usize; 3] = [256, 64, 16];

const NAME: &str = "context-switches";

/// The samples of threads that went off their CPUs: of each its newest.
#[derive(Debug)]
pub struct Sleepers {
    events: Vec<OwnedFd>,
    drains: Vec<Drain>,
    attr: Attr,
    layout: Layout,
    newest: Newest,
}

/// Why the registers of a thread are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAsleep {
    /// There is no sample of it, or one that came later may be lost.
    #[error("the record of its going to sleep is lost")]
    Lost,
    /// Its sample is of another place than the one where it sleeps.
    #[error("the record of its going to sleep is of another call")]
    Elsewhere,
}

impl Sleepers {
    /// Opens the event on a corked task and all that it will create, from its `execve(2)` on.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(corked: Pid, cpus: &[Cpu]) -> Result<Self, OpenError> {
        let kept = SampleType::IDENTIFIER
            .and(SampleType::TID)
            .and(SampleType::TIME)
            .and(SampleType::REGS_USER);
        let attr = Attr {
            sample_type: kept,
            user_registers: REGISTERS,
            // The smallest ring's: it is looked at often.
            wakeup_bytes: rings::wakeup_bytes(16),
            ..Attr::recording(Source::CONTEXT_SWITCHES)
        };
        let (mut events, mut drains) = (Vec::new(), Vec::new());
        for &cpu in cpus {
            let event = perf::open(&attr.raw(), perf::Target::Task(corked), Some(cpu));
            let event = event.map_err(|source| OpenError::Open {
                event: NAME.to_owned(),
                source,
            })?;
            drains.push(ring(event.as_fd(), cpu)?);
            events.push(event);
        }
        Ok(Self {
            events,
            drains,
            layout: attr.layout(),
            attr,
            newest: Newest::default(),
        })
    }

    /// What is readable when [`look`](Self::look) should take what there is.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.events.iter().map(AsFd::as_fd)
    }

    /// Which registers there are: bits of `PERF_REG_*`.
    #[must_use]
    pub fn mask(&self) -> u64 {
        self.attr.user_registers
    }

    /// Takes the samples that have come.
    pub fn look(&mut self) {
        for drain in &mut self.drains {
            drain.refill();
            if drain.may_lack_the_last() {
                self.newest.lost(None);
            }
            loop {
                match drain.peek() {
                    Ok(Some(bytes)) => self.newest.take(bytes, &self.layout),
                    Ok(None) => break,
                    Err(_) => {
                        drain.discard();
                        self.newest.lost(None);
                        break;
                    }
                }
                drain.pop();
            }
        }
        self.newest.settle();
    }

    /// The registers of a thread that is off its CPU, where it was so before the last
    /// [`look`](Self::look); `at` is its stack pointer and its instruction pointer.
    ///
    /// # Errors
    /// [`NotAsleep`].
    pub fn registers(&self, thread: u32, at: (u64, u64)) -> Result<Registers<'_>, NotAsleep> {
        let (_, bytes) = self.newest.of_thread.get(&thread).ok_or(NotAsleep::Lost)?;
        let mut sample = Sample::default();
        record::parse_sample(bytes, &self.layout, &mut sample).map_err(|_| NotAsleep::Lost)?;
        let registers = sample.user_registers.ok_or(NotAsleep::Lost)?;
        let value = |register: u32| {
            let below = self.attr.user_registers & ((1 << register) - 1);
            registers.get(below.count_ones() as usize)
        };
        let is_there = value(STACK) == Some(at.0) && value(INSTRUCTION) == Some(at.1);
        is_there.then_some(registers).ok_or(NotAsleep::Elsewhere)
    }
}

/// The largest ring for an event that the user may have.
fn ring(event: BorrowedFd<'_>, cpu: Cpu) -> Result<Drain, OpenError> {
    let [most, less @ ..] = PAGES;
    let mut made = rings::map(event, cpu, most);
    for pages in less {
        if made.is_err() {
            made = rings::map(event, cpu, pages);
        }
    }
    made
}

/// What a function keeps for its caller, and so what callers are found by: `PERF_REG_X86_BX`, `BP`,
/// `SP`, `IP` and `R12` to `R15`, or `PERF_REG_ARM64_X19` to `PC`.
const REGISTERS: u64 = if cfg!(target_arch = "x86_64") {
    0xf0_01c2
} else {
    0x1_fff8_0000
};

/// `PERF_REG_X86_SP` and `_IP`, or `PERF_REG_ARM64_SP` and `_PC`.
const STACK: u32 = if cfg!(target_arch = "x86_64") { 7 } else { 31 };
const INSTRUCTION: u32 = STACK + 1;

/// The newest sample of each thread.
#[derive(Debug, Default)]
struct Newest {
    of_thread: HashMap<u32, (Nanos, Vec<u8>), Hashed>,
    /// Until when samples may have been lost, of those that were taken since they were settled.
    lost_until: Nanos,
}

impl Newest {
    /// Takes a record of any ring.
    fn take(&mut self, bytes: &[u8], layout: &Layout) {
        let head = bytes.first_chunk().copied().unwrap_or_default();
        if Header::from_bytes(head).kind != kind::SAMPLE {
            match record::parse(bytes, layout) {
                // One that is throttled stands still for a while.
                Ok(
                    Record::Lost(_, id)
                    | Record::LostSamples(_, id)
                    | Record::Other(Other::Throttle(..), id),
                ) => self.lost(id.time),
                Ok(_) => {}
                Err(_) => self.lost(None),
            }
            return;
        }
        let mut sample = Sample::default();
        let parsed = record::parse_sample(bytes, layout, &mut sample);
        let of = sample.task.zip(sample.time).filter(|_| parsed.is_ok());
        let Some(((_, thread), time)) = of else {
            self.lost(None);
            return;
        };
        let known = self.of_thread.entry(thread.0).or_default();
        if known.0 <= time {
            known.0 = time;
            known.1.clear();
            known.1.extend_from_slice(bytes);
        }
    }

    /// Samples were lost, until this time if one is known.
    fn lost(&mut self, until: Option<Nanos>) {
        self.lost_until = self.lost_until.max(until.unwrap_or(Nanos(u64::MAX)));
    }

    /// Forgets what may not be the newest of its thread, when all rings have been read.
    fn settle(&mut self) {
        let lost_until = std::mem::take(&mut self.lost_until);
        if lost_until > Nanos(0) {
            self.of_thread.retain(|_, (time, _)| *time > lost_until);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout {
        sample_type: SampleType::TID.and(SampleType::TIME),
        read_format: perf_records::attr::ReadFormat(0),
        user_registers: 0,
        interrupt_registers: 0,
        branch_hardware_index: false,
        branch_counters: false,
        sample_id_all: true,
    };

    /// A record of a thread at a time, which has these words in front of both.
    fn record(kind: u32, words: &[u64], (thread, time): (u32, u64)) -> Vec<u8> {
        let size = 8 + 8 * words.len() + 16;
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(0_u16.to_ne_bytes());
        bytes.extend(u16::try_from(size).unwrap().to_ne_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes.extend([100, thread].iter().flat_map(|id| id.to_ne_bytes()));
        bytes.extend(time.to_ne_bytes());
        bytes
    }

    fn known(records: &[Vec<u8>]) -> Vec<(u32, u64)> {
        let mut newest = Newest::default();
        for bytes in records {
            newest.take(bytes, &LAYOUT);
        }
        newest.settle();
        let of_thread = newest.of_thread.iter();
        let mut known: Vec<_> = of_thread
            .map(|(thread, (time, _))| (*thread, time.0))
            .collect();
        known.sort_unstable();
        known
    }

    #[test]
    fn of_each_thread_the_newest_sample_of_all_rings_is_known() {
        let sample = |of| record(kind::SAMPLE, &[], of);
        // The second ring is read behind the first.
        let records = [
            sample((1, 10)),
            sample((2, 40)),
            sample((1, 30)),
            sample((2, 20)),
        ];
        assert_eq!(known(&records), [(1, 30), (2, 40)]);
    }

    #[test]
    fn what_is_older_than_a_loss_may_not_be_the_newest() {
        let sample = |of| record(kind::SAMPLE, &[], of);
        for (kind, words) in [
            (kind::LOST, &[7, 1][..]),
            (kind::LOST_SAMPLES, &[1]),
            (kind::THROTTLE, &[25, 7, 7]),
        ] {
            let lost = record(kind, words, (3, 25));
            let records = [sample((1, 10)), lost, sample((2, 30)), sample((3, 20))];
            assert_eq!(known(&records), [(2, 30)], "{kind}");
        }
        let mut torn = sample((2, 30));
        torn.truncate(12);
        assert_eq!(known(&[sample((1, 10)), torn]), []);
    }
}
