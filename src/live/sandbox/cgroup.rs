//! A control group (version 2) around the workload: for events that are counted per group, and for
//! its limits.

mod members;

pub use members::Members;

use super::base;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// A control group that is removed when this value goes.
#[derive(Debug)]
pub struct Cgroup {
    path: PathBuf,
    folder: File,
}

/// Why there is no control group.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    /// It could not be made.
    #[error("cannot make a control group below `{below}`")]
    Make {
        /// The version 2 hierarchy.
        below: PathBuf,
        /// The error of making it.
        source: io::Error,
    },
    /// It takes no limit.
    #[error("cannot write a limit to `{file}`")]
    Limit {
        /// The file.
        file: PathBuf,
        /// The error of removing it.
        source: io::Error,
    },
}

impl Cgroup {
    /// Makes a group of a new name below another, with the controllers that the other gives.
    ///
    /// # Errors
    /// [`CgroupError::Make`].
    pub fn below(hierarchy: &Path) -> Result<Self, CgroupError> {
        let made = tempfile::Builder::new()
            .prefix("harness-")
            .tempdir_in(hierarchy)
            .and_then(|dir| {
                // Removed by rmdir(2) below: the kernel's files in it cannot be unlinked.
                let path = dir.keep();
                Ok(Self {
                    folder: File::open(&path)?,
                    path,
                })
            });
        made.map_err(|source| CgroupError::Make {
            below: hierarchy.to_owned(),
            source,
        })
    }

    /// Its name below the group that it was made in; one of its own among all of them.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        let name = self.path.file_name()?.to_str()?;
        Some(name.to_owned())
    }

    /// Returns the processes of the group.
    #[must_use]
    pub fn members(&self) -> Members {
        Members::of(&self.path)
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl AsFd for Cgroup {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Fails only while members are alive, and the sandbox has ended them before.
        let _left = base::remove_group(&self.path, base::PATIENCE / 10);
    }
}
