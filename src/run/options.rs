//! How a suite is run.

use super::{Extras, Fault, Item, StoreOptions};
use std::path::{Path, PathBuf};

/// What is done with a trace that differs from its snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Nothing is written: a CI run.
    Never,
    /// It is put aside for review.
    Pending,
    /// It becomes the snapshot where none is compared with, and is put aside for review elsewhere.
    Unseen,
    /// It becomes the snapshot.
    Accept,
    /// It becomes the snapshot of this kernel's version (`name@6.1.snap`); the one for all kernels
    /// stays as it is.
    Variant,
    /// It becomes the snapshot of this architecture (`name@arm64.snap`); the one for all kernels
    /// stays as it is.
    OfArch,
}

/// How a suite is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// What becomes of new traces.
    pub update: Update,
    /// How often each scenario is run; all runs must pass.
    pub repeat: u32,
    /// How many run side by side.
    pub jobs: usize,
    /// Whether a skip is a failure (`HARNESS_REQUIRE=all`).
    pub require_all: bool,
    /// Whether the directory of each scenario's last run is kept.
    pub keep: bool,
    /// A planted defect.
    pub fault: Fault,
    /// A folder for the recordings of each scenario's last run, and what those files say of their
    /// maker.
    pub save: Option<(PathBuf, StoreOptions)>,
    /// A folder for the ends of failed runs whose scenarios ask for them, and what those files say
    /// of their maker.
    pub dumps: Option<(PathBuf, StoreOptions)>,
}

/// Runs once, one scenario at a time, and writes nothing.
impl Default for Options {
    fn default() -> Self {
        Self {
            update: Update::Never,
            repeat: 1,
            jobs: 1,
            require_all: false,
            keep: false,
            fault: Fault::default(),
            save: None,
            dumps: None,
        }
    }
}

impl Options {
    /// Returns the file for the recording of a scenario's run, if recordings are kept.
    pub(super) fn file_of(&self, item: &Item) -> Option<PathBuf> {
        let (folder, _) = self.save.as_ref()?;
        Some(folder.join(format!("{}.data", item.name)))
    }

    /// Returns what recordings say of their maker.
    pub(super) fn about(&self) -> &StoreOptions {
        static NOBODY: StoreOptions = StoreOptions::NOBODY;
        let about = self.save.as_ref().or(self.dumps.as_ref());
        about.map_or(&NOBODY, |(_, about)| about)
    }

    /// What is done with a run besides judging it.
    pub(super) fn extras<'a>(&'a self, file: Option<&'a Path>) -> Extras<'a> {
        let about = self.save.as_ref().map(|(_, about)| about);
        Extras {
            fault: self.fault,
            save: file.zip(about),
        }
    }
}
