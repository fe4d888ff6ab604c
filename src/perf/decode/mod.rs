//! A tracepoint's payload and its format, turned into named, typed values.
//!
//! The payload is the body of `PERF_SAMPLE_RAW`: the record as the kernel laid it out,
//! `common_type` first, in the byte order of a little-endian kernel. The invariant: every byte that
//! is read lies in the payload. A field that does not is a [`DecodeError`] with the field's name,
//! never a default; nothing panics, and nothing is copied or allocated but the name in an error.
//!
//! ```text
//! (payload, &format::Field) --field-->             Value               of any shape
//!                           --bits, text, array--> u64, &[u8], Array   where the caller knows it
//! ```

mod bytes;
mod error;
mod locate;
mod read;
mod text;
mod value;

pub use error::{DecodeError, Fault};
pub use read::{array, bits, content, field, fields, text};
pub use value::{Array, ArrayIter, CpuMask, Value};
