//! Where the records of each kernel are kept.

use perf_live::errors::chain;
use perf_records::units::shown_path;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Makes a folder for the records of each kernel, and returns its real path.
///
/// # Errors
/// One cannot be made, or is not empty: records of an earlier run would be taken for those of this
/// one.
pub(super) fn folders(
    save: &Path,
    kernels: &[String],
) -> Result<BTreeMap<String, PathBuf>, String> {
    let all = kernels.iter();
    all.map(|kernel| Ok((kernel.clone(), folder(save, kernel)?)))
        .collect()
}

fn folder(save: &Path, kernel: &str) -> Result<PathBuf, String> {
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
