//! What stands in memory behind the arguments of calls.

use super::text::Values;

/// A C structure, or an array of such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StructKind {
    /// `struct sockaddr` of any family.
    SocketAddress,
}

/// Writes the bytes of a structure, in strace's form; false, and nothing written, where they are too few or make no sense.
pub fn write_struct(
    out: &mut String,
    kind: StructKind,
    bytes: &[u8],
    values: &mut impl Values,
) -> bool {
    let _ = (out, kind, bytes, values);
    false
}
