//! `PERF_RECORD_SAMPLE`: every field that comes before another must be stepped over exactly.

use super::{Cursor, RecordError};
use crate::attr::{Layout, ReadFormat, SampleType as S};
use crate::units::{Nanos, Pid, Tid};

/// A sample: the fields that most have; the others are in its [`Tail`], which is read when it is
/// asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample<'a> {
    /// Event id: `IDENTIFIER`, or `ID` where that is all there is.
    pub id: Option<u64>,
    /// Instruction pointer.
    pub ip: Option<u64>,
    /// The thread that was running.
    pub task: Option<(Pid, Tid)>,
    /// The time of the sample.
    pub time: Option<Nanos>,
    /// Data address.
    pub address: Option<u64>,
    /// Id of the inherited event.
    pub stream_id: Option<u64>,
    /// CPU number.
    pub cpu: Option<u32>,
    /// Sampling period.
    pub period: Option<u64>,
    /// The counters' values.
    pub read: Option<ReadValues<'a>>,
    /// The call chain's words, native endian, markers included.
    pub callchain: Option<&'a [u8]>,
    /// The tracepoint's record, padding included.
    pub raw: Option<&'a [u8]>,
    /// User registers.
    pub user_registers: Option<Registers<'a>>,
    /// What stands behind the tracepoint's record.
    behind: &'a [u8],
}

impl<'a> Sample<'a> {
    /// The fields behind the tracepoint's record.
    ///
    /// # Errors
    /// [`RecordError`] where `layout` is not that of the sample.
    pub fn tail(&self, layout: &Layout) -> Result<Tail<'a>, RecordError> {
        Tail::read(&mut Cursor::new(self.behind, super::kind::SAMPLE), layout)
    }
}

/// The fields that few samples have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail<'a> {
    /// The last branches.
    pub branches: Option<Branches<'a>>,
    /// User registers.
    pub user_registers: Option<Registers<'a>>,
    /// A copy of the user's stack, of the length that was used, from the lowest address.
    pub user_stack: Option<&'a [u8]>,
    /// `PERF_SAMPLE_WEIGHT`, or the three parts of `PERF_SAMPLE_WEIGHT_STRUCT` in one word.
    pub weight: Option<u64>,
    /// `union perf_mem_data_src`.
    pub data_source: Option<u64>,
    /// `PERF_TXN_*`.
    pub transaction: Option<u64>,
    /// Registers at the interrupt.
    pub interrupt_registers: Option<Registers<'a>>,
    /// The physical address of the data.
    pub physical_address: Option<u64>,
    /// The control group, by its inode.
    pub cgroup: Option<u64>,
    /// The size in bytes of the data's page.
    pub data_page_size: Option<u64>,
    /// The size in bytes of the code's page.
    pub code_page_size: Option<u64>,
    /// A piece of a hardware trace.
    pub aux: Option<&'a [u8]>,
}

/// The value of a counter, or of all counters of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadValues<'a> {
    format: ReadFormat,
    members: u64,
    words: &'a [u8],
}

/// One counter of [`ReadValues`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadValue {
    /// What it counted.
    pub value: u64,
    /// The event's id.
    pub id: Option<u64>,
    /// How many of its records were lost.
    pub lost: Option<u64>,
}

impl<'a> ReadValues<'a> {
    // perf_output_read_group() and perf_output_read_one(): a group starts with its number of
    // members, and its times come once.
    pub(super) fn read(cursor: &mut Cursor<'a>, format: ReadFormat) -> Result<Self, RecordError> {
        let members = if format.has(ReadFormat::GROUP) {
            cursor.u64("nr")?
        } else {
            1
        };
        let count = members
            .saturating_mul(Self::words_of_one(format))
            .saturating_add(Self::words_of_times(format));
        Ok(Self {
            format,
            members,
            words: cursor.words(count, "read")?,
        })
    }

    fn words_of_times(format: ReadFormat) -> u64 {
        u64::from(format.has(ReadFormat::TOTAL_TIME_ENABLED))
            .saturating_add(format.has(ReadFormat::TOTAL_TIME_RUNNING).into())
    }

    fn words_of_one(format: ReadFormat) -> u64 {
        1_u64
            .saturating_add(format.has(ReadFormat::ID).into())
            .saturating_add(format.has(ReadFormat::LOST).into())
    }

