//! Reads tar archives, entry by entry: those of GNU tar, of POSIX (pax), and of what came before.
//!
//! # References
//! `pax(1)` of POSIX ("pax Interchange Format", "ustar Interchange Format"); "Basic Tar Format" in
//! the manual of GNU tar.

use super::header::{Ahead, checksum, field, number, pax, text};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// Why an archive cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum TarError {
    /// Its bytes cannot be read, or cannot be unpacked.
    #[error("it cannot be read to its end")]
    Read(#[source] io::Error),
    /// It ends early.
    #[error("it is cut: it ends within {0}")]
    Cut(String),
    /// It is none, or one that is not understood.
    #[error("{0}")]
    Form(String),
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Symlink,
    /// A further name of an entry before it.
    Link,
    /// A device or a FIFO.
    Special,
}

/// What an archive says of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: Vec<u8>,
    pub(super) kind: Kind,
    pub(super) mode: u32,
    pub(super) user: u32,
    pub(super) group: u32,
    /// Seconds since 1970.
    pub(super) modified: i64,
    /// Of its contents, in bytes.
    pub(super) size: u64,
    /// Where its contents begin, from the start of the archive.
    pub(super) at: u64,
    /// What a link names.
    pub(super) target: Vec<u8>,
    /// Whether it has extended attributes.
    pub(super) has_attributes: bool,
}

impl Entry {
    pub(super) fn shown(&self) -> String {
        shown(&self.path)
    }
}

/// A path as it is shown.
pub(super) fn shown(path: &[u8]) -> String {
    let path = OsString::from_vec(path.to_vec());
    format!("`{}`", perf_records::units::shown_path(Path::new(&path)))
}

/// Headers and contents begin at multiples of this.
const BLOCK: u64 = 512;

/// The most bytes of a name, or of what pax says of an entry.
const LONGEST: u64 = 1 << 20;

/// An archive that is read.
#[derive(Debug)]
pub(super) struct Tar<R> {
    from: R,
    at: u64,
    /// What of the last entry has not been read.
    left: u64,
    /// What was said of all entries.
    of_all: Ahead,
    last: Option<String>,
    /// Whether an end without a mark is one: where a digest holds for the whole.
    may_end_anywhere: bool,
}

