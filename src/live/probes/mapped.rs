//! The file of a probe, as the kernel's records of mappings name it.

use crate::host::changed_at;
use crate::sys::ring::Ring;
use crate::sys::{mapping, perf};
use crate::units::FileId;
use perf_records::attr::{Attr, Maps, SAMPLE_TYPE, Source};
use perf_records::record::{self, HEADER_SIZE, Header, Record};
use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Room for a record with the longest path.
const PAGES: usize = 4;

/// The coarsest time of a change that a file system keeps: that of FAT.
const COARSEST: Duration = Duration::from_secs(2);

/// The file of a probe.
#[derive(Clone, Debug)]
pub struct Mapped {
    /// Its path, without symbolic links.
    pub path: Vec<u8>,
    /// What a mapping of it is recorded as.
    pub id: FileId,
    /// The file, and what tells whether it was written to since.
    file: Arc<File>,
    was: Content,
}

/// What a file holds, and by what it is told without reading that nothing was done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    length: u64,
    /// When anything of the inode was changed last (`st_ctim`), which no program sets.
    changed: (i64, i64),
    /// Whether a write since would have another `st_ctim`: a kernel's clock of files stands still
    /// between ticks (up to 10 ms; before Linux 6.13), and that of a file system up to `COARSEST`.
    is_told_by_times: bool,
    /// A sum over all bytes.
    sum: u64,
}

impl Mapped {
    /// Looks at an open file by mapping it: what other calls say of it need not be what records of
    /// mappings say.
    ///
    /// # Errors
    /// Those of `perf_event_open(2)`, `mmap(2)` and `fstat(2)`; `InvalidData` where the mapping has
    /// no record.
    pub(super) fn of(file: File) -> io::Result<Self> {
        let was = Content::of(&file)?;
        let (path, id) = recorded(&file)?;
        Ok(Self {
            path,
            id,
            file: Arc::new(file),
            was,
        })
    }

    /// Returns what mappings of a file are recorded as.
    ///
    /// # Errors
    /// Those of `open(2)`, `perf_event_open(2)` and `mmap(2)`; `InvalidData` where the mapping has
    /// no record.
    pub fn id_of(path: &Path) -> io::Result<FileId> {
        recorded(&File::open(path)?).map(|(_, id)| id)
    }

    /// A sum over all that it held.
    pub(super) fn sum(&self) -> u64 {
        self.was.sum
    }

    /// Whether it is as it was: a probe stays at its place in the file, whatever is written there.
    #[must_use]
    pub fn is_unwritten(&self) -> bool {
        let times = self.file.metadata().map(|now| times(&now));
        let is_as_old = times.is_ok_and(|now| now == (self.was.length, self.was.changed));
        (is_as_old && self.was.is_told_by_times)
            || Content::of(&self.file).is_ok_and(|now| now.sum == self.was.sum)
    }
}

/// What the record of a mapping says of an open file: its path, without symbolic links, and which
/// it is.
fn recorded(file: &File) -> io::Result<(Vec<u8>, FileId)> {
    let attr = Attr {
        sample_type: SAMPLE_TYPE,
        inherit: false,
        enable_on_exec: false,
        maps: Maps::All,
        exclude_kernel: true,
        ..Attr::counting(Source::DUMMY)
    };
    let event = perf::open(&attr.raw(), perf::Target::Myself, None)?;
    let ring = Ring::map(event.as_fd(), PAGES)?;
    perf::enable(event.as_fd())?;
    mapping::map_once(file.as_fd())?;
    perf::disable(event.as_fd())?;
    let mut records = Vec::new();
    let (head, tail) = (ring.head(), ring.tail());
    ring.append(tail, head.saturating_sub(tail), &mut records);
    let mut rest = records.as_slice();
    while let Some(head) = rest.first_chunk() {
        let size = usize::from(Header::from_bytes(*head).size).max(HEADER_SIZE);
        let Some((bytes, behind)) = rest.split_at_checked(size) else {
            break;
        };
        if let Ok(Record::Map(map, _)) = record::parse(bytes, &attr.layout())
            && let (true, Some(id)) = (map.name.starts_with(b"/"), FileId::of(&map))
        {
            return Ok((map.name.to_vec(), id));
        }
        rest = behind;
    }
    Err(io::ErrorKind::InvalidData.into())
}

impl Content {
    fn of(file: &File) -> io::Result<Self> {
        let now = SystemTime::now();
        let metadata = file.metadata()?;
        let (length, changed) = times(&metadata);
        let is_old = |at| now.duration_since(at).is_ok_and(|age| age > COARSEST);
        let mut hasher = DefaultHasher::new();
        let mut buffer = vec![0; 1 << 16];
        let mut at = 0;
        loop {
            let n = file.read_at(&mut buffer, at)?;
            hasher.write(buffer.get(..n).unwrap_or_default());
            at += n as u64;
            if n == 0 {
                break;
            }
        }
        Ok(Self {
            length,
            changed,
            is_told_by_times: changed_at(&metadata).is_some_and(is_old),
            sum: hasher.finish(),
        })
    }
}

fn times(metadata: &Metadata) -> (u64, (i64, i64)) {
    (metadata.len(), (metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn written() -> Mapped {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one two").unwrap();
        Mapped {
            path: Vec::new(),
            id: FileId {
                device: (0, 0),
                inode: 0,
                generation: 0,
            },
            was: Content::of(&file).unwrap(),
            file: Arc::new(file),
        }
    }

    #[test]
    fn a_file_is_the_same_by_what_it_holds_whatever_its_times_say() {
        let mapped = written();
        assert!(mapped.is_unwritten());
        mapped.file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(mapped.is_unwritten());
        mapped.file.write_at(b"six", 4).unwrap();
        mapped.file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(!mapped.is_unwritten());
    }

    #[test]
    fn a_write_in_the_tick_in_which_a_file_was_looked_at_is_seen() {
        let mut mapped = written();
        mapped.file.write_at(b"six", 4).unwrap();
        mapped.was.changed = times(&mapped.file.metadata().unwrap()).1;
        assert!(!mapped.is_unwritten());
    }
}
