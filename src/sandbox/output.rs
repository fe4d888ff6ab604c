//! What the workload wrote to a pipe.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// How many bytes of an output are kept; the rest is read, counted and dropped, so that the workload never blocks on us.
const KEPT: usize = 8 << 20;

/// The captured part of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// How many more there were.
    pub dropped: u64,
}

/// The read end of a pipe that the workload writes to.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) pipe: Option<OwnedFd>,
    pub(super) captured: Captured,
}

impl Reader {
    pub(super) fn new(pipe: OwnedFd) -> io::Result<Self> {
        use nix::fcntl::{FcntlArg, OFlag, fcntl};
        fcntl(pipe.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Self {
            pipe: Some(pipe),
            captured: Captured::default(),
        })
    }

    /// Takes what is there, without waiting; closes the pipe at its end.
    pub(super) fn take(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1 << 16];
        while let Some(pipe) = &self.pipe {
            match nix::unistd::read(pipe, &mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(length) => self.keep(buffer.get(..length).unwrap_or_default()),
                Err(nix::Error::EAGAIN) => break,
                Err(nix::Error::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = KEPT
            .saturating_sub(self.captured.bytes.len())
            .min(bytes.len());
        let (kept, dropped) = bytes.split_at(room);
        self.captured.bytes.extend_from_slice(kept);
        self.captured.dropped += dropped.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_the_limit_is_counted_not_kept() {
        let (read, _write) = nix::unistd::pipe().unwrap();
        let mut reader = Reader::new(read).unwrap();
        reader.keep(&vec![b'x'; KEPT - 1]);
        reader.keep(b"abc");
        assert_eq!(
            (reader.captured.bytes.len(), reader.captured.dropped),
            (KEPT, 2)
        );
        assert_eq!(reader.captured.bytes.last(), Some(&b'a'));
    }
}
