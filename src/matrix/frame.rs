//! Messages between a guest and its host, as a stream of bytes in each direction.

use perf_live::units::ExitKind;
use std::io::{self, Read, Write};

/// A message of a guest, or to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// The guest is up: its kernel's release. The command starts now.
    Up(String),
    /// The command wrote this to its standard output.
    Out(Vec<u8>),
    /// The command wrote this to its standard error.
    Err(Vec<u8>),
    /// The command has ended.
    Exit(ExitKind),
    /// The guest could not do its work, and why.
    Trouble(String),
    /// The same, as its kernel may lack a file system.
    Lack(String),
    /// To the guest: input for the command; empty at the end of it.
    In(Vec<u8>),
}

/// The most bytes in a message.
pub(super) const LONGEST: usize = 64 << 10;

impl Frame {
    /// Writes it: its kind, its length, its contents.
    pub(super) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let status;
        let (kind, bytes): (u8, &[u8]) = match self {
            Self::Up(release) => (b'u', release.as_bytes()),
            Self::Out(bytes) => (b'o', bytes),
            Self::Err(bytes) => (b'e', bytes),
            Self::Exit(how) => {
                status = match how {
                    ExitKind::Code(code) => format!("c{code}"),
                    ExitKind::Signal(signal) => format!("s{signal}"),
                };
                (b'x', status.as_bytes())
            }
            Self::Trouble(text) => (b't', text.as_bytes()),
            Self::Lack(text) => (b'l', text.as_bytes()),
            Self::In(bytes) => (b'i', bytes),
        };
        let bytes = bytes.get(..LONGEST).unwrap_or(bytes);
        // Written at once, as a port takes it whole.
        let mut whole = vec![kind];
        whole.extend(u32::try_from(bytes.len()).unwrap_or(0).to_le_bytes());
        whole.extend(bytes);
        to.write_all(&whole)
    }

    /// Reads the next message; `None` at the end of the stream, even within a message: a guest may
    /// die at any time.
    ///
    /// # Errors
    /// The error of the stream; `InvalidData` for bytes that are no message.
    pub(super) fn read(from: &mut dyn Read) -> io::Result<Option<Self>> {
        let mut head = [0; 5];
        if !fill(from, &mut head)? {
            return Ok(None);
        }
        let [kind, length @ ..] = head;
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err(odd(kind));
        }
        let mut bytes = vec![0; length];
        if !fill(from, &mut bytes)? {
            return Ok(None);
        }
        let text = || String::from_utf8_lossy(&bytes).into_owned();
        Ok(Some(match kind {
            b'u' => Self::Up(text()),
            b'o' => Self::Out(bytes),
            b'e' => Self::Err(bytes),
            b'x' => Self::Exit(exit(&text()).ok_or_else(|| odd(kind))?),
            b't' => Self::Trouble(text()),
            b'l' => Self::Lack(text()),
            b'i' => Self::In(bytes),
            _ => return Err(odd(kind)),
        }))
    }
}

fn exit(text: &str) -> Option<ExitKind> {
    if let Some(code) = text.strip_prefix('c') {
        return Some(ExitKind::Code(code.parse().ok()?));
    }
    Some(ExitKind::Signal(text.strip_prefix('s')?.parse().ok()?))
}

fn odd(kind: u8) -> io::Error {
    let text = format!("a message of the unknown kind {kind}");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Whether there were enough bytes.
fn fill(from: &mut dyn Read, bytes: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Frame> {
        vec![
            Frame::Up("6.1.0".to_owned()),
            Frame::Out(vec![0, 255, 10]),
            Frame::Err(Vec::new()),
            Frame::In(b"line\n".to_vec()),
            Frame::In(Vec::new()),
            Frame::Exit(ExitKind::Code(3)),
            Frame::Exit(ExitKind::Signal(9)),
            Frame::Trouble("cannot".to_owned()),
            Frame::Lack("no".to_owned()),
        ]
    }

    fn written() -> Vec<u8> {
        let mut bytes = Vec::new();
        all()
            .iter()
            .for_each(|frame| frame.write(&mut bytes).unwrap());
        bytes
    }

    fn read(mut bytes: &[u8]) -> io::Result<Vec<Frame>> {
        let mut frames = Vec::new();
        while let Some(frame) = Frame::read(&mut bytes)? {
            frames.push(frame);
        }
        Ok(frames)
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&written()).unwrap(), all());
    }

    #[test]
    fn a_stream_cut_anywhere_gives_what_is_whole() {
        let bytes = written();
        for end in 0..bytes.len() {
            let frames = read(bytes.get(..end).unwrap()).unwrap();
            assert!(frames.len() < all().len());
            assert_eq!(frames, all().get(..frames.len()).unwrap());
        }
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for bytes in [
            b"?\0\0\0\0".as_slice(),
            b"o\xff\xff\xff\xff",
            b"x\x01\0\0\0?",
        ] {
            read(bytes).unwrap_err();
        }
    }
}
