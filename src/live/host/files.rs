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
    File((u64, u64), u64),
    /// The folder that tells of processes.
    Processes,
    /// It could not be looked at.
    Unknown,
}

/// Whether a name may have been made, taken away or given to another file after `since`: its folder
/// has changed, or cannot be looked at.
#[must_use]
pub fn has_changed(path: &Path, since: SystemTime) -> bool {
    let Some(folder) = path.parent() else {
        return false;
    };
    // The kernel makes these names.
    if ["/proc", "/sys"].iter().any(|it| folder.starts_with(it)) {
        return false;
    }
    let changed = fs::symlink_metadata(folder).ok();
    changed
        .and_then(|metadata| changed_at(&metadata))
        .is_none_or(|changed| changed >= since)
}

fn changed_at(metadata: &fs::Metadata) -> Option<SystemTime> {
    let since = u64::try_from(metadata.ctime()).ok()?;
    let nanos = u64::try_from(metadata.ctime_nsec()).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(since) + Duration::from_nanos(nanos))
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
        return Lying::File(identity, metadata.nlink());
    }
    match (fs::read_link(path), changed_at(&metadata)) {
        (Ok(to), Some(changed)) => Lying::Link(identity, to.into_os_string().into_vec(), changed),
        _ => Lying::Unknown,
    }
}
