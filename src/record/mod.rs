//! THE record parser: bytes of a perf record, from a ring, a file or a pipe, to a [`Record`].
//!
//! Total: any bytes give a record or a [`RecordError`] that says which field did not fit. Nothing is allocated; what is variable in length
//! stays a slice of the input. Unknown types are values, not errors.
//!
//! ```text
//! u32 type | u16 misc | u16 size | body ... | sample id trailer (all but samples)
//! ```

mod cursor;
mod sample;
mod side_band;
mod table;

pub use sample::{Registers, Sample};
pub use side_band::{Comm, Lost, Map, Task};
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

/// The type numbers of `enum perf_event_type` that are read here.
pub mod kind {
    /// Code was mapped.
    pub const MMAP: u32 = 1;
    /// Records were dropped for want of room.
    pub const LOST: u32 = 2;
    /// A thread has a new name.
    pub const COMM: u32 = 3;
    /// A thread ended.
    pub const EXIT: u32 = 4;
    /// A thread was created.
    pub const FORK: u32 = 7;
    /// An event fired.
    pub const SAMPLE: u32 = 9;
    /// Samples were dropped, counted by the hardware or by `perf record`.
    pub const LOST_SAMPLES: u32 = 13;
}

/// One record, borrowed from the bytes that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<'a> {
    /// `PERF_RECORD_SAMPLE`.
    Sample(Sample<'a>),
    /// `PERF_RECORD_COMM`.
    Comm(Comm<'a>, SampleId),
    /// `PERF_RECORD_MMAP`.
    Map(Map<'a>, SampleId),
    /// `PERF_RECORD_FORK`.
    Fork(Task, SampleId),
    /// `PERF_RECORD_EXIT`.
    Exit(Task, SampleId),
    /// `PERF_RECORD_LOST`: written only in front of the next record that fits, so losses at the end of a run have none.
    Lost(Lost, SampleId),
    /// `PERF_RECORD_LOST_SAMPLES`.
    LostSamples(u64, SampleId),
    /// A type that is not read here; the body is what lies behind the header.
    Unknown {
        /// Its header.
        header: Header,
        /// Its bytes.
        body: &'a [u8],
    },
}

/// The sample id trailer of the records that are no samples: those fields that `sample_type` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleId {
    /// The thread that was running.
    pub task: Option<(Pid, Tid)>,
    /// When.
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

/// Parses one whole record.
///
/// # Errors
/// [`RecordError`], which names the field at fault.
pub fn parse<'a>(bytes: &'a [u8], layout: &Layout) -> Result<Record<'a>, RecordError> {
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
    let mut cursor = Cursor::new(body, header.kind);
    match header.kind {
        kind::SAMPLE => sample::parse(&mut cursor, layout).map(Record::Sample),
        kind::COMM => {
            let id = sample_id(&mut cursor, layout)?;
            Ok(Record::Comm(side_band::comm(&mut cursor, header.misc)?, id))
        }
        kind::MMAP => {
            let id = sample_id(&mut cursor, layout)?;
            Ok(Record::Map(side_band::map(&mut cursor)?, id))
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
