//! Writing what people name.
//!
//! A regular file is replaced whole or not at all, by another one in its folder, which takes over
//! its owner and mode, and has no name before that where the file system can do so. What is no
//! regular file is written in place, and so is an open descriptor (`/dev/stdout`). Symbolic links
//! are followed, also where they lead to nothing yet.

mod nameless;
mod place;

use crate::errors::chain;
use crate::sys;
use nameless::New;
use nix::unistd::{AccessFlags, faccessat};
use place::{Found, found};
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// Which users may read a new file; the umask applies as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As the umask says.
    Usual,
    /// Its owner alone: what was recorded is none of the others' business.
    Private,
}

impl Access {
    const fn mode(self) -> u32 {
        match self {
            Self::Usual => 0o666,
            Self::Private => 0o600,
        }
    }
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The file has another owner, and a new file would belong to the user who replaces it.
    #[error("it is of user {uid} and group {gid}, and a new one cannot be")]
    Owner {
        /// The owner.
        uid: u32,
        /// Its group.
        gid: u32,
    },
    /// What the system says.
    #[error("{}", chain(.0))]
    System(io::Error),
}

impl From<io::Error> for OutputError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<OutputError> for io::Error {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::System(error) => error,
            OutputError::Owner { .. } => Self::new(io::ErrorKind::PermissionDenied, error),
        }
    }
}

/// A file that is being written. Unless it is [finished](Self::finish), what was there stays.
#[derive(Debug)]
pub struct Output {
    file: File,
    to: To,
}

#[derive(Debug)]
enum To {
    /// Written in its folder.
    Beside {
        new: New,
        target: PathBuf,
        was: Option<Metadata>,
        /// Whether one that is there by then stays.
        only_new: bool,
    },
    /// Written under its name, as it was not there.
    Fresh(Fresh),
    /// Written as it is.
    InPlace,
}

/// The name of a file that was not there, which goes with this value unless it is kept.
#[derive(Debug)]
struct Fresh {
    target: PathBuf,
    /// Device and inode.
    id: (u64, u64),
    is_kept: bool,
}

impl Drop for Fresh {
    fn drop(&mut self) {
        let is_own = |there: Metadata| (there.dev(), there.ino()) == self.id;
        if !self.is_kept && fs::symlink_metadata(&self.target).is_ok_and(is_own) {
            // There is a complaint already.
            let _left = fs::remove_file(&self.target);
        }
    }
}

impl Output {
    /// Prepares a file that is there when it is finished, and not before.
    ///
    /// # Errors
    /// [`OutputError`]: it cannot be written, or not replaced.
    pub fn begin(path: &Path, access: Access) -> Result<Self, OutputError> {
        Self::open(path, access, false)
    }

