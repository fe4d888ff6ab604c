//! The folder for temporary files.

use std::fs::File;
use std::io;
use std::path::PathBuf;

/// The folder that `TMPDIR` names; `/tmp` where it is not set or empty, as of any empty path
/// nothing can be opened.
///
/// # References
/// `TMPDIR` in POSIX.1-2024, 8.3; an empty path in `path_resolution(7)`.
#[must_use]
pub fn folder() -> PathBuf {
    named(std::env::var_os("TMPDIR"))
}

/// Makes a file without a name there, which goes with its last descriptor.
///
/// # Errors
/// Those of `open(2)`.
pub fn file() -> io::Result<File> {
    tempfile::tempfile_in(folder())
}

fn named(folder: Option<std::ffi::OsString>) -> PathBuf {
    let folder = folder.filter(|path| !path.is_empty());
    folder.map_or_else(|| "/tmp".into(), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_folder_for_temporary_files_is_as_none() {
        for (given, meant) in [
            (None, "/tmp"),
            (Some(""), "/tmp"),
            (Some("/var/tmp"), "/var/tmp"),
            (Some("here"), "here"),
        ] {
            assert_eq!(named(given.map(Into::into)), PathBuf::from(meant));
        }
    }
}
