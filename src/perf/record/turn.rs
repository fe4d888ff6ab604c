//! Records of a machine of the other byte order, turned to this one's in place
//! (`evsel__parse_sample()` and `perf_event__swap_ops`, `tools/perf/util/evsel.c`, `session.c`).
//! What [`parse`](super::parse) reads in which width is turned here in the same.

use super::{HEADER_SIZE, Header, kind};
use crate::attr::{Layout, ReadFormat, SampleType as S};
use std::ops::Range;

/// `PERF_RECORD_MISC_MMAP_BUILD_ID`.
const MISC_MMAP_BUILD_ID: u16 = 1 << 14;

/// Turns numbers one after the other; `None` where they reach beyond the end.
#[derive(Debug)]
pub struct Turn<'a> {
    rest: &'a mut [u8],
    at: usize,
}

/// What is behind the members of a fixed width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Text and bytes, which have no order.
    Bytes,
    /// Words of 64 bits.
    Words,
}

impl<'a> Turn<'a> {
    /// Turns from the first of these bytes on.
    pub fn new(bytes: &'a mut [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// Leaves bytes as they are.
    pub fn skip(&mut self, length: usize) -> Option<()> {
        self.take(length).map(drop)
    }

    /// Turns a number of 16 bits, and says what it is.
    pub fn u16(&mut self) -> Option<u16> {
        self.number().map(u16::from_ne_bytes)
    }

    /// Turns a number of 32 bits, and says what it is.
    pub fn u32(&mut self) -> Option<u32> {
        self.number().map(u32::from_ne_bytes)
    }

    /// Turns a number of 64 bits, and says what it is.
    pub fn u64(&mut self) -> Option<u64> {
        self.number().map(u64::from_ne_bytes)
    }

    /// Turns so many numbers of 64 bits.
    pub fn words(&mut self, count: u64) -> Option<()> {
        let length = usize::try_from(count).ok()?.checked_mul(8)?;
        for word in self.take(length)?.chunks_exact_mut(8) {
            word.reverse();
        }
        Some(())
    }

    /// Turns members of these widths, in bytes, and what is behind them.
    pub fn members(&mut self, widths: &[usize], rest: Rest) -> Option<()> {
        for width in widths {
            self.take(*width)?.reverse();
        }
        if rest == Rest::Words {
            self.words((self.rest.len() / 8) as u64)?;
        }
        Some(())
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.reverse();
        bytes.first_chunk().copied()
    }

    fn take(&mut self, length: usize) -> Option<&'a mut [u8]> {
        let all = std::mem::take(&mut self.rest);
        if all.len() < length {
            self.rest = all;
            return None;
        }
        let (head, rest) = all.split_at_mut_checked(length)?;
        self.rest = rest;
        self.at = self.at.saturating_add(length);
        Some(head)
    }

    fn split_end(&mut self, length: usize) -> Option<Self> {
        let at = self.rest.len().checked_sub(length)?;
        let (head, end) = std::mem::take(&mut self.rest).split_at_mut_checked(at)?;
        self.rest = head;
        Some(Self { rest: end, at: 0 })
    }
}

/// Turns the eight bytes of a header, and says what it is.
pub fn header(record: &mut [u8]) -> Option<Header> {
    Turn::new(record).members(&[4, 2, 2], Rest::Bytes)?;
    record.first_chunk().copied().map(Header::from_bytes)
}

/// Turns a record of the kernel's behind its header, which has been turned, and says where in it a
/// tracepoint's payload lies. That stays as it is: its format tells what is in it. A record of a
/// type that is not known stays as it is as well, but for its trailer.
///
/// Gives `None` where a field reaches beyond its end.
pub fn record(record: &mut [u8], layout: &Layout) -> Option<Range<usize>> {
    let header = Header::from_bytes(*record.first_chunk()?);
    let mut all = Turn::new(record.get_mut(HEADER_SIZE..)?);
    if header.kind == kind::SAMPLE {
        return sample(&mut all, layout);
    }
    trailer(&mut all, layout)?;
    let (widths, rest): (&[usize], _) = match header.kind {
        1 => (&[4, 4, 8, 8, 8], Rest::Bytes),
        2 => (&[8, 8], Rest::Bytes),
        3 => (&[4, 4], Rest::Bytes),
        4 | 7 => (&[4, 4, 4, 4, 8], Rest::Bytes),
        5 | 6 | 11 => (&[8, 8, 8], Rest::Bytes),
        8 => (&[4, 4], Rest::Words),
        10 => {
            all.members(&[4, 4, 8, 8, 8], Rest::Bytes)?;
            if header.misc & MISC_MMAP_BUILD_ID == 0 {
                all.members(&[4, 4, 8, 8], Rest::Bytes)?;
            } else {
                all.skip(24)?;
            }
            (&[4, 4], Rest::Bytes)
        }
        12 | 15 => (&[4, 4], Rest::Bytes),
        13 | 19 | 21 => (&[8], Rest::Bytes),
        16 => (&[4, 4], Rest::Words),
        17 => (&[8, 4, 2, 2], Rest::Bytes),
        18 => (&[2, 2, 4], Rest::Bytes),
        20 => (&[8, 2, 2], Rest::Bytes),
        22 => (&[], Rest::Words),
        _ => (&[], Rest::Bytes),
    };
    all.members(widths, rest)?;
    Some(0..0)
}

