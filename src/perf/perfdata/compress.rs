//! Records into `COMPRESSED` records: one stream of zstd over all of them, whole at the end of
//! each.

use std::io;
use zstd::stream::raw::{Encoder, InBuffer, Operation, OutBuffer};

/// How much goes into one record at most: what zstd makes of bytes that cannot be compressed still
/// fits the 16 bits of its size.
pub(super) const CHUNK: usize = 48 << 10;

/// Room for what zstd makes of a chunk (`ZSTD_compressBound()`).
const ROOM: usize = (64 << 10) - 16;

/// Collects records, and gives them in chunks.
pub(super) struct Compressor {
    encoder: Encoder<'static>,
    waiting: Vec<u8>,
    out: Vec<u8>,
}

impl Compressor {
    pub(super) fn new(level: i32) -> io::Result<Self> {
        Ok(Self {
            encoder: Encoder::new(level)?,
            waiting: Vec::new(),
            out: vec![0; ROOM],
        })
    }

    /// Takes a record; gives what has to be written before.
    pub(super) fn record(
        &mut self,
        record: &[u8],
        write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.waiting.len().saturating_add(record.len()) > CHUNK {
            self.flush(write)?;
        }
        self.waiting.extend_from_slice(record);
        Ok(())
    }

    /// Gives all that waits. A record that is longer than a chunk goes into two.
    pub(super) fn flush(
        &mut self,
        write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        for chunk in self.waiting.chunks(CHUNK) {
            let mut input = InBuffer::around(chunk);
            let mut output = OutBuffer::around(self.out.as_mut_slice());
            while input.pos() < chunk.len() {
                self.encoder.run(&mut input, &mut output)?;
            }
            // A reader of perf's looks at each record by itself: nothing may stay behind in the
            // stream.
            if self.encoder.flush(&mut output)? != 0 {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            write(output.as_slice())?;
        }
        self.waiting.clear();
        Ok(())
    }
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = self.waiting.len();
        f.debug_struct("Compressor")
            .field("waiting", &waiting)
            .finish_non_exhaustive()
    }
}
