//! Where the records of a kernel are kept.

use perf_live::errors::chain;
use perf_records::units::shown_path;
use std::path::{Path, PathBuf};

/// Makes the folder for the records of a kernel, and returns its real path.
///
/// # Errors
/// It cannot be made, or is not empty: records of an earlier run would be taken for those of this
/// one.
pub(super) fn folder(save: &Path, kernel: &str) -> Result<PathBuf, String> {
    let folder = save.join(kernel);
    let shown = shown_path(&folder).to_string();
    let failed =
        |error: std::io::Error| format!("cannot keep records in `{shown}`: {}", chain(&error));
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let mut entries = std::fs::read_dir(&folder).map_err(failed)?;
    match entries.next() {
        None => std::fs::canonicalize(&folder).map_err(failed),
        Some(_) => Err(format!(
            "`{shown}` is not empty: records are kept in a new folder"
        )),
    }
}
