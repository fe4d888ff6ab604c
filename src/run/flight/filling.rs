//! Writes the records of overwritten and of forward rings into a file by time, piece by piece.

use super::Dump;
use crate::run::Store;
use perf_live::events::Origin;
use perf_records::record::{self, Header, LayoutTable};
use perf_records::units::Nanos;
use std::io;
use std::iter::Peekable;
use std::vec::IntoIter;

/// The number of records in a round: after it a reader of the file may forget their order, and the
/// writer may look after its rings.
const ROUND: usize = 1 << 14;

/// A record of a forward ring.
pub(super) type Told = (Nanos, Box<[u8]>);

/// The records that are still to be written, by time.
pub(super) struct Filling<'a> {
    remembered: Box<dyn Iterator<Item = &'a [u8]> + 'a>,
    since: Nanos,
    told: Peekable<IntoIter<Told>>,
}

impl<'a> Filling<'a> {
    /// `told` is in order of time.
    pub(super) fn new(dump: &'a Dump, told: Vec<Told>) -> Self {
        // A frozen ring refuses records; the lost records that it reports came before the span.
        let is_of_span = |bytes: &&[u8]| kind(bytes) != record::kind::LOST;
        Self {
            remembered: Box::new(dump.records().filter(is_of_span)),
            since: dump.span.0,
            told: told.into_iter().peekable(),
        }
    }

    /// Writes the next piece; returns whether there is more.
    ///
    /// # Errors
    /// Those of the file.
    pub(super) fn piece(
        &mut self,
        store: &mut Store,
        table: &LayoutTable<Origin>,
    ) -> io::Result<bool> {
        let mut n = 0_usize;
        for bytes in self.remembered.by_ref() {
            let time = table.time(bytes).unwrap_or(self.since);
            while let Some((_, earlier)) = self.told.next_if(|(of, _)| *of <= time) {
                store.record(table, &earlier)?;
            }
            store.record(table, bytes)?;
            n = n.saturating_add(1);
            if n == ROUND {
                store.round()?;
                return Ok(true);
            }
        }
        for (_, bytes) in self.told.by_ref() {
            store.record(table, &bytes)?;
        }
        store.round()?;
        Ok(false)
    }
}

/// A record's type.
pub(super) fn kind(bytes: &[u8]) -> u32 {
    let head = bytes.first_chunk().copied().unwrap_or_default();
    Header::from_bytes(head).kind
}
