//! Reads tar archives, entry by entry.

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use tar::{Archive, EntryType};

/// Why an archive cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum TarError {
    /// Its bytes cannot be read, or cannot be unpacked.
    #[error("it cannot be read to its end")]
    Read(#[source] io::Error),
    /// It ends early.
    #[error("it is cut: it ends within {0}")]
    Cut(String),
    /// A file of it is stored with its holes left out.
    #[error("{0} is stored as a file with holes (tar --sparse)")]
    Sparse(String),
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

    /// `None` for what is said of all entries, such as the commit of `git archive`.
    fn of<R: Read>(entry: &mut tar::Entry<'_, R>) -> Result<Option<Self>, TarError> {
        let path = entry.path_bytes().into_owned();
        let wrong = |error: io::Error| TarError::Form(format!("{}: {error}", shown(&path)));
        let attributes = attributes(entry).map_err(wrong)?;
        let has = |prefix: &[u8]| attributes.iter().any(|name| name.starts_with(prefix));
        let header = entry.header();
        let kind = match header.entry_type() {
            EntryType::XGlobalHeader => return Ok(None),
            EntryType::GNUSparse => return Err(TarError::Sparse(shown(&path))),
            _ if has(b"GNU.sparse.") => return Err(TarError::Sparse(shown(&path))),
            // Before POSIX a folder was a name that ends with a slash.
            EntryType::Regular | EntryType::Continuous if path.ends_with(b"/") => Kind::Folder,
            EntryType::Regular | EntryType::Continuous => Kind::File,
            EntryType::Directory => Kind::Folder,
            EntryType::Symlink => Kind::Symlink,
            EntryType::Link => Kind::Link,
            EntryType::Char | EntryType::Block | EntryType::Fifo => Kind::Special,
            other => {
                let what = (other.as_byte() as char).escape_default();
                let why = format!("{} is of the unknown kind `{what}`", shown(&path));
                return Err(TarError::Form(why));
            }
        };
        let small = |id: u64| {
            let wide = || TarError::Form(format!("{} has the owner {id}", shown(&path)));
            u32::try_from(id).map_err(|_| wide())
        };
        Ok(Some(Self {
            kind,
            mode: header.mode().map_err(wrong)? & 0o7777,
            user: small(header.uid().map_err(wrong)?)?,
            group: small(header.gid().map_err(wrong)?)?,
            modified: i64::try_from(header.mtime().map_err(wrong)?).unwrap_or(0),
            size: entry.size(),
            at: entry.raw_file_position(),
            target: entry.link_name_bytes().unwrap_or_default().into_owned(),
            has_attributes: has(b"SCHILY.xattr."),
            path,
        }))
    }
}

/// The names of what pax says of an entry beside its header.
fn attributes<R: Read>(entry: &mut tar::Entry<'_, R>) -> io::Result<Vec<Vec<u8>>> {
    let said = entry.pax_extensions()?.into_iter().flatten();
    said.map(|said| Ok(said?.key_bytes().to_vec())).collect()
}

/// A path as it is shown.
pub(super) fn shown(path: &[u8]) -> String {
    let path = OsString::from_vec(path.to_vec());
    format!("`{}`", perf_records::units::shown_path(Path::new(&path)))
}

/// Whether these are the first bytes of an archive that has an entry.
pub(super) fn begins(head: &[u8]) -> bool {
    let mut archive = Archive::new(head);
    let first = archive.entries().map(|mut entries| entries.next());
    matches!(first, Ok(Some(Ok(_))))
}

/// How an archive ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With the mark of its end.
    Marked,
    /// Anywhere between two entries, as its digest is known: some programs write no mark.
    Known,
}

/// Calls `take` for each entry of an archive, with its contents, and reads all up to the end.
pub(super) fn each<E: From<TarError>>(
    from: impl Read,
    end: End,
    mut take: impl FnMut(&Entry, &mut dyn Read) -> Result<(), E>,
) -> Result<(), E> {
    let came = Came::default();
    let mut archive = Archive::new(Watched { from, came: &came });
    let mut last = Last::default();
    let entries = archive.entries().map_err(|error| came.why(error, &last))?;
    for entry in entries {
        let mut entry = entry.map_err(|error| came.why(error, &last))?;
        last.end = entry.raw_file_position().saturating_add(entry.size());
        if let Some(about) = Entry::of(&mut entry)? {
            last.name = Some(about.shown());
            take(&about, &mut entry)?;
        }
    }
    let n_read = came.n_read.get();
    if end == End::Marked && n_read <= last.end.next_multiple_of(512) {
        let why = match last.name {
            None if n_read == 0 => "it is empty".to_owned(),
            None => "it is cut: it ends without the mark of its end".to_owned(),
            Some(name) => format!("it is cut: behind {name} it ends without the mark of its end"),
        };
        return Err(TarError::Form(why).into());
    }
    // What unpacks the archive checks it at its end.
    let rest = io::copy(&mut archive.into_inner(), &mut io::sink());
    Ok(rest.map(drop).map_err(TarError::Read)?)
}

/// Reads all contents of an entry, piece by piece; what ends early is cut.
pub(super) fn contents<E: From<TarError>>(
    entry: &Entry,
    from: &mut dyn Read,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut bytes = vec![0; 64 << 10];
    let mut left = entry.size;
    while left > 0 {
        let n = match from.read(&mut bytes) {
            Ok(0) => return Err(TarError::Cut(entry.shown()).into()),
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(TarError::Cut(entry.shown()).into());
            }
            Err(error) => return Err(TarError::Read(error).into()),
        };
        take(bytes.get(..n).unwrap_or_default())?;
        left = left.saturating_sub(n as u64);
    }
    Ok(())
}

/// What came of an archive so far.
#[derive(Default)]
struct Came {
    n_read: Cell<u64>,
    has_ended: Cell<bool>,
    has_failed: Cell<bool>,
}

impl Came {
    /// Why an archive is not read on behind an entry.
    fn why(&self, error: io::Error, last: &Last) -> TarError {
        let is_early = error.kind() == io::ErrorKind::UnexpectedEof;
        let is_cut = self.has_ended.get() || self.has_failed.get() && is_early;
        match &last.name {
            _ if self.has_failed.get() && !is_cut => TarError::Read(error),
            None if is_cut => TarError::Cut("its first header".to_owned()),
            None => TarError::Form(format!("it is no tar archive: {error}")),
            Some(name) if is_cut && self.n_read.get() < last.end => TarError::Cut(name.clone()),
            Some(name) if is_cut => TarError::Cut(format!("what stands behind {name}")),
            Some(name) => TarError::Form(format!("what stands behind {name}: {error}")),
        }
    }
}

/// The last entry.
#[derive(Default)]
struct Last {
    name: Option<String>,
    /// Where its contents end, from the start of the archive.
    end: u64,
}

struct Watched<'a, R> {
    from: R,
    came: &'a Came,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = loop {
            match self.from.read(into) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        match &read {
            Ok(0) => self.came.has_ended.set(!into.is_empty()),
            Ok(n) => {
                let n_read = self.came.n_read.get().saturating_add(*n as u64);
                self.came.n_read.set(n_read);
            }
            Err(_) => self.came.has_failed.set(true),
        }
        read
    }
}

#[cfg(test)]
#[path = "tar/tests.rs"]
mod tests;
