//! THE record parser: bytes of a perf record, from a ring, a file or a pipe, to a [`Record`].
//!
//! Total: any bytes give a record or a [`RecordError`] that says which field did not fit. Nothing
//! is allocated; what is variable in length stays a slice of the input. Unknown types are values,
//! not errors.
//!
//! ```text
//! u32 type | u16 misc | u16 size | body ... | sample id trailer (all but samples)
//! ```

mod cursor;
mod other;
mod sample;
mod side_band;
mod table;
pub mod turn;

pub use other::{Namespaces, Other, Switched, Throttle};
pub use sample::{Branches, ReadValue, ReadValues, Registers, Sample, Tail};
pub use side_band::{Comm, Lost, Map, MappedFile, MoreOfMap, Task};
pub use table::{LayoutTable, TableError};

use crate::attr::Layout;
use crate::units::{Nanos, Pid, Tid};
use cursor::Cursor;

/// The length of `struct perf_event_header` in bytes.
pub const HEADER_SIZE: usize = 8;

/// `struct perf_event_header`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// `PERF_RECORD_*`; from 64 on they are user space's own.
    pub kind: u32,
    /// `PERF_RECORD_MISC_*`.
    pub misc: u16,
    /// The length of the record in bytes, header included.
    pub size: u16,
}

impl Header {
    /// Reads the eight bytes of a header.
    #[must_use]
    pub fn from_bytes(bytes: [u8; HEADER_SIZE]) -> Self {
        let [a, b, c, d, e, f, g, h] = bytes;
        Self {
            kind: u32::from_ne_bytes([a, b, c, d]),
            misc: u16::from_ne_bytes([e, f]),
            size: u16::from_ne_bytes([g, h]),
        }
    }
}

/// The type numbers of `enum perf_event_type`.
pub mod kind {
    /// Code was mapped.
    pub const MMAP: u32 = 1;
    /// Records were dropped for want of room.
    pub const LOST: u32 = 2;
    /// A thread has a new name.
    pub const COMM: u32 = 3;
    /// A thread ended.
    pub const EXIT: u32 = 4;
    /// An event comes too often and stands still.
    pub const THROTTLE: u32 = 5;
    /// It goes on.
    pub const UNTHROTTLE: u32 = 6;
    /// A thread was created.
    pub const FORK: u32 = 7;
    /// The counter of a task that ended.
    pub const READ: u32 = 8;
    /// An event fired.
    pub const SAMPLE: u32 = 9;
    /// Code was mapped; with device and inode, or a build id.
    pub const MMAP2: u32 = 10;
    /// A piece of a hardware trace.
    pub const AUX: u32 = 11;
    /// A hardware trace started.
    pub const ITRACE_START: u32 = 12;
    /// Samples were dropped, counted by the hardware or by `perf record`.
    pub const LOST_SAMPLES: u32 = 13;
    /// The task of the record comes or goes.
    pub const SWITCH: u32 = 14;
    /// The same, with the task before or after.
    pub const SWITCH_CPU_WIDE: u32 = 15;
    /// The namespaces of a task.
    pub const NAMESPACES: u32 = 16;
    /// Code came into the kernel or left it.
    pub const KSYMBOL: u32 = 17;
    /// A BPF program was loaded or unloaded.
    pub const BPF_EVENT: u32 = 18;
    /// The path of a control group.
    pub const CGROUP: u32 = 19;
    /// The kernel changed its code.
    pub const TEXT_POKE: u32 = 20;
    /// Which event a hardware trace is of.
    pub const AUX_OUTPUT_HW_ID: u32 = 21;
    /// The user's part of call chains, taken on the way back to it.
    pub const CALLCHAIN_DEFERRED: u32 = 22;
    /// The first that is not the kernel's but a tool's own.
    pub const OWN: u32 = 64;
}

