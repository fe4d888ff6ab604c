//! What a command reads: a file, a directory of them, or what comes on standard input.

use crate::{complain, status};
use nix::sys::stat::{SFlag, fstat};
use std::error::Error;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use trace_harness::perfdata::{Files, Reader};

#[derive(Debug, thiserror::Error)]
#[error("cannot open {}", path.display())]
struct Unopened {
    path: PathBuf,
    source: io::Error,
}

/// Opens what `-i` says, by default what perf would read, and says what it is called.
pub(crate) fn open(input: Option<&Path>) -> Result<(Reader<File>, String), Box<dyn Error>> {
    let input = match input {
        Some(path) if path.as_os_str() == "-" => None,
        None if is_stdin_a_pipe() => None,
        Some(path) => Some(path),
        None => Some(Path::new("perf.data")),
    };
    let Some(path) = input else {
        let stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        return Ok((Reader::pipe(stdin)?, "-".to_owned()));
    };
    let files = Files::open(path).map_err(|source| {
        let path = path.to_owned();
        Unopened { path, source }
    })?;
    let name = files.name().display().to_string();
    Ok((Reader::files(files)?, name))
}

/// Whether standard input is a pipe: perf reads it then.
fn is_stdin_a_pipe() -> bool {
    let kind =
        fstat(io::stdin()).map(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT);
    kind == Ok(SFlag::S_IFIFO)
}

/// The exit status of a command that prints what it reads; says what went wrong.
pub(crate) fn status_of(printed: Result<u8, Box<dyn Error>>) -> u8 {
    match printed {
        Ok(status) => status,
        Err(error) => {
            let is_gone = error
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
            // A reader that has gone away does not want to know.
            if is_gone {
                return status::PASSED;
            }
            complain(error.as_ref(), None);
            status::USAGE
        }
    }
}
