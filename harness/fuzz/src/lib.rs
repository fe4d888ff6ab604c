//! What the targets share.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::PathBuf;

/// A file without a name that holds these bytes, to be read from its beginning.
#[must_use]
pub fn file_of(bytes: &[u8]) -> File {
    // SAFETY: the name is a string of C, and the descriptor that comes back is nobody else's.
    let mut file = unsafe {
        let number = libc::memfd_create(c"fuzz".as_ptr(), libc::MFD_CLOEXEC);
        assert!(number >= 0, "{}", std::io::Error::last_os_error());
        File::from_raw_fd(number)
    };
    file.write_all(bytes).expect("memory");
    std::io::Seek::rewind(&mut file).expect("a file");
    file
}

/// The path by which it can be opened.
#[must_use]
pub fn path_of(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Input that is taken from its front; zeros behind its end.
#[derive(Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// So many bytes, or as many as there are.
    pub fn some(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.some(1).first().copied().unwrap_or(0)
    }

    /// Two bytes.
    pub fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Eight bytes.
    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }
}
