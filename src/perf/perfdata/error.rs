//! Why an input cannot be read on, and where.

use super::TracingError;
use crate::attr::AttrError;
use crate::record::TableError;
use std::io;

/// Why an input cannot be read on. Everything in front of the place has been given.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input cannot be read.
    #[error("cannot read {what} at byte {at}")]
    Io {
        /// Where, in bytes.
        at: u64,
        /// What was being read.
        what: &'static str,
        /// The error of reading it.
        source: io::Error,
    },
    /// It does not begin with `PERFILE2`.
    #[error(
        "this is no perf.data: it begins with {found:02x?}, not with `PERFILE2` in either byte order"
    )]
    Magic {
        /// Its first bytes.
        found: Vec<u8>,
    },
    /// It ends, or its section does, before what it says is there.
    #[error("{what} at byte {at} has {needs} bytes, and {there} are there")]
    Ends {
        /// Where it begins, in bytes.
        at: u64,
        /// What was being read.
        what: &'static str,
        /// How many bytes it would have.
        needs: u64,
        /// The number of bytes there are.
        there: u64,
    },
    /// A size or a number that cannot be.
    #[error("{what} at byte {at} cannot be {said}")]
    Value {
        /// Where it stands, in bytes.
        at: u64,
        /// The name of the part.
        what: &'static str,
        /// What it says.
        said: u64,
    },
    /// An attribute makes no sense.
    #[error("the attribute at byte {at} makes no sense")]
    Attr {
        /// Where it begins, in bytes.
        at: u64,
        /// The error in the attribute.
        source: AttrError,
    },
    /// The formats of tracepoints make no sense.
    #[error("the formats of tracepoints at byte {at} make no sense")]
    Tracing {
        /// Where they begin, in bytes.
        at: u64,
        /// The error in the tracing data.
        source: TracingError,
    },
    /// What is compressed makes no sense.
    #[error("the compressed record at byte {at} cannot be decompressed")]
    Compressed {
        /// Where it begins, in bytes.
        at: u64,
        /// The error of the decompression.
        source: io::Error,
    },
    /// Without an attribute a record of the other byte order cannot be turned.
    #[error(
        "the record of type {kind} at byte {at} is of the other byte order, and of no event whose attribute is known"
    )]
    Stranger {
        /// Where it begins, in bytes.
        at: u64,
        /// Its type.
        kind: u32,
    },
    /// A record of the other byte order that is not as long as its event's attribute says.
    #[error("the record of type {kind} at byte {at} ends inside of its fields")]
    Short {
        /// Where it begins, in bytes.
        at: u64,
        /// Its type.
        kind: u32,
    },
    /// A file of a directory.
    #[error("cannot read the file `data.{number}` of the directory")]
    Thread {
        /// The number in the file's name.
        number: u32,
        /// The place and the error in it.
        source: Box<Self>,
    },
    /// One file of a directory, without the others.
    #[error(
        "this is the file `data` of a directory that was recorded with --threads: the other records are in the files beside it, so name the directory"
    )]
    Alone,
    /// The attributes do not tell records apart.
    #[error("the attributes do not tell records apart")]
    Table(#[from] TableError),
}
