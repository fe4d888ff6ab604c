//! What an address of a call lay in.

use super::super::files::{FileKind, OpenFile};
use std::sync::Arc;

/// Where a mapping came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, as its descriptor was known when it was mapped.
    File(Arc<OpenFile>),
    /// A file that is not known.
    UnknownFile,
    /// Nothing: anonymous memory.
    Anonymous,
    /// The program break.
    Heap,
    /// A segment of System V shared memory.
    Shared,
}

/// A mapping, from the call that created it until nothing of it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// One for each of the run.
    pub id: u64,
    /// The call or exec that created it.
    pub source: Source,
    /// Its size when it was created, in bytes.
    pub(super) size: u64,
    /// Whether others see what is written there (`MAP_SHARED`).
    pub(super) is_shared: bool,
}

impl Mapping {
    /// A mapping of no size.
    #[must_use]
    pub fn new(id: u64, source: Source) -> Self {
        Self {
            id,
            source,
            size: 0,
            is_shared: false,
        }
    }

    /// Whether what is mapped over a part of it becomes a part of it: nothing else is meant by a
    /// name of it then. So it is where both are private, and nothing of another file comes in.
    pub(super) fn takes_in(&self, source: &Source, is_shared: bool) -> bool {
        let is_one = match (&self.source, source) {
            (Source::File(own), Source::File(other)) => own.kind == other.kind,
            (_, Source::File(_) | Source::UnknownFile) => false,
            _ => true,
        };
        is_one && !is_shared && !self.is_shared
    }

    /// What it is called, without the number that tells it from others of that name: a path,
    /// `memfd:cache`, `heap`, `map`.
    #[must_use]
    pub fn name(&self) -> Vec<u8> {
        let word = match &self.source {
            Source::File(file) => match (&file.kind, file.class()) {
                (_, Some(class)) => class,
                (FileKind::Unread, None) => "file",
                (_, None) => return file.name_as(1),
            },
            Source::UnknownFile => "file",
            Source::Anonymous => "map",
            Source::Heap => "heap",
            Source::Shared => "shm",
        };
        word.into()
    }

    /// Whether the name alone tells it, unless there is another of that name: so does a path, but
    /// not a `map`.
    #[must_use]
    pub fn is_named(&self) -> bool {
        match &self.source {
            Source::File(file) => file.class().is_none() && file.kind != FileKind::Unread,
            Source::Heap => true,
            Source::UnknownFile | Source::Anonymous | Source::Shared => false,
        }
    }
}

/// An address as a mapping and a distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address space, one for each of the run: a fork makes another one with the same mappings,
    /// and an exec an empty one.
    pub space: u64,
    /// What it lies in.
    pub mapping: Arc<Mapping>,
    /// How far behind its beginning, in bytes.
    pub offset: u64,
}

/// Where the addresses of one call lay: those of its arguments when it was entered, and its result
/// when it was left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    known: Option<Box<[Option<Place>; RESULT + 1]>>,
}

const RESULT: usize = 6;

impl Places {
    /// Returns the place of an argument; `None` if it is no address or not known.
    #[must_use]
    pub fn argument(&self, place: usize) -> Option<&Place> {
        self.known.as_ref()?.get(place)?.as_ref()
    }

    /// Returns the place of the result.
    #[must_use]
    pub fn result(&self) -> Option<&Place> {
        self.argument(RESULT)
    }

    pub(super) fn set_argument(&mut self, place: usize, found: Option<Place>) {
        if found.is_none() {
            return;
        }
        let known = self.known.get_or_insert_default();
        if let Some(to) = known.get_mut(place) {
            *to = found;
        }
    }

    pub(super) fn set_result(&mut self, found: Option<Place>) {
        self.set_argument(RESULT, found);
    }
}
