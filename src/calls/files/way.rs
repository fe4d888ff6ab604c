//! How a call takes a path: what its words say of it, for all who ask where it leads.

use super::super::tree::{Looks, change, looks};
use super::super::{Call, Entry};
use super::arguments::{PathArgument, paths};
use super::opening::{open_flags, resolve_flags};

/// How a call takes the path in one of its arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Whether a link at the end of the path is followed.
    pub follows: bool,
    /// Whether an empty path is the file of the descriptor beside it.
    pub takes_empty: bool,
    /// Whether it is about the name in its folder, and not about the file.
    pub is_name: bool,
    /// Whether the folder is the root of the path (`RESOLVE_IN_ROOT`).
    pub in_root: bool,
    /// Whether no link at all is followed (`RESOLVE_NO_SYMLINKS`).
    pub no_links: bool,
}

/// The source of a bind is a path of its own.
pub(super) const FIRST_PATH: PathArgument = PathArgument {
    directory: None,
    path: 0,
};

impl Way {
    /// That of a call for the path in one of its arguments; `None` where words of it in memory were
    /// not read.
    #[must_use]
    pub fn of(call: &Call, path: u8) -> Option<Self> {
        let args = match call.entry {
            Entry::Seen { args, .. } | Entry::UnderWay { args, .. } => args,
            Entry::Uncorking => [u64::MAX; 6],
            Entry::Missing => return None,
        };
        let name = call.form().unwrap_or_default();
        let Looks {
            follows,
            takes_empty,
        } = looks(name, path, &args, open_flags(call));
        let resolve = resolve_flags(call)?;
        Some(Self {
            follows,
            takes_empty,
            is_name: change(name).is_some_and(|change| change.is_of_name(path)),
            in_root: resolve & 0x10 != 0,
            no_links: resolve & 0x04 != 0,
        })
    }
}

/// Whether an argument of a call is a path that leads to a file, and which argument is the
/// descriptor that it starts from: `Some(None)` where that is the working directory.
#[must_use]
pub fn path_from(name: &str, path: u8) -> Option<Option<u8>> {
    let others = (name == "mount").then_some(&FIRST_PATH);
    let mut all = paths(name).iter().chain(others);
    all.find(|it| it.path == path).map(|it| it.directory)
}
