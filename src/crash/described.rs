//! Calls in words, for reports.

use super::seen::{Act, Begin, Opened, Seen, Spot, Target};

/// A call as a person reads it.
pub(super) fn described(seen: &Seen, value: u64) -> String {
    let path = |path: &[u8]| String::from_utf8_lossy(path).escape_debug().to_string();
    let spot = |spot: &Spot| match spot.folder.as_slice() {
        [] => path(&spot.name),
        folder => format!("{}/{}", path(folder), path(&spot.name)),
    };
    let opened = |file: &Opened| match file.path.as_deref() {
        None => "a removed file".to_owned(),
        Some([]) => ".".to_owned(),
        Some(name) => path(name),
    };
    let target = |target: &Target| match target {
        Target::Opened(file) => opened(file),
        Target::Named(at) => spot(at),
        Target::Watched(folder) if folder.is_empty() => ".".to_owned(),
        Target::Watched(folder) => path(folder),
    };
    let words = match &seen.act {
        Act::Open { at, .. }
        | Act::MakeFolder { at, .. }
        | Act::MakeLink { at, .. }
        | Act::MakeOther { at, .. }
        | Act::Remove(at) => spot(at),
        Act::Link { of, to } => format!("{}, {}", target(of), spot(to)),
        Act::Rename { from, to, .. } => format!("{}, {}", spot(from), spot(to)),
        Act::Write { file, begin, .. } => match begin {
            Begin::At(at) => format!("{}, {value} bytes at {at}", opened(file)),
            Begin::End => format!("{}, {value} bytes at the end", opened(file)),
        },
        Act::Cloned { file, at, bytes } => {
            format!("{}, {} bytes at {at}", opened(file), bytes.len())
        }
        Act::Truncate { file, size } => format!("{}, {size}", target(file)),
        Act::Allocate {
            file, at, length, ..
        } => format!("{}, {length} bytes at {at}", opened(file)),
        Act::Mode { file, mode } | Act::Permissions { file, mode } => {
            format!("{}, {mode:#o}", target(file))
        }
        Act::Owner { file, .. } => target(file),
        Act::Xattr { file, name, .. } => format!("{}, {}", target(file), path(name)),
        Act::Sync { file, .. } | Act::Maps(file) => opened(file),
        Act::SyncRange { file, range } => {
            format!("{}, bytes {} to {}", opened(file), range.start, range.end)
        }
        Act::Said(bytes) => {
            let said = bytes.get(..value as usize).unwrap_or(bytes);
            format!("\"{}\"", path(said.get(..60).unwrap_or(said)))
        }
        Act::Nameless { .. }
        | Act::SyncAll
        | Act::Mapped { .. }
        | Act::Stored { .. }
        | Act::StoredIn { .. }
        | Act::Unknown(_)
        | Act::Nothing => String::new(),
    };
    format!("{}({words})", seen.call)
}
