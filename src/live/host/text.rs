//! The kernel's own files, read in as few calls as their length allows: they say that they are
//! empty, and the standard library would feel its way from 32 bytes on.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Holds most of them.
const USUAL: usize = 4096;

/// The bytes of a file of procfs, sysfs or a hierarchy of control groups.
pub(crate) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL);
    // Without a bound nobody asks for the length.
    File::open(path)?.take(u64::MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of such a file.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    of(File::open(path)?)
}

/// The rest of such a file that is open.
pub(crate) fn of(file: File) -> io::Result<String> {
    let mut text = String::with_capacity(USUAL);
    file.take(u64::MAX).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_whatever_its_length() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for length in [0, 1, USUAL - 1, USUAL, USUAL + 1, 5 * USUAL] {
            let written = "x".repeat(length);
            std::fs::write(&file, &written).unwrap();
            assert_eq!(text(&file).unwrap(), written);
            assert_eq!(bytes(&file).unwrap(), written.as_bytes());
        }
        assert!(text(&folder.path().join("none")).is_err());
        std::fs::write(&file, b"\xff").unwrap();
        assert!(text(&file).is_err());
    }
}
