//! A record as the reader gives it, and where it stands.

use super::Meta;
use crate::attr::Layout;
use crate::record::Header;
use crate::units::Nanos;

/// The place of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The place in the input, in bytes: of the record, or of the compressed one that its last byte
    /// came out of.
    pub at: u64,
    /// Of one that was compressed: its place in all that was decompressed, in bytes.
    pub inside: Option<u64>,
    /// Of one in a directory's file `data.N`: the N.
    pub thread: Option<u32>,
}

/// A record.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Its place.
    pub place: Place,
    /// The record in this machine's byte order, header included.
    pub bytes: &'a [u8],
    /// What follows a record of type [`own::TRACING_DATA`](super::own::TRACING_DATA) or
    /// [`own::AUXTRACE`](super::own::AUXTRACE) outside of its size, as it is.
    pub trailing: &'a [u8],
    /// What the input has said of itself so far.
    pub meta: &'a Meta,
}

impl<'a> Item<'a> {
    /// Its header.
    #[must_use]
    pub fn header(&self) -> Header {
        let first = self.bytes.first_chunk().copied().unwrap_or_default();
        Header::from_bytes(first)
    }

    /// Returns the event of a record of the kernel, by its place in [`Meta::events`]; `None` if the
    /// record's id is of no event here.
    #[must_use]
    pub fn event(&self) -> Option<(usize, &'a Layout)> {
        self.meta.event(self.bytes)
    }

    /// Its time; `None` where it has none.
    #[must_use]
    pub fn time(&self) -> Option<Nanos> {
        self.meta.time(self.bytes)
    }
}
