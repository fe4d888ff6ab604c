//! What is asked for to bind and connect sockets.

use super::acts::{Act, Asking};
use super::rights::{Port, Right};
use syscall_model::files::{FileKind, Lookup};
use syscall_model::{Addressed, SocketAddress, addressed};

impl Asking<'_> {
    pub(super) fn socket(&self) -> Option<(Option<i32>, Option<i32>, Option<i32>)> {
        match self.call.files.argument(0) {
            Lookup::Open(file) => match &file.kind {
                FileKind::Socket(socket) => Some((socket.family, socket.kind, socket.protocol)),
                _ => Some((None, None, None)),
            },
            _ => None,
        }
    }

    /// Whether its socket is one of TCP; `None` where that is not known.
    pub(super) fn is_tcp(&self) -> Option<bool> {
        let (family, kind, protocol) = self.socket()?;
        if !matches!(family?, libc::AF_INET | libc::AF_INET6) {
            return Some(false);
        }
        Some(kind? == libc::SOCK_STREAM && matches!(protocol?, 0 | libc::IPPROTO_TCP))
    }

    pub(super) fn binds(&self) -> Vec<Act> {
        match addressed(self.call, self.name) {
            // The name is there.
            Some(Addressed::At(SocketAddress::Path(_))) if self.error == Some(libc::EADDRINUSE) => {
                Vec::new()
            }
            Some(Addressed::At(SocketAddress::Path(_))) => self.makes(1, Right::MakeSock),
            _ => self.of_port(Port::Bind),
        }
    }

    pub(super) fn of_port(&self, right: Port) -> Vec<Act> {
        let is_of_others = matches!(self.error, Some(libc::EAFNOSUPPORT | libc::EOPNOTSUPP));
        if self.has_failed_by_words() || is_of_others {
            return Vec::new();
        }
        match addressed(self.call, self.name) {
            Some(Addressed::At(SocketAddress::Internet { port, .. })) => match self.is_tcp() {
                Some(true) => vec![Act::Port(right, port)],
                Some(false) => Vec::new(),
                None => vec![self.untold("which socket it is about is not known")],
            },
            Some(Addressed::Unread) | None => match self.is_tcp() {
                Some(false) => Vec::new(),
                _ => vec![self.untold("its address was not read")],
            },
            Some(Addressed::At(_) | Addressed::Nothing) => Vec::new(),
        }
    }
}
