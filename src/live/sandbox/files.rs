//! The private working directory and what the scenario lays into it.

use super::base::{self, Base};
use crate::files;
use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What laid-in files say of when they were last changed and read: 2000-01-01 00:00:00 UTC.
/// Programs behave as that time tells them to: one that finds a file as young as its own notes
/// about it reads it again (git's index), which would be so in some runs and not in others.
const LAID_AT: Duration = Duration::from_secs(946_684_800);

/// A file to lay into the working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where, relative to the working directory; folders on the way are made.
    pub path: PathBuf,
    /// What is in it.
    pub content: Content,
    /// Its permission bits; `None` gives 0644, or those of the file that it is a copy of.
    pub mode: Option<u32>,
    /// Whose it is: user and group; `None` for the harness'.
    pub owner: Option<(u32, u32)>,
}

/// What is in a file, or what there is in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A copy of this file.
    CopyOf(PathBuf),
    /// Nothing: it is a folder with the mode of this one.
    FolderAs(PathBuf),
    /// Nothing: it is a symbolic link to what this one says.
    LinkAs(PathBuf),
}

/// Why the working directory could not be laid out, removed or kept.
#[derive(Debug, thiserror::Error)]
pub enum WorkDirError {
    /// The directory itself.
    #[error("cannot make a working directory below `{below}`")]
    Make {
        /// The folder for temporary directories.
        below: PathBuf,
        /// The error of making it.
        source: io::Error,
    },
    /// One of the files.
    #[error("cannot lay `{path}` into the working directory")]
    Lay {
        /// As the scenario names it.
        path: PathBuf,
        /// The error of writing the file.
        source: io::Error,
    },
    /// The source of one of the files.
    #[error("cannot read `{path}` for the working directory")]
    Read {
        /// The file to copy.
        path: PathBuf,
        /// The error of reading the file.
        source: io::Error,
    },
    /// What is left of it.
    #[error("cannot remove the working directory `{path}`")]
    Remove {
        /// The directory.
        path: PathBuf,
        /// The error of removing it.
        source: io::Error,
    },
    /// Its way to where it is kept.
    #[error("cannot keep the working directory `{path}`")]
    Keep {
        /// The directory.
        path: PathBuf,
        /// The error of moving it.
        source: io::Error,
    },
}

/// A private directory that is removed, with all in it, when this value goes.
#[derive(Debug)]
pub struct WorkDir {
    path: PathBuf,
    /// Held, as it goes with all that is in it.
    base: Arc<Base>,
    is_done: bool,
}

impl WorkDir {
    /// Makes the directory, and the folders in it, as `owner`'s (user and group; `None` for the
    /// harness'), and lays the files into it.
    ///
    /// # Errors
    /// [`WorkDirError`], which names the file; nothing is left behind.
    pub fn lay_out(
        base: Arc<Base>,
        files: &[File],
        owner: Option<(u32, u32)>,
    ) -> Result<Self, WorkDirError> {
        let below = base.directory().to_owned();
        let make = |source| WorkDirError::Make {
            below: below.clone(),
            source,
        };
        let dir = tempfile::Builder::new()
            .prefix("run-")
            .tempdir_in(&below)
            .map_err(make)?;
        let dir = Self {
            path: dir.keep(),
            base,
            is_done: false,
        };
        // The mode of a home directory: the workload may run programs of other users in it.
        std::fs::set_permissions(&dir.path, std::fs::Permissions::from_mode(0o755))
            .map_err(make)?;
        for file in files {
            lay(&dir.path, file, owner)?;
        }
        for file in files {
            date_folders(&dir.path, file)?;
        }
        // The last thing done to a folder: this user may perhaps not read or write it then.
        for file in files.iter().rev() {
            finish_folder(&dir.path, file)?;
        }
        date(&dir.path).map_err(make)?;
        if let Some((uid, gid)) = owner {
            std::os::unix::fs::chown(&dir.path, Some(uid), Some(gid)).map_err(make)?;
        }
        Ok(dir)
    }

