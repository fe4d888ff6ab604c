//! Opens the input of a command: a file, a directory of files, or standard input.

use crate::{complain, out, status};
use nix::sys::stat::{SFlag, fstat};
use perf_live::files;
use perf_records::perfdata::Reader;
use std::error::Error;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
#[error("cannot open {}", path.display())]
struct Unopened {
    path: PathBuf,
    source: io::Error,
}

/// Opens the input that `-i` names, by default the same as perf, and returns its name too.
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
    let unopened = |source| {
        let path = path.to_owned();
        Unopened { path, source }
    };
    let is_pipe = std::fs::metadata(path).is_ok_and(|it| it.file_type().is_fifo());
    if is_pipe {
        let file = files::open_stream(path).map_err(|error| unopened(error.into()))?;
        return Ok((Reader::pipe(file)?, path.display().to_string()));
    }
    let files = perf_live::files::recording(path).map_err(unopened)?;
    let name = files.name.display().to_string();
    Ok((Reader::files(files)?, name))
}

/// Whether standard input is a pipe: perf reads it then.
fn is_stdin_a_pipe() -> bool {
    let kind =
        fstat(io::stdin()).map(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT);
    kind == Ok(SFlag::S_IFIFO)
}

/// The output of what was read could not be printed.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub(crate) struct Unprinted(pub(crate) io::Error);

/// Returns the exit status of a command that prints what it reads, and reports errors.
pub(crate) fn status_of(printed: Result<u8, Box<dyn Error>>) -> u8 {
    match printed {
        Ok(status) => status,
        Err(error) => match error.downcast::<Unprinted>() {
            Ok(lost) => out::ended(Err(lost.0), status::PASSED, status::USAGE),
            Err(error) => {
                complain(error.as_ref(), None);
                status::USAGE
            }
        },
    }
}
