//! The records that tell of tasks and of loss.

use super::{Cursor, RecordError};
use crate::units::{Nanos, Pid, Tid};

const MISC_COMM_EXEC: u16 = 1 << 13;
const MISC_MMAP_DATA: u16 = 1 << 13;
const MISC_MMAP_BUILD_ID: u16 = 1 << 14;

/// `PERF_RECORD_COMM`, perf_event_comm_output(): a thread has a name, because it asked for one or
/// because of `execve(2)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comm<'a> {
    /// Its process.
    pub pid: Pid,
    /// The thread; after an exec it is the leader's id, even if another thread called it.
    pub tid: Tid,
    /// The name, up to its NUL.
    pub name: &'a [u8],
    /// Whether an exec gave it (`PERF_RECORD_MISC_COMM_EXEC`).
    pub exec: bool,
}

/// `PERF_RECORD_FORK` and `PERF_RECORD_EXIT`, perf_event_task_output().
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The process of the thread that was created or ended.
    pub pid: Pid,
    /// The process of its creator (fork) or of its parent (exit).
    pub parent_pid: Pid,
    /// The thread.
    pub tid: Tid,
    /// Its creator (fork) or parent (exit).
    pub parent_tid: Tid,
    /// The time of the record.
    pub time: Nanos,
}

/// `PERF_RECORD_MMAP` and `PERF_RECORD_MMAP2`, perf_event_mmap_output(): code was mapped, or data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map<'a> {
    /// The process that mapped it.
    pub pid: Pid,
    /// The thread that mapped it.
    pub tid: Tid,
    /// The first address.
    pub address: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// The file, or a word such as `[vdso]` or `//anon`, up to its NUL.
    pub name: &'a [u8],
    /// Whether it is not code (`PERF_RECORD_MISC_MMAP_DATA`).
    pub is_data: bool,
    /// What only `PERF_RECORD_MMAP2` says.
    pub more: Option<MoreOfMap<'a>>,
}

impl Map<'_> {
    /// Whether it may be executed, by its protection (`PROT_EXEC`) where the record has one.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        const PROT_EXEC: u32 = 4;
        self.more
            .is_none_or(|more| more.protection & PROT_EXEC != 0)
    }
}

/// What `PERF_RECORD_MMAP2` says of a mapping and `PERF_RECORD_MMAP` does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoreOfMap<'a> {
    /// The file that is mapped.
    pub file: MappedFile<'a>,
    /// `PROT_*`.
    pub protection: u32,
    /// `MAP_*`.
    pub flags: u32,
}

/// Names the file that is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappedFile<'a> {
    /// Without `PERF_RECORD_MISC_MMAP_BUILD_ID`.
    Inode {
        /// The device's major number.
        major: u32,
        /// The device's minor number.
        minor: u32,
        /// The inode on the device.
        inode: u64,
        /// Which of the files that have had this inode.
        generation: u64,
    },
    /// With `PERF_RECORD_MISC_MMAP_BUILD_ID`.
    BuildId(&'a [u8]),
}

/// `PERF_RECORD_LOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The id of the event whose record came next, not of those that were lost.
    pub id: u64,
    /// How many records of this ring were lost since the last such record.
    pub count: u64,
}

pub(super) fn comm<'a>(cursor: &mut Cursor<'a>, misc: u16) -> Result<Comm<'a>, RecordError> {
    let pid = Pid(cursor.u32("pid")?);
    let tid = Tid(cursor.u32("tid")?);
    Ok(Comm {
        pid,
        tid,
        name: padded(cursor),
        exec: misc & MISC_COMM_EXEC != 0,
    })
}

pub(super) fn map<'a>(
    cursor: &mut Cursor<'a>,
    misc: u16,
    is_second: bool,
) -> Result<Map<'a>, RecordError> {
    let mut map = Map {
        pid: Pid(cursor.u32("pid")?),
        tid: Tid(cursor.u32("tid")?),
        address: cursor.u64("addr")?,
        length: cursor.u64("len")?,
        offset: cursor.u64("pgoff")?,
        name: &[],
        is_data: misc & MISC_MMAP_DATA != 0,
        more: None,
    };
    if is_second {
        let file = if misc & MISC_MMAP_BUILD_ID != 0 {
            let [length, ..] = cursor.u32("build_id_size")?.to_ne_bytes();
            let all = cursor.take(20, "build_id")?;
            MappedFile::BuildId(all.get(..length.into()).unwrap_or(all))
        } else {
            MappedFile::Inode {
                major: cursor.u32("maj")?,
                minor: cursor.u32("min")?,
                inode: cursor.u64("ino")?,
                generation: cursor.u64("ino_generation")?,
            }
        };
        map.more = Some(MoreOfMap {
            file,
            protection: cursor.u32("prot")?,
            flags: cursor.u32("flags")?,
        });
    }
    map.name = padded(cursor);
    Ok(map)
}

/// A string that ends with a NUL or with the record.
pub(super) fn padded<'a>(cursor: &mut Cursor<'a>) -> &'a [u8] {
    let padded = std::mem::replace(cursor, Cursor::new(&[], 0)).rest();
    padded.split(|byte| *byte == 0).next().unwrap_or_default()
}

pub(super) fn task(cursor: &mut Cursor<'_>) -> Result<Task, RecordError> {
    Ok(Task {
        pid: Pid(cursor.u32("pid")?),
        parent_pid: Pid(cursor.u32("ppid")?),
        tid: Tid(cursor.u32("tid")?),
        parent_tid: Tid(cursor.u32("ptid")?),
        time: Nanos(cursor.u64("time")?),
    })
}

pub(super) fn lost(cursor: &mut Cursor<'_>) -> Result<Lost, RecordError> {
    Ok(Lost {
        id: cursor.u64("id")?,
        count: cursor.u64("lost")?,
    })
}
