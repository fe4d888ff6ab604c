//! Which event a record belongs to, and so which layout it has.

use super::{HEADER_SIZE, Header, kind};
use crate::attr::{Layout, SampleType as S};
use crate::units::{Hashed, Nanos};
use std::collections::HashMap;

/// The layouts of a session's events by id; one definition for rings, files and pipes.
///
/// The id of a record is at a place that all layouts of a session must agree on, or no record could
/// be read at all. So is its time in most sessions, which ordering needs before anything is parsed;
/// where it is not, it is looked up by the id.
#[derive(Clone, Debug)]
pub struct LayoutTable<E> {
    events: Vec<Known<E>>,
    /// Places in `events`.
    by_id: HashMap<u64, usize, Hashed>,
    sample_id: Option<usize>,
    trailer_id: Option<usize>,
    /// Where all of them have their time, if that is one place.
    times: Option<Times>,
}

/// What is known of one event.
#[derive(Clone, Debug)]
struct Known<E> {
    layout: Layout,
    times: Times,
    event: E,
}

/// Where the records of an event have their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    sample: Option<usize>,
    trailer: Option<usize>,
}

impl Times {
    fn of(layout: &Layout) -> Self {
        Self {
            sample: layout.sample_time_offset(),
            trailer: layout.trailer_time_offset(),
        }
    }
}

/// Why a set of events cannot be read from one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// More than one event, and no id to tell them apart, or at different places.
    #[error("the events of one stream have no id in their records, or at different places")]
    IdPlace,
    /// There is no event.
    #[error("a stream without events has no layout")]
    Empty,
}

impl<E: Copy> LayoutTable<E> {
    /// Builds the table from each event's id.
    ///
    /// # Errors
    /// [`TableError`] where the records could not be told apart.
    pub fn new(events: impl IntoIterator<Item = (u64, Layout, E)>) -> Result<Self, TableError> {
        Self::of_events(
            events
                .into_iter()
                .map(|(id, layout, event)| ([id], layout, event)),
        )
    }

    /// Builds the table from events that have any number of ids; a single event needs none.
    ///
    /// # Errors
    /// [`TableError`] where the records could not be told apart.
    pub fn of_events<I: IntoIterator<Item = u64>>(
        events: impl IntoIterator<Item = (I, Layout, E)>,
    ) -> Result<Self, TableError> {
        let mut by_id = HashMap::default();
        let mut all = Vec::new();
        for (ids, layout, event) in events {
            // Of two events that claim an id the first has it.
            for id in ids {
                by_id.entry(id).or_insert(all.len());
            }
            let times = Times::of(&layout);
            all.push(Known {
                layout,
                times,
                event,
            });
        }
        let Some(Known { layout, times, .. }) = all.first() else {
            return Err(TableError::Empty);
        };
        let (sample_id, trailer_id) = (layout.sample_id_offset(), layout.trailer_id_offset());
        let is_told_apart = all.iter().all(|Known { layout, .. }| {
            layout.sample_id_offset().is_some()
                && layout.sample_id_offset() == sample_id
                && layout.trailer_id_offset() == trailer_id
        });
        if all.len() > 1 && !is_told_apart {
            return Err(TableError::IdPlace);
        }
        let is_agreed = all.iter().all(|known| known.times == *times);
        Ok(Self {
            times: is_agreed.then_some(*times),
            events: all,
            by_id,
            sample_id,
            trailer_id,
        })
    }

    /// Returns the layout and the event of a record, by the id that it carries; `None` if the id is
    /// of no event here. With a single event, ids are not looked at.
    ///
    /// What perf synthesizes has the id 0, and without `sample_id_all` only samples have one: both
    /// are taken for the first event's (`evlist__event2evsel()`, `tools/perf/util/evlist.c`).
    #[must_use]
    pub fn resolve(&self, record: &[u8]) -> Option<(&Layout, E)> {
        let known = self.by_id(self.id(record))?;
        Some((&known.layout, known.event))
    }

    /// The same of a record of the other byte order whose header has been turned.
    #[must_use]
    pub fn resolve_foreign(&self, record: &[u8]) -> Option<(&Layout, E)> {
        let known = self.by_id(self.id(record).map(u64::swap_bytes))?;
        Some((&known.layout, known.event))
    }

    fn by_id(&self, id: Option<u64>) -> Option<&Known<E>> {
        let (first, rest) = self.events.split_first()?;
        if rest.is_empty() {
            return Some(first);
        }
        let place = match id? {
            0 => 0,
            id => *self.by_id.get(&id)?,
        };
        self.events.get(place)
    }

    /// The id that a record carries; 0 where its kind carries none.
    #[must_use]
    pub fn id(&self, record: &[u8]) -> Option<u64> {
        let header = Header::from_bytes(*record.first_chunk()?);
        let at = if header.kind == kind::SAMPLE {
            self.sample_id?
        } else {
            let Some(back) = self.trailer_id else {
                return Some(0);
            };
            record
                .len()
                .checked_sub(back)
                .filter(|at| *at >= HEADER_SIZE)?
        };
        record
            .get(at..)?
            .first_chunk()
            .map(|word| u64::from_ne_bytes(*word))
    }

    /// The time of a record, read without parsing it; `None` where it has none, and for a tool's
    /// own records.
    #[must_use]
    pub fn time(&self, record: &[u8]) -> Option<Nanos> {
        let header = Header::from_bytes(*record.first_chunk()?);
        if header.kind >= kind::OWN {
            return None;
        }
        let times = match self.times {
            Some(times) => times,
            None => self.by_id(self.id(record))?.times,
        };
        let at = if header.kind == kind::SAMPLE {
            times.sample?
        } else {
            record
                .len()
                .checked_sub(times.trailer?)
                .filter(|at| *at >= HEADER_SIZE)?
        };
        record
            .get(at..)?
            .first_chunk()
            .map(|word| Nanos(u64::from_ne_bytes(*word)))
    }
}

impl Layout {
    /// Where a sample has its event's id, in bytes from the start of the record.
    fn sample_id_offset(&self) -> Option<usize> {
        let kind = self.sample_type;
        if kind.has(S::IDENTIFIER) {
            return Some(HEADER_SIZE);
        }
        let before = [S::IP, S::TID, S::TIME, S::ADDR];
        kind.has(S::ID)
            .then(|| words_of(kind, &before).saturating_add(HEADER_SIZE))
    }

    /// Where the other records have it, in bytes back from the end.
    fn trailer_id_offset(&self) -> Option<usize> {
        let kind = self.sample_type;
        if !self.sample_id_all {
            return None;
        }
        if kind.has(S::IDENTIFIER) {
            return Some(8);
        }
        let behind = [S::STREAM_ID, S::CPU];
        kind.has(S::ID)
            .then(|| words_of(kind, &behind).saturating_add(8))
    }
}

/// The length in bytes of those of these fields that there are, a word each.
fn words_of(kind: S, fields: &[S]) -> usize {
    let present = fields.iter().filter(|field| kind.has(**field)).count();
    present.saturating_mul(8)
}
