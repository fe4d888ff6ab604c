//! The workload's descriptors 0, 1 and 2.

use super::output::Reader;
use crate::gate::Streams;
use crate::sys::inode;
use nix::fcntl::OFlag;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::{Mode, fchmod};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Where the workload's standard descriptors lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdio {
    /// To those of the harness.
    Inherited,
    /// The same, but its output goes where its errors go.
    OutputToError,
    /// Input from these bytes (as a file, so that reads are never short; none at all is
    /// `/dev/null`), outputs captured.
    Captured {
        /// What standard input holds.
        input: Option<Vec<u8>>,
    },
}

type Ends = (OwnedFd, OwnedFd, OwnedFd, Option<[Reader; 2]>);

/// The workload's three ends, and the readers of its outputs where they are captured.
pub(super) fn open(stdio: &Stdio) -> io::Result<Ends> {
    match stdio {
        Stdio::Inherited | Stdio::OutputToError => {
            let dup = |fd: BorrowedFd<'_>| fd.try_clone_to_owned();
            let output = match stdio {
                Stdio::Inherited => dup(io::stdout().as_fd())?,
                _ => dup(io::stderr().as_fd())?,
            };
            Ok((
                dup(io::stdin().as_fd())?,
                output,
                dup(io::stderr().as_fd())?,
                None,
            ))
        }
        Stdio::Captured { input } => {
            let stdin = input_file(input.as_deref())?;
            let (out_read, out_write) = nix::unistd::pipe2(OFlag::O_CLOEXEC)?;
            let (err_read, err_write) = nix::unistd::pipe2(OFlag::O_CLOEXEC)?;
            Ok((
                stdin,
                out_write,
                err_write,
                Some([Reader::new(out_read)?, Reader::new(err_read)?]),
            ))
        }
    }
}

/// Which files these ends are.
pub(super) fn inodes(ends: [&OwnedFd; 3]) -> io::Result<Streams> {
    let [input, output, errors] = ends.map(|end| inode::of(end.as_fd()));
    Ok([input?, output?, errors?])
}

fn input_file(input: Option<&[u8]>) -> io::Result<OwnedFd> {
    let Some(input) = input else {
        return Ok(File::open(Path::new("/dev/null"))?.into());
    };
    // As a file of no folder it may be opened again by `/dev/stdin` under any rules of Landlock,
    // which take no file of the kernel's own mounts (`is_nouser_or_private()`,
    // `security/landlock/fs.c`).
    let file = memfd_create("stdin", MFdFlags::MFD_CLOEXEC)?;
    // Whoever the workload is run as may read it.
    fchmod(&file, Mode::from_bits_truncate(0o644))?;
    let mut file = File::from(file);
    io::Write::write_all(&mut file, input)?;
    io::Seek::rewind(&mut file)?;
    Ok(file.into())
}
