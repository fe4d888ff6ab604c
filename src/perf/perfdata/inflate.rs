//! What is compressed: one stream of zstd over all records of that kind
//! (`zstd_decompress_stream()`, `tools/perf/util/zstd.c`).

use super::ReadError;
use std::io;
use zstd::stream::raw::{Decoder, InBuffer, Operation as _, OutBuffer};

/// How much is decompressed at once, in bytes: the longest record fits in.
const CHUNK: usize = 128 * 1024;

/// The stream; what is decompressed is there a piece at a time, however much it would be.
#[derive(Default)]
pub(super) struct Inflated {
    decoder: Option<Decoder<'static>>,
    packed: Vec<u8>,
    used: usize,
    window: Vec<u8>,
    start: usize,
    is_full: bool,
    /// The compressed record that the bytes come from, by its place in the input.
    pub(super) at: u64,
    /// Where the next byte is in all that was decompressed.
    pub(super) inside: u64,
}

impl std::fmt::Debug for Inflated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inflated")
            .field("at", &self.at)
            .field("inside", &self.inside)
            .finish_non_exhaustive()
    }
}

impl Inflated {
    /// Takes what the compressed record at this place holds. What came before has been given out,
    /// but for the beginning of a record that ends in this one.
    pub(super) fn feed(&mut self, packed: &[u8], at: u64) {
        self.packed.clear();
        self.packed.extend_from_slice(packed);
        self.used = 0;
        self.at = at;
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.window.get_mut(self.start..).unwrap_or_default()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.window.get(self.start..).unwrap_or_default()
    }

    pub(super) fn consume(&mut self, length: usize) {
        self.start = self.start.saturating_add(length).min(self.window.len());
        self.inside = self.inside.saturating_add(length as u64);
    }

    /// Decompresses until this many bytes are there or no more come; says whether they are.
    pub(super) fn fill(&mut self, length: usize) -> Result<bool, ReadError> {
        while self.bytes().len() < length && (self.is_full || self.used < self.packed.len()) {
            let at = self.at;
            self.step()
                .map_err(|source| ReadError::Compressed { at, source })?;
        }
        Ok(self.bytes().len() >= length)
    }

    fn step(&mut self) -> io::Result<()> {
        self.window.drain(..self.start.min(self.window.len()));
        self.start = 0;
        let held = self.window.len();
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            empty => empty.insert(Decoder::new()?),
        };
        self.window.resize(held.saturating_add(CHUNK), 0);
        let mut input = InBuffer::around(self.packed.get(self.used..).unwrap_or_default());
        let mut output = OutBuffer::around_pos(self.window.as_mut_slice(), held);
        let result = decoder.run(&mut input, &mut output);
        let (taken, end) = (input.pos(), output.pos());
        self.used = self.used.saturating_add(taken);
        self.is_full = end == self.window.len();
        self.window.truncate(end);
        let came = end.saturating_sub(held);
        result?;
        if taken == 0 && came == 0 && self.used < self.packed.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(())
    }
}
