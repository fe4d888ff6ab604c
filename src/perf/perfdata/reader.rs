//! The records of a file or pipe, one after the other, in the order that they stand in.

use super::directory::Files;
use super::foreign;
use super::header::{self, Header as Front, Numbers};
use super::inflate::Inflated;
use super::input::Input;
use super::intake::packed;
use super::meta::Meta;
use super::payload::Formats;

use super::{FILE_HEADER, Feature, Item, PIPE_HEADER, Place, ReadError, own};
use crate::record::{HEADER_SIZE, Header, turn};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// A file or pipe that is read. Total: any bytes give records and then their end or a
/// [`ReadError`]. What is held in memory are the attributes, formats and features, and a piece of
/// the records.
#[derive(Debug)]
pub struct Reader<R> {
    input: Input<R>,
    meta: Meta,
    inflated: Inflated,
    /// The files that are behind this one, and the number of this one.
    threads: VecDeque<(u32, R)>,
    thread: Option<u32>,
    /// To turn payloads of the other byte order by.
    formats: Formats,
    /// The record that was given last; it is stepped over when the next is asked for.
    found: Option<Found>,
    /// Why not everything behind the records could be read; told behind the last of them.
    trouble: Option<ReadError>,
    is_over: bool,
}

/// A record that lies at the front of one of the two windows.
#[derive(Clone, Copy, Debug)]
struct Found {
    place: Place,
    kind: u32,
    size: usize,
    trailing: usize,
}

impl Reader<File> {
    /// Reads the files of a recording, one behind the other.
    ///
    /// # Errors
    /// The first is no perf.data, or its attributes cannot be read.
    pub fn files(files: Files) -> Result<Self, ReadError> {
        let mut reader = Self::file(files.first)?;
        let format = reader.meta.words(Feature::DIR_FORMAT);
        let has_threads = format.is_some_and(|words| words.first().is_some_and(|form| *form > 0));
        if has_threads && !files.is_directory {
            reader.trouble.get_or_insert(ReadError::Alone);
        }
        reader.threads = files.threads.into();
        Ok(reader)
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Reads a file, from its first byte on; a pipe's stream that was saved to one as such.
    ///
    /// # Errors
    /// It is no perf.data, or its attributes cannot be read.
    pub fn file(mut input: R) -> Result<Self, ReadError> {
        let io = |source| ReadError::Io {
            at: 0,
            what: "the header",
            source,
        };
        input.rewind().map_err(io)?;
        let mut bytes = Vec::new();
        input
            .by_ref()
            .take(FILE_HEADER as u64)
            .read_to_end(&mut bytes)
            .map_err(io)?;
        let front = Front::from_bytes(&bytes)?;
        let (meta, trouble) = if front.is_pipe {
            (Meta::new(true, front.is_foreign), None)
        } else {
            header::around(&mut input, &front)?
        };
        let (at, end) = match front.is_pipe {
            true => (PIPE_HEADER as u64, None),
            false if meta.is_unfinished => (front.data.at, None),
            false => (
                front.data.at,
                Some(front.data.at.saturating_add(front.data.size)),
            ),
        };
        input
            .seek(SeekFrom::Start(at))
            .map_err(|source| ReadError::Io {
                at,
                what: "the records",
                source,
            })?;
        Ok(Self::new(Input::new(input, at, end), meta, trouble))
    }
}

impl<R: Read> Reader<R> {
    /// Reads a pipe's stream.
    ///
    /// # Errors
    /// It is no perf.data, or a file, of which the end must be read before the beginning.
    pub fn pipe(input: R) -> Result<Self, ReadError> {
        let mut input = Input::new(input, 0, None);
        input.fill(PIPE_HEADER, "the header")?;
        let bytes = input.bytes();
        let front = Front::from_bytes(bytes.get(..PIPE_HEADER).unwrap_or(bytes))?;
        input.consume(PIPE_HEADER);
        let meta = Meta::new(true, front.is_foreign);
        Ok(Self::new(input, meta, None))
    }

