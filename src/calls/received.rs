//! Descriptors that come with messages (`SCM_RIGHTS` in unix(7)).

use super::Call;
use super::files::{FileKind, Lookup};
use super::memory::{Behind, Moment, Piece, State};
use super::structs::passed;

/// What came with the messages that a call received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// How many descriptors came; `None` where that was not read.
    pub descriptors: Option<usize>,
    /// Whether the socket is one of a pair (`socketpair(2)`), whose other one sent them.
    pub is_of_pair: bool,
    /// Whether the workload was started with the socket, whose other end another process has.
    pub is_handed: bool,
}

/// What came with the messages of a call by its native name; `None` where descriptors come by none:
/// by no other call, and through no socket of another family than `AF_UNIX`.
#[must_use]
pub fn received(call: &Call, name: &str) -> Option<Received> {
    if !matches!(name, "recvmsg" | "recvmmsg") {
        return None;
    }
    // Which socket and which message it is, its arguments in memory say.
    if call.is_untold() {
        return Some(Received {
            descriptors: None,
            is_of_pair: false,
            is_handed: false,
        });
    }
    let (is_of_pair, is_handed) = match call.files.argument(0) {
        Lookup::Closed => return None,
        Lookup::Untracked | Lookup::Unknown => (false, false),
        Lookup::Open(file) => match &file.kind {
            FileKind::Socket(socket) if socket.may_pass_descriptors() => (socket.is_of_pair, false),
            FileKind::Given(_) => (false, true),
            FileKind::Unread => (false, false),
            _ => return None,
        },
    };
    Some(Received {
        descriptors: descriptors(call, name),
        is_of_pair,
        is_handed,
    })
}

/// Where `msg_controllen` lies in a native `struct msghdr`.
const CONTROL_LENGTH: std::ops::Range<usize> = 40..48;

/// Whether a call by its native name may give descriptors to another process, by a socket that the
/// workload was started with.
#[must_use]
pub fn gives_by_handed(call: &Call, name: &str) -> bool {
    if !matches!(name, "sendmsg" | "sendmmsg") {
        return false;
    }
    let is_handed = match call.files.argument(0) {
        Lookup::Open(file) => matches!(file.kind, FileKind::Given(_)),
        _ => false,
    };
    let message = call.memory.piece(1, Moment::Enter);
    let message = message.filter(|_| name == "sendmsg");
    let has_none =
        |piece: &Piece| piece.read().and_then(|it| it.get(CONTROL_LENGTH)) == Some(&[0; 8]);
    is_handed && !message.is_some_and(has_none)
}

/// Whether a received message is known to have come without control messages: `msg_controllen` of
/// its `struct msghdr`, before or after.
pub(crate) fn is_bare(call: &Call) -> bool {
    let has_none = |piece: &Piece| {
        piece.state != State::Unread && piece.bytes.get(CONTROL_LENGTH) == Some(&[0; 8])
    };
    call.name() == Some("recvmsg") && call.memory.strings(1).any(has_none)
}

/// How many descriptors came; `None` where that was not read.
fn descriptors(call: &Call, name: &str) -> Option<usize> {
    if is_bare(call) {
        return Some(0);
    }
    // Of several messages one alone would be read.
    if name != "recvmsg" {
        return None;
    }
    let control = call.memory.behind(1, Behind::CONTROL, Moment::Exit)?;
    (control.state == State::Whole).then(|| passed(&control.bytes).len())
}
