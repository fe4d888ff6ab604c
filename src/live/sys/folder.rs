//! The names in a folder.

use nix::dir::Dir;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// Returns the names in a folder in the order that it has them, but `.` and `..`.
///
/// The standard library panics where a folder cannot be closed (`ReadDir`, as of Rust 1.91). All
/// its names are read by then, and the descriptor is closed whatever `close(2)` returns.
///
/// # Errors
/// Those of `open(2)` and `getdents64(2)`: then no name is returned, as others would be missing.
pub fn names(path: &Path) -> io::Result<Vec<OsString>> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut folder = Dir::open(path, flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in folder.iter() {
        let name = entry?.file_name().to_bytes().to_vec();
        if !matches!(name.as_slice(), b"." | b"..") {
            names.push(OsString::from_vec(name));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn the_names_are_those_that_are_there_whatever_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(names(folder.path()).unwrap(), Vec::<OsString>::new());
        let all = [b"a".to_vec(), b".b".to_vec(), b"\xff\n".to_vec()].map(OsString::from_vec);
        for name in &all {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let mut found = names(folder.path()).unwrap();
        found.sort();
        let mut wanted = all.to_vec();
        wanted.sort();
        assert_eq!(found, wanted);
        let missing = names(&folder.path().join("none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let file = names(&folder.path().join("a")).unwrap_err();
        assert_eq!(file.kind(), io::ErrorKind::NotADirectory);
    }
}
