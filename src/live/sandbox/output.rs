//! What the workload wrote to a pipe.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// How many bytes of an output are kept; the rest is read, counted and dropped, so that the
/// workload never blocks on us.
const KEPT: usize = 8 << 20;

/// How often a pipe is read in a row before the other pipes have their turn.
const AT_A_TIME: usize = 16;

/// How much is read first, and how much at a time from a pipe that had that much. Most outputs are
/// small, and each page of a large buffer on the stack is copied again after each fork.
const FIRST: usize = 1 << 11;
const MORE: usize = 1 << 16;

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

    /// Reads what is there, without waiting, and returns whether there may be more: a writer may be
    /// as fast as the reader. Closes the pipe at its end.
    pub(super) fn take(&mut self) -> io::Result<bool> {
        let mut first = [0; FIRST];
        let mut more = Vec::new();
        for _ in 0..AT_A_TIME {
            let Some(pipe) = &self.pipe else {
                return Ok(false);
            };
            let buffer: &mut [u8] = match more.is_empty() {
                true => &mut first,
                false => &mut more,
            };
            match nix::unistd::read(pipe, buffer) {
                Ok(0) => self.pipe = None,
                Ok(length) => {
                    self.keep(buffer.get(..length).unwrap_or_default());
                    if length == FIRST && more.is_empty() {
                        more.resize(MORE, 0);
                    }
                }
                Err(nix::Error::EAGAIN) => return Ok(false),
                Err(nix::Error::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// How many bytes there were so far.
    pub(super) fn written(&self) -> u64 {
        self.captured.bytes.len() as u64 + self.captured.dropped
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
    fn a_writer_that_never_pauses_does_not_keep_its_reader() {
        let zeroes = std::fs::File::open("/dev/zero").unwrap();
        let mut reader = Reader::new(zeroes.into()).unwrap();
        assert!(reader.take().unwrap());
        let all = FIRST + (AT_A_TIME - 1) * MORE;
        assert_eq!(reader.written(), all as u64);
    }

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