    /// Returns the directory's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it.
    ///
    /// # Errors
    /// [`WorkDirError::Remove`]; it is tried once more when its base goes.
    pub fn remove(mut self) -> Result<(), WorkDirError> {
        self.is_done = true;
        base::remove_tree(&self.path).map_err(|source| WorkDirError::Remove {
            path: self.path.clone(),
            source,
        })
    }

    /// Moves it beside the base, where the janitor does not remove it, and returns its new path.
    ///
    /// # Errors
    /// [`WorkDirError::Keep`]; it is removed then.
    pub fn keep(mut self) -> Result<PathBuf, WorkDirError> {
        let below = self.base.directory().parent().unwrap_or(Path::new("/"));
        let moved = tempfile::Builder::new()
            .prefix("harness-kept-")
            .tempdir_in(below)
            .and_then(|place| {
                // The workload may have made set-user-ID programs as its own user: no other user
                // may run these.
                std::fs::set_permissions(&self.path, std::fs::Permissions::from_mode(0o700))?;
                // In the place of an empty directory, which rename(2) replaces.
                std::fs::rename(&self.path, place.path())?;
                Ok(place.keep())
            });
        self.is_done = moved.is_ok();
        moved.map_err(|source| WorkDirError::Keep {
            path: self.path.clone(),
            source,
        })
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        if !self.is_done {
            // There is an error to be reported already, or a panic; and the end of the base is the
            // next try.
            let _left = base::remove_tree(&self.path);
        }
    }
}

fn lay(root: &Path, file: &File, owner: Option<(u32, u32)>) -> Result<(), WorkDirError> {
    let failed = |source| WorkDirError::Lay {
        path: file.path.clone(),
        source,
    };
    let read = |path: &Path, source| WorkDirError::Read {
        path: path.to_owned(),
        source,
    };
    let place = root.join(&file.path);
    let (bytes, copied_mode) = match &file.content {
        Content::FolderAs(_) => return make_folder(root, &place, owner).map_err(failed),
        Content::LinkAs(path) => {
            let target = path.read_link().map_err(|source| read(path, source))?;
            make_above(root, &place, owner).map_err(failed)?;
            return make_link(&target, &place, file.owner).map_err(failed);
        }
        Content::Bytes(bytes) => (bytes.clone(), None),
        Content::CopyOf(path) => {
            let metadata = path.metadata().map_err(|source| read(path, source))?;
            let bytes = files::read(path, files::LAID);
            let bytes = bytes.map_err(|error| read(path, error.into()))?;
            (bytes, Some(metadata.permissions().mode() & 0o7777))
        }
    };
    make_above(root, &place, owner).map_err(failed)?;
    let _closed_in_children = crate::sys::process::without_forks();
    let mut options = std::fs::OpenOptions::new();
    let mut opened = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&place)
        .map_err(failed)?;
    io::Write::write_all(&mut opened, &bytes).map_err(failed)?;
    let mode = file.mode.or(copied_mode).unwrap_or(0o644);
    // Before the mode: a change of owner takes set-user-ID bits away.
    if let Some((uid, gid)) = file.owner {
        std::os::unix::fs::fchown(&opened, Some(uid), Some(gid)).map_err(failed)?;
    }
    // Not through open(2): the umask is to have no say.
    opened
        .set_permissions(std::fs::Permissions::from_mode(mode))
        .and_then(|()| opened.set_times(times()))
        .map_err(failed)
}

/// Makes the folders on the way to a file.
fn make_above(root: &Path, place: &Path, owner: Option<(u32, u32)>) -> io::Result<()> {
    match place.parent() {
        Some(folder) => make_folder(root, folder, owner),
        None => Ok(()),
    }
}

fn make_folder(root: &Path, folder: &Path, owner: Option<(u32, u32)>) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o755).create(folder)?;
    let mut own = folder.ancestors().take_while(|folder| *folder != root);
    own.try_for_each(|folder| match owner {
        Some((uid, gid)) => std::os::unix::fs::chown(folder, Some(uid), Some(gid)),
        None => Ok(()),
    })
}

