//! Lays the entries of an archive into a folder, as they would lie below a root.

use super::tar::{Entry, Kind, TarError, contents, shown};
use nix::sys::stat::UtimensatFlags;
use nix::sys::time::TimeSpec;
use nix::unistd::{Gid, Uid};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

/// Why an entry cannot be laid in.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The archive.
    #[error(transparent)]
    Tar(#[from] TarError),
    /// It says what no root could have.
    #[error("{0}")]
    Entry(String),
    /// The folder cannot be written.
    #[error("{what} cannot be written into the cache")]
    Write {
        /// The entry.
        what: String,
        /// The error of writing.
        source: io::Error,
    },
}

/// What of an archive is not in the folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Omitted {
    /// The first device or FIFO, and how many there are.
    special: Option<(String, usize)>,
    attributes: usize,
    owners: usize,
}

impl Omitted {
    /// A line for each kind.
    pub(super) fn lines(&self) -> Vec<String> {
        let special = self.special.as_ref().map(|(first, n)| {
            format!("{n} devices and FIFOs are left out, {first} first: a guest has its own /dev")
        });
        let attributes = (self.attributes > 0).then(|| {
            let n = self.attributes;
            format!("{n} files are without their extended attributes, such as capabilities")
        });
        let owners = (self.owners > 0).then(|| {
            format!(
                "{} files are yours, as only root may give files away",
                self.owners
            )
        });
        [special, attributes, owners]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// A folder that is filled.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    /// What folders are to become once nothing is laid into them any more.
    folders: BTreeMap<PathBuf, Entry>,
    omitted: Omitted,
    is_superuser: bool,
}

/// As in the kernel (`MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

impl Tree {
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        Ok(Self {
            root: root.to_owned(),
            folders: BTreeMap::new(),
            omitted: Omitted::default(),
            is_superuser: Uid::effective().is_root(),
        })
    }

    /// Lays in an entry.
    pub(super) fn add(&mut self, entry: &Entry, from: &mut dyn Read) -> Result<(), TreeError> {
        let names = names(&entry.path)?;
        let Some((name, folders)) = names.split_last() else {
            self.folders.insert(self.root.clone(), entry.clone());
            return Ok(());
        };
        if entry.kind == Kind::Special {
            let first = || (entry.shown(), 0);
            self.omitted.special.get_or_insert_with(first).1 += 1;
            return Ok(());
        }
        let failed = |source| TreeError::Write {
            what: entry.shown(),
            source,
        };
        let folder = self.folder(folders, true)?.unwrap_or_default();
        let path = folder.join(name);
        let there = path.symlink_metadata().ok();
        let is_folder = there.as_ref().is_some_and(fs::Metadata::is_dir);
        if there.is_some() && !(is_folder && entry.kind == Kind::Folder) {
            self.remove_at(&path).map_err(failed)?;
        }
        self.omitted.attributes += usize::from(entry.has_attributes);
        match entry.kind {
            Kind::Folder => {
                if !is_folder {
                    fs::create_dir(&path).map_err(failed)?;
                }
                self.folders.insert(path, entry.clone());
            }
            Kind::File => {
                let mut options = File::options();
                let mut file = options
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(&path)
                    .map_err(failed)?;
                contents(entry, from, |bytes| file.write_all(bytes).map_err(failed))?;
                self.own(&path, entry).map_err(failed)?;
            }
            Kind::Symlink => {
                if entry.target.is_empty() {
                    return Err(TreeError::Entry(format!(
                        "{} links to nothing",
                        entry.shown()
                    )));
                }
                symlink(OsStr::from_bytes(&entry.target), &path).map_err(failed)?;
                self.own(&path, entry).map_err(failed)?;
            }
            Kind::Link => {
                let target = self.linked(entry)?;
                fs::hard_link(target, &path).map_err(failed)?;
            }
            Kind::Special => {}
        }
        Ok(())
    }

    /// Finds the file that an entry is a further name of.
    fn linked(&self, entry: &Entry) -> Result<PathBuf, TreeError> {
        let names = names(&entry.target)?;
        let target = shown(&entry.target);
        let nowhere = || {
            TreeError::Entry(format!(
                "{} links to {target}, which is no file before it",
                entry.shown()
            ))
        };
        let (name, folders) = names.split_last().ok_or_else(nowhere)?;
        let path = self.folder(folders, false)?.ok_or_else(nowhere)?.join(name);
        match path.symlink_metadata() {
            Ok(about) if !about.is_dir() => Ok(path),
            _ => Err(nowhere()),
        }
    }

    /// Removes what lies at a path, if anything does.
    pub(super) fn remove(&mut self, path: &[u8]) -> Result<(), TreeError> {
        let names = names(path)?;
        let Some((name, folders)) = names.split_last() else {
            return Ok(());
        };
        let Some(folder) = self.folder(folders, false)? else {
            return Ok(());
        };
        let what = || shown(path);
        self.remove_at(&folder.join(name))
            .map_err(|source| TreeError::Write {
                what: what(),
                source,
            })
    }

