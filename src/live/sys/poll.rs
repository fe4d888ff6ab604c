//! Waiting for one of several descriptors.

use nix::poll::{PollFd, PollFlags, PollTimeout};
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// What a descriptor is ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// It can be read without waiting.
    pub is_readable: bool,
    /// The other side is gone, or it has failed.
    pub has_hung_up: bool,
}

/// Waits until one of the descriptors is ready, at most so long, or until a signal arrives; what
/// each is ready for.
///
/// # Errors
/// Those of `poll(2)`.
pub fn poll<'a>(
    descriptors: impl Iterator<Item = BorrowedFd<'a>>,
    at_most: Duration,
) -> io::Result<Vec<Ready>> {
    let mut all: Vec<PollFd<'_>> = descriptors
        .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
        .collect();
    // Rounded up: a timeout of zero would spin for the last fraction of a millisecond.
    let milliseconds = at_most.as_nanos().div_ceil(1_000_000);
    let timeout = u16::try_from(milliseconds).unwrap_or(u16::MAX);
    match nix::poll::poll(&mut all, PollTimeout::from(timeout)) {
        Ok(_) => {}
        Err(nix::Error::EINTR) => return Ok(vec![Ready::default(); all.len()]),
        Err(error) => return Err(error.into()),
    }
    let ready = |fd: &PollFd<'_>| {
        let got = fd.revents().unwrap_or(PollFlags::empty());
        Ready {
            is_readable: got.contains(PollFlags::POLLIN),
            has_hung_up: got.intersects(PollFlags::POLLHUP | PollFlags::POLLERR),
        }
    };
    Ok(all.iter().map(ready).collect())
}
