//! What is to be read from memory for which call.

use super::kinds::ArgKind;
use super::names::Abi;
use crate::memory::{Extent, Fetch, Moment};

/// The fetches of a call.
#[must_use]
pub fn fetches(abi: Abi, name: &str) -> Vec<Fetch> {
    let string = |argument| Fetch {
        argument,
        moment: Moment::Enter,
        extent: Extent::String,
        limit: 4096,
    };
    match name {
        _ if abi != Abi::native() => Vec::new(),
        "openat" => vec![string(1)],
        "open" => vec![string(0)],
        _ => Vec::new(),
    }
}

/// What the argument at `index` of the call points to, if it is a pointer to something known.
pub fn kind(syscall: &str, index: usize) -> Option<ArgKind> {
    let _ = (syscall, index);
    None
}
