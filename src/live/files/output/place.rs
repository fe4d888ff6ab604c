//! What a path leads to, as far as it is written to.

use crate::sys;
use nix::sys::statfs::{PROC_SUPER_MAGIC, statfs};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// As the kernel has it (`MAXSYMLINKS`, `include/linux/namei.h`).
const MOST_LINKS: usize = 40;

/// What a path leads to.
pub(super) enum Found {
    /// A name in a folder, and what bears it.
    Name(PathBuf, Option<Metadata>),
    /// An open descriptor of ours.
    Descriptor(RawFd),
}

/// Follows the symbolic links at the end of a path. The folders on the way are followed by the
/// kernel.
pub(super) fn found(path: &Path) -> io::Result<Found> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let was = match fs::symlink_metadata(&path) {
            Ok(was) => was,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Found::Name(whole(&path)?, None));
            }
            Err(error) => return Err(error),
        };
        if !was.is_symlink() {
            let path = if was.is_file() { whole(&path)? } else { path };
            return Ok(Found::Name(path, Some(was)));
        }
        let folder = folder(&path);
        if statfs(folder)?.filesystem_type() == PROC_SUPER_MAGIC {
            // No name, but an open file, which may have none.
            return match descriptor(&path)? {
                Some(number) => Ok(Found::Descriptor(number)),
                None => Ok(Found::Name(path.clone(), Some(fs::metadata(&path)?))),
            };
        }
        path = folder.join(fs::read_link(&path)?);
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

fn folder(path: &Path) -> &Path {
    // The folder of a file that is named alone is the working directory.
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// A name in a folder, from the root on.
fn whole(path: &Path) -> io::Result<PathBuf> {
    let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    match path.file_name() {
        Some(name) if !is_folder => Ok(fs::canonicalize(folder(path))?.join(name)),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Which of our own descriptors a link of procfs leads to.
fn descriptor(link: &Path) -> io::Result<Option<RawFd>> {
    let number = link.file_name().and_then(OsStr::to_str);
    let Some(number) = number.and_then(|it| it.parse::<RawFd>().ok()) else {
        return Ok(None);
    };
    let there = fs::metadata(link)?;
    let Ok(own) = sys::standard::duplicate(number).map(File::from) else {
        return Ok(None);
    };
    let own = own.metadata()?;
    Ok(((own.dev(), own.ino()) == (there.dev(), there.ino())).then_some(number))
}
