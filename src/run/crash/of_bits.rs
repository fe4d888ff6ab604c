//! Set-user-ID and set-group-ID bits, which the kernel takes from files by itself.

use crate::crash::Act;
use nix::sys::stat::fstat;
use perf_live::host::Host;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

/// Both bits, and the second, which a file does not get from everybody.
const BITS: u32 = libc::S_ISUID | libc::S_ISGID;
const OF_GROUP: u32 = libc::S_ISGID;

/// A file whose permissions are known when a call is over. Which are taken depends on rights, on
/// groups and on the kernel (`setattr_should_drop_suidgid()`, fs/attr.c): so they are read.
#[derive(Debug)]
pub(super) struct Settling(File);

impl Settling {
    /// That of a call and the file that it is about, if it may take some away.
    ///
    /// # Errors
    /// Those of `fstat(2)` and `open(2)`.
    pub(super) fn of(act: &Act, file: Option<OwnedFd>) -> io::Result<Option<Self>> {
        let asked = match act {
            Act::Mode { mode, .. } => mode & OF_GROUP,
            Act::Open { .. }
            | Act::Write { .. }
            | Act::Cloned { .. }
            | Act::Truncate { .. }
            | Act::Allocate { .. }
            | Act::Permissions { .. }
            | Act::Owner { .. } => 0,
            _ => return Ok(None),
        };
        let Some(file) = file else {
            return Ok(None);
        };
        if (fstat(&file)?.st_mode | asked) & BITS == 0 {
            return Ok(None);
        }
        // As a place: what is open to be written no process could execute.
        let mut options = File::options();
        let options = options.read(true).custom_flags(libc::O_PATH);
        let place = options.open(Host::path_of_descriptor(file.as_raw_fd()))?;
        Ok(Some(Self(place)))
    }

    /// The permissions, `07777` of the mode, that the file has; `None` where that is not known.
    pub(super) fn permissions(&self) -> Option<u32> {
        let status = fstat(&self.0).ok()?;
        Some(status.st_mode & 0o7777)
    }
}
