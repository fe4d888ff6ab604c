//! What descriptors refer to, from the calls alone.
//!
//! [`Tables`] follows every process' table of descriptors, and its working directory, through the
//! stream of observations, and looks a call's descriptors up when the call is *entered*: what
//! another thread does to them later does not change what this call was given. Nothing is asked of
//! procfs, which would answer for the time of asking. What cannot be known is told as unknown,
//! never guessed; what is open nowhere is told as that.
//!
//! A call takes effect somewhere between its two halves. Where threads share a table that matters,
//! and each case is decided for what is certain:
//!
//! - `close(2)` frees the number before it returns, and another thread may have it again before
//!   that return is seen. So it is applied when it is entered, whatever it returns: afterwards the
//!   number is free or has been taken anew.
//! - An open is applied when it returns; before that, only a guess could use the number.
//! - `dup2(2)` changes its target at some moment in between, for which the target is unknown to the
//!   other threads.
//! - A copy of a table (`fork`, exec, `unshare`) is taken at some moment in between: what others
//!   changed meanwhile is unknown in it.

mod answered;
mod arguments;
mod arriving;
mod calls;
mod climbing;
mod code;
mod directory;
mod effects;
mod file;
mod in_memory;
mod lookup;
mod opening;
mod pending;
mod reaching;
mod renaming;
mod sees;
mod sharing;
mod table;
mod tables;
mod tasks;
mod unseen;
mod way;

pub use super::tree::needed as naming;
pub(super) use arguments::may_be_here;
pub use calls::needed;
pub use climbing::MOVING;
pub use code::{Code, CodeRole};
pub use file::{End, FileKind, Object, OpenFile, Socket};
pub use lookup::{Files, Lookup};
pub use opening::polls_itself;
pub use tables::{Initial, Tables, Watched};
pub use way::{Way, path_from};

#[cfg(test)]
mod tests;
