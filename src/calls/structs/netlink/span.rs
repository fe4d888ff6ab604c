//! Bytes of which not all need have been read.

use super::super::site::Bytes;

/// The beginning of something whose length is known.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    /// What was read of it.
    bytes: &'a [u8],
    length: usize,
    /// Where it stands, if what was not read of it cannot be read.
    address: Option<u64>,
}

impl<'a> Span<'a> {
    /// The bytes of something that has this length; what was read behind its end is left out.
    pub(super) fn new(bytes: &'a [u8], length: usize) -> Self {
        let bytes = bytes.get(..length).unwrap_or(bytes);
        Self {
            bytes,
            length,
            address: None,
        }
    }

    /// The same for what stands at this address and of which no more can be read.
    pub(super) fn broken(self, address: Option<u64>) -> Self {
        Self { address, ..self }
    }

    /// Where it stands, if not all of it can be read.
    pub(super) fn unreadable(self) -> Option<u64> {
        self.address.filter(|_| self.bytes.len() < self.length)
    }

    /// How long it is, whatever was read.
    pub(super) fn length(self) -> usize {
        self.length
    }

    /// What was read, and whether that is all.
    pub(super) fn read(self) -> (&'a [u8], bool) {
        (self.bytes, self.bytes.len() == self.length)
    }

    /// The first so many bytes; `None` where fewer were read.
    pub(super) fn head(self, size: usize) -> Option<Bytes<'a>> {
        self.bytes.get(..size).map(Bytes::of)
    }

    /// No more than the first so many.
    pub(super) fn first(self, length: usize) -> Self {
        Self::new(self.bytes, length.min(self.length)).broken(self.address)
    }

    /// From an offset to the end, nothing where it ends before.
    pub(super) fn from(self, offset: usize) -> Self {
        Self {
            bytes: self.bytes.get(offset..).unwrap_or_default(),
            length: self.length.saturating_sub(offset),
            address: self
                .address
                .map(|address| address.wrapping_add(offset as u64)),
        }
    }
}
