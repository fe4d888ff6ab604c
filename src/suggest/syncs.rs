//! What calls say of files, and which of them bring files to the disk.

use crate::trace::{Deed, Value};
use syscall_model::files::FileKind;

/// What a call brings to the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Brings {
    /// Everything: `sync`, or `syncfs` of a file below the working directory.
    All,
    /// The file of its descriptor, by its name.
    File(Vec<u8>),
    /// A file that is not known.
    Unknown,
}

/// What a call brings to the disk, if it does and succeeds.
pub(super) fn brings(deed: &Deed) -> Option<Brings> {
    if !succeeded(deed) {
        return None;
    }
    let name = || match deed.part("fd")?.value {
        Value::File { ref name, .. } if !name.is_empty() => Some(name.clone()),
        _ => None,
    };
    Some(match &*deed.name {
        "sync" => Brings::All,
        "fsync" | "fdatasync" => name().map_or(Brings::Unknown, Brings::File),
        // Which file it is of, only its address says; with MS_ASYNC it waits for nothing.
        "msync" if has_flag(deed, "MS_SYNC") => Brings::Unknown,
        "syncfs" => match name() {
            Some(name) if name.starts_with(b"$DIR") => Brings::All,
            _ => Brings::Unknown,
        },
        _ => return None,
    })
}

/// Whether a call has this flag.
pub(super) fn has_flag(deed: &Deed, flag: &str) -> bool {
    has_name(deed, "flags", flag)
}

/// Whether a part of a call has this constant among its names.
pub(super) fn has_name(deed: &Deed, word: &str, wanted: &str) -> bool {
    deed.part(word).is_some_and(|part| {
        matches!(&part.value, Value::Names(names, _) if names.iter().any(|name| **name == *wanted))
    })
}

pub(super) fn succeeded(deed: &Deed) -> bool {
    deed.returns
        .as_ref()
        .is_some_and(|part| part.value == Value::Number(0))
}

/// Whether a call writes to the file of its descriptor.
pub(super) fn writes(deed: &Deed) -> bool {
    let is_write = deed.name.starts_with("write") || deed.name.starts_with("pwrite");
    let has_written = deed
        .returns
        .as_ref()
        .is_some_and(|part| matches!(part.value, Value::Number(many) if many > 0));
    is_write && has_written
}

/// Returns the name of a descriptor's file.
pub(super) fn file(deed: &Deed) -> Option<Vec<u8>> {
    match &deed.part("fd")?.value {
        Value::File { name, .. } if !name.is_empty() => Some(name.clone()),
        _ => None,
    }
}

/// Returns a path from the root.
pub(super) fn absolute(deed: &Deed, word: &str) -> Option<Vec<u8>> {
    match &deed.part(word)?.value {
        Value::Path { absolute, .. } => absolute.clone(),
        _ => None,
    }
}

/// Returns a path as an author would write it: below the working directory if it is there, else as
/// in the call.
pub(super) fn path(deed: &Deed, word: &str) -> Option<String> {
    let part = deed.part(word)?;
    let Value::Path {
        given, absolute, ..
    } = &part.value
    else {
        return None;
    };
    let below = absolute
        .as_ref()
        .and_then(|path| path.strip_prefix(b"$DIR/"));
    let path = below.unwrap_or(given);
    written(path.strip_prefix(b"./").unwrap_or(path))
}

/// Returns a name as an author would write it.
pub(super) fn written(name: &[u8]) -> Option<String> {
    let name = match name {
        b"$DIR" => b".",
        name => {
            let inner = name.strip_prefix(b"$DIR/");
            inner
                .filter(|inner| !FileKind::is_word(inner))
                .unwrap_or(name)
        }
    };
    String::from_utf8(name.to_vec()).ok()
}
