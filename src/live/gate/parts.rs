//! Where the bytes of a call lie in the workload's memory: in one piece, or in those of a vector.

use super::copying::Copied;
use super::supervisor::Held;
use crate::sys::memory;
use std::io;
use syscall_model::names::{self, Abi};

/// The most pieces of a vector (`UIO_MAXIOV`).
const MOST_PIECES: u64 = 1024;

/// Whether a call has its bytes in the pieces of a vector (`struct iovec`).
pub(super) fn is_vectored(name: &str) -> bool {
    matches!(
        name,
        "readv" | "writev" | "preadv" | "pwritev" | "preadv2" | "pwritev2"
    )
}

/// How many bytes a call may move that can be made with fewer.
///
/// # Errors
/// Those of reading a vector, and `EINVAL` for one that the kernel does not take.
pub fn length_of(call: &Held) -> io::Result<u64> {
    if let Some(copied) = Copied::of(call) {
        return Ok(copied.length);
    }
    match names::name_of(call.abi, call.number) {
        // It is not made for its thread, however much it moves.
        Some("socketcall") => Ok(u64::MAX),
        _ => Parts::of(call).map(|parts| parts.length()),
    }
}

/// The pieces of a call's memory: an address and a length each.
pub(super) struct Parts(Vec<(u64, u64)>);

impl Parts {
    pub(super) fn of(call: &Held) -> io::Result<Self> {
        let [_, address, length, ..] = call.native_words();
        let name = names::name_of(call.abi, call.number).unwrap_or_default();
        if !is_vectored(name) {
            return Ok(Self(vec![(address, length)]));
        }
        let invalid = || io::Error::from_raw_os_error(libc::EINVAL);
        if length > MOST_PIECES {
            return Err(invalid());
        }
        let width = match call.abi == Abi::native() {
            true => 8,
            false => 4,
        };
        let mut bytes = vec![0; length as usize * 2 * width];
        if !bytes.is_empty() && memory::read_memory(call.thread, address, &mut bytes)? < bytes.len()
        {
            return Err(io::Error::from_raw_os_error(libc::EFAULT));
        }
        let parts = Self(pieces(&bytes, width));
        match i64::try_from(parts.length()) {
            Ok(_) => Ok(parts),
            Err(_) => Err(invalid()),
        }
    }

    /// The address of the first byte.
    pub(super) fn address(&self) -> u64 {
        self.0.first().map_or(0, |(address, _)| *address)
    }

    pub(super) fn length(&self) -> u64 {
        let lengths = self.0.iter().map(|(_, length)| *length);
        lengths.fold(0, u64::saturating_add)
    }

    /// Reads from them until `bytes` is full; says how many bytes there are before a page that is
    /// not there.
    ///
    /// # Errors
    /// As [`memory::read_memory`].
    pub(super) fn gather(&self, thread: u32, bytes: &mut [u8]) -> io::Result<usize> {
        match self.each(bytes, |address, room| {
            memory::read_memory(thread, address, room)
        }) {
            (0, Some(error)) => Err(error),
            (done, _) => Ok(done),
        }
    }

    /// Writes `bytes` into them; says how many arrived.
    ///
    /// # Errors
    /// As [`memory::write_memory`].
    pub(super) fn scatter(&self, thread: u32, bytes: &mut [u8]) -> io::Result<usize> {
        match self.each(bytes, |address, piece| {
            memory::write_memory(thread, address, piece)
        }) {
            (_, Some(error)) => Err(error),
            (done, None) => Ok(done),
        }
    }

    /// Moves the bytes that lie in each piece, until one is not moved whole; says how many were.
    fn each(
        &self,
        bytes: &mut [u8],
        moved: impl Fn(u64, &mut [u8]) -> io::Result<usize>,
    ) -> (usize, Option<io::Error>) {
        let mut done = 0;
        for (address, length) in &self.0 {
            let rest = bytes.get_mut(done..).unwrap_or_default();
            let length = usize::try_from(*length).map_or(rest.len(), |it| it.min(rest.len()));
            let Some(piece) = rest.get_mut(..length).filter(|piece| !piece.is_empty()) else {
                continue;
            };
            let n = match moved(*address, piece) {
                Ok(n) => n,
                Err(error) => return (done, Some(error)),
            };
            done += n;
            if n < length {
                break;
            }
        }
        (done, None)
    }
}

/// The addresses and lengths of an array of `struct iovec` whose words have so many bytes.
fn pieces(bytes: &[u8], width: usize) -> Vec<(u64, u64)> {
    let word = |bytes: &[u8]| match <[u8; 8]>::try_from(bytes) {
        Ok(eight) => u64::from_ne_bytes(eight),
        Err(_) => <[u8; 4]>::try_from(bytes).map_or(0, |four| u32::from_ne_bytes(four).into()),
    };
    let pairs = bytes.chunks_exact(2 * width);
    pairs
        .map(|pair| pair.split_at(width))
        .map(|(address, length)| (word(address), word(length)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_of_a_32_bit_call_has_words_of_four_bytes() {
        let words = |words: [u32; 4]| words.map(u32::to_ne_bytes).concat();
        let told = pieces(&words([0x1000, 3, 0x2000, 4]), 4);
        assert_eq!(told, [(0x1000, 3), (0x2000, 4)]);
        let longs = [0x7f00_0000_1000_u64, 3].map(u64::to_ne_bytes).concat();
        assert_eq!(pieces(&longs, 8), [(0x7f00_0000_1000, 3)]);
    }

    #[test]
    fn bytes_go_through_all_pieces_as_far_as_they_reach() {
        let (mut first, empty, mut last) = (*b"abc", 0, *b"defg");
        let at = |place: &mut [u8]| place.as_mut_ptr().expose_provenance() as u64;
        let parts = Parts(vec![(at(&mut first), 3), (empty, 0), (at(&mut last), 4)]);
        let own = std::process::id();
        let mut five = [0; 5];
        assert_eq!(parts.gather(own, &mut five).ok(), Some(5));
        assert_eq!((&five, parts.length()), (b"abcde", 7));
        assert_eq!(parts.scatter(own, &mut b"12345".to_owned()).ok(), Some(5));
        assert_eq!((&first, &last), (b"123", b"45fg"));
    }
}
