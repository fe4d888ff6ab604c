//! What a file holds.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use crate::crash::ranges::PAGE;
use crate::crash::sum::Sum;

/// The bytes of a file: some at offsets, zeros between them. Clones share the bytes.
///
/// Two contents are equal if they have the same size and the same bytes, holes being zeros.
#[derive(Clone, Debug, Default)]
pub struct Content {
    size: u64,
    /// Within `size`, not empty, not overlapping; by offset.
    parts: BTreeMap<u64, Slice>,
}

/// Some of the bytes of a buffer that is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    bytes: Arc<[u8]>,
    from: usize,
    to: usize,
}

impl Slice {
    /// Returns all of `bytes`.
    pub(crate) fn all(bytes: Arc<[u8]>) -> Self {
        let to = bytes.len();
        Self { bytes, from: 0, to }
    }

    /// Returns the bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.from..self.to).unwrap_or_default()
    }

    /// Returns the number of bytes.
    pub(crate) fn size(&self) -> u64 {
        (self.to - self.from) as u64
    }

    /// Whether `next` is what comes behind it in its buffer.
    fn goes_on_in(&self, next: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &next.bytes) && self.to == next.from
    }

    /// Returns `len` bytes from `skip` on, or fewer if there are fewer.
    pub(crate) fn slice(&self, skip: u64, len: u64) -> Self {
        let from = self.from.saturating_add(host(skip)).min(self.to);
        let to = from.saturating_add(host(len)).min(self.to);
        Self {
            bytes: Arc::clone(&self.bytes),
            from,
            to,
        }
    }
}

