//! Reads the records of a perf.data by time, in a thread of its own, while earlier ones are shown.
//!
//! ```text
//! Reader --Ordered--> Batch --bounded channel--> the thread that asks
//!                       ^----------- empty, to be filled again --+
//! ```

use perf_records::perfdata::{Item, Meta, Ordered, ReadError, Reader, own};
use std::io::{self, Read};
use std::panic;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// How many bytes of records are handed over at once.
const PIECE: usize = 1 << 16;

/// How many batches wait to be shown, 4 MiB: while a round is shown, the next one is read.
const WAITING: usize = 64;

/// Records of the kernel; what a tool's records say is in `meta`.
#[derive(Debug)]
pub(crate) struct Batch {
    /// What the input had said of itself before these records.
    pub(crate) meta: Arc<Meta>,
    bytes: Vec<u8>,
    places: Vec<Place>,
    /// The end of the input, or the error that stopped it; `None` if more records follow.
    pub(crate) end: Option<Result<(), ReadError>>,
    /// How many records had come late when the last of them was read.
    pub(crate) late: u64,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    at: u64,
    /// Its offset in the bytes of the batch.
    start: usize,
    late: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot start the thread that reads")]
pub(crate) struct Unstarted(#[source] io::Error);

/// A record of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    /// Its offset in the input, in bytes.
    pub(crate) at: u64,
    pub(crate) bytes: &'a [u8],
    /// How many records had come late when it was read.
    pub(crate) late: u64,
}

impl Batch {
    fn new(meta: Arc<Meta>) -> Self {
        Self {
            meta,
            bytes: Vec::new(),
            places: Vec::new(),
            end: None,
            late: 0,
        }
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = Record<'_>> {
        let ends = self.places.iter().skip(1).map(|place| place.start);
        let ends = ends.chain([self.bytes.len()]);
        self.places.iter().zip(ends).map(|(place, end)| Record {
            at: place.at,
            bytes: self.bytes.get(place.start..end).unwrap_or_default(),
            late: place.late,
        })
    }

    fn push(&mut self, item: &Item<'_>) {
        self.places.push(Place {
            at: item.place.at,
            start: self.bytes.len(),
            late: 0,
        });
        self.bytes.extend_from_slice(item.bytes);
    }
}

/// The thread that reads. A caller that has seen enough does not wait for it: it may itself be
/// waiting for a pipe in which nothing comes.
#[derive(Debug)]
pub(crate) struct Ahead {
    full: Receiver<Batch>,
    empty: Sender<Batch>,
    thread: Option<JoinHandle<()>>,
}

impl Ahead {
    /// Begins to read.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub(crate) fn new<R: Read + Send + 'static>(reader: Reader<R>) -> Result<Self, Unstarted> {
        let (to_full, full) = sync_channel(WAITING);
        let (empty, from_empty) = channel();
        let thread = thread::Builder::new().name("reader".to_owned());
        let thread = thread
            .spawn(move || read(Ordered::new(reader), &to_full, &from_empty))
            .map_err(Unstarted)?;
        Ok(Self {
            full,
            empty,
            thread: Some(thread),
        })
    }

    /// Returns the next records; `None` after the batch with the end.
    pub(crate) fn next(&mut self) -> Option<Batch> {
        if let Ok(batch) = self.full.recv() {
            return Some(batch);
        }
        if let Some(Err(cause)) = self.thread.take().map(JoinHandle::join) {
            panic::resume_unwind(cause);
        }
        None
    }

    /// Gives a shown batch back, for its memory.
    pub(crate) fn reuse(&self, batch: Batch) {
        // A reader that has come to the end needs it no more.
        let _is_over = self.empty.send(batch);
    }
}

