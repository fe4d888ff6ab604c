//! Where a trace, or what was counted, is written.

use super::{Trouble, other};
use crate::out;
use perf_live::errors::chain;
use perf_live::files::{Access, Output, OutputError};
use perf_records::units::shown_path;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The destination of a trace.
pub(crate) enum Sink {
    Error(io::Stderr),
    Standard(File),
    File(Box<Output>, PathBuf),
}

/// Opens it, before there is anything to write; a new file is there at once.
pub(crate) fn sink(output: Option<&PathBuf>) -> Result<Sink, Trouble> {
    opened(output, Output::live)
}

/// The same where no command's output is in the way: a trace without a file goes to standard
/// output.
pub(crate) fn sink_of_results(output: Option<&PathBuf>) -> Result<Sink, Trouble> {
    match output {
        Some(_) => sink(output),
        None => match out::stdout() {
            Ok(stdout) => Ok(Sink::Standard(stdout)),
            Err(error) => Err(other(Unwritten::Stdout(error), None)),
        },
    }
}

/// The same for what is written when all is over; a new file is there when it is finished.
pub(crate) fn sink_at_the_end(output: Option<&PathBuf>) -> Result<Sink, Trouble> {
    opened(output, Output::begin)
}

type Open = fn(&Path, Access) -> Result<Output, OutputError>;

/// What is written to `-` goes to standard output.
fn opened(output: Option<&PathBuf>, open: Open) -> Result<Sink, Trouble> {
    let standard = PathBuf::from("/dev/stdout");
    match output.map(|path| {
        if path.as_os_str() == "-" {
            &standard
        } else {
            path
        }
    }) {
        None => match out::stderr() {
            Ok(stderr) => Ok(Sink::Error(stderr)),
            Err(error) => Err(other(error, None)),
        },
        Some(path) => match open(path, Access::Usual) {
            Ok(file) => Ok(Sink::File(Box::new(file), path.clone())),
            Err(error) => Err(unwritable(path, &error)),
        },
    }
}

pub(crate) fn unwritable(path: &Path, error: &(dyn std::error::Error + 'static)) -> Trouble {
    Trouble::Usage(format!(
        "cannot write `{}`: {}",
        shown_path(path),
        chain(error)
    ))
}

/// Something could not be written, for want of room for example; what was there before stays.
#[derive(Debug, thiserror::Error)]
enum Unwritten {
    #[error("cannot write to standard error")]
    Stderr(#[source] io::Error),
    #[error("cannot write to standard output")]
    Stdout(#[source] io::Error),
    #[error("cannot write `{}`", shown_path(.0))]
    File(PathBuf, #[source] io::Error),
}

impl Sink {
    /// Refuses to be the file that another option names.
    pub(crate) fn is_not(&self, other: Option<&Path>, option: &str) -> Result<(), Trouble> {
        match (self, other) {
            (Self::File(output, path), Some(other)) if output.is_at(other) => {
                let path = shown_path(path);
                let both = format!("`{path}` cannot be both -o and {option}");
                Err(Trouble::Usage(both))
            }
            _ => Ok(()),
        }
    }

    /// Whether a person may be reading it.
    pub(crate) fn is_a_stream(&self) -> bool {
        matches!(self, Self::Error(_) | Self::Standard(_))
    }

    /// Writes a text, or says to what it could not be written.
    pub(crate) fn put(&mut self, text: &str) -> Result<(), Trouble> {
        let unwritten = match self {
            Self::Error(stderr) => stderr.write_all(text.as_bytes()).map_err(Unwritten::Stderr),
            Self::Standard(stdout) => match stdout.write_all(text.as_bytes()) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                    return Err(Trouble::ReaderGone);
                }
                written => written.map_err(Unwritten::Stdout),
            },
            Self::File(file, path) => file
                .write_all(text.as_bytes())
                .map_err(|error| Unwritten::File(path.clone(), error)),
        };
        unwritten.map_err(|error| other(error, None))
    }

    /// All was written.
    pub(crate) fn finish(self) -> Result<(), Trouble> {
        match self {
            Self::Error(_) | Self::Standard(_) => Ok(()),
            Self::File(file, path) => file.finish().map_err(|error| unwritable(&path, &error)),
        }
    }
}
