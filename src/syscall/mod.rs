//! System calls: pairing of their halves, their names, and what their arguments are.

pub mod class;
pub mod errno;
pub mod kinds;
pub mod names;
pub mod select;
mod signature;
mod text;
mod track;

pub use signature::{Argument, Signature, Signatures};
pub use text::{Shown, Values, write_argument, write_result};
pub use track::{Actor, Call, Entry, Observation, Outcome, ShortName, ThreadId, Tracker};

#[cfg(test)]
mod tests;
