//! Where a trace, or what was counted, is written.

use super::{Trouble, other};
use crate::out;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use trace_harness::errors::chain;
use trace_harness::files::{Access, Output};

/// Where the trace goes.
pub(crate) enum Sink {
    Error(io::Stderr),
    File(Output, PathBuf),
}

/// Opens it, before there is anything to write.
pub(crate) fn sink(output: Option<&PathBuf>) -> Result<Sink, Trouble> {
    match output {
        None => match out::stderr() {
            Ok(stderr) => Ok(Sink::Error(stderr)),
            Err(error) => Err(other(error, None)),
        },
        Some(path) => match Output::live(path, Access::Usual) {
            Ok(file) => Ok(Sink::File(file, path.clone())),
            Err(error) => Err(unwritable(path, &error)),
        },
    }
}

pub(crate) fn unwritable(path: &Path, error: &(dyn std::error::Error + 'static)) -> Trouble {
    Trouble::Usage(format!(
        "cannot write `{}`: {}",
        path.display(),
        chain(error)
    ))
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Error(stderr) => stderr.write(bytes),
            Self::File(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink {
    /// All was written.
    pub(crate) fn finish(self) -> Result<(), Trouble> {
        match self {
            Self::Error(_) => Ok(()),
            Self::File(file, path) => file.finish().map_err(|error| unwritable(&path, &error)),
        }
    }
}