fn make_link(target: &Path, place: &Path, owner: Option<(u32, u32)>) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)?;
    if let Some((uid, gid)) = owner {
        std::os::unix::fs::lchown(place, Some(uid), Some(gid))?;
    }
    let laid_at = TimeSpec::from_duration(LAID_AT);
    utimensat(
        AT_FDCWD,
        place,
        &laid_at,
        &laid_at,
        UtimensatFlags::NoFollowSymlink,
    )?;
    Ok(())
}

/// Gives a folder its owner, and the mode of the one that it is laid out as.
fn finish_folder(root: &Path, file: &File) -> Result<(), WorkDirError> {
    let Content::FolderAs(like) = &file.content else {
        return Ok(());
    };
    let metadata = like.metadata().map_err(|source| WorkDirError::Read {
        path: like.clone(),
        source,
    })?;
    let mode = std::fs::Permissions::from_mode(metadata.permissions().mode() & 0o7777);
    let place = root.join(&file.path);
    let owned = match file.owner {
        Some((uid, gid)) => std::os::unix::fs::chown(&place, Some(uid), Some(gid)),
        None => Ok(()),
    };
    let given = owned.and_then(|()| std::fs::set_permissions(&place, mode));
    given.map_err(|source| WorkDirError::Lay {
        path: file.path.clone(),
        source,
    })
}

/// Dates the folders on the way to a file, which are as young as the last that was laid into them.
fn date_folders(root: &Path, file: &File) -> Result<(), WorkDirError> {
    let is_folder = matches!(file.content, Content::FolderAs(_));
    let folders = file.path.ancestors().skip(usize::from(!is_folder));
    let mut folders = folders.filter(|folder| !folder.as_os_str().is_empty());
    folders.try_for_each(|folder| {
        date(&root.join(folder)).map_err(|source| WorkDirError::Lay {
            path: file.path.clone(),
            source,
        })
    })
}

fn date(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.set_times(times())
}

fn times() -> std::fs::FileTimes {
    let laid_at = SystemTime::UNIX_EPOCH + LAID_AT;
    let times = std::fs::FileTimes::new();
    times.set_accessed(laid_at).set_modified(laid_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::removal::Members;

    fn base() -> Arc<Base> {
        Arc::new(Base::new(None, Members::Spare).unwrap())
    }

    fn file(path: &str, mode: Option<u32>) -> File {
        File {
            path: path.into(),
            content: Content::Bytes(b"x".to_vec()),
            mode,
            owner: None,
        }
    }

    #[test]
    fn what_is_laid_in_is_as_old_in_every_run() {
        let files = [file("a/b/one", None), file("a/two", None)];
        let dir = WorkDir::lay_out(base(), &files, None).unwrap();
        for path in ["", "a", "a/b", "a/b/one", "a/two"] {
            let metadata = dir.path().join(path).metadata().unwrap();
            let changed = metadata.modified().unwrap();
            assert_eq!(changed, SystemTime::UNIX_EPOCH + LAID_AT, "{path:?}");
        }
    }

    #[test]
    fn files_are_laid_with_their_modes_and_removed_with_the_directory() {
        let dir = WorkDir::lay_out(
            base(),
            &[file("a/b/tool.sh", Some(0o755)), file("plain", None)],
            None,
        )
        .unwrap();
        let mode = |name: &str| {
            dir.path()
                .join(name)
                .metadata()
                .unwrap()
                .permissions()
                .mode()
                & 0o7777
        };
        assert_eq!((mode("a/b/tool.sh"), mode("plain")), (0o755, 0o644));
        let path = dir.path().to_owned();
        drop(dir);
        assert!(!path.exists());
    }

    #[test]
    fn a_missing_source_is_named() {
        let file = File {
            path: "x".into(),
            content: Content::CopyOf("/nonexistent/source".into()),
            mode: None,
            owner: None,
        };
        let error = WorkDir::lay_out(base(), &[file], None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read `/nonexistent/source` for the working directory"
        );
    }
}
