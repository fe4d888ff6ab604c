//! Records in the order of their times (`tools/perf/util/ordered-events.c`).
//!
//! A tool reads one ring after the other, writes what it finds, and behind each such round a record
//! of type `FINISHED_ROUND`. What is older than the newest record of a round has been written by
//! the end of the next one: it lay in some ring when the next round began. So at the end of a round
//! all is given that is not younger than the newest record at the end of the round before. Two
//! rounds are held in memory, and no more; of an input without rounds, or that says so, only so
//! much as any rings would hold.
//!
//! Without `sample_id_all` only samples have a time. Of a file nothing is ordered then, as perf
//! does (`perf_session__new()`): names and mappings stand in front of the samples that they are of,
//! which they would no longer do if the samples were moved.

use super::{Item, Meta, Place, ReadError, Reader, own};
use crate::attr::AttrFlags;
use crate::record::Header;
use crate::units::Nanos;
use std::io::Read;

/// How many bytes of records are held before all of them are given, round or not. A file of a few
/// pages could say gigabytes, compressed.
const HELD: usize = 512 << 20;

/// A reader whose records come by time, unless the file's have none. Those that have none, or 0, as
/// what a tool synthesizes, and a tool's own come where they stand.
#[derive(Debug)]
pub struct Ordered<R> {
    reader: Reader<R>,
    /// Whether nothing is ordered.
    is_as_it_stands: bool,
    /// First what is to be given next, sorted, and then what waits for the end of a round.
    records: Vec<Record>,
    /// How many of them have been given.
    given: usize,
    /// How many of them are to be given.
    ready: usize,
    /// The records of this round and of the one before, by turns, each behind its place in the
    /// input. What is left waiting at the end of a round is of that round, and nothing is taken
    /// before all that is ready has been given: so the bytes of the round before are of no use by
    /// then.
    bytes: [Vec<u8>; 2],
    /// Which of them is this round's.
    is_second: bool,
    /// Whether it holds only what is of no use.
    is_stale: bool,
    /// What is not younger is given at the end of the round.
    limit: Nanos,
    newest: Nanos,
    delivered: Nanos,
    late: u64,
    /// See [`HELD`].
    most: usize,
    /// What stands behind the last record: nothing, or why there is nothing.
    end: Option<Result<(), ReadError>>,
}

/// Where a record is. It is small, as many of them are sorted.
#[derive(Clone, Copy, Debug)]
struct Record {
    time: Nanos,
    is_second: bool,
    /// In the bytes of its round, which are never more than [`HELD`].
    start: u32,
}

impl Record {
    fn find(self, [first, second]: &[Vec<u8>; 2]) -> Option<(Place, &[u8])> {
        let bytes = if self.is_second { second } else { first };
        let (at, rest) = bytes.get(self.start as usize..)?.split_first_chunk()?;
        let (inside, rest) = rest.split_first_chunk()?;
        let (thread, rest) = rest.split_first_chunk()?;
        let said = |word: [u8; 8]| Some(u64::from_ne_bytes(word)).filter(|word| *word != NOT_SAID);
        let header = Header::from_bytes(*rest.first_chunk()?);
        let place = Place {
            at: u64::from_ne_bytes(*at),
            inside: said(*inside),
            thread: said(*thread).and_then(|thread| thread.try_into().ok()),
        };
        Some((place, rest.get(..header.size.into())?))
    }
}

/// What a part of a place is that it does not have.
const NOT_SAID: u64 = u64::MAX;

impl<R: Read> Ordered<R> {
    /// Orders what a reader gives.
    #[must_use]
    pub fn new(reader: Reader<R>) -> Self {
        let meta = reader.meta();
        let mut attrs = meta.events.iter().map(|event| &event.attr);
        let has_times = attrs.all(|attr| attr.flags.has(AttrFlags::SAMPLE_ID_ALL));
        Self {
            is_as_it_stands: !meta.is_pipe && !has_times,
            reader,
            records: Vec::new(),
            given: 0,
            ready: 0,
            bytes: [Vec::new(), Vec::new()],
            is_second: false,
            is_stale: false,
            limit: Nanos(0),
            newest: Nanos(0),
            delivered: Nanos(0),
            late: 0,
            most: HELD,
            end: None,
        }
    }