/// One record, borrowed from the bytes that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<'a> {
    /// `PERF_RECORD_SAMPLE`.
    Sample(Sample<'a>),
    /// `PERF_RECORD_COMM`.
    Comm(Comm<'a>, SampleId),
    /// `PERF_RECORD_MMAP` and `PERF_RECORD_MMAP2`.
    Map(Map<'a>, SampleId),
    /// `PERF_RECORD_FORK`.
    Fork(Task, SampleId),
    /// `PERF_RECORD_EXIT`.
    Exit(Task, SampleId),
    /// `PERF_RECORD_LOST`: written only in front of the next record that fits, so losses at the end
    /// of a run have none.
    Lost(Lost, SampleId),
    /// `PERF_RECORD_LOST_SAMPLES`.
    LostSamples(u64, SampleId),
    /// Every other type of the kernel's.
    Other(Other<'a>, SampleId),
    /// A type that is not read here; the body is what lies behind the header.
    Unknown {
        /// Its header.
        header: Header,
        /// Its bytes.
        body: &'a [u8],
    },
}

/// The sample id trailer of the records that are no samples: those fields that `sample_type` asks
/// for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleId {
    /// The thread that was running.
    pub task: Option<(Pid, Tid)>,
    /// The time of the record.
    pub time: Option<Nanos>,
    /// Event id.
    pub id: Option<u64>,
    /// Stream id.
    pub stream_id: Option<u64>,
    /// CPU number.
    pub cpu: Option<u32>,
    /// Event id, from the fixed place.
    pub identifier: Option<u64>,
}

/// Why bytes are no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The header's size does not fit the bytes.
    #[error("a record of type {kind} says it has {said} bytes, but {there} are there")]
    Size {
        /// The record's type.
        kind: u32,
        /// The header's size.
        said: u16,
        /// The bytes given.
        there: usize,
    },
    /// A field reaches beyond the end.
    #[error("a record of type {kind} ends inside its field `{field}`")]
    Short {
        /// The record's type.
        kind: u32,
        /// The field, by the kernel's name.
        field: &'static str,
    },
    /// The layout has a bit whose field this build does not know the length of.
    #[error("sample_type has bits that this build does not know: {bits:#x}")]
    UnknownBits {
        /// The bits.
        bits: u64,
    },
}

/// Takes a record apart into its header and its body.
fn split(bytes: &[u8]) -> Result<(Header, &[u8]), RecordError> {
    let Some((head, body)) = bytes.split_first_chunk::<HEADER_SIZE>() else {
        return Err(RecordError::Short {
            kind: 0,
            field: "header",
        });
    };
    let header = Header::from_bytes(*head);
    if usize::from(header.size) != bytes.len() {
        return Err(RecordError::Size {
            kind: header.kind,
            said: header.size,
            there: bytes.len(),
        });
    }
    Ok((header, body))
}

/// Parses one whole record of type [`kind::SAMPLE`] into `sample`, which is [`Sample::default`]. It
/// is what [`parse`] does of these, without a large value that is moved: for paths that run per
/// record.
///
/// # Errors
/// [`RecordError`], which names the field at fault.
pub fn parse_sample<'a>(
    bytes: &'a [u8],
    layout: &Layout,
    sample: &mut Sample<'a>,
) -> Result<(), RecordError> {
    let (header, body) = split(bytes)?;
    sample::parse(&mut Cursor::new(body, header.kind), layout, sample)
}

/// Parses one whole record.
///
/// # Errors
/// [`RecordError`], which names the field at fault.
pub fn parse<'a>(bytes: &'a [u8], layout: &Layout) -> Result<Record<'a>, RecordError> {
    let (header, body) = split(bytes)?;
    let mut cursor = Cursor::new(body, header.kind);
    match header.kind {
        kind::SAMPLE => {
            let mut sample = Sample::default();
            sample::parse(&mut cursor, layout, &mut sample)?;
            Ok(Record::Sample(sample))
        }
        kind::COMM => {
            let id = sample_id(&mut cursor, layout)?;
            Ok(Record::Comm(side_band::comm(&mut cursor, header.misc)?, id))
        }
        kind::MMAP | kind::MMAP2 => {
            let id = sample_id(&mut cursor, layout)?;
            let is_second = header.kind == kind::MMAP2;
            let map = side_band::map(&mut cursor, header.misc, is_second)?;
            Ok(Record::Map(map, id))
        }
        kind::FORK => {
            let id = sample_id(&mut cursor, layout)?;
            Ok(Record::Fork(side_band::task(&mut cursor)?, id))
        }
        kind::EXIT => {
            let id = sample_id(&mut cursor, layout)?;
            Ok(Record::Exit(side_band::task(&mut cursor)?, id))
        }
        kind::LOST => {
            let id = sample_id(&mut cursor, layout)?;
            Ok(Record::Lost(side_band::lost(&mut cursor)?, id))
        }
        kind::LOST_SAMPLES => {
            let id = sample_id(&mut cursor, layout)?;
            Ok(Record::LostSamples(cursor.u64("lost")?, id))
        }
        kind::THROTTLE..=kind::CALLCHAIN_DEFERRED => {
            let id = sample_id(&mut cursor, layout)?;
            Ok(
                match other::other(&mut cursor, header.kind, header.misc, layout)? {
                    Some(other) => Record::Other(other, id),
                    None => Record::Unknown { header, body },
                },
            )
        }
        _ => Ok(Record::Unknown { header, body }),
    }
}

/// Takes the trailer off the end, leaving the cursor with the record's own body.
// perf_event__output_id_sample(), kernel/events/core.c: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER.
fn sample_id(cursor: &mut Cursor<'_>, layout: &Layout) -> Result<SampleId, RecordError> {
    use crate::attr::SampleType as S;
    let mut id = SampleId::default();
    if !layout.sample_id_all {
        return Ok(id);
    }
    let kind = layout.sample_type;
    let bits = [S::TID, S::TIME, S::ID, S::STREAM_ID, S::CPU, S::IDENTIFIER];
    let words = bits.iter().filter(|bit| kind.has(**bit)).count();
    let mut trailer = cursor.split_end(words.saturating_mul(8), "sample_id")?;
    if kind.has(S::TID) {
        id.task = Some((Pid(trailer.u32("pid")?), Tid(trailer.u32("tid")?)));
    }
    if kind.has(S::TIME) {
        id.time = Some(Nanos(trailer.u64("time")?));
    }
    if kind.has(S::ID) {
        id.id = Some(trailer.u64("id")?);
    }
    if kind.has(S::STREAM_ID) {
        id.stream_id = Some(trailer.u64("stream_id")?);
    }
    if kind.has(S::CPU) {
        id.cpu = Some(trailer.u32("cpu")?);
        trailer.skip(4, "res")?;
    }
    if kind.has(S::IDENTIFIER) {
        id.identifier = Some(trailer.u64("identifier")?);
    }
    Ok(id)
}

#[cfg(test)]
#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]
mod tests;