    /// Removes all that lies in a folder, if there is one.
    pub(super) fn clear(&mut self, path: &[u8]) -> Result<(), TreeError> {
        let Some(folder) = self.folder(&names(path)?, false)? else {
            return Ok(());
        };
        let clear = || {
            for entry in fs::read_dir(&folder)? {
                self.remove_at(&entry?.path())?;
            }
            Ok(())
        };
        clear().map_err(|source| TreeError::Write {
            what: shown(path),
            source,
        })
    }

    fn remove_at(&self, path: &Path) -> io::Result<()> {
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(about) if about.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
        }
    }

    /// Gives folders their modes and times; returns what is not there.
    pub(super) fn finish(mut self) -> Result<Omitted, TreeError> {
        // Those within others come first.
        for (path, entry) in std::mem::take(&mut self.folders).into_iter().rev() {
            // It may have been replaced since.
            if path.symlink_metadata().is_ok_and(|about| about.is_dir()) {
                self.own(&path, &entry).map_err(|source| TreeError::Write {
                    what: entry.shown(),
                    source,
                })?;
            }
        }
        Ok(self.omitted)
    }

    /// Gives a file its owner, its mode and its time.
    fn own(&mut self, path: &Path, entry: &Entry) -> io::Result<()> {
        let ids = (Uid::from_raw(entry.user), Gid::from_raw(entry.group));
        let flags = nix::fcntl::AtFlags::AT_SYMLINK_NOFOLLOW;
        let here = nix::fcntl::AT_FDCWD;
        let given = self.is_superuser
            && nix::unistd::fchownat(here, path, Some(ids.0), Some(ids.1), flags).is_ok();
        let is_own = ids == (Uid::effective(), Gid::effective());
        self.omitted.owners += usize::from(!given && !is_own);
        if entry.kind != Kind::Symlink {
            // What QEMU may not read as this user would not be there; and a program for the right
            // of its owner is none where it has another.
            let mode = match (given, entry.kind) {
                (true, _) => entry.mode,
                (false, Kind::Folder) => entry.mode & 0o1777 | 0o700,
                (false, _) => entry.mode & 0o1777 | 0o400,
            };
            fs::set_permissions(path, Permissions::from_mode(mode))?;
        }
        let time = TimeSpec::new(entry.modified, 0);
        let flag = UtimensatFlags::NoFollowSymlink;
        nix::sys::stat::utimensat(here, path, &time, &time, flag)?;
        Ok(())
    }

    /// Finds the folder of these names as a program would whose root this is: links within it lead
    /// nowhere out of it. Makes what is not there, if it is to, and otherwise finds `None`.
    fn folder(&self, names: &[&OsStr], makes: bool) -> Result<Option<PathBuf>, TreeError> {
        let mut at = self.root.clone();
        let mut depth = 0_usize;
        let mut links = 0;
        let mut left: VecDeque<OsString> = names.iter().map(|name| (*name).to_owned()).collect();
        let whole = || shown(names.join(OsStr::new("/")).as_bytes());
        while let Some(name) = left.pop_front() {
            if name == ".." {
                if depth > 0 {
                    at.pop();
                    depth -= 1;
                }
                continue;
            }
            let path = at.join(&name);
            let failed = |source| TreeError::Write {
                what: whole(),
                source,
            };
            match path.symlink_metadata() {
                Ok(about) if about.is_symlink() => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(TreeError::Entry(format!(
                            "{} is a circle of links",
                            whole()
                        )));
                    }
                    let target = fs::read_link(&path).map_err(failed)?;
                    if target.is_absolute() {
                        at.clone_from(&self.root);
                        depth = 0;
                    }
                    for part in target.components().rev() {
                        match part {
                            Component::Normal(part) => left.push_front(part.to_owned()),
                            Component::ParentDir => left.push_front("..".into()),
                            _ => {}
                        }
                    }
                    continue;
                }
                Ok(about) if about.is_dir() => {}
                Ok(_) if !makes => return Ok(None),
                Ok(_) => {
                    let why = format!("a file lies below {}, which is no folder", whole());
                    return Err(TreeError::Entry(why));
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                Err(_) if !makes => return Ok(None),
                Err(_) => fs::create_dir(&path).map_err(failed)?,
            }
            at = path;
            depth += 1;
        }
        Ok(Some(at))
    }
}

/// The names of a path, from the root on.
fn names(path: &[u8]) -> Result<Vec<&OsStr>, TreeError> {
    let mut names = Vec::new();
    for name in path.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                let why = format!("{} leaves the root", shown(path));
                return Err(TreeError::Entry(why));
            }
            name => names.push(OsStr::from_bytes(name)),
        }
    }
    Ok(names)
}
