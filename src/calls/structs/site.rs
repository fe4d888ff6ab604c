//! Where a structure stands: an argument of a call, with what was read there before and after.

use crate::files::Lookup;
use crate::memory::{Behind, Moment, Piece, State};
use crate::names::Abi;
use crate::relatives;
use crate::{Call, Outcome};

/// The memory behind one argument of a call.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) call: &'a Call,
    pub(super) argument: usize,
    /// Which of several structures in a row it is, of which the first is 0.
    pub(super) place: usize,
}

impl<'a> Site<'a> {
    pub(super) fn new(call: &'a Call, argument: usize) -> Self {
        Self {
            call,
            argument,
            place: 0,
        }
    }

    /// What the program gave.
    pub(super) fn given(self) -> Option<Bytes<'a>> {
        self.piece(Moment::Enter).filter(Bytes::is_readable)
    }

    /// The first so many bytes of what the program gave: of some lengths the kernel does not look
    /// at the upper half.
    pub(super) fn given_first(self, length: usize) -> Option<Bytes<'a>> {
        let bytes = self.given_part()?.first(length);
        bytes.is_readable().then_some(bytes)
    }

    /// What the program gave, as far as it can be read.
    pub(super) fn given_part(self) -> Option<Bytes<'a>> {
        self.piece(Moment::Enter)
    }

    /// What the kernel filled in, which it does only when the call succeeds.
    pub(super) fn filled(self) -> Option<Bytes<'a>> {
        self.result()?;
        self.left()
    }

    /// The same for what the kernel may have had less room for than it tells: `length` bytes.
    pub(super) fn filled_first(self, length: usize) -> Option<Bytes<'a>> {
        self.result()?;
        let bytes = self.piece(Moment::Exit)?;
        let is_there = bytes.is_readable() || bytes.len() >= length;
        is_there.then(|| bytes.first(length))
    }

    /// The first so many bytes of what the kernel filled in, or else of what the program gave.
    pub(super) fn given_or_filled(self, is_filled: bool, length: usize) -> Option<Bytes<'a>> {
        match is_filled {
            true => self.filled_first(length),
            false => self.given_first(length),
        }
    }

    /// What there is after the call, whatever became of it.
    pub(super) fn left(self) -> Option<Bytes<'a>> {
        self.piece(Moment::Exit).filter(Bytes::is_readable)
    }

    /// What the program gave, or else what the kernel filled in.
    pub(super) fn known(self) -> Option<Bytes<'a>> {
        self.given().or_else(|| self.filled())
    }

    /// The result of a call that succeeded.
    pub(super) fn result(self) -> Option<i64> {
        match self.call.outcome {
            Outcome::Returned { value, .. } if !(-4095..0).contains(&value) => Some(value),
            _ => None,
        }
    }

    /// Another argument's value.
    pub(super) fn word(self, argument: usize) -> Option<u64> {
        self.call.entry.args()?.get(argument).copied()
    }

    /// The memory behind the argument so many places on.
    pub(super) fn further(self, places: usize) -> Self {
        Self {
            argument: self.argument + places,
            ..self
        }
    }

    /// One of several structures in a row.
    pub(super) fn one(self, place: usize) -> Self {
        Self { place, ..self }
    }

    /// What a descriptor refers to that stands in memory.
    pub(super) fn file(self, number: i32) -> Lookup<'a> {
        self.call.files.in_memory(number)
    }

    /// The name of the native call that it is, empty where the number has none.
    pub(super) fn name(self) -> &'static str {
        let name = self.call.name().unwrap_or_default();
        let natives = relatives::natives(Abi::native(), name);
        natives.first().copied().unwrap_or(name)
    }

    /// What the structure points to.
    pub(super) fn behind(self, what: Behind, moment: Moment) -> Option<Bytes<'a>> {
        let what = (what, u16::try_from(self.place).ok()?);
        Self::bytes(self.call.memory.behind_one(self.argument, what, moment)?)
    }

    fn piece(self, moment: Moment) -> Option<Bytes<'a>> {
        Self::bytes(self.call.memory.piece(self.argument, moment)?)
    }

    fn bytes(piece: &'a Piece) -> Option<Bytes<'a>> {
        (piece.state != State::Unread).then_some(Bytes {
            bytes: &piece.bytes,
            is_cut: piece.state == State::Cut,
            broken_at: (piece.state == State::Part).then_some(piece.address),
        })
    }
}

/// Bytes of memory, little-endian as both architectures are.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    bytes: &'a [u8],
    /// Whether there was more than was read.
    pub(super) is_cut: bool,
    /// Where they stand, if those that follow them cannot be read.
    pub(super) broken_at: Option<u64>,
}

impl<'a> Bytes<'a> {
    pub(super) fn whole(self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn len(self) -> usize {
        self.bytes.len()
    }

    /// Whether all that was to be read could be.
    pub(super) fn is_readable(&self) -> bool {
        self.broken_at.is_none()
    }

    /// No more than the first so many.
    pub(super) fn first(self, length: usize) -> Self {
        match self.bytes.get(..length) {
            Some(bytes) => Self::of(bytes),
            None => self,
        }
    }

    /// All of these.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            is_cut: false,
            broken_at: None,
        }
    }

    /// Elements of this size, the last incomplete one left out.
    pub(super) fn elements(self, size: u16) -> impl Iterator<Item = Self> + Clone {
        let chunks = self.bytes.chunks_exact(usize::from(size).max(1));
        chunks.map(Self::of)
    }

    /// From an offset to the end.
    pub(super) fn from(self, offset: usize) -> Option<&'a [u8]> {
        self.bytes.get(offset..)
    }

    pub(super) fn u8(self, offset: usize) -> Option<u8> {
        self.bytes.get(offset).copied()
    }

    pub(super) fn u16(self, offset: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.array(offset)?))
    }

    pub(super) fn i16(self, offset: usize) -> Option<i16> {
        Some(i16::from_le_bytes(self.array(offset)?))
    }

    pub(super) fn u32(self, offset: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.array(offset)?))
    }

    pub(super) fn i32(self, offset: usize) -> Option<i32> {
        Some(i32::from_le_bytes(self.array(offset)?))
    }

    pub(super) fn u64(self, offset: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.array(offset)?))
    }

    pub(super) fn i64(self, offset: usize) -> Option<i64> {
        Some(i64::from_le_bytes(self.array(offset)?))
    }

    pub(super) fn array<const N: usize>(self, offset: usize) -> Option<[u8; N]> {
        self.bytes.get(offset..)?.first_chunk().copied()
    }
}
