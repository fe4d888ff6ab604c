//! Writes several files, either all or none.

use super::{Provenance, SnapshotError, contents, failed, fits, make_folder};
use perf_live::files::{Access, Output, OutputError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Files that are either all written or none.
#[derive(Debug, Default)]
pub struct Together {
    files: Vec<(PathBuf, Output)>,
}

impl Together {
    /// Adds a file.
    ///
    /// # Errors
    /// [`SnapshotError::Write`].
    pub fn add(&mut self, file: &Path, contents: &str) -> Result<(), SnapshotError> {
        self.begun(file, contents, Output::begin(file, Access::Usual))
    }

    /// Adds a file that must not exist yet.
    ///
    /// # Errors
    /// [`SnapshotError::Write`], also if the file exists.
    pub fn add_new(&mut self, file: &Path, contents: &str) -> Result<(), SnapshotError> {
        self.begun(file, contents, Output::new(file, Access::Usual))
    }

    /// Adds a snapshot.
    ///
    /// # Errors
    /// [`SnapshotError::Write`].
    pub fn add_snapshot(
        &mut self,
        file: &Path,
        text: &str,
        provenance: &Provenance<'_>,
    ) -> Result<(), SnapshotError> {
        let contents = contents(text, provenance);
        fits(file, &contents)?;
        make_folder(file)?;
        self.add(file, &contents)
    }

    fn begun(
        &mut self,
        file: &Path,
        contents: &str,
        begun: Result<Output, OutputError>,
    ) -> Result<(), SnapshotError> {
        let mut output = begun.map_err(|error| failed(file, error))?;
        let written = output.write_all(contents.as_bytes());
        written.map_err(|error| failed(file, error.into()))?;
        self.files.push((file.to_owned(), output));
        Ok(())
    }

    /// Writes all of them.
    ///
    /// # Errors
    /// [`SnapshotError::Write`], for the first that cannot be written; none is written then.
    pub fn write(self) -> Result<(), SnapshotError> {
        let (paths, outputs): (Vec<PathBuf>, Vec<Output>) = self.files.into_iter().unzip();
        Output::finish_all(outputs).map_err(|(place, source)| SnapshotError::Write {
            path: paths.get(place).cloned().unwrap_or_default(),
            source,
        })
    }
}
