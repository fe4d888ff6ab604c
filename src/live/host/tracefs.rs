//! Getting at tracefs without changing the machine.
//!
//! Where it is mounted, that mount is used. Where it is not (a fresh Debian), it is mounted
//! *nowhere*: the new mount interface gives a descriptor to its root that no mount table shows and
//! that goes with the process.

use crate::sys::mount;
use crate::sys::rights::{self, Right};
use nix::sys::statfs::{FsType, fstatfs};
use perf_records::units::shown_path;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

// `TRACEFS_MAGIC`, include/uapi/linux/magic.h.
const TRACEFS: FsType = FsType(0x7472_6163);

/// What lets others than root read there. The right to write holds the right to read, and a file
/// that lends the one need not lend the other.
const TO_READ: [Right; 2] = [Right::DacReadSearch, Right::DacOverride];

/// Opens a file or folder of tracefs, which is root's: with rights that were lent to the harness,
/// if any were. A name that leads out of tracefs is not to be had by them.
pub(super) fn open(path: &Path, options: &OpenOptions, needed: &[Right]) -> io::Result<File> {
    if !rights::are_lent() {
        return options.open(path);
    }
    let file = rights::with(needed, || options.open(path))?;
    match fstatfs(&file)?.filesystem_type() {
        TRACEFS => Ok(file),
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// A file of tracefs that is open to be read.
pub(super) fn reader(path: &Path) -> io::Result<File> {
    open(path, File::options().read(true), &TO_READ)
}

/// The text of a file of tracefs.
pub(super) fn text(path: &Path) -> io::Result<String> {
    super::text::of(reader(path)?)
}

/// The names of the folders below a folder of tracefs, sorted.
pub(super) fn folders(path: &Path) -> io::Result<Vec<String>> {
    let folder = reader(path)?;
    // The very folder that was looked at.
    let path = match rights::are_lent() {
        true => super::Host::path_of_descriptor(folder.as_raw_fd()),
        false => path.to_owned(),
    };
    rights::with(&TO_READ, || {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    })
}

/// Why tracefs cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TracefsError {
    /// It is not mounted (and this is not the running host, or it would have been got at).
    #[error("tracefs is not mounted")]
    NotMounted,
    /// It is mounted nowhere that can be read, and mounting it privately failed.
    #[error("tracefs is not mounted, and mounting it for this process alone failed")]
    Mount {
        /// The error of mounting it.
        #[source]
        source: Arc<io::Error>,
    },
    /// It is mounted, but this user may not read it.
    #[error("cannot read tracefs at `{path}`")]
    Unreadable {
        /// The mount point.
        path: PathBuf,
        /// The error of reading it.
        #[source]
        source: Arc<io::Error>,
    },
}

impl TracefsError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { path, .. } => how_to_read(path),
            Self::NotMounted | Self::Mount { .. } => format!(
                "{}; a container needs the host's /sys/kernel/tracing, CAP_PERFMON and CAP_BPF",
                super::HOW_TO_GET_RIGHTS
            ),
        }
    }
}

/// What makes it readable. Its files have the mode 0440, so that to open its folders to all
/// (`mode=755`) is not enough.
pub(super) fn how_to_read(path: &Path) -> String {
    format!(
        "{}; or, to trace the calls of your own programs and nothing else: mount -o remount,mode=750,gid=GROUP {}",
        super::HOW_TO_GET_RIGHTS,
        shown_path(path)
    )
}

/// A tracefs that can be read.
#[derive(Debug)]
pub(super) enum Tracefs {
    Mounted(PathBuf),
    Detached(OwnedFd),
}

impl Tracefs {
    pub(super) fn find(
        points: impl Iterator<Item = PathBuf>,
        may_mount: bool,
    ) -> Result<Self, TracefsError> {
        let mut unreadable = None;
        for path in points {
            match folders(&path.join("events")) {
                Ok(_) => return Ok(Self::Mounted(path)),
                Err(source) => {
                    unreadable = Some(TracefsError::Unreadable {
                        path,
                        source: Arc::new(source),
                    })
                }
            }
        }
        match unreadable {
            Some(error) => Err(error),
            None if may_mount => {
                mount::detached(c"tracefs")
                    .map(Self::Detached)
                    .map_err(|source| TracefsError::Mount {
                        source: Arc::new(source),
                    })
            }
            None => Err(TracefsError::NotMounted),
        }
    }

    pub(super) fn root(&self) -> PathBuf {
        match self {
            Self::Mounted(path) => path.clone(),
            Self::Detached(root) => super::Host::path_of_descriptor(root.as_raw_fd()),
        }
    }

    pub(super) fn events(&self) -> PathBuf {
        self.root().join("events")
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Self::Mounted(path) => format!("mounted at {}", shown_path(path)),
            Self::Detached(_) => "not mounted; opened for this process alone".to_owned(),
        }
    }
}

/// The mount points of a file system type, from `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`):
/// the fifth field, spaces as `\040`.
pub(super) fn mount_points<'a>(
    mountinfo: &'a str,
    fs_type: &'a str,
) -> impl Iterator<Item = String> + 'a {
    mountinfo.lines().filter_map(move |line| {
        let (left, right) = line.split_once(" - ")?;
        (right.split(' ').next()? == fs_type).then_some(())?;
        let point = left.split(' ').nth(4)?;
        Some(
            point
                .replace("\\040", " ")
                .replace("\\011", "\t")
                .replace("\\134", "\\"),
        )
    })
}