fn trailer(all: &mut Turn<'_>, layout: &Layout) -> Option<()> {
    if !layout.sample_id_all {
        return Some(());
    }
    let has = |bit| layout.sample_type.has(bit);
    let fields = [
        (S::TID, true),
        (S::TIME, false),
        (S::ID, false),
        (S::STREAM_ID, false),
        (S::CPU, true),
        (S::IDENTIFIER, false),
    ];
    let present = fields.iter().filter(|(bit, _)| has(*bit));
    let mut end = all.split_end(present.clone().count().checked_mul(8)?)?;
    for (_, is_pair) in present {
        let widths: &[usize] = if *is_pair { &[4, 4] } else { &[8] };
        end.members(widths, Rest::Bytes)?;
    }
    Some(())
}

// perf_output_sample(), as in sample.rs.
fn sample(all: &mut Turn<'_>, layout: &Layout) -> Option<Range<usize>> {
    let mut payload = 0..0;
    let has = |bit| layout.sample_type.has(bit);
    let one = |all: &mut Turn<'_>, bit| if has(bit) { all.words(1) } else { Some(()) };
    let pair = |all: &mut Turn<'_>, bit| {
        let widths: &[usize] = if has(bit) { &[4, 4] } else { &[] };
        all.members(widths, Rest::Bytes)
    };
    one(all, S::IDENTIFIER)?;
    one(all, S::IP)?;
    pair(all, S::TID)?;
    one(all, S::TIME)?;
    one(all, S::ADDR)?;
    one(all, S::ID)?;
    one(all, S::STREAM_ID)?;
    pair(all, S::CPU)?;
    one(all, S::PERIOD)?;
    if has(S::READ) {
        values(all, layout.read_format)?;
    }
    if has(S::CALLCHAIN) {
        let count = all.u64()?;
        all.words(count)?;
    }
    if has(S::RAW) {
        let size = all.u32()?;
        let start = all.at;
        all.skip(usize::try_from(size).ok()?)?;
        payload = start.saturating_add(HEADER_SIZE)..all.at.saturating_add(HEADER_SIZE);
    }
    if has(S::BRANCH_STACK) {
        let count = all.u64()?;
        let each = if layout.branch_counters { 4 } else { 3 };
        let index = u64::from(layout.branch_hardware_index);
        all.words(count.checked_mul(each)?.checked_add(index)?)?;
    }
    if has(S::REGS_USER) {
        registers(all, layout.user_registers)?;
    }
    if has(S::STACK_USER) {
        let size = all.u64()?;
        if size > 0 {
            all.skip(usize::try_from(size).ok()?)?;
            all.words(1)?;
        }
    }
    one(all, S::WEIGHT.and(S::WEIGHT_STRUCT))?;
    one(all, S::DATA_SRC)?;
    one(all, S::TRANSACTION)?;
    if has(S::REGS_INTR) {
        registers(all, layout.interrupt_registers)?;
    }
    one(all, S::PHYS_ADDR)?;
    one(all, S::CGROUP)?;
    one(all, S::DATA_PAGE_SIZE)?;
    one(all, S::CODE_PAGE_SIZE)?;
    if has(S::AUX) {
        let size = all.u64()?;
        all.skip(usize::try_from(size).ok()?)?;
    }
    Some(payload)
}

fn values(all: &mut Turn<'_>, format: ReadFormat) -> Option<()> {
    let count = if format.has(ReadFormat::GROUP) {
        all.u64()?
    } else {
        1
    };
    let each = 1_u64
        .checked_add(format.has(ReadFormat::ID).into())?
        .checked_add(format.has(ReadFormat::LOST).into())?;
    let times = u64::from(format.has(ReadFormat::TOTAL_TIME_ENABLED))
        .checked_add(format.has(ReadFormat::TOTAL_TIME_RUNNING).into())?;
    all.words(count.checked_mul(each)?.checked_add(times)?)
}

fn registers(all: &mut Turn<'_>, count: u32) -> Option<()> {
    match all.u64()? {
        0 => Some(()),
        _ => all.words(count.into()),
    }
}
