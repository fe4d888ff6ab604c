//! Getting at tracefs without changing the machine.
//!
//! Where it is mounted, that mount is used. Where it is not (a fresh Debian), it is mounted *nowhere*: the new mount interface gives a
//! descriptor to its root that no mount table shows and that goes with the process.

use crate::sys::mount;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why tracefs cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TracefsError {
    /// It is not mounted (and this is not the running host, or it would have been got at).
    #[error("tracefs is not mounted")]
    NotMounted,
    /// It is mounted nowhere that can be read, and mounting it privately failed.
    #[error("tracefs is not mounted, and mounting it for this process alone failed")]
    Mount {
        /// Why.
        #[source]
        source: Arc<io::Error>,
    },
    /// It is mounted, but this user may not read it.
    #[error("cannot read tracefs at `{path}`")]
    Unreadable {
        /// Where it is mounted.
        path: PathBuf,
        /// Why.
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
            Self::NotMounted | Self::Mount { .. } => super::HOW_TO_GET_RIGHTS.to_owned(),
        }
    }
}

/// What makes it readable. Its files have the mode 0440, so that to open its folders to all (`mode=755`) is not enough.
pub(super) fn how_to_read(path: &Path) -> String {
    format!(
        "{}; or, to trace the calls of your own programs and nothing else: mount -o remount,mode=750,gid=GROUP {}",
        super::HOW_TO_GET_RIGHTS,
        path.display()
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
            match std::fs::read_dir(path.join("events")) {
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
            Self::Mounted(path) => format!("mounted at {}", path.display()),
            Self::Detached(_) => "not mounted; opened for this process alone".to_owned(),
        }
    }
}

/// The mount points of a file system type, from `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`): the fifth field, spaces as `\040`.
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
