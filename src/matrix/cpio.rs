//! Writes the archive that a kernel unpacks before anything is mounted.
//!
//! # References
//! `Documentation/driver-api/early-userspace/buffer-format.rst`; `init/initramfs.c`.

use std::fmt::Write;

/// An archive in the format `newc`, file by file.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    files: u32,
}

const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_755;

impl Archive {
    /// Adds a folder; the folders above it must come first.
    pub(super) fn folder(&mut self, path: &str) {
        self.entry(path, FOLDER, &[]);
    }

    /// Adds a file that may be read and executed.
    pub(super) fn file(&mut self, path: &str, contents: &[u8]) {
        self.entry(path, FILE, contents);
    }

    /// Ends the archive, and returns it.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, contents: &[u8]) {
        self.files = self.files.saturating_add(1);
        let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut head = String::from("070701");
        // Inode, mode, user, group, links, time, length, two pairs of devices, length of the name
        // with its end, no checksum.
        let numbers = [
            self.files,
            mode,
            0,
            0,
            1,
            0,
            length(contents.len()),
            0,
            0,
            0,
            0,
            length(path.len().saturating_add(1)),
            0,
        ];
        for number in numbers {
            let _always_fits = write!(head, "{number:08x}");
        }
        self.bytes.extend(head.as_bytes());
        self.bytes.extend(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(contents);
        self.pad();
    }

    /// Pads to a multiple of four, at which names and contents begin.
    fn pad(&mut self) {
        let whole = self.bytes.len().next_multiple_of(4);
        self.bytes.resize(whole, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_contents_begin_at_multiples_of_four() {
        let mut archive = Archive::default();
        archive.folder("vm");
        archive.file("vm/odd", b"12345");
        let text = String::from_utf8(archive.finish()).unwrap();
        let zeros = |n: usize| "00000000".repeat(n);
        let head = |inode: u32, mode: u32, length: u32, name: u32| {
            let (ids, time, devices, check) = (zeros(2), zeros(1), zeros(4), zeros(1));
            format!(
                "070701{inode:08x}{mode:08x}{ids}00000001{time}{length:08x}{devices}{name:08x}{check}"
            )
        };
        let expected = format!(
            "{}vm\0\0\0\0{}vm/odd\0\0\0\012345\0\0\0",
            head(1, 0o040_755, 0, 3),
            head(2, 0o100_755, 5, 7)
        );
        assert_eq!(text.get(..expected.len()), Some(expected.as_str()));
    }
}
