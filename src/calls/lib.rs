#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

mod assigned;
mod attach;
mod by_row;
mod call;
mod choice;
pub mod class;
pub mod constants;
mod ends;
pub mod errno;
pub mod files;
mod gathered;
mod injected;
mod kin;
pub mod kinds;
mod layout;
mod lineage;
pub mod many;
pub mod mappings;
mod meaning;
pub mod memory;
mod memory_text;
pub mod names;
mod numerals;
mod peers;
pub mod pointers;
mod pool;
mod received;
mod refused;
mod relatives;
pub mod select;
pub mod signals;
mod signature;
mod sources;
mod starts;
pub mod structs;
mod text;
mod thread;
mod track;
mod tree;
pub mod uring;
mod waiting;

pub use call::{Actor, Call, Entry, Observation, Outcome, Shares, ShortName, ThreadId};
pub use choice::{Choice, Descriptors, Endings, Paths};
pub use gathered::{moves_gathered, names_address_in_header};
pub use injected::{Answer, Injected};
pub use kin::kin;
pub use layout::native_words;
pub use lineage::{Creator, Lineage, Living};
pub use meaning::{Commands, Depends};
pub use memory_text::UNREAD;
pub use numerals::{write_escaped, write_string};
pub use peers::{
    Addressed, SocketAddress, address_place, addressed, core_limit_behind, flags_behind,
    is_told_address, modes_behind, names_of_flags_behind,
};
pub use received::{Received, gives_by_handed, received};
pub use relatives::{has_all_of, native_calls, native_name, natives_of};
pub use signature::{Argument, Meanings, Signature, Signatures};
pub use sources::{Remembered, Sources};
pub use starts::{Role, Starts};
pub use structs::Varying;
pub use text::{
    Shown, Values, returns, write_argument, write_arguments, write_read_argument, write_result,
};
pub use track::Tracker;
pub use tree::{Alias, Begins, Holding, Holds, Magic, Sought, Task, aliases, seek};
pub use tree::{Anchored, Doubt, Found, Ground, Identity, Led, Reached, Sharing, Why};
pub use waiting::waits;

#[cfg(test)]
mod tests;

/// The name of the code that came with a signal: `SI_USER`, `CLD_EXITED`; `None` where it has none.
#[must_use]
pub fn signal_code(signal: i32, code: i32) -> Option<&'static str> {
    structs::code_name(signal, code)
}

/// The names of all such codes.
pub fn signal_codes() -> impl Iterator<Item = &'static str> {
    structs::code_names()
}
