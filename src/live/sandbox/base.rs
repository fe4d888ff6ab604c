//! Directories and control groups for all runs of one harness, watched by a janitor.
//!
//! ```text
//! TMPDIR/harness-base-XXXXXX/run-XXXXXX      a run's directory
//!        harness-kept-XXXXXX                 one that was kept for the user
//! cgroup2/harness-base-XXXXXX/harness-XXXXXX a run's control group
//! ```
//!
//! Each user of a base holds a lock on its directory and on its group (`flock(2)`): the harness and
//! its janitor. So a base stays behind only if both die, and the next harness that makes a base
//! removes those without a lock.

use super::WorkDirError;
use crate::sys::process::{Duty, Janitor};
use crate::sys::removal::{self, Members};
use crate::sys::temporary;
use nix::fcntl::{Flock, FlockArg};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

const PREFIX: &str = "harness-base-";

/// How long the kernel may take to let go of the dead.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// The place of one harness, removed with all that is in it when this value goes, or when the
/// harness is killed.
#[derive(Debug)]
pub struct Base {
    directory: PathBuf,
    groups: Option<PathBuf>,
    janitor: Option<Janitor>,
    _locks: Vec<Flock<File>>,
}

impl Base {
    /// Makes a base in the folder for temporary files and below the version 2 hierarchy, where one
    /// is named and may be written. `members` says what becomes of the processes in its groups when
    /// the harness is killed. Removes the abandoned bases that it finds.
    ///
    /// # Errors
    /// [`WorkDirError::Make`].
    pub fn new(hierarchy: Option<&Path>, members: Members) -> Result<Self, WorkDirError> {
        let below = temporary::folder();
        let made = || {
            // The path that getcwd(2) will give, so that it is recognised in strings.
            let below = below.canonicalize()?;
            remove_abandoned(&below, |folder, name| {
                removal::remove_tree(folder, name, Duration::ZERO)
            });
            if let Some(hierarchy) = hierarchy {
                remove_abandoned(hierarchy, |folder, name| {
                    removal::remove_group(folder, name, Members::Spare, Duration::ZERO)
                });
            }
            let made = tempfile::Builder::new()
                .prefix(PREFIX)
                .make_in(&below, |path| Self::at(path, hierarchy, members))?;
            // Not a file, which is what would be removed with this value.
            let (base, path) = made.into_parts();
            path.keep()?;
            Ok(base)
        };
        made().map_err(|source: io::Error| WorkDirError::Make {
            below: below.clone(),
            source,
        })
    }

    fn at(directory: &Path, hierarchy: Option<&Path>, members: Members) -> io::Result<Self> {
        let (folder, name) = split(directory)?;
        let above = hierarchy.map(c_path).transpose()?;
        let duty = Duty {
            name: &name,
            folder: &folder,
            hierarchy: above.as_deref(),
            members,
        };
        // Without a group the host counts for none, as where it has no such hierarchy.
        let (janitor, group) = match Janitor::start(&duty)? {
            // Its name is taken, or another harness has found it before it was locked: the next
            // name may be had for both.
            (janitor, Err(error)) if error.kind() == io::ErrorKind::AlreadyExists => {
                janitor.resign();
                return Err(error);
            }
            started => started,
        };
        let groups = hierarchy
            .filter(|_| group.is_ok())
            .zip(directory.file_name())
            .map(|(hierarchy, name)| hierarchy.join(name));
        if let Some(groups) = &groups {
            super::controllers::enable(groups);
        }
        let lock = |path: &Path| {
            let lock = Flock::lock(File::open(path)?, FlockArg::LockSharedNonblock);
            lock.map_err(|(_, error)| io::Error::from(error))
        };
        let locks = std::iter::once(directory)
            .chain(groups.as_deref())
            .map(lock);
        Ok(Self {
            _locks: locks.collect::<Result<_, _>>()?,
            directory: directory.to_owned(),
            groups,
            janitor: Some(janitor),
        })
    }

    /// The directory for those of the runs.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The control group for those of the runs.
    #[must_use]
    pub fn groups(&self) -> Option<&Path> {
        self.groups.as_deref()
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        // Groups of runs that have just ended may still have their last member.
        let groups = self
            .groups
            .as_deref()
            .map_or(Ok(()), |groups| remove_group(groups, PATIENCE));
        let directory = remove_tree(&self.directory);
        if let (Ok(()), Ok(()), Some(janitor)) = (groups, directory, self.janitor.take()) {
            janitor.dismiss();
        }
        // What is left is the janitor's, which is not told to go and takes this process for dead.
    }
}

/// Removes a directory, whatever is in it.
///
/// # Errors
/// Those of [`removal::remove_tree`].
pub(super) fn remove_tree(directory: &Path) -> io::Result<()> {
    let (folder, name) = split(directory)?;
    removal::remove_tree(&folder, &name, PATIENCE)
}

/// Removes a control group and those that the workload made below it. Its members are left alone,
/// and it with them.
///
/// # Errors
/// Those of [`removal::remove_group`].
pub(super) fn remove_group(group: &Path, patience: Duration) -> io::Result<()> {
    let (folder, name) = split(group)?;
    removal::remove_group(&folder, &name, Members::Spare, patience)
}

/// Removes this user's bases in a folder that no process has locked. What cannot be removed is left
/// for a process that can.
fn remove_abandoned(folder: &Path, remove: impl Fn(&CStr, &CStr) -> io::Result<()>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        if !entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let (path, flags) = (entry.path(), libc::O_DIRECTORY | libc::O_NOFOLLOW);
        let opened = File::options().read(true).custom_flags(flags).open(&path);
        let is_ours = |file: &File| {
            let owner = file.metadata().map(|metadata| metadata.uid());
            owner.is_ok_and(|owner| owner == nix::unistd::geteuid().as_raw())
        };
        let locked = opened
            .ok()
            .filter(is_ours)
            .and_then(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).ok());
        if let (Some(_lock), Ok((folder, name))) = (locked, split(&path)) {
            let _left = remove(&folder, &name);
        }
    }
}

fn split(path: &Path) -> io::Result<(CString, CString)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Ok((c_path(folder)?, c_path(Path::new(name))?))
}

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_base_has_a_group_though_another_harness_removes_those_without_a_lock() {
        let hierarchy = tempfile::tempdir().unwrap();
        let (above, is_over) = (hierarchy.path(), AtomicBool::new(false));
        let without = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    remove_abandoned(above, |folder, name| {
                        removal::remove_tree(folder, name, Duration::ZERO)
                    });
                }
            });
            let has_group = |_| {
                let base = Base::new(Some(above), Members::Spare)?;
                Ok(base.groups().is_some())
            };
            let all: Result<Vec<bool>, WorkDirError> = (0..2000).map(has_group).collect();
            is_over.store(true, Ordering::Relaxed);
            all.unwrap()
                .into_iter()
                .filter(|has_group| !has_group)
                .count()
        });
        assert_eq!(without, 0);
    }
}
