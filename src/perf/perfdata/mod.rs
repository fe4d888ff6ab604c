//! The perf.data container: files and pipes, read and written (`tools/perf/util/header.c`,
//! `tools/perf/Documentation/perf.data-file-format.txt`).
//!
//! ```text
//! file   header(104) | ids | attributes | records ... | table of features | features
//! pipe   header(16)  | records ...      what a file says in attributes and features comes as records of types from 64 on
//! ```

mod compress;
mod directory;
mod error;
pub mod features;
mod foreign;
mod header;
mod inflate;
mod input;
mod intake;
mod item;
mod kinds;
mod meta;
mod names;
mod order;
mod payload;
mod reader;
pub mod synthesized;
mod tracing;
mod writer;

pub use directory::Files;
pub use error::ReadError;
pub use item::{Item, Place};
pub use kinds::{Feature, own};
pub use meta::Meta;
pub use order::Ordered;
pub use reader::Reader;
pub use tracing::{TracingData, TracingError};
pub use writer::{Prologue, Writer};

use crate::attr::StoredAttr;

/// `PERFILE2`, as a machine of little-endian order reads it: the first word of a file or pipe, and
/// what tells its byte order.
pub const MAGIC: u64 = u64::from_le_bytes(*b"PERFILE2");

/// The length of a file's header in bytes.
pub const FILE_HEADER: usize = 104;

/// The length of a pipe's header in bytes.
pub const PIPE_HEADER: usize = 16;

/// What a file ends with that holds [`Feature::BESIDES`]: in front stand its bytes and their
/// number.
const BESIDES_MAGIC: [u8; 8] = *b"BESIDES\0";

/// The size of the attributes that are written, `PERF_ATTR_SIZE_VER7`: perf 6.1 refuses longer
/// ones.
pub const ATTR_SIZE: u32 = 128;

/// An event of a file or pipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventDesc {
    /// What was asked of the kernel.
    pub attr: StoredAttr,
    /// The ids of its records, one for each CPU or task that it was opened on.
    pub ids: Vec<u64>,
    /// As its tool names it: `sched:sched_switch`, `cpu-clock`; empty where nothing says it.
    pub name: String,
}

#[cfg(test)]
#[expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]
mod spoilt;
#[cfg(test)]
#[expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]
mod tests;
