//! What lies under a name.

use nix::sys::statfs::{
    BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, FsType, SYSFS_MAGIC, TMPFS_MAGIC, statfs,
};
use std::fs::{self, DirEntry, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the folder that tells of processes lies.
pub(super) const PROCFS: &str = "/proc";

/// Whether a name is that of procfs, or of something in it.
#[must_use]
pub fn is_of_procfs(name: &[u8]) -> bool {
    let rest = name.strip_prefix(PROCFS.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Whether a name is that of procfs itself.
#[must_use]
pub fn is_procfs(name: &[u8]) -> bool {
    name == PROCFS.as_bytes()
}

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
/// has changed, or cannot be looked at, and it is not known that its file got the name before.
#[must_use]
pub fn has_changed(path: &Path, since: SystemTime) -> bool {
    let Some(folder) = path.parent() else {
        return false;
    };
    // The kernel makes these names.
    if ["/proc", "/sys"].iter().any(|it| folder.starts_with(it)) {
        return false;
    }
    let metadata = |path| fs::symlink_metadata(path).ok();
    let is_before = |it: &Metadata| changed_at(it).is_some_and(|changed| changed < since);
    let Some(holder) = metadata(folder) else {
        return true;
    };
    let has_had_its_name = || {
        metadata(path).is_some_and(|it| it.dev() == holder.dev() && is_before(&it))
            && statfs(folder).is_ok_and(|it| NAMING.contains(&it.filesystem_type()))
    };
    !is_before(&holder) && !has_had_its_name()
}

/// The file systems on which a file that gets a name changes then: `rename(2)` and `link(2)` set
/// its `st_ctime`, which no call sets back. xfs does not where two names of a folder are exchanged,
/// nor does overlayfs above it.
const NAMING: [FsType; 3] = [EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC];

/// Whether a link of this name is one of sysfs, where no process can make, rename or replace one.
/// It is as new as the first look at it since the kernel forgot it, so that its times tell nothing.
/// Links of procfs depend on who looks, and lead elsewhere later.
#[must_use]
pub fn is_link_of_sysfs(path: &Path) -> bool {
    let kind = path.parent().and_then(|folder| statfs(folder).ok());
    kind.is_some_and(|it| it.filesystem_type() == SYSFS_MAGIC)
}

pub(crate) fn changed_at(metadata: &Metadata) -> Option<SystemTime> {
    let since = u64::try_from(metadata.ctime()).ok()?;
    let nanos = u64::try_from(metadata.ctime_nsec()).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(since) + Duration::from_nanos(nanos))
}

/// Looks at a path.
#[must_use]
pub fn lying(path: &Path) -> Lying {
    if path == Path::new(PROCFS) {
        return Lying::Processes;
    }
    told(fs::symlink_metadata(path), || path.to_owned())
}

/// Looks at an entry of a folder, which spares the kernel the way there.
#[must_use]
pub fn lying_in(entry: &DirEntry) -> Lying {
    told(entry.metadata(), || entry.path())
}

fn told(metadata: io::Result<Metadata>, path: impl Fn() -> PathBuf) -> Lying {
    let metadata = match metadata {
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
    match (fs::read_link(path()), changed_at(&metadata)) {
        (Ok(to), Some(changed)) => Lying::Link(identity, to.into_os_string().into_vec(), changed),
        _ => Lying::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_changed_with_its_folder_unless_its_file_is_known_to_have_had_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["kept", "moved", "linked", "given", "taken"] {
            fs::write(at(name), "").unwrap();
        }
        fs::create_dir(at("folder")).unwrap();
        // Times of files have the grain of the kernel's tick.
        let since = SystemTime::now() + Duration::from_millis(10);
        assert!(!has_changed(&at("kept"), since));
        let changed = |path: &Path| changed_at(&fs::symlink_metadata(path).unwrap()).unwrap();
        while changed(folder.path()) < since {
            fs::write(at("made"), "").unwrap();
            fs::remove_file(at("made")).unwrap();
        }
        fs::write(at("made"), "").unwrap();
        fs::rename(at("moved"), at("new")).unwrap();
        fs::hard_link(at("linked"), at("link")).unwrap();
        fs::rename(at("given"), at("taken")).unwrap();
        for name in ["made", "moved", "new", "link", "given", "taken"] {
            assert!(has_changed(&at(name), since), "{name}");
        }
        let tells = NAMING.contains(&statfs(folder.path()).unwrap().filesystem_type());
        for name in ["kept", "folder"] {
            assert_eq!(has_changed(&at(name), since), !tells, "{name}");
        }
    }
}
