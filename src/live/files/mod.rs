//! Files that people name: read without ever waiting for them, and written whole or not at all.
//!
//! [`read`] and the functions beside it take regular files alone, up to a [`Bound`]: a FIFO would
//! keep the reader waiting, and opening a device may have any effect. [`open_stream`] is for what
//! may be a pipe by design. [`Output`] is the only way by which a file that a user has named is
//! written.

mod input;
mod output;
mod recording;

pub use input::{
    Bound, EVENTS, FUNCTIONS, InputError, KERNELS, Kind, LAID, POLICY, PROGRAM, SCENARIO, SNAPSHOT,
    TRACE, look, open, open_stream, read, text,
};
pub use output::{Access, Output, OutputError, write, write_new};
pub use recording::recording;
