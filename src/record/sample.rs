//! `PERF_RECORD_SAMPLE`: every field that comes before another must be stepped over exactly.

use super::{Cursor, RecordError};
use crate::attr::{Layout, ReadFormat, SampleType as S};
use crate::units::{Nanos, Pid, Tid};

/// A sample: the fields that are used, out of all that it can have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample<'a> {
    /// Event id: `IDENTIFIER`, or `ID` where that is all there is.
    pub id: Option<u64>,
    /// Instruction pointer.
    pub ip: Option<u64>,
    /// The thread that was running.
    pub task: Option<(Pid, Tid)>,
    /// When.
    pub time: Option<Nanos>,
    /// Data address.
    pub address: Option<u64>,
    /// CPU number.
    pub cpu: Option<u32>,
    /// Sampling period.
    pub period: Option<u64>,
    /// The call chain's words, native endian, markers included.
    pub callchain: Option<&'a [u8]>,
    /// The tracepoint's record, padding included.
    pub raw: Option<&'a [u8]>,
    /// User registers.
    pub user_registers: Option<Registers<'a>>,
}

/// Registers that a sample carries, in the order of the bits of the mask that asked for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers<'a> {
    /// `PERF_SAMPLE_REGS_ABI_32` (1) or `_64` (2).
    pub abi: u64,
    words: &'a [u8],
}

impl Registers<'_> {
    /// The register at this place among those asked for.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<u64> {
        let word = self
            .words
            .get(place.checked_mul(8)?..)?
            .first_chunk::<8>()?;
        Some(u64::from_ne_bytes(*word))
    }
}

// perf_output_sample(), kernel/events/core.c, v7.2: the order of the fields is that of this function.
pub(super) fn parse<'a>(
    cursor: &mut Cursor<'a>,
    layout: &Layout,
) -> Result<Sample<'a>, RecordError> {
    let kind = layout.sample_type;
    let unknown = kind.0 & !S::KNOWN.0;
    if unknown != 0 {
        return Err(RecordError::UnknownBits { bits: unknown });
    }
    let mut sample = Sample::default();
    if kind.has(S::IDENTIFIER) {
        sample.id = Some(cursor.u64("identifier")?);
    }
    if kind.has(S::IP) {
        sample.ip = Some(cursor.u64("ip")?);
    }
    if kind.has(S::TID) {
        sample.task = Some((Pid(cursor.u32("pid")?), Tid(cursor.u32("tid")?)));
    }
    if kind.has(S::TIME) {
        sample.time = Some(Nanos(cursor.u64("time")?));
    }
    if kind.has(S::ADDR) {
        sample.address = Some(cursor.u64("addr")?);
    }
    if kind.has(S::ID) {
        let id = cursor.u64("id")?;
        sample.id.get_or_insert(id);
    }
    if kind.has(S::STREAM_ID) {
        cursor.skip(8, "stream_id")?;
    }
    if kind.has(S::CPU) {
        sample.cpu = Some(cursor.u32("cpu")?);
        cursor.skip(4, "res")?;
    }
    if kind.has(S::PERIOD) {
        sample.period = Some(cursor.u64("period")?);
    }
    if kind.has(S::READ) {
        skip_read(cursor, layout.read_format)?;
    }
    if kind.has(S::CALLCHAIN) {
        let length = cursor.u64("nr")?;
        sample.callchain = Some(cursor.words(length, "ips")?);
    }
    if kind.has(S::RAW) {
        let size = cursor.u32("raw size")?;
        sample.raw = Some(cursor.take(size as usize, "raw")?);
    }
    if kind.has(S::BRANCH_STACK) {
        skip_branches(cursor, layout)?;
    }
    if kind.has(S::REGS_USER) {
        sample.user_registers = registers(cursor, layout.user_registers, "user regs")?;
    }
    if kind.has(S::STACK_USER) {
        let size = cursor.u64("stack size")?;
        // No dynamic size follows an empty stack.
        if size > 0 {
            cursor.skip(usize::try_from(size).unwrap_or(usize::MAX), "stack")?;
            cursor.skip(8, "dyn_size")?;
        }
    }
    if kind.has(S::WEIGHT) || kind.has(S::WEIGHT_STRUCT) {
        cursor.skip(8, "weight")?;
    }
    if kind.has(S::DATA_SRC) {
        cursor.skip(8, "data_src")?;
    }
    if kind.has(S::TRANSACTION) {
        cursor.skip(8, "transaction")?;
    }
    if kind.has(S::REGS_INTR) {
        registers(cursor, layout.interrupt_registers, "intr regs")?;
    }
    for (bit, field) in [
        (S::PHYS_ADDR, "phys_addr"),
        (S::CGROUP, "cgroup"),
        (S::DATA_PAGE_SIZE, "data_page_size"),
        (S::CODE_PAGE_SIZE, "code_page_size"),
    ] {
        if kind.has(bit) {
            cursor.skip(8, field)?;
        }
    }
    if kind.has(S::AUX) {
        let size = cursor.u64("aux size")?;
        cursor.skip(usize::try_from(size).unwrap_or(usize::MAX), "aux")?;
    }
    Ok(sample)
}

// perf_output_read_group() and perf_output_read_one(): a group starts with its number of members, and its times come once.
fn skip_read(cursor: &mut Cursor<'_>, format: ReadFormat) -> Result<(), RecordError> {
    let times = u64::from(format.has(ReadFormat::TOTAL_TIME_ENABLED))
        .saturating_add(format.has(ReadFormat::TOTAL_TIME_RUNNING).into());
    let each = 1_u64
        .saturating_add(format.has(ReadFormat::ID).into())
        .saturating_add(format.has(ReadFormat::LOST).into());
    let members = if format.has(ReadFormat::GROUP) {
        cursor.u64("nr")?
    } else {
        1
    };
    cursor
        .words(members.saturating_mul(each).saturating_add(times), "read")
        .map(drop)
}

// perf_output_sample(), PERF_SAMPLE_BRANCH_STACK: nr, the hardware index where asked for, three words an entry, then a word of counters
// for each entry where asked for.
fn skip_branches(cursor: &mut Cursor<'_>, layout: &Layout) -> Result<(), RecordError> {
    let entries = cursor.u64("branch nr")?;
    if layout.branch_hardware_index {
        cursor.skip(8, "hw_idx")?;
    }
    cursor.words(entries.saturating_mul(3), "branches")?;
    if layout.branch_counters {
        cursor.words(entries, "branch counters")?;
    }
    Ok(())
}

// An ABI of 0 (PERF_SAMPLE_REGS_ABI_NONE) is followed by no registers: a kernel thread has none.
fn registers<'a>(
    cursor: &mut Cursor<'a>,
    count: u32,
    field: &'static str,
) -> Result<Option<Registers<'a>>, RecordError> {
    let abi = cursor.u64(field)?;
    if abi == 0 {
        return Ok(None);
    }
    Ok(Some(Registers {
        abi,
        words: cursor.words(count.into(), field)?,
    }))
}
