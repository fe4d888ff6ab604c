//! Files that people name: read without ever waiting for them, and written whole or not at all.
//!
//! [`read`] and its kin take regular files alone, and no more of them than a [`Bound`] allows: a
//! FIFO would keep the reader waiting, a device may do anything when it is opened. [`open_stream`]
//! is for what may be a pipe by design. [`Output`] is the one way by which a file is written that
//! somebody has named.

mod input;
mod output;
mod recording;

pub use input::{
    Bound, EVENTS, FUNCTIONS, InputError, KERNELS, Kind, LAID, PROGRAM, SCENARIO, SNAPSHOT, TRACE,
    look, open, open_stream, read, text,
};
pub use output::{Access, Output, OutputError, write, write_new};
pub use recording::recording;
