//! What a file with holes holds.

use nix::errno::Errno;
use nix::sys::statfs::{FUSE_SUPER_MAGIC, fstatfs};
use nix::unistd::{Whence, lseek};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// The bytes of a file that lie in no hole, by their offsets. All others are zeros.
pub type Parts = Vec<(u64, Vec<u8>)>;

/// Reads what a regular file holds, its holes (`lseek(2)`, `SEEK_DATA`) left out; `None` where that
/// is more than `most` bytes. The offset of the open file description is another one afterwards.
///
/// # Errors
/// Those of `lseek(2)` and `pread(2)`.
pub fn held(file: &File, most: u64) -> io::Result<Option<Parts>> {
    let size = file.metadata()?.len();
    // A FUSE server is asked where its data is, and knows nothing of pages that are dirty here.
    let is_asked = fstatfs(file)?.filesystem_type() != FUSE_SUPER_MAGIC;
    let (mut parts, mut left, mut at) = (Parts::new(), most, 0);
    while at < size {
        let Some(range) = data(file, at..size, is_asked)? else {
            break;
        };
        let length = range.end - range.start;
        let Some(rest) = left.checked_sub(length) else {
            return Ok(None);
        };
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        file.read_exact_at(&mut bytes, range.start)?;
        parts.push((range.start, bytes));
        (left, at) = (rest, range.end);
    }
    Ok(Some(parts))
}

/// The first run of bytes in a range that lie in no hole.
fn data(file: &File, range: Range<u64>, is_asked: bool) -> io::Result<Option<Range<u64>>> {
    if !is_asked {
        return Ok(Some(range));
    }
    let seek = |at: u64, whence| {
        let at = i64::try_from(at).map_err(|_| Errno::EOVERFLOW)?;
        lseek(file, at, whence).map(i64::unsigned_abs)
    };
    match seek(range.start, Whence::SeekData) {
        Ok(start) if start >= range.end => Ok(None),
        Ok(start) => {
            let end = seek(start, Whence::SeekHole)?;
            Ok(Some(start..end.min(range.end)))
        }
        Err(Errno::ENXIO) => Ok(None),
        // A file system that has no holes.
        Err(Errno::EINVAL) => Ok(Some(range)),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::tempfile;

    #[test]
    fn holes_are_left_out_and_all_else_is_there() {
        let file = tempfile().expect("a file");
        assert_eq!(held(&file, 0).expect("parts"), Some(Parts::new()));
        file.set_len(1 << 32).expect("a size");
        file.write_all_at(b"first", 3).expect("a write");
        file.write_all_at(b"last", (1 << 31) - 2).expect("a write");
        let parts = held(&file, 1 << 20).expect("parts").expect("room");
        let read: u64 = parts.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        assert!(read <= 1 << 20, "{read}");
        let all: Vec<(u64, u8)> = parts
            .iter()
            .flat_map(|(at, bytes)| (*at..).zip(bytes.iter().copied()))
            .filter(|(_, byte)| *byte != 0)
            .collect();
        let meant = (3..).zip(*b"first").chain(((1 << 31) - 2..).zip(*b"last"));
        assert_eq!(all, meant.collect::<Vec<_>>());
        assert_eq!(held(&file, 8).expect("parts"), None);
    }
}
