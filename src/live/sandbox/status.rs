//! What the status pipe of a child says.

use super::LaunchError;
use crate::sys::process::Message;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

/// The next message of a child; `None` at the end of the pipe.
pub(super) fn message(status: &OwnedFd, deadline: Instant) -> Result<Option<Message>, LaunchError> {
    let mut ready = [PollFd::new(status.as_fd(), PollFlags::POLLIN)];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let milliseconds = u16::try_from(left.as_millis()).unwrap_or(u16::MAX);
        match poll(&mut ready, PollTimeout::from(milliseconds)) {
            Ok(0) => return Err(LaunchError::TimedOut),
            Ok(_) => break,
            Err(nix::Error::EINTR) => {}
            Err(error) => return Err(LaunchError::Pipe(error.into())),
        }
    }
    let mut bytes = [0; 8];
    match nix::unistd::read(status, &mut bytes) {
        Ok(0) => Ok(None),
        Ok(8) => Message::from_bytes(bytes)
            .map(Some)
            .ok_or(LaunchError::Vanished),
        Ok(_) => Err(LaunchError::Vanished),
        Err(error) => Err(LaunchError::Pipe(error.into())),
    }
}

/// What a message says of a child that did not get to its program.
pub(super) fn failed(message: Option<Message>) -> LaunchError {
    match message {
        Some(Message::Failed { stage, error }) => LaunchError::Stage {
            stage,
            source: error,
        },
        _ => LaunchError::Vanished,
    }
}
