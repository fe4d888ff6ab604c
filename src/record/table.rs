//! Which event a record belongs to, and so which layout it has.

use super::{HEADER_SIZE, Header, kind};
use crate::attr::{Layout, SampleType};
use crate::units::Nanos;

/// The layouts of a session's events by id; one definition for rings, files and pipes.
///
/// The id of a record is at a place that all layouts of a session must agree on, or no record could be read at all; so is its time, which
/// ordering needs before anything is parsed.
#[derive(Clone, Debug)]
pub struct LayoutTable<E> {
    by_id: Vec<(u64, Layout, E)>,
    sample_time: Option<usize>,
    trailer_time: Option<usize>,
}

/// Why a set of events cannot be read from one stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// More than one event, and no `IDENTIFIER` to tell them apart.
    #[error("an event of several has no identifier in its samples")]
    NoIdentifier,
    /// The events have their time at different places.
    #[error("the events of one stream have their time at different places")]
    TimePlace,
    /// There is no event.
    #[error("a stream without events has no layout")]
    Empty,
}

impl<E: Copy> LayoutTable<E> {
    /// Builds the table from each event's ids.
    ///
    /// # Errors
    /// [`TableError`] where the records could not be told apart or ordered.
    pub fn new(events: impl IntoIterator<Item = (u64, Layout, E)>) -> Result<Self, TableError> {
        let mut by_id: Vec<_> = events.into_iter().collect();
        by_id.sort_by_key(|(id, ..)| *id);
        let Some((_, first, _)) = by_id.first() else {
            return Err(TableError::Empty);
        };
        let (sample_time, trailer_time) = (first.sample_time_offset(), first.trailer_time_offset());
        for (_, layout, _) in &by_id {
            if by_id.len() > 1 && !layout.sample_type.has(SampleType::IDENTIFIER) {
                return Err(TableError::NoIdentifier);
            }
            if layout.sample_time_offset() != sample_time
                || layout.trailer_time_offset() != trailer_time
            {
                return Err(TableError::TimePlace);
            }
        }
        Ok(Self {
            by_id,
            sample_time,
            trailer_time,
        })
    }

    /// The layout and the event of a record, by the id that it carries; `None` for an id of nobody here.
    #[must_use]
    pub fn resolve(&self, record: &[u8]) -> Option<(&Layout, E)> {
        if let [(_, layout, event)] = self.by_id.as_slice() {
            return Some((layout, *event));
        }
        let header = Header::from_bytes(*record.first_chunk()?);
        let word = if header.kind == kind::SAMPLE {
            record.get(HEADER_SIZE..)?.first_chunk()?
        } else {
            record.last_chunk()?
        };
        let id = u64::from_ne_bytes(*word);
        let place = self.by_id.binary_search_by_key(&id, |(id, ..)| *id).ok()?;
        self.by_id
            .get(place)
            .map(|(_, layout, event)| (layout, *event))
    }

    /// The time of a record, read without parsing it; `None` where it has none.
    #[must_use]
    pub fn time(&self, record: &[u8]) -> Option<Nanos> {
        let header = Header::from_bytes(*record.first_chunk()?);
        let at = if header.kind == kind::SAMPLE {
            self.sample_time?
        } else {
            record.len().checked_sub(self.trailer_time?)?
        };
        record
            .get(at..)?
            .first_chunk()
            .map(|word| Nanos(u64::from_ne_bytes(*word)))
    }
}
