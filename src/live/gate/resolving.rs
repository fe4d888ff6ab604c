//! Where a path of a waiting call leads, in the world of its task.

use crate::host::Host;
use crate::sys::gate::open_below;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStringExt;

/// The name of the file that a path leads to, from the root of the task; its last part may be
/// missing, and then its folder must be there.
///
/// # Errors
/// `NotFound` where the folder is missing; those of `openat2(2)`.
pub fn resolve(host: &Host, root: &File, directory: &[u8], path: &[u8]) -> io::Result<Vec<u8>> {
    let whole = match path.starts_with(b"/") {
        true => path.to_vec(),
        false => [directory, b"/", path].concat(),
    };
    let name_of = |path: &[u8]| -> io::Result<Vec<u8>> {
        let file = open_below(root.as_fd(), path)?;
        let name = host.own_descriptor(file.as_raw_fd());
        let name = name.ok_or(io::ErrorKind::Other)?;
        Ok(name.into_os_string().into_vec())
    };
    match name_of(&whole) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let end = whole.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    let (folder, last) = whole.split_at(end);
    let mut name = name_of(if folder.is_empty() { b"/" } else { folder })?;
    if name == b"/" {
        name.clear();
    }
    name.extend_from_slice(last);
    Ok(name)
}