impl<R: Read> Tar<R> {
    /// An archive that ends with the mark of its end.
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            at: 0,
            left: 0,
            of_all: Ahead::default(),
            last: None,
            may_end_anywhere: false,
        }
    }

    /// An archive whose digest is known to be right: some programs write no mark of the end.
    pub(super) fn verified(from: R) -> Self {
        Self {
            may_end_anywhere: true,
            ..Self::new(from)
        }
    }

    /// Returns the next entry; `None` at the end, to which all has then been read.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, TarError> {
        let mut ahead = self.of_all.clone();
        loop {
            self.skip()?;
            let Some(header) = self.header()? else {
                // What unpacks the archive checks it at its end.
                io::copy(&mut self.from, &mut io::sink()).map_err(TarError::Read)?;
                return Ok(None);
            };
            let size = number(field(&header, 124, 12), "size")?;
            match field(&header, 156, 1) {
                b"L" => ahead.path = Some(self.text(size)?),
                b"K" => ahead.target = Some(self.text(size)?),
                b"x" => pax(&self.bytes(size)?, &mut ahead)?,
                b"g" => {
                    let text = self.bytes(size)?;
                    pax(&text, &mut self.of_all)?;
                    pax(&text, &mut ahead)?;
                }
                kind => {
                    let kind = kind.first().copied().unwrap_or(0);
                    let entry = self.entry(&header, kind, size, ahead)?;
                    self.last = Some(entry.shown());
                    return Ok(Some(entry));
                }
            }
        }
    }

    /// Reads on in the contents of the last entry.
    pub(super) fn read(&mut self, into: &mut [u8]) -> Result<usize, TarError> {
        let most = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(into.len());
        let into = into.get_mut(..most).unwrap_or_default();
        if into.is_empty() {
            return Ok(0);
        }
        let n = self.some(into)?;
        if n == 0 {
            return Err(self.cut());
        }
        self.left = self.left.saturating_sub(n as u64);
        Ok(n)
    }

    fn cut(&self) -> TarError {
        TarError::Cut(self.last.clone().unwrap_or_else(|| "its start".to_owned()))
    }

    fn some(&mut self, into: &mut [u8]) -> Result<usize, TarError> {
        loop {
            match self.from.read(into) {
                Ok(n) => {
                    self.at = self.at.saturating_add(n as u64);
                    return Ok(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(self.cut());
                }
                Err(error) => return Err(TarError::Read(error)),
            }
        }
    }

    /// Skips to where the next header begins.
    fn skip(&mut self) -> Result<(), TarError> {
        let mut bytes = vec![0; 64 << 10];
        while self.left > 0 {
            self.read(&mut bytes)?;
        }
        let pad = self.at.next_multiple_of(BLOCK).saturating_sub(self.at);
        self.left = pad;
        while self.left > 0 {
            self.read(&mut bytes)?;
        }
        Ok(())
    }

    /// Reads a block; `None` if that is the end of the archive.
    fn header(&mut self) -> Result<Option<[u8; 512]>, TarError> {
        let mut block = [0; 512];
        let mut n_read = 0;
        while let Some(rest) = block.get_mut(n_read..).filter(|rest| !rest.is_empty()) {
            match self.some(rest)? {
                0 => break,
                n => n_read += n,
            }
        }
        match n_read {
            0 if self.may_end_anywhere => return Ok(None),
            0 if self.at == 0 => return Err(TarError::Form("it is empty".to_owned())),
            0 => {
                let last = self.last.clone().unwrap_or_else(|| "its start".to_owned());
                let why = format!("it is cut: behind {last} it ends without the mark of its end");
                return Err(TarError::Form(why));
            }
            512 => {}
            _ => return Err(TarError::Cut("a header".to_owned())),
        }
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let sum = number(field(&block, 148, 8), "checksum").unwrap_or(u64::MAX);
        if sum == checksum(&block) {
            return Ok(Some(block));
        }
        Err(TarError::Form(match &self.last {
            None => "it is no tar archive: its first header has a wrong checksum".to_owned(),
            Some(last) => format!("the header behind {last} has a wrong checksum"),
        }))
    }

    /// Reads all contents of an entry that says something of another.
    fn bytes(&mut self, size: u64) -> Result<Vec<u8>, TarError> {
        if size > LONGEST {
            let why = format!("a name or attributes of {size} bytes are too long");
            return Err(TarError::Form(why));
        }
        self.left = size;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        let mut n_read = 0;
        while let Some(rest) = bytes.get_mut(n_read..).filter(|rest| !rest.is_empty()) {
            n_read += self.read(rest)?;
        }
        Ok(bytes)
    }

    fn text(&mut self, size: u64) -> Result<Vec<u8>, TarError> {
        let bytes = self.bytes(size)?;
        Ok(text(&bytes).to_vec())
    }

    fn entry(
        &mut self,
        header: &[u8; 512],
        kind: u8,
        size: u64,
        ahead: Ahead,
    ) -> Result<Entry, TarError> {
        let name = text(field(header, 0, 100)).to_vec();
        // Of POSIX; GNU tar has times there.
        let prefix = match field(header, 257, 6) {
            b"ustar\0" => text(field(header, 345, 155)),
            _ => b"",
        };
        let whole = match prefix {
            b"" => name,
            prefix => [prefix, b"/", &name].concat(),
        };
        let path = ahead.path.unwrap_or(whole);
        let small = |at, length, what| {
            let value = number(field(header, at, length), what)?;
            let wide = || TarError::Form(format!("the {what} of {} is no number", shown(&path)));
            u32::try_from(value).map_err(|_| wide())
        };
        let kind = match kind {
            // Before POSIX a folder was a name that ends with a slash.
            0 | b'0' | b'7' if path.ends_with(b"/") => Kind::Folder,
            0 | b'0' | b'7' => Kind::File,
            b'1' => Kind::Link,
            b'2' => Kind::Symlink,
            b'3' | b'4' | b'6' => Kind::Special,
            b'5' | b'D' => Kind::Folder,
            b'S' => return Err(sparse(&path)),
            other => {
                let what = (other as char).escape_default();
                let why = format!("{} is of the unknown kind `{what}`", shown(&path));
                return Err(TarError::Form(why));
            }
        };
        if ahead.is_sparse {
            return Err(sparse(&path));
        }
        let has_contents = kind == Kind::File || kind == Kind::Folder;
        let size = ahead.size.unwrap_or(size);
        self.left = if has_contents { size } else { 0 };
        Ok(Entry {
            kind,
            mode: small(100, 8, "mode")? & 0o7777,
            user: ahead.user.map_or_else(|| small(108, 8, "user"), Ok)?,
            group: ahead.group.map_or_else(|| small(116, 8, "group"), Ok)?,
            modified: match ahead.modified {
                Some(time) => time,
                None => i64::try_from(number(field(header, 136, 12), "time")?).unwrap_or(0),
            },
            size: self.left,
            at: self.at,
            target: ahead
                .target
                .unwrap_or_else(|| text(field(header, 157, 100)).to_vec()),
            has_attributes: ahead.has_attributes,
            path,
        })
    }
}

fn sparse(path: &[u8]) -> TarError {
    let path = shown(path);
    TarError::Form(format!(
        "{path} is stored as a file with holes (tar --sparse)"
    ))
}

#[cfg(test)]
#[path = "tar/tests.rs"]
mod tests;
