//! What lies under a name.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What lies under a name; links are not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lying {
    /// The name does not exist.
    Nothing,
    /// A folder, by device and inode.
    Folder((u64, u64)),
    /// A symbolic link, what it says, and when it was last changed.
    Link((u64, u64), Vec<u8>, SystemTime),
    /// Anything else.
    File((u64, u64)),
    /// The folder that tells of processes.
    Processes,
    /// It could not be looked at.
    Unknown,
}

/// Looks at a path.
#[must_use]
pub fn lying(path: &Path) -> Lying {
    if path == Path::new("/proc") {
        return Lying::Processes;
    }
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => {
            return match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Lying::Nothing,
                _ => Lying::Unknown,
            };
        }
    };
    let identity = (metadata.dev(), metadata.ino());
    if metadata.is_dir() {
        return Lying::Folder(identity);
    }
    if !metadata.is_symlink() {
        return Lying::File(identity);
    }
    let since = u64::try_from(metadata.ctime()).map(Duration::from_secs);
    match (fs::read_link(path), since) {
        (Ok(to), Ok(since)) => {
            let nanos = u64::try_from(metadata.ctime_nsec()).unwrap_or(0);
            let changed = UNIX_EPOCH + since + Duration::from_nanos(nanos);
            Lying::Link(identity, to.into_os_string().into_vec(), changed)
        }
        _ => Lying::Unknown,
    }
}