    fn new(input: Input<R>, meta: Meta, trouble: Option<ReadError>) -> Self {
        Self {
            input,
            meta,
            inflated: Inflated::default(),
            threads: VecDeque::new(),
            thread: None,
            formats: Formats::default(),
            found: None,
            trouble,
            is_over: false,
        }
    }

    /// What the input has said of itself so far.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The next record; `None` behind the last. What is compressed comes decompressed, behind the
    /// record that it was in. Records of the tool's own are given as well, after they have been
    /// taken into [`meta`](Self::meta).
    ///
    /// # Errors
    /// [`ReadError`]; there is nothing behind it.
    // Not an iterator's: a record lies in the reader.
    #[expect(clippy::should_implement_trait, reason = "it lends what it gives")]
    pub fn next(&mut self) -> Result<Option<Item<'_>>, ReadError> {
        Ok(if self.advance()? {
            self.current()
        } else {
            None
        })
    }

    /// Goes on to the next record; says whether there is one.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
        if self.is_over {
            return Ok(false);
        }
        self.step_over();
        // Whatever goes wrong, nothing is behind it.
        self.is_over = true;
        self.found = self.find_next().map_err(|source| match self.thread {
            None => source,
            Some(number) => ReadError::Thread {
                number,
                source: Box::new(source),
            },
        })?;
        self.is_over = self.found.is_none();
        Ok(!self.is_over)
    }

    /// The record that was gone on to.
    pub(super) fn current(&self) -> Option<Item<'_>> {
        let found = self.found?;
        let (bytes, rest) = self.window(found).split_at_checked(found.size)?;
        Some(Item {
            place: found.place,
            bytes,
            trailing: rest.get(..found.trailing).unwrap_or_default(),
            meta: &self.meta,
        })
    }

    fn window(&self, found: Found) -> &[u8] {
        match found.place.inside {
            Some(_) => self.inflated.bytes(),
            None => self.input.bytes(),
        }
    }

    fn step_over(&mut self) {
        let Some(found) = self.found.take() else {
            return;
        };
        let length = found.size.saturating_add(found.trailing);
        match found.place.inside {
            Some(_) => self.inflated.consume(length),
            None => self.input.consume(length),
        }
    }

    fn find_next(&mut self) -> Result<Option<Found>, ReadError> {
        let found = loop {
            if let Some(found) = self.find_inflated()? {
                break found;
            }
            if let Some(found) = self.find()? {
                break found;
            }
            self.check_end()?;
            if !self.go_on() {
                return self.trouble.take().map_or(Ok(None), Err);
            }
        };
        if self.meta.is_foreign {
            self.turn(found)?;
        }
        if found.kind >= own::FIRST {
            self.take_in(found)?;
        } else {
            self.meta.settle();
        }
        Ok(Some(found))
    }

    /// Turns a record of the other byte order to this machine's.
    fn turn(&mut self, found: Found) -> Result<(), ReadError> {
        let window = match found.place.inside {
            Some(_) => self.inflated.bytes_mut(),
            None => self.input.bytes_mut(),
        };
        let bytes = window.get_mut(..found.size).unwrap_or_default();
        let (at, kind) = (found.place.at, found.kind);
        turn::header(bytes);
        if kind >= own::FIRST {
            return foreign::own(bytes).ok_or(ReadError::Short { at, kind });
        }
        self.meta.settle();
        let layout = self.meta.foreign_layout(bytes);
        let layout = layout.ok_or(ReadError::Stranger { at, kind })?;
        let payload = turn::record(bytes, &layout).ok_or(ReadError::Short { at, kind })?;
        let event = self.meta.event(bytes).map(|(event, _)| event);
        let event = event.and_then(|event| self.meta.events.get(event));
        if let Some((payload, event)) = bytes.get_mut(payload).zip(event) {
            self.formats.turn(payload, &event.attr, &self.meta);
        }
        Ok(())
    }

    /// The next of what is decompressed; `None` where it has come to its end or to the middle of a
    /// record, which goes on in the next.
    fn find_inflated(&mut self) -> Result<Option<Found>, ReadError> {
        if !self.inflated.fill(HEADER_SIZE)? {
            return Ok(None);
        }
        let at = self.inflated.at;
        let size = self.size(self.inflated.bytes(), at)?;
        if !self.inflated.fill(size)? {
            return Ok(None);
        }
        let inside = Some(self.inflated.inside);
        let thread = self.thread;
        Ok(Some(Found {
            place: Place { at, inside, thread },
            kind: self.numbers().u32(self.inflated.bytes(), 0),
            size,
            trailing: 0,
        }))
    }

    /// The next of the input itself.
    fn find(&mut self) -> Result<Option<Found>, ReadError> {
        if !self.input.fill(HEADER_SIZE, "a record")? {
            if self.input.bytes().is_empty() {
                return Ok(None);
            }
            self.input.need(HEADER_SIZE as u64, "a record's header")?;
        }
        let at = self.input.at();
        let size = self.size(self.input.bytes(), at)?;
        self.input.need(size as u64, "a record")?;
        let numbers = self.numbers();
        let bytes = self.input.bytes();
        // A size of 32 bits, or one of 64.
        let kind = numbers.u32(bytes, 0);
        let trailing = match kind {
            own::TRACING_DATA if size >= 12 => u64::from(numbers.u32(bytes, 8)),
            own::AUXTRACE if size >= 16 => numbers.u64(bytes, 8),
            _ => 0,
        };
        if trailing > 0 {
            let all = trailing.saturating_add(size as u64);
            self.input.need(all, "a record and what follows it")?;
        }
        let (inside, thread) = (None, self.thread);
        Ok(Some(Found {
            place: Place { at, inside, thread },
            kind,
            size,
            trailing: usize::try_from(trailing).unwrap_or(usize::MAX),
        }))
    }

    fn numbers(&self) -> Numbers {
        Numbers::new(self.meta.is_foreign)
    }

    /// The size that a header says.
    fn size(&self, bytes: &[u8], at: u64) -> Result<usize, ReadError> {
        let header = Header::from_bytes(bytes.first_chunk().copied().unwrap_or_default());
        let size = if self.meta.is_foreign {
            header.size.swap_bytes()
        } else {
            header.size
        };
        if usize::from(size) < HEADER_SIZE {
            return Err(ReadError::Value {
                at,
                what: "the size of the record",
                said: size.into(),
            });
        }
        Ok(size.into())
    }

    /// Goes on to the next file; says whether there is one.
    fn go_on(&mut self) -> bool {
        let next = self.threads.pop_front();
        self.thread = next.as_ref().map(|(number, _)| *number);
        let is_there = next.is_some();
        if let Some((_, input)) = next {
            self.input = Input::new(input, 0, None);
            self.inflated = Inflated::default();
        }
        is_there
    }

    /// What is missing behind the last record.
    fn check_end(&self) -> Result<(), ReadError> {
        self.input.check_end("the records")?;
        let left = self.inflated.bytes();
        if !left.is_empty() {
            let needs = match left.first_chunk() {
                Some(head) if left.len() >= HEADER_SIZE => {
                    self.size(head as &[u8; 8], self.inflated.at)? as u64
                }
                _ => HEADER_SIZE as u64,
            };
            return Err(ReadError::Ends {
                at: self.inflated.at,
                what: "the last record of what is compressed",
                needs,
                there: left.len() as u64,
            });
        }
        Ok(())
    }

    /// Takes what a record of the tool's own says into the meta-data, and what is compressed to be
    /// read next.
    fn take_in(&mut self, found: Found) -> Result<(), ReadError> {
        // Not by a method: the meta-data and the stream are changed while a window is looked at.
        let is_inflated = found.place.inside.is_some();
        let window = if is_inflated {
            self.inflated.bytes()
        } else {
            self.input.bytes()
        };
        let (bytes, rest) = window.split_at_checked(found.size).unwrap_or_default();
        let trailing = rest.get(..found.trailing).unwrap_or_default();
        let at = found.place.at;
        self.meta.take_in(bytes, trailing, at)?;
        if is_inflated {
            return Ok(());
        }
        let bytes = self.input.bytes().get(..found.size).unwrap_or_default();
        if let Some(packed) = packed(bytes, at)? {
            self.inflated.feed(packed, at);
        }
        Ok(())
    }
}
