//! A folder to work in, which a harness that is killed leaves to the next one.

use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// What the names of such folders begin with.
const PREFIX: &str = "work-";

/// A folder that is this process's as long as it holds the lock on it.
#[derive(Debug)]
pub(super) struct Work {
    folder: TempDir,
    /// `None` where the file system has no locks; then nothing is taken for left behind either.
    _held: Option<Flock<File>>,
}

impl Work {
    /// Makes one in a folder, and removes those that nobody holds: who made them was killed.
    pub(super) fn new(within: &Path) -> io::Result<Self> {
        // So that none is taken that was made and is not held yet.
        let making = lock(within, FlockArg::LockExclusive);
        if making.is_some() {
            remove_left(within)?;
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(within)?;
        let held = lock(folder.path(), FlockArg::LockExclusiveNonblock);
        Ok(Self {
            folder,
            _held: held,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn lock(folder: &Path, how: FlockArg) -> Option<Flock<File>> {
    Flock::lock(File::open(folder).ok()?, how).ok()
}

fn remove_left(within: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(within)? {
        let entry = entry?;
        let is_work = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let path = entry.path();
        if is_work && lock(&path, FlockArg::LockExclusiveNonblock).is_some() {
            // What cannot be removed is in nobody's way.
            std::fs::remove_dir_all(path).ok();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_holds_is_removed_and_what_another_works_in_stays() {
        let within = tempfile::tempdir().unwrap();
        for folder in ["work-killed/apt", "debs", "root"] {
            std::fs::create_dir_all(within.path().join(folder)).unwrap();
        }
        let first = Work::new(within.path()).unwrap();
        let second = Work::new(within.path()).unwrap();
        let there = |name: &str| within.path().join(name).exists();
        assert!(!there("work-killed"));
        assert!(there("debs") && there("root"));
        assert!(first.path().exists() && second.path().exists());
        let left = first.path().to_owned();
        drop(first);
        assert!(!left.exists());
    }
}
