//! What descriptors refer to, from the calls alone.

use std::sync::Arc;

/// What a descriptor refers to: an open file description.
#[derive(Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// Its name: an absolute path, or what it is (`pipe`, `socket`).
    pub name: Vec<u8>,
}

/// What the descriptors of one call referred to: those of its arguments when it was entered, and that of its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    known: Option<Box<[Option<Arc<OpenFile>>; 7]>>,
}

impl Files {
    /// Of an argument.
    #[must_use]
    pub fn argument(&self, place: usize) -> Option<&Arc<OpenFile>> {
        self.known.as_ref()?.get(place)?.as_ref()
    }

    /// Of the result.
    #[must_use]
    pub fn result(&self) -> Option<&Arc<OpenFile>> {
        self.argument(6)
    }
}
