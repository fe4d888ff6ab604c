//! A file that has no name before it is whole: of one whose writer is killed nothing stays.

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::linkat;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// The new file, to be put in the place of another one of its folder.
#[derive(Debug)]
pub(super) enum New {
    /// Without a name.
    Nameless(File),
    /// Where the file system has no such files: under a name of its own, which goes with this
    /// value, but not with a process that is killed.
    Named(NamedTempFile),
}

impl New {
    /// Makes one in the folder of a file; the umask applies to the mode.
    pub(super) fn beside(target: &Path, mode: u32) -> io::Result<Self> {
        let folder = folder(target);
        let mut options = File::options();
        options.read(true).write(true).mode(mode);
        let file = options.custom_flags(libc::O_TMPFILE).open(folder);
        // A name is given by way of procfs, which is not everywhere.
        if let Ok(file) = file
            && fs::symlink_metadata(descriptor(&file)).is_ok()
        {
            return Ok(Self::Nameless(file));
        }
        let mut named = named();
        named.permissions(Permissions::from_mode(mode));
        named.tempfile_in(folder).map(Self::Named)
    }

    pub(super) fn file(&self) -> &File {
        match self {
            Self::Nameless(file) => file,
            Self::Named(named) => named.as_file(),
        }
    }

    /// Gives it a name that nothing has.
    pub(super) fn name_new(self, target: &Path) -> io::Result<()> {
        match self {
            Self::Nameless(file) => link(&file, target),
            Self::Named(named) => named
                .persist_noclobber(target)
                .map(drop)
                .map_err(Into::into),
        }
    }

    /// Gives it a name, also where another file has that.
    pub(super) fn name(self, target: &Path) -> io::Result<()> {
        let named = match self {
            Self::Named(named) => named,
            Self::Nameless(file) => match link(&file, target) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let linked = |path: &Path| link(&file, path).and_then(|()| file.try_clone());
                    named().make_in(folder(target), linked)?
                }
                done => return done,
            },
        };
        named.persist(target).map(drop).map_err(Into::into)
    }
}

fn named() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".harness-");
    builder
}

fn folder(target: &Path) -> &Path {
    target.parent().unwrap_or(Path::new("/"))
}

fn descriptor(file: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
}

/// # References
/// `AT_SYMLINK_FOLLOW` in `linkat(2)`; to name the descriptor itself takes a right.
fn link(file: &File, path: &Path) -> io::Result<()> {
    let flags = AtFlags::AT_SYMLINK_FOLLOW;
    Ok(linkat(AT_FDCWD, &descriptor(file), AT_FDCWD, path, flags)?)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use std::io::Write;

    /// Its text under a name, and what there is in the folder in the end.
    fn check(new: New, folder: &Path, name: &str, only_new: bool) -> (bool, String, usize) {
        let mut file = new.file();
        file.write_all(b"new").unwrap();
        let target = folder.join(name);
        let named = match only_new {
            true => new.name_new(&target),
            false => new.name(&target),
        };
        let text = fs::read_to_string(target).unwrap();
        (named.is_ok(), text, fs::read_dir(folder).unwrap().count())
    }

    #[test]
    fn of_a_file_that_gets_no_name_there_is_none_at_any_time() {
        let folder = tempfile::tempdir().unwrap();
        let new = New::beside(&folder.path().join("x"), 0o600).unwrap();
        // As where the process is killed now.
        if let New::Nameless(_) = &new {
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        drop(new);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn with_and_without_a_name_of_its_own_it_takes_the_place_of_what_was_there() {
        for is_named in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            let make = || match is_named {
                true => New::Named(named().tempfile_in(folder).unwrap()),
                false => New::beside(&folder.join("x"), 0o600).unwrap(),
            };
            let new = "new".to_owned();
            assert_eq!(check(make(), folder, "a", true), (true, new.clone(), 1));
            fs::write(folder.join("b"), "old").unwrap();
            let old = "old".to_owned();
            assert_eq!(check(make(), folder, "b", true), (false, old, 2));
            assert_eq!(check(make(), folder, "b", false), (true, new.clone(), 2));
            assert_eq!(check(make(), folder, "c", false), (true, new, 3));
        }
    }
}