    fn word(&self, place: u64) -> u64 {
        let at = usize::try_from(place.saturating_mul(8)).unwrap_or(usize::MAX);
        let word = self.words.get(at..).and_then(<[u8]>::first_chunk);
        word.map_or(0, |word| u64::from_ne_bytes(*word))
    }

    /// Nanoseconds for which it was enabled and for which it ran, where they were asked for.
    #[must_use]
    pub fn times(&self) -> (Option<u64>, Option<u64>) {
        // Of a single counter they stand behind its value.
        let mut at = u64::from(!self.format.has(ReadFormat::GROUP));
        let mut next = |bit| {
            let time = self.format.has(bit).then(|| self.word(at));
            at = at.saturating_add(time.is_some().into());
            time
        };
        let enabled = next(ReadFormat::TOTAL_TIME_ENABLED);
        (enabled, next(ReadFormat::TOTAL_TIME_RUNNING))
    }

    /// The counters.
    pub fn iter(&self) -> impl Iterator<Item = ReadValue> {
        let times = Self::words_of_times(self.format);
        let is_group = self.format.has(ReadFormat::GROUP);
        (0..self.members).map(move |member| {
            let own = member.saturating_mul(Self::words_of_one(self.format));
            let first = own.saturating_add(if is_group { times } else { 0 });
            let mut at = first.saturating_add(if is_group { 1 } else { times.saturating_add(1) });
            let mut next = |bit| {
                let word = self.format.has(bit).then(|| self.word(at));
                at = at.saturating_add(word.is_some().into());
                word
            };
            ReadValue {
                value: self.word(first),
                id: next(ReadFormat::ID),
                lost: next(ReadFormat::LOST),
            }
        })
    }
}

/// The last branches that a CPU took, the latest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branches<'a> {
    /// Where the hardware's stack of them has its top.
    pub hardware_index: Option<u64>,
    entries: &'a [u8],
    /// A word of counters for each, native endian.
    pub counters: &'a [u8],
}

impl Branches<'_> {
    /// From where, to where, and the bits of `struct perf_branch_entry`.
    pub fn iter(&self) -> impl Iterator<Item = [u64; 3]> {
        let (words, _) = self.entries.as_chunks::<8>();
        let (entries, _) = words.as_chunks::<3>();
        entries.iter().map(|entry| entry.map(u64::from_ne_bytes))
    }
}

/// Registers that a sample carries, in the order of the bits of the mask that asked for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers<'a> {
    /// `PERF_SAMPLE_REGS_ABI_32` (1) or `_64` (2).
    pub abi: u64,
    words: &'a [u8],
}

impl<'a> Registers<'a> {
    /// `PERF_SAMPLE_REGS_ABI_64`.
    pub(crate) const ABI_64: u64 = 2;

    /// Those of a 64-bit program with these values.
    #[must_use]
    pub(crate) fn of(values: &'a [[u8; 8]]) -> Self {
        Self {
            abi: Self::ABI_64,
            words: values.as_flattened(),
        }
    }

    /// All of them, in the order of the mask's bits.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        let (words, _) = self.words.as_chunks::<8>();
        words.iter().map(|word| u64::from_ne_bytes(*word))
    }

    /// The register at this place among those asked for.
    #[must_use]
    #[inline]
    pub fn get(&self, place: usize) -> Option<u64> {
        let word = self
            .words
            .get(place.checked_mul(8)?..)?
            .first_chunk::<8>()?;
        Some(u64::from_ne_bytes(*word))
    }
}

// perf_output_sample(), kernel/events/core.c, v7.2: the order of the fields is that of this
// function.
pub(super) fn parse<'a>(
    cursor: &mut Cursor<'a>,
    layout: &Layout,
    sample: &mut Sample<'a>,
) -> Result<(), RecordError> {
    let kind = layout.sample_type;
    let unknown = kind.0 & !S::KNOWN.0;
    if unknown != 0 {
        return Err(RecordError::UnknownBits { bits: unknown });
    }
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
        sample.stream_id = Some(cursor.u64("stream_id")?);
    }
    if kind.has(S::CPU) {
        sample.cpu = Some(cursor.u32("cpu")?);
        cursor.skip(4, "res")?;
    }
    if kind.has(S::PERIOD) {
        sample.period = Some(cursor.u64("period")?);
    }
    if kind.has(S::READ) {
        sample.read = Some(ReadValues::read(cursor, layout.read_format)?);
    }
    if kind.has(S::CALLCHAIN) {
        let length = cursor.u64("nr")?;
        sample.callchain = Some(cursor.words(length, "ips")?);
    }
    if kind.has(S::RAW) {
        let size = cursor.u32("raw size")?;
        sample.raw = Some(cursor.take(size as usize, "raw")?);
    }
    if kind.has(Tail::BITS) {
        sample.behind = cursor.ahead();
        if kind.has(S::BRANCH_STACK) {
            branches(cursor, layout)?;
        }
        if kind.has(S::REGS_USER) {
            sample.user_registers = registers(cursor, layout.user_registers, "user regs")?;
        }
        if kind.has(Tail::FURTHER) {
            Tail::default().further(cursor, layout)?;
        }
    }
    Ok(())
}

