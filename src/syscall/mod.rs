//! System calls: pairing of their halves, their names, and what their arguments are.

mod call;
pub mod class;
pub mod errno;
pub mod kinds;
pub mod names;
pub mod select;
mod signature;
mod text;
mod track;

pub use call::{Actor, Call, Entry, Observation, Outcome, ShortName, ThreadId};
pub use signature::{Argument, Signature, Signatures};
pub use text::{Shown, Values, write_argument, write_arguments, write_result};
pub use track::Tracker;

#[cfg(test)]
mod tests;
