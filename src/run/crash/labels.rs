//! Owners and extended attributes of files, as the folder has them.

use crate::crash::{Attributes, Watched};
use perf_live::sys::xattr;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The attributes of a file that are in states.
pub(super) type Labels = BTreeMap<Vec<u8>, Vec<u8>>;

/// So many files are looked at.
const MOST: usize = 100_000;

/// Reads the attributes of a file that are in states; a link is not followed.
///
/// # Errors
/// Those of reading them; that it has a list of access, which is in no state.
pub(super) fn of(path: &Path) -> io::Result<Labels> {
    let names = xattr::names(path)?;
    if names
        .iter()
        .any(|name| name.starts_with(b"system.posix_acl_"))
    {
        return Err(io::Error::other("a file has an access control list"));
    }
    let names = names.into_iter();
    let names = names.filter(|name| Attributes::are_in_states(name));
    let value = |name: Vec<u8>| {
        let value = xattr::value(path, &name)?;
        Ok((name, value))
    };
    names.map(value).collect()
}

/// Gives a file, which is new, its attributes.
pub(super) fn give(path: &Path, labels: &Labels) -> io::Result<()> {
    labels
        .iter()
        .try_for_each(|(name, value)| xattr::set(path, name, value))
}

/// The user and the group of a file.
pub(super) type Owner = (u32, u32);

/// What watched files have beside their content and their mode, by their paths from the working
/// directory, whose own path is empty.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// The attributes of those that have one.
    pub(super) labels: BTreeMap<Vec<u8>, Labels>,
    /// The owners of all.
    pub(super) owners: BTreeMap<Vec<u8>, Owner>,
}

/// What the watched files have. Nothing changes the directory at this moment.
///
/// # Errors
/// Those of reading it; that there is more than is looked at.
pub(super) fn left(root: &Path, watched: &Watched) -> io::Result<Beside> {
    let mut left = Beside::default();
    let mut folders = vec![Vec::new()];
    let mut looked_at = 0;
    let mut note = |path: &[u8]| -> io::Result<()> {
        let file = root.join(std::ffi::OsStr::from_bytes(path));
        let labels = of(&file)?;
        if !watched.has(path) {
            return Ok(());
        }
        let status = fs::symlink_metadata(&file)?;
        left.owners
            .insert(path.to_owned(), (status.uid(), status.gid()));
        if !labels.is_empty() {
            left.labels.insert(path.to_owned(), labels);
        }
        Ok(())
    };
    note(&[])?;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(std::ffi::OsStr::from_bytes(&folder)))? {
            let entry = entry?;
            looked_at += 1;
            if looked_at > MOST {
                return Err(io::Error::other("there are too many files"));
            }
            let name = entry.file_name();
            let path = match folder.as_slice() {
                [] => name.as_bytes().to_vec(),
                folder => [folder, b"/", name.as_bytes()].concat(),
            };
            note(&path)?;
            if entry.file_type()?.is_dir() {
                folders.push(path);
            }
        }
    }
    Ok(left)
}
