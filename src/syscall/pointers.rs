//! What is to be read from memory for which call.

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
        "execve" => vec![
            string(0),
            Fetch {
                extent: Extent::Strings,
                ..string(1)
            },
        ],
        _ => Vec::new(),
    }
}

/// What a pointer is.
#[must_use]
pub fn kind(name: &str, index: usize) -> Option<super::kinds::ArgKind> {
    use super::kinds::ArgKind;
    match (name, index) {
        ("openat", 1) | ("open", 0) | ("execve", 0) => Some(ArgKind::Path),
        ("execve", 1) => Some(ArgKind::Strings),
        _ => None,
    }
}
