//! Extended attributes of files, by paths whose last part is not followed.
//!
//! # References
//! `xattr(7)`, `llistxattr(2)`, `lgetxattr(2)`, `lsetxattr(2)`.

use super::check;
use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn terminated(bytes: &[u8]) -> io::Result<CString> {
    Ok(CString::new(bytes)?)
}

/// The names of a file's attributes; none where its file system has no attributes.
///
/// # Errors
/// Those of `llistxattr(2)`.
pub fn names(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let path = terminated(path.as_os_str().as_bytes())?;
    let list = filled(|room| list_into(&path, room));
    let list = match list {
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => return Ok(Vec::new()),
        list => list?,
    };
    let names = list
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    Ok(names.map(<[u8]>::to_vec).collect())
}

/// What an attribute of a file is.
///
/// # Errors
/// Those of `lgetxattr(2)`.
pub fn value(path: &Path, name: &[u8]) -> io::Result<Vec<u8>> {
    let (path, name) = (terminated(path.as_os_str().as_bytes())?, terminated(name)?);
    filled(|room| value_into(&path, &name, room))
}

/// Gives a file an attribute.
///
/// # Errors
/// Those of `lsetxattr(2)`.
pub fn set(path: &Path, name: &[u8], value: &[u8]) -> io::Result<()> {
    let (path, name) = (terminated(path.as_os_str().as_bytes())?, terminated(name)?);
    // SAFETY: two strings that end, and a value with its length.
    let done = unsafe {
        libc::lsetxattr(
            path.as_ptr(),
            name.as_ptr(),
            value.as_ptr().cast(),
            value.len(),
            0,
        )
    };
    check(libc::c_long::from(done)).map(drop)
}

/// Takes an attribute from a file.
///
/// # Errors
/// Those of `lremovexattr(2)`.
pub fn remove(path: &Path, name: &[u8]) -> io::Result<()> {
    let (path, name) = (terminated(path.as_os_str().as_bytes())?, terminated(name)?);
    // SAFETY: two strings that end.
    let done = unsafe { libc::lremovexattr(path.as_ptr(), name.as_ptr()) };
    check(libc::c_long::from(done)).map(drop)
}

/// Asks for the size, makes room, and asks again, until it fits.
fn filled(mut ask: impl FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<Vec<u8>> {
    loop {
        let mut room = vec![0; ask(&mut [])?];
        if room.is_empty() {
            return Ok(room);
        }
        match ask(&mut room) {
            // It has grown since.
            Err(error) if error.raw_os_error() == Some(libc::ERANGE) => {}
            Err(error) => return Err(error),
            Ok(size) => {
                room.truncate(size);
                return Ok(room);
            }
        }
    }
}

fn list_into(path: &CStr, room: &mut [u8]) -> io::Result<usize> {
    // SAFETY: a string that ends, and room of that length.
    let size = unsafe { libc::llistxattr(path.as_ptr(), room.as_mut_ptr().cast(), room.len()) };
    usize::try_from(size).map_err(|_| io::Error::last_os_error())
}

fn value_into(path: &CStr, name: &CStr, room: &mut [u8]) -> io::Result<usize> {
    // SAFETY: two strings that end, and room of that length.
    let size = unsafe {
        libc::lgetxattr(
            path.as_ptr(),
            name.as_ptr(),
            room.as_mut_ptr().cast(),
            room.len(),
        )
    };
    usize::try_from(size).map_err(|_| io::Error::last_os_error())
}
