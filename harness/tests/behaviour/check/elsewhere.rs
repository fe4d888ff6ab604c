//! A folder of which nothing is known before a command starts.

use crate::support::project::{Project, folder_of_the_machine};
use std::path::{Path, PathBuf};

/// A folder beside that of a project, and not below the one for temporary files.
pub(super) struct Elsewhere {
    path: PathBuf,
    _both: tempfile::TempDir,
}

impl Elsewhere {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Both lie in a folder of their own, which is known as the way to the working directory: other
/// tests change the one that it lies in.
pub(super) fn elsewhere() -> (Project, Elsewhere) {
    let both = folder_of_the_machine();
    let path = both.path().join("elsewhere");
    std::fs::create_dir(&path).expect("a folder");
    let project = Project::in_folder(both.path());
    (project, Elsewhere { path, _both: both })
}
