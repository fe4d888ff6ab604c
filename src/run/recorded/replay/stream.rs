//! Spools a recording that comes through a pipe.

use super::ReplayError;
use perf_live::files;
use perf_live::sys::temporary;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Copies all of a pipe to an unnamed file; `None` if the path is no pipe.
pub(super) fn spooled(path: &Path) -> Result<Option<File>, ReplayError> {
    let spooled = || -> io::Result<Option<File>> {
        if !std::fs::metadata(path)?.file_type().is_fifo() {
            return Ok(None);
        }
        let mut stream = temporary::file()?;
        io::copy(&mut files::open_stream(path)?, &mut stream)?;
        Ok(Some(stream))
    };
    spooled().map_err(|source| ReplayError::Open {
        path: path.to_owned(),
        source,
    })
}