    /// What the input has said of itself so far.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        self.reader.meta()
    }

    /// How many records came when a younger one had been given: the rounds did not keep their
    /// promise, or nothing was ordered.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    /// The next record; `None` behind the last.
    ///
    /// # Errors
    /// That of the reader, behind all that it gave before.
    // Not an iterator's: a record lies in the reader.
    #[expect(clippy::should_implement_trait, reason = "it lends what it gives")]
    pub fn next(&mut self) -> Result<Option<Item<'_>>, ReadError> {
        loop {
            if self.given < self.ready {
                let record = self.records.get(self.given);
                self.given = self.given.saturating_add(1);
                let record = record.inspect(|record| self.delivered = record.time);
                let (place, bytes) = record
                    .and_then(|record| record.find(&self.bytes))
                    .unwrap_or_default();
                return Ok(Some(Item {
                    place,
                    bytes,
                    trailing: &[],
                    meta: self.reader.meta(),
                }));
            }
            if let Some(end) = &mut self.end {
                return std::mem::replace(end, Ok(())).map(|()| None);
            }
            if self.take() {
                return Ok(self.reader.current());
            }
        }
    }

    /// Takes the reader's next record; says whether it is to be given at once.
    fn take(&mut self) -> bool {
        let item = match self.reader.advance() {
            Ok(true) => self.reader.current(),
            end => {
                self.end = Some(end.map(drop));
                None
            }
        };
        let Some(item) = item else {
            self.deliver(Nanos(u64::MAX));
            return false;
        };
        if item.header().kind == own::FINISHED_ROUND {
            self.deliver(self.limit);
            self.limit = self.newest;
            self.is_second = !self.is_second;
            self.is_stale = true;
            return true;
        }
        match item.time() {
            None | Some(Nanos(0 | u64::MAX)) => true,
            Some(time) if self.is_as_it_stands => {
                self.late = self.late.saturating_add((time < self.delivered).into());
                self.delivered = self.delivered.max(time);
                true
            }
            Some(time) => {
                let [first, second] = &mut self.bytes;
                let bytes = if self.is_second { second } else { first };
                if std::mem::take(&mut self.is_stale) {
                    bytes.clear();
                }
                self.records.push(Record {
                    time,
                    is_second: self.is_second,
                    start: bytes.len() as u32,
                });
                let Place { at, inside, thread } = item.place;
                let said = |word: Option<u64>| word.unwrap_or(NOT_SAID).to_ne_bytes();
                let place = [at.to_ne_bytes(), said(inside), said(thread.map(u64::from))];
                bytes.extend_from_slice(place.as_flattened());
                bytes.extend_from_slice(item.bytes);
                self.late = self.late.saturating_add((time < self.delivered).into());
                self.newest = self.newest.max(time);
                let places = self.records.len().saturating_mul(size_of::<Record>());
                if bytes.len().saturating_add(places) > self.most {
                    self.deliver(Nanos(u64::MAX));
                    self.is_stale = true;
                }
                false
            }
        }
    }

    /// Releases the records with a time of at most `limit`. Those released before must have been
    /// taken.
    fn deliver(&mut self, limit: Nanos) {
        // A stable sort: records of the same time stay in their order. The records of one ring are
        // in order already, which makes this cheap.
        self.records.drain(..self.ready);
        self.records.sort_by_key(|record| record.time);
        self.ready = self.records.partition_point(|record| record.time <= limit);
        self.given = 0;
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::attr::{AttrFlags, SampleType, StoredAttr};
    use crate::perfdata::MAGIC;
    use std::io::Cursor;

    const UNTIMED: &[u8] = include_bytes!("../../../harness/fixtures/perfdata/untimed.data");

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let size = u16::try_from(body.len()).unwrap().strict_add(8);
        let head = [kind.to_ne_bytes(), [0; 4]].concat();
        let mut bytes = [&head, body].concat();
        bytes.splice(6..8, size.to_ne_bytes());
        bytes
    }

    /// A pipe's stream of one event, of records with these times; `None` ends a round.
    fn stream(times: &[Option<u64>]) -> Vec<u8> {
        let attr = StoredAttr {
            sample_type: SampleType::TIME,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..StoredAttr::default()
        };
        let mut all = [MAGIC.to_ne_bytes(), 16_u64.to_ne_bytes()].concat();
        all.extend(record(own::ATTR, &attr.to_bytes(128)));
        for time in times {
            all.extend(match time {
                Some(time) => record(13, &[[7; 8], time.to_ne_bytes()].concat()),
                None => record(own::FINISHED_ROUND, &[]),
            });
        }
        all
    }

    /// The times in the order that they are given in, ends of rounds as `None`, and how many were
    /// late; as many bytes as were held at most.
    fn given(stream: &[u8]) -> (Vec<Option<u64>>, u64, usize) {
        given_of(Ordered::new(Reader::pipe(stream).unwrap()))
    }

    fn given_of(mut ordered: Ordered<&[u8]>) -> (Vec<Option<u64>>, u64, usize) {
        let (mut times, mut most) = (Vec::new(), 0);
        loop {
            match ordered.next() {
                Ok(Some(item)) if item.header().kind == own::ATTR => {}
                Ok(Some(item)) => times.push(item.time().map(|time| time.0)),
                Ok(None) => break,
                Err(error) => panic!("{error}"),
            }
            let held: usize = ordered.bytes.iter().map(Vec::len).sum();
            most = most.max(held);
        }
        (times, ordered.late(), most)
    }

    #[test]
    fn without_rounds_no_more_is_held_than_there_is_room_for() {
        let times: Vec<_> = (1..1000_u64).map(Some).collect();
        let stream = stream(&times);
        let mut ordered = Ordered::new(Reader::pipe(stream.as_slice()).unwrap());
        ordered.most = 1000;
        let (given, late, most) = given_of(ordered);
        assert_eq!((given, late), (times, 0));
        assert!(most <= 1000, "{most}");
    }

    #[test]
    fn what_is_not_younger_than_the_round_before_is_given_at_the_end_of_a_round() {
        let some = Some;
        let came = [
            some(5),
            some(3),
            None,
            some(6),
            some(4),
            None,
            some(9),
            None,
        ];
        let (times, late, _) = given(&stream(&came));
        // The first end of a round gives nothing, the second all up to 5, the third all up to 6.
        let expected = [
            None,
            None,
            some(3),
            some(4),
            some(5),
            None,
            some(6),
            some(9),
        ];
        assert_eq!((times, late), (expected.to_vec(), 0));
    }

    #[test]
    fn what_breaks_the_promise_of_rounds_is_given_and_counted() {
        let came = [Some(5), None, None, Some(1), Some(2), Some(7)];
        let (times, late, _) = given(&stream(&came));
        let expected = [None, None, Some(5), Some(1), Some(2), Some(7)];
        assert_eq!((times, late), (expected.to_vec(), 2));
    }

    #[test]
    fn what_has_no_time_of_its_own_stays_where_it_is() {
        let came = [Some(5), Some(0), Some(3), Some(u64::MAX)];
        let (times, late, _) = given(&stream(&came));
        let expected = [Some(0), Some(u64::MAX), Some(3), Some(5)];
        assert_eq!((times, late), (expected.to_vec(), 0));
    }

    #[test]
    fn a_file_in_which_only_samples_have_times_is_given_as_it_stands() {
        let mut ordered = Ordered::new(Reader::file(Cursor::new(UNTIMED)).unwrap());
        let mut reader = Reader::file(Cursor::new(UNTIMED)).unwrap();
        let (mut late, mut newest) = (0, Nanos(0));
        while let Some(item) = reader.next().unwrap() {
            let given = ordered.next().unwrap().unwrap();
            assert_eq!((given.place, given.bytes), (item.place, item.bytes));
            late += u64::from(item.time().is_some_and(|time| time < newest));
            newest = newest.max(item.time().unwrap_or_default());
        }
        assert!(ordered.next().unwrap().is_none());
        assert!(late > 0 && ordered.late() == late, "{late}");
    }

    #[test]
    fn two_rounds_are_held_however_many_there_are() {
        let rounds = |count: u64| {
            let round = |n: u64| [Some(n * 2 + 2), Some(n * 2 + 1), None];
            (0..count).flat_map(round).collect::<Vec<_>>()
        };
        let (times, _, most) = given(&stream(&rounds(1000)));
        assert_eq!((times.len(), most), (3000, given(&stream(&rounds(10))).2));
    }

    #[test]
    fn an_error_comes_behind_all_that_was_read() {
        let mut bytes = stream(&[Some(5), Some(3)]);
        bytes.pop();
        let mut ordered = Ordered::new(Reader::pipe(&bytes[..]).unwrap());
        let mut times = Vec::new();
        let error = loop {
            match ordered.next() {
                Ok(Some(item)) => times.extend(item.time()),
                Ok(None) => panic!("a silent end"),
                Err(error) => break error,
            }
        };
        assert_eq!(times, [Nanos(5)]);
        assert!(
            error.to_string().starts_with("a record at byte "),
            "{error}"
        );
        assert!(matches!(ordered.next(), Ok(None)));
    }
}