impl<'a> Tail<'a> {
    /// The bits of these fields.
    pub const BITS: S = S(S::KNOWN.0 & !((S::RAW.0 << 1) - 1) & !S::IDENTIFIER.0);
    /// Those of the fields behind the user registers.
    const FURTHER: S = S(Self::BITS.0 & !S::BRANCH_STACK.0 & !S::REGS_USER.0);

    fn read(cursor: &mut Cursor<'a>, layout: &Layout) -> Result<Self, RecordError> {
        let kind = layout.sample_type;
        let mut tail = Self::default();
        if kind.has(S::BRANCH_STACK) {
            tail.branches = Some(branches(cursor, layout)?);
        }
        if kind.has(S::REGS_USER) {
            tail.user_registers = registers(cursor, layout.user_registers, "user regs")?;
        }
        tail.further(cursor, layout)?;
        Ok(tail)
    }

    /// Reads what stands behind the user registers.
    fn further(&mut self, cursor: &mut Cursor<'a>, layout: &Layout) -> Result<(), RecordError> {
        let (tail, kind) = (self, layout.sample_type);
        if kind.has(S::STACK_USER) {
            tail.user_stack = Some(user_stack(cursor)?);
        }
        let mut word = |bit, field| kind.has(bit).then(|| cursor.u64(field)).transpose();
        tail.weight = word(S::WEIGHT.and(S::WEIGHT_STRUCT), "weight")?;
        tail.data_source = word(S::DATA_SRC, "data_src")?;
        tail.transaction = word(S::TRANSACTION, "transaction")?;
        if kind.has(S::REGS_INTR) {
            tail.interrupt_registers = registers(cursor, layout.interrupt_registers, "intr regs")?;
        }
        let mut word = |bit, field| kind.has(bit).then(|| cursor.u64(field)).transpose();
        tail.physical_address = word(S::PHYS_ADDR, "phys_addr")?;
        tail.cgroup = word(S::CGROUP, "cgroup")?;
        tail.data_page_size = word(S::DATA_PAGE_SIZE, "data_page_size")?;
        tail.code_page_size = word(S::CODE_PAGE_SIZE, "code_page_size")?;
        if kind.has(S::AUX) {
            let size = cursor.u64("aux size")?;
            tail.aux = Some(cursor.take(usize::try_from(size).unwrap_or(usize::MAX), "aux")?);
        }
        Ok(())
    }
}

// perf_output_sample_ustack(): no dynamic size follows an empty stack, and of another only so much
// is stack.
fn user_stack<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], RecordError> {
    let size = cursor.u64("stack size")?;
    if size == 0 {
        return Ok(&[]);
    }
    let stack = cursor.take(usize::try_from(size).unwrap_or(usize::MAX), "stack")?;
    let used = usize::try_from(cursor.u64("dyn_size")?).unwrap_or(usize::MAX);
    Ok(stack.get(..used).unwrap_or(stack))
}

// perf_output_sample(), PERF_SAMPLE_BRANCH_STACK: nr, the hardware index where asked for, three
// words an entry, then a word of counters for each entry where asked for.
fn branches<'a>(cursor: &mut Cursor<'a>, layout: &Layout) -> Result<Branches<'a>, RecordError> {
    let count = cursor.u64("branch nr")?;
    let hardware_index = layout.branch_hardware_index;
    Ok(Branches {
        hardware_index: hardware_index.then(|| cursor.u64("hw_idx")).transpose()?,
        entries: cursor.words(count.saturating_mul(3), "branches")?,
        counters: if layout.branch_counters {
            cursor.words(count, "branch counters")?
        } else {
            &[]
        },
    })
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
