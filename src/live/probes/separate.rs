//! The files that hold what was stripped from programs and libraries.
//!
//! Where they are is what gdb looks for ("Debugging Information in Separate Files" of its manual).

use super::elf::{Elf, parse, read};
use object::Object;
use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const FOLDER: &str = "/usr/lib/debug";

/// The bytes of such a file, if it belongs to this program or library.
pub(super) fn debugging_information(elf: &Elf<'_>, path: &Path) -> Option<Vec<u8>> {
    let id = elf.build_id().ok().flatten();
    let by_id = id.and_then(|id| {
        let digits = hexadecimal(id);
        let (first, rest) = digits.split_at_checked(2)?;
        Some(Path::new(FOLDER).join(format!(".build-id/{first}/{rest}.debug")))
    });
    if let Some(bytes) = by_id.and_then(|path| read(&path).ok())
        && parse(&bytes).is_ok()
    {
        return Some(bytes);
    }
    let (name, sum) = elf.gnu_debuglink().ok().flatten()?;
    let name = OsStr::from_bytes(name);
    let path = path.canonicalize().ok()?;
    let folder = path.parent()?;
    let below = folder.strip_prefix("/").unwrap_or(folder);
    let places: [PathBuf; 3] = [
        folder.join(name),
        folder.join(".debug").join(name),
        Path::new(FOLDER).join(below).join(name),
    ];
    places.iter().find_map(|place| {
        let bytes = read(place).ok()?;
        let other = parse(&bytes)
            .ok()?
            .build_id()
            .ok()
            .flatten()
            .map(<[u8]>::to_vec);
        let belongs = match (id, other) {
            (Some(id), Some(other)) => id == other,
            _ => crc(&bytes) == sum,
        };
        (belongs && place != &path).then_some(bytes)
    })
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _always_fits = write!(text, "{byte:02x}");
        text
    })
}

/// The sum in `.gnu_debuglink`: CRC-32 as in `zlib`.
fn crc(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}
