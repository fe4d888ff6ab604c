//! Writes the archive that a kernel unpacks before anything is mounted.
//!
//! # References
//! `Documentation/driver-api/early-userspace/buffer-format.rst`; `init/initramfs.c`.

use std::fmt::Write;
use std::io;

/// An archive in the format `newc`, file by file.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    files: u32,
}

/// What an entry is, beside its name and its contents.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    /// With the bits of its kind.
    pub(super) mode: u32,
    pub(super) user: u32,
    pub(super) group: u32,
    /// Seconds since 1970.
    pub(super) modified: u32,
    /// Of a file with several names: each of them has the number of the first, which has the
    /// contents.
    pub(super) is_linked: bool,
    pub(super) first: Option<u32>,
}

impl About {
    const fn of_mode(mode: u32) -> Self {
        Self {
            mode,
            user: 0,
            group: 0,
            modified: 0,
            is_linked: false,
            first: None,
        }
    }
}

const FOLDER: About = About::of_mode(0o040_755);
const FILE: About = About::of_mode(0o100_755);

impl Archive {
    /// Adds a folder; the folders above it must come first.
    pub(super) fn folder(&mut self, path: &str) {
        self.entry(path.as_bytes(), &FOLDER, &[]);
    }

    /// Adds a file that may be read and executed.
    pub(super) fn file(&mut self, path: &str, contents: &[u8]) {
        self.entry(path.as_bytes(), &FILE, contents);
    }

    /// Ends the archive, and returns it.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry(b"TRAILER!!!", &About::of_mode(0), &[]);
        self.bytes
    }

    /// Writes what there is so far, so that it is held no longer.
    pub(super) fn drain(&mut self, out: &mut impl io::Write) -> io::Result<()> {
        out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Adds an entry of any kind; returns its number.
    pub(super) fn entry(&mut self, path: &[u8], about: &About, contents: &[u8]) -> u32 {
        self.files = self.files.saturating_add(1);
        let number = about.first.unwrap_or(self.files);
        let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut head = String::from("070701");
        // Inode, mode, user, group, links, time, length, two pairs of devices, length of the name
        // with its end, no checksum.
        let numbers = [
            number,
            about.mode,
            about.user,
            about.group,
            if about.is_linked { 2 } else { 1 },
            about.modified,
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
        self.bytes.extend(path);
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(contents);
        self.pad();
        number
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