/// Reads to the end, or until the receiver is gone.
fn read<R: Read>(mut reader: Ordered<R>, full: &SyncSender<Batch>, empty: &Receiver<Batch>) {
    let mut batch = Batch::new(Arc::new(reader.meta().clone()));
    loop {
        let end = match reader.next() {
            Ok(Some(item)) if item.header().kind >= own::FIRST => continue,
            Ok(Some(item)) => {
                let is_told = batch.meta.revision == item.meta.revision;
                if batch.bytes.len() >= PIECE || !is_told {
                    let meta = match is_told {
                        true => Arc::clone(&batch.meta),
                        false => Arc::new(item.meta.clone()),
                    };
                    let next = following(meta, empty);
                    if full.send(std::mem::replace(&mut batch, next)).is_err() {
                        return;
                    }
                }
                batch.push(&item);
                None
            }
            Ok(None) => Some(Ok(())),
            Err(error) => Some(Err(error)),
        };
        batch.late = reader.late();
        if let Some(place) = batch.places.last_mut() {
            place.late = batch.late;
        }
        if end.is_some() {
            batch.end = end;
            // The receiver is gone, and needs no error.
            let _is_gone = full.send(batch);
            return;
        }
    }
}

/// Returns an empty batch, in the memory of a shown one if there is one.
fn following(meta: Arc<Meta>, empty: &Receiver<Batch>) -> Batch {
    let Ok(shown) = empty.try_recv() else {
        return Batch::new(meta);
    };
    let (mut bytes, mut places) = (shown.bytes, shown.places);
    bytes.clear();
    places.clear();
    Batch {
        bytes,
        places,
        ..Batch::new(meta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_records::attr::{AttrFlags, SampleType, StoredAttr};
    use perf_records::perfdata::MAGIC;
    use std::io::Cursor;

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let size = (body.len() + 8) as u16;
        let head = [&kind.to_ne_bytes()[..], &[0; 2], &size.to_ne_bytes()];
        [head.concat().as_slice(), body].concat()
    }

    fn attr() -> Vec<u8> {
        let attr = StoredAttr {
            sample_type: SampleType::TIME,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..StoredAttr::default()
        };
        record(own::ATTR, &attr.to_bytes(128))
    }

    /// A record of lost samples, with a time.
    fn lost(time: u64) -> Vec<u8> {
        record(13, &[[7; 8], time.to_ne_bytes()].concat())
    }

    fn ahead(records: &[Vec<u8>]) -> Ahead {
        let head = [MAGIC.to_ne_bytes(), 16_u64.to_ne_bytes()].concat();
        let stream = [head, records.concat()].concat();
        Ahead::new(Reader::pipe(Cursor::new(stream)).unwrap()).unwrap()
    }

    #[test]
    fn all_records_come_in_order_and_the_error_behind_them() {
        let count = 5 * PIECE as u64 / 24;
        let mut records = vec![attr()];
        records.extend((1..=count).rev().map(lost));
        records.push(vec![1, 2, 3]);
        let (mut times, mut is_cut, mut n_batches) = (Vec::new(), false, 0);
        let mut ahead = ahead(&records);
        while let Some(mut batch) = ahead.next() {
            times.extend(
                batch
                    .records()
                    .map(|record| batch.meta.time(record.bytes).unwrap().0),
            );
            is_cut |= matches!(batch.end.take(), Some(Err(_)));
            n_batches += 1;
            ahead.reuse(batch);
        }
        assert!(times.is_sorted());
        assert_eq!((times.len() as u64, is_cut), (count, true));
        assert!(n_batches > 4, "{n_batches}");
    }

    #[test]
    fn records_come_with_what_was_said_before_them() {
        let round = || record(own::FINISHED_ROUND, &[]);
        // The first is handed over when the second attribute has been read; the second belongs to a
        // table of both.
        let records = [attr(), lost(5), round(), attr(), round(), lost(7)];
        let mut ahead = ahead(&records);
        let mut seen = Vec::new();
        while let Some(batch) = ahead.next() {
            let is_told_apart = batch.meta.table().is_ok();
            seen.extend(
                batch
                    .records()
                    .map(|_| (batch.meta.events.len(), is_told_apart)),
            );
        }
        assert_eq!(seen, [(2, true), (2, false)]);
    }
}
