//! Calls by which a program says something to a peer, and those that name its sockets.

use super::of_call::{MOST, OfCall};
use crate::crash::Act;
use crate::scenario::Promises;
use perf_live::gate::OpenFile;
use std::io;
use syscall_model::SocketAddress;

/// Where a program says what it has saved.
#[derive(Clone, Debug)]
pub(in crate::run) enum Stream {
    /// To the pipe with this inode; `None` where it has no pipe.
    Pipe(Option<u64>),
    /// By sockets.
    Socket(Promises),
}

// include/linux/socket.h
const MSG_ZEROCOPY: u64 = 0x400_0000;

/// The longest `struct sockaddr_un`.
const LONGEST_NAME: u64 = 110;

impl OfCall<'_> {
    /// Whether what is written to a file is a promise.
    pub(super) fn promises(&self, file: &OpenFile) -> io::Result<bool> {
        let stream = match self.stream {
            Stream::Pipe(inode) => {
                return Ok(Some(file.status.st_ino) == *inode && !file.is_regular());
            }
            Stream::Socket(stream) => stream,
        };
        if !file.is_socket() {
            return Ok(false);
        }
        Ok(match (stream, file.address()?) {
            (Promises::Port(wanted), Some(SocketAddress::Internet { port, .. })) => port == *wanted,
            (Promises::Socket(wanted), Some(SocketAddress::Path(path))) => {
                let wanted = wanted.as_bytes();
                let inside = self.below_folder(&path);
                path == wanted || inside.is_some_and(|path| path == wanted)
            }
            (Promises::Socket(wanted), Some(SocketAddress::Abstract(name))) => {
                let wanted = wanted.as_bytes().strip_prefix(b"@");
                !name.is_empty() && wanted == Some(&name)
            }
            _ => false,
        })
    }

    /// A path from the working directory, of one that begins at the root.
    fn below_folder<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        path.strip_prefix(self.folder)?.strip_prefix(b"/")
    }

    /// Calls that send.
    pub(super) fn send(&mut self, name: &str) -> io::Result<Act> {
        let Some(file) = self.descriptor(0)? else {
            return Ok(Act::Nothing);
        };
        if !self.promises(&file)? {
            return Ok(Act::Nothing);
        }
        let flags = match name {
            "sendto" => self.word(3),
            "sendmsg" => self.word(2),
            // How much of each message was sent stands in memory when it has returned.
            _ => return Ok(Act::Unknown(format!("promises were made by `{name}`"))),
        };
        if flags & MSG_ZEROCOPY != 0 {
            let why = "promises were sent from memory that may change (`MSG_ZEROCOPY`)";
            return Ok(Act::Unknown(why.to_owned()));
        }
        let read = match name {
            "sendto" if self.word(2) > MOST => Err(io::ErrorKind::InvalidData.into()),
            "sendto" => self.look.bytes(self.word(1), self.word(2) as usize),
            // struct msghdr: name, its length, buffers, their number.
            _ => {
                let buffers = self.look.word(self.word(1).wrapping_add(16))?;
                let count = self.look.word(self.word(1).wrapping_add(24))?;
                self.look.buffers(buffers, count, MOST)
            }
        };
        self.said(name, read)
    }

    /// A promise, of what was read of memory.
    pub(super) fn said(&self, name: &str, read: io::Result<Vec<u8>>) -> io::Result<Act> {
        match read {
            // The call itself will say so, unless it writes what is before.
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(Act::Unknown(format!(
                "not all that `{name}` writes is in memory"
            ))),
            bytes => Ok(Act::Said(bytes?)),
        }
    }

    /// `bind(2)`, which makes the file that a socket of `AF_UNIX` is known by.
    pub(super) fn bind(&mut self) -> io::Result<Act> {
        let length = u64::from(self.bits(2)).min(LONGEST_NAME);
        let bytes = self.look.bytes(self.word(1), length as usize)?;
        let Some(SocketAddress::Path(path)) = SocketAddress::of(&bytes) else {
            return Ok(Act::Nothing);
        };
        let Some(file) = self.descriptor(0)?.filter(OpenFile::is_socket) else {
            return Ok(Act::Nothing);
        };
        // unix_bind_bsd(), net/unix/af_unix.c: the mode is that of the socket's own inode.
        let (mode, by) = (file.status.st_mode, self.maker()?);
        let named = self.look.named_by(libc::AT_FDCWD, &path)?;
        Ok(self.spot(named).map_or(Act::Nothing, |at| Act::MakeOther {
            at,
            mode,
            device: 0,
            by,
        }))
    }
}
