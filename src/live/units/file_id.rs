//! A file by what records of mappings say of it.

use perf_records::record::{Map, MappedFile};
use serde::{Deserialize, Serialize};

/// A file as `PERF_RECORD_MMAP2` names it. `stat(2)` may name the same file otherwise: on btrfs and
/// overlayfs its device is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileId {
    /// The device's major and minor number.
    pub device: (u32, u32),
    /// The inode on the device.
    pub inode: u64,
    /// Which of the files that have had this inode.
    pub generation: u64,
}

impl FileId {
    /// Returns the file of a mapping; `None` where the record has no inode.
    #[must_use]
    pub fn of(map: &Map<'_>) -> Option<Self> {
        match map.more?.file {
            MappedFile::Inode {
                major,
                minor,
                inode,
                generation,
            } => Some(Self {
                device: (major, minor),
                inode,
                generation,
            }),
            MappedFile::BuildId(_) => None,
        }
    }
}