    /// The same for one that people look at while it grows: one that was not there is there at
    /// once.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn live(path: &Path, access: Access) -> Result<Self, OutputError> {
        Self::open(path, access, true)
    }

    /// The same for one that must not be there yet.
    ///
    /// # Errors
    /// [`OutputError`], also where it is.
    pub fn new(path: &Path, access: Access) -> Result<Self, OutputError> {
        if fs::symlink_metadata(path).is_ok() {
            return Err(io::Error::from_raw_os_error(libc::EEXIST).into());
        }
        let mut output = Self::open(path, access, false)?;
        if let To::Beside { only_new, .. } = &mut output.to {
            *only_new = true;
        }
        Ok(output)
    }

    fn open(path: &Path, access: Access, is_live: bool) -> Result<Self, OutputError> {
        let (target, was) = match found(path)? {
            Found::Descriptor(number) => {
                let file = File::from(sys::standard::duplicate(number)?);
                let to = To::InPlace;
                return Ok(Self { file, to });
            }
            Found::Name(target, was) => (target, was),
        };
        match was {
            Some(was) if was.is_dir() => Err(io::Error::from_raw_os_error(libc::EISDIR).into()),
            Some(was) if was.is_file() => Self::beside(target, access, Some(was)),
            Some(_) => {
                let mut options = File::options();
                options.write(true).custom_flags(libc::O_NOCTTY);
                let file = options.open(&target)?;
                let to = To::InPlace;
                Ok(Self { file, to })
            }
            None if is_live => {
                let mut options = File::options();
                options.write(true).create_new(true).mode(access.mode());
                let file = options.open(&target)?;
                let metadata = file.metadata()?;
                let to = To::Fresh(Fresh {
                    target,
                    id: (metadata.dev(), metadata.ino()),
                    is_kept: false,
                });
                Ok(Self { file, to })
            }
            None => Self::beside(target, access, None),
        }
    }

    fn beside(target: PathBuf, access: Access, was: Option<Metadata>) -> Result<Self, OutputError> {
        let new = match &was {
            None => New::beside(&target, access.mode())?,
            Some(was) => {
                // What its mode keeps from being written is not replaced either.
                let here = nix::fcntl::AT_FDCWD;
                let flags = nix::fcntl::AtFlags::AT_EACCESS;
                faccessat(here, &target, AccessFlags::W_OK, flags).map_err(io::Error::from)?;
                let new = New::beside(&target, 0o600)?;
                take_over(new.file(), was)?;
                new
            }
        };
        let file = new.file().try_clone()?;
        let only_new = false;
        let to = To::Beside {
            new,
            target,
            was,
            only_new,
        };
        Ok(Self { file, to })
    }

    /// Whether bytes can only be appended to it: it is written in place.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        matches!(self.to, To::InPlace)
    }

    /// Whether a path leads to the same regular file.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        let target = match &self.to {
            To::Beside { target, .. } | To::Fresh(Fresh { target, .. }) => target,
            To::InPlace => return false,
        };
        matches!(found(path), Ok(Found::Name(other, _)) if other == *target)
    }

    /// What is written to, a second time.
    ///
    /// # Errors
    /// Those of `dup(2)`.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// Those of `rename(2)`: what was there stays.
    pub fn finish(self) -> io::Result<()> {
        self.name().map(drop)
    }

    /// Gives it its name as [`finish`](Self::finish) does, but first renames an existing file that
    /// is not empty, by adding `ending` to its name.
    ///
    /// # Errors
    /// Those of `rename(2)`.
    pub fn finish_beside_old(self, ending: &str) -> io::Result<()> {
        if let To::Beside {
            target,
            was: Some(was),
            ..
        } = &self.to
            && was.len() > 0
        {
            let mut old = target.clone().into_os_string();
            old.push(ending);
            fs::rename(target, old)?;
        }
        self.finish()
    }

    /// Gives all of them their names, or none.
    ///
    /// # Errors
    /// Of the first that cannot have it, by its place in the list.
    pub fn finish_all(outputs: Vec<Self>) -> Result<(), (usize, io::Error)> {
        let mut undone = Vec::new();
        for (place, output) in outputs.iter().enumerate() {
            undone.push(output.undo().map_err(|error| (place, error))?);
        }
        let mut done = Vec::new();
        for (place, (output, undo)) in outputs.into_iter().zip(undone).enumerate() {
            match output.name() {
                Ok(()) => done.push(undo),
                Err(error) => {
                    for undo in done.into_iter().rev() {
                        // One that cannot be had back is not worse than the first complaint.
                        let _kept = undo.run();
                    }
                    return Err((place, error));
                }
            }
        }
        Ok(())
    }

    /// What brings back what was there, made while that can still fail.
    fn undo(&self) -> io::Result<Undo> {
        Ok(match &self.to {
            To::Beside {
                target,
                was: Some(was),
                ..
            } => {
                let back = New::beside(target, 0o600)?;
                io::copy(&mut super::open(target)?, &mut back.file())?;
                take_over(back.file(), was)?;
                Undo::Back(back, target.clone())
            }
            To::Beside { target, .. } => Undo::Remove(target.clone()),
            To::Fresh(_) | To::InPlace => Undo::Nothing,
        })
    }

    fn name(self) -> io::Result<()> {
        match self.to {
            To::InPlace => {}
            // Under another name perhaps, but not without one.
            To::Fresh(_) if self.file.metadata()?.nlink() == 0 => {
                return Err(io::ErrorKind::NotFound.into());
            }
            To::Fresh(mut fresh) => fresh.is_kept = true,
            To::Beside {
                new,
                target,
                only_new,
                ..
            } => match only_new {
                true => new.name_new(&target)?,
                false => new.name(&target)?,
            },
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What brings back what was there.
enum Undo {
    Back(New, PathBuf),
    Remove(PathBuf),
    Nothing,
}

impl Undo {
    fn run(self) -> io::Result<()> {
        match self {
            Self::Back(old, target) => old.name(&target),
            Self::Remove(target) => fs::remove_file(target),
            Self::Nothing => Ok(()),
        }
    }
}

/// Writes a file with these contents.
///
/// # Errors
/// [`OutputError`].
pub fn write(path: &Path, contents: &[u8]) -> Result<(), OutputError> {
    let mut output = Output::begin(path, Access::Usual)?;
    output.write_all(contents)?;
    Ok(output.finish()?)
}

/// Writes a file that must not be there yet.
///
/// # Errors
/// [`OutputError`].
pub fn write_new(path: &Path, contents: &[u8]) -> Result<(), OutputError> {
    let mut output = Output::new(path, Access::Usual)?;
    output.write_all(contents)?;
    Ok(output.finish()?)
}

fn take_over(new: &File, was: &Metadata) -> Result<(), OutputError> {
    let (uid, gid) = (was.uid(), was.gid());
    let own = new.metadata()?;
    if (own.uid(), own.gid()) != (uid, gid) {
        fchown(new, Some(uid), Some(gid)).map_err(|_| OutputError::Owner { uid, gid })?;
    }
    // Behind the owner, whose change takes set-user-ID bits away.
    let mode = was.permissions().mode() & 0o7777;
    new.set_permissions(Permissions::from_mode(mode))?;
    Ok(())
}

#[cfg(test)]
mod tests;
