//! Why there is no kernel to boot.

use super::cache::CacheError;
use super::fetch::FetchError;
use super::files::RootError;
use super::image;
use super::why::Printed;
use crate::scenario::Architecture;
use perf_records::units::shown_path;
use std::io;
use std::path::PathBuf;

/// Why there is no kernel to boot.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// There is no folder to keep it in.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// It could not be fetched.
    #[error("cannot get the kernel `{name}`")]
    Fetch {
        /// Its name in the list.
        name: String,
        /// The error of fetching it.
        source: Box<FetchError>,
    },
    /// A file or folder that the list names cannot be read.
    #[error("the kernel `{name}`: cannot read `{}`", shown_path(path))]
    Read {
        /// Its name in the list.
        name: String,
        /// The file.
        path: PathBuf,
        /// The error of reading it.
        source: io::Error,
    },
    /// The files of the guest cannot be had of what the list names for them.
    #[error("the kernel `{name}`: `root: {}`", shown_path(path))]
    Root {
        /// Its name in the list.
        name: String,
        /// The folder, the archive or the image.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<RootError>,
    },
    /// A file is no kernel of the entry's architecture.
    #[error(
        "the kernel `{name}`: `{}` is no kernel of {}: {}",
        shown_path(path), arch.word(), said_of(*arch, *of)
    )]
    NoKernel {
        /// Its name in the list.
        name: String,
        /// The file.
        path: PathBuf,
        /// The architecture of the entry.
        arch: Architecture,
        /// The one that the file is a kernel of, if it is one.
        of: Option<Architecture>,
    },
    /// The packages lack a file.
    #[error(
        "the packages of the kernel `{name}`, unpacked in `{}`, hold no {what}",
        shown_path(folder)
    )]
    Lacks {
        /// Its name in the list.
        name: String,
        /// The folder that they were unpacked in.
        folder: PathBuf,
        /// What is missing.
        what: &'static str,
    },
}

impl KernelError {
    /// Returns what can be done about it, if anything.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Cache(error) => Some(error.hint()),
            Self::Fetch { source, .. } => source.hint(),
            Self::Root { source, .. } => source.hint(),
            Self::NoKernel { of: Some(of), .. } => Some(format!(
                "say `arch: {}` for it, with `root` and `harness` where the machine is another",
                of.word()
            )),
            Self::NoKernel { of: None, .. } | Self::Read { .. } | Self::Lacks { .. } => None,
        }
    }

    /// Whether a file that the list names is not what it has to be.
    #[must_use]
    pub fn is_of_list(&self) -> bool {
        match self {
            Self::Root { source, .. } => source.is_of_input(),
            _ => false,
        }
    }

    /// Returns what the tool that failed printed, if one did.
    pub(super) fn printed(&self) -> Option<Printed> {
        match self {
            Self::Fetch { source, .. } => source.printed(),
            _ => None,
        }
    }
}

fn said_of(arch: Architecture, of: Option<Architecture>) -> String {
    match of {
        Some(of) => format!("it is one of {}", of.word()),
        None => format!("it should be {}", image::form(arch)),
    }
}