/// Returns a size in memory; one that the machine cannot address is larger than any buffer.
fn host(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

impl Content {
    /// Returns a file of these bytes.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        let mut content = Self::default();
        content.write(0, bytes.into());
        content
    }

    /// Returns a file of `size` bytes, of which these lie in no hole.
    pub fn of_parts(size: u64, parts: impl IntoIterator<Item = (u64, Vec<u8>)>) -> Self {
        let mut content = Self::zeros(size);
        for (at, bytes) in parts {
            content.write(at, bytes);
        }
        content
    }

    /// Returns a file of `size` zeros.
    #[must_use]
    pub fn zeros(size: u64) -> Self {
        Self {
            size,
            parts: BTreeMap::new(),
        }
    }

    /// Returns the size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the runs of bytes that the file holds, by offset. All other bytes are zeros; bytes
    /// of a run may be too.
    pub fn parts(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.parts.iter().map(|(at, part)| (*at, part.bytes()))
    }

    /// Returns the bytes from `at` on, at most `len`, zeros for holes.
    #[must_use]
    pub fn read(&self, at: u64, len: u64) -> Vec<u8> {
        let end = at.saturating_add(len).min(self.size);
        let mut bytes = vec![0; host(end.saturating_sub(at))];
        for (offset, part) in self.within(at, end) {
            let skip = host(offset - at);
            if let Some(room) = bytes.get_mut(skip..skip.saturating_add(part.bytes().len())) {
                room.copy_from_slice(part.bytes());
            }
        }
        bytes
    }

    /// Returns all bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.read(0, self.size)
    }

    /// Writes `bytes` at `at`, and grows the file if they end behind its end.
    pub fn write(&mut self, at: u64, bytes: impl Into<Arc<[u8]>>) {
        self.put(at, Slice::all(bytes.into()));
    }

    /// Cuts the file, or lengthens it with zeros.
    pub fn resize(&mut self, size: u64) {
        self.clear(size, u64::MAX);
        self.size = size;
    }

    /// Writes what `slice` holds at `at`.
    pub(crate) fn put(&mut self, at: u64, slice: Slice) {
        let end = at.saturating_add(slice.size());
        self.clear(at, end);
        if end == at {
            return;
        }
        self.size = self.size.max(end);
        // What was cut into sectors is one part again.
        if let Some((offset, last)) = self.parts.range_mut(..at).next_back()
            && *offset + last.size() == at
            && last.goes_on_in(&slice)
        {
            last.to = slice.to;
            return;
        }
        self.parts.insert(at, slice);
    }

    /// Makes zeros of the bytes from `at` to `end`, without a change of the size.
    fn clear(&mut self, at: u64, end: u64) {
        let touched: Vec<u64> = self
            .overlapping(at, end)
            .map(|(offset, _)| offset)
            .collect();
        for offset in touched {
            let Some(part) = self.parts.remove(&offset) else {
                continue;
            };
            if offset < at {
                self.parts.insert(offset, part.slice(0, at - offset));
            }
            if offset.saturating_add(part.size()) > end {
                self.parts.insert(end, part.slice(end - offset, u64::MAX));
            }
        }
    }

    /// Returns the parts that have a byte from `at` to `end`.
    fn overlapping(&self, at: u64, end: u64) -> impl Iterator<Item = (u64, &Slice)> {
        let before = self.parts.range(..at).next_back();
        let reaches = before.filter(|(offset, part)| offset.saturating_add(part.size()) > at);
        let inside = self.parts.range(at..end.max(at));
        reaches
            .filter(|_| end > at)
            .into_iter()
            .chain(inside)
            .map(|(offset, part)| (*offset, part))
    }

    /// Returns the bytes from `at` to `end`, in parts.
    pub(crate) fn within(&self, at: u64, end: u64) -> impl Iterator<Item = (u64, Slice)> {
        self.overlapping(at, end).map(move |(offset, part)| {
            let skip = at.saturating_sub(offset);
            let offset = offset.max(at);
            (offset, part.slice(skip, end - offset))
        })
    }

    /// Returns the digest of the bytes from `at` to `end`.
    pub(crate) fn sum(&self, at: u64, end: u64) -> Sum {
        self.within(at, end)
            .map(|(offset, part)| Sum::of(offset, part.bytes()))
            .fold(Sum::default(), Sum::and)
    }

    /// Returns the pages of a range, which begins at one, that another content has otherwise, as
    /// they are there. Behind the end of either are zeros.
    #[must_use]
    pub fn differing<'o>(&self, other: &'o Self, range: Range<u64>) -> Vec<(u64, Cow<'o, [u8]>)> {
        let page = PAGE as u64;
        let mut pages = BTreeSet::new();
        for content in [self, other] {
            for (at, part) in content.overlapping(range.start, range.end) {
                let first = at.max(range.start) / page;
                let behind = at.saturating_add(part.size()).min(range.end);
                pages.extend(first..behind.div_ceil(page));
            }
        }
        let end = range.end.min(other.size);
        let pages = pages.into_iter().map(|number| number * page);
        pages
            .filter(|at| *at < end)
            .map(|at| (at, other.view(at, page.min(end - at))))
            .filter(|(at, bytes)| {
                let old = self.view(*at, bytes.len() as u64);
                let (there, behind) = bytes.split_at(old.len());
                // Clones share their bytes.
                let is_shared = std::ptr::eq(old.as_ptr(), there.as_ptr());
                (!is_shared && *old != *there) || behind.iter().any(|byte| *byte != 0)
            })
            .collect()
    }

    /// Returns the same bytes as [`Self::read`], without a copy where they lie in one part.
    fn view(&self, at: u64, len: u64) -> Cow<'_, [u8]> {
        let end = at.saturating_add(len).min(self.size);
        let around = self.parts.range(..=at).next_back();
        let there = around.and_then(|(offset, part)| {
            let from = host(at - offset);
            part.bytes()
                .get(from..from.checked_add(host(end.checked_sub(at)?))?)
        });
        there.map_or_else(|| Cow::Owned(self.read(at, len)), Cow::Borrowed)
    }

    /// Returns how many of its bytes lie in no hole.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.parts.values().map(Slice::size).sum()
    }

    /// Tells whether `other` holds what this file's parts hold.
    fn covers(&self, other: &Self) -> bool {
        self.parts()
            .all(|(at, bytes)| other.read(at, bytes.len() as u64) == bytes)
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.covers(other) && other.covers(self)
    }
}

impl Eq for Content {}

impl Hash for Content {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.size.hash(state);
        self.sum(0, self.size).hash(state);
    }
}
