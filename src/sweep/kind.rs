//! What a descriptor is of, as far as it decides which errors its calls can have.

use crate::trace::{Deed, Value};

/// What a call's first descriptor is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A file with a path.
    File,
    /// What the workload was started with: pipes in a run, and files or terminals elsewhere.
    Standard,
    /// A pipe that the workload made.
    Pipe,
    /// A socket.
    Socket,
    /// `/dev/null`, and what the kernel makes without a file: `eventfd`, `timerfd`, `epoll`.
    Object,
    /// It is not open: no error takes the place of `EBADF`.
    Closed,
}

/// The classes of sockets in a trace.
const SOCKETS: [&[u8]; 8] = [
    b"unix", b"tcp", b"udp", b"netlink", b"packet", b"alg", b"vsock", b"socket",
];

/// The classes of what is no file and holds no data.
const OBJECTS: [&[u8]; 7] = [
    b"/dev/null",
    b"eventfd",
    b"epoll",
    b"signalfd",
    b"timerfd",
    b"inotify",
    b"fanotify",
];

impl Kind {
    /// That of a call; `None` where it is not known, or the call has no descriptor.
    pub(super) fn of(deed: &Deed) -> Option<Self> {
        let mut values = deed.fields.iter().map(|part| &part.value);
        match values.find(|it| matches!(it, Value::File { .. } | Value::UnknownFile { .. }))? {
            Value::File {
                description: None, ..
            } => Some(Self::Closed),
            Value::File { name, .. } => Self::of_name(name),
            _ => None,
        }
    }

    /// That of a descriptor by its name; `None` for memory and what is not known.
    pub(super) fn of_name(name: &[u8]) -> Option<Self> {
        match name {
            b"stdin" | b"stdout" | b"stderr" => Some(Self::Standard),
            b"pipe" => Some(Self::Pipe),
            _ if OBJECTS.contains(&name) => Some(Self::Object),
            _ if SOCKETS.contains(&name) => Some(Self::Socket),
            _ if name.starts_with(b"/") || name.starts_with(b"$DIR") => Some(Self::File),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_descriptor_is_of_is_told_by_its_name_in_the_trace() {
        for (name, kind) in [
            (&b"$DIR/list"[..], Some(Kind::File)),
            (b"/dev/shm/x", Some(Kind::File)),
            (b"/dev/null", Some(Kind::Object)),
            (b"stdout", Some(Kind::Standard)),
            (b"pipe", Some(Kind::Pipe)),
            (b"unix", Some(Kind::Socket)),
            // Memory has room as a file has, and what is not known may have each error.
            (b"memfd:cache", None),
            (b"?", None),
        ] {
            assert_eq!(Kind::of_name(name), kind, "{name:?}");
        }
    }
}
