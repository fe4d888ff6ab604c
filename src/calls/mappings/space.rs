//! One address space: what is mapped where.

use super::place::{Mapping, Place, Source};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Addresses from the first to before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Range {
    pub(super) const EVERYTHING: Self = Self {
        start: 0,
        end: u64::MAX,
    };

    /// So many bytes; what would go beyond the last address ends there.
    pub(super) fn new(start: u64, length: u64) -> Self {
        Self {
            start,
            end: start.saturating_add(length),
        }
    }
}

/// A stretch of one mapping, or of what is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) end: u64,
    /// Where the mapping begins, or would begin if all of it were there: an address' offset counts
    /// from here.
    pub(super) base: u64,
    /// `None` if something may be mapped and it is not known what.
    pub(super) mapping: Option<Arc<Mapping>>,
}

impl Segment {
    fn is_of(&self, other: &Self) -> bool {
        let same = match (&self.mapping, &other.mapping) {
            (Some(mine), Some(others)) => mine.id == others.id,
            (None, None) => return true,
            _ => false,
        };
        same && self.base == other.base
    }
}

/// What was taken out of a space: stretches with where they begin.
pub(super) type Taken = Vec<(u64, Segment)>;

/// The mapping that a range belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// All of it is one mapping's.
    One,
    /// It may be one mapping's.
    Unknown,
    /// To none, or only in part, or to several.
    None,
}

/// The program break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heap {
    /// Nothing has asked for it since the exec.
    Unasked,
    Known {
        mapping: Arc<Mapping>,
        start: u64,
        end: u64,
    },
    Unknown,
}

/// An address space.
#[derive(Clone, Debug)]
pub(super) struct Space {
    pub(super) id: u64,
    /// Shared with the copies that a fork made, until one of them changes.
    segments: Arc<BTreeMap<u64, Segment>>,
    pub(super) heap: Heap,
    /// Those of the same number may be one and the same.
    pub(super) group: Option<u32>,
}

impl Space {
    pub(super) fn new(id: u64, heap: Heap) -> Self {
        Self {
            id,
            segments: Arc::default(),
            heap,
            group: None,
        }
    }

    /// What a fork makes of it.
    pub(super) fn copy(&self, id: u64) -> Self {
        Self {
            id,
            group: None,
            ..self.clone()
        }
    }

    fn at(&self, address: u64) -> Option<(u64, &Segment)> {
        let (start, segment) = self.segments.range(..=address).next_back()?;
        (address < segment.end).then_some((*start, segment))
    }

    fn place(&self, segment: &Segment, address: u64) -> Option<Place> {
        Some(Place {
            space: self.id,
            mapping: Arc::clone(segment.mapping.as_ref()?),
            offset: address.wrapping_sub(segment.base),
        })
    }

    /// What an address lies in.
    pub(super) fn find(&self, address: u64) -> Option<Place> {
        let (_, segment) = self.at(address)?;
        self.place(segment, address)
    }

    /// What an address lies in or, where nothing is there, what ends there.
    pub(super) fn find_or_end(&self, address: u64) -> Option<Place> {
        match self.at(address) {
            Some((_, segment)) => self.place(segment, address),
            None => self.find_below(address),
        }
    }

    /// What the byte before an address lies in.
    pub(super) fn find_below(&self, address: u64) -> Option<Place> {
        let (_, segment) = self.at(address.checked_sub(1)?)?;
        self.place(segment, address)
    }

    /// A break: every one is the heap's.
    pub(super) fn find_break(&self, address: u64) -> Option<Place> {
        match &self.heap {
            Heap::Known { mapping, start, .. } => Some(Place {
                space: self.id,
                mapping: Arc::clone(mapping),
                offset: address.checked_sub(*start)?,
            }),
            Heap::Unasked | Heap::Unknown => None,
        }
    }

    /// All that a mapping has from its base on, as far as it is in one piece.
    pub(super) fn whole(&self, address: u64) -> Option<(Range, &Arc<Mapping>)> {
        let (start, segment) = self.at(address)?;
        let range = Range {
            start,
            end: segment.end,
        };
        let is_base = address == segment.base;
        segment
            .mapping
            .as_ref()
            .filter(|_| is_base)
            .map(|mapping| (range, mapping))
    }

    /// The stretch that an address lies in, from there on.
    pub(super) fn segment(&self, address: u64) -> Option<(u64, Segment)> {
        let (_, segment) = self.at(address)?;
        Some((address, segment.clone()))
    }

    fn within(&self, range: Range) -> impl Iterator<Item = (u64, &Segment)> {
        let first = self.at(range.start).map_or(range.start, |(start, _)| start);
        let found = (first < range.end).then(|| self.segments.range(first..range.end));
        found
            .into_iter()
            .flatten()
            .map(|(start, segment)| (*start, segment))
    }

    pub(super) fn owner(&self, range: Range) -> Owner {
        let mut covered = range.start;
        let mut found: Option<&Segment> = None;
        let mut is_unknown = false;
        for (start, segment) in self.within(range) {
            if start > covered {
                return Owner::None;
            }
            covered = segment.end;
            match (&segment.mapping, found) {
                (None, _) => is_unknown = true,
                (Some(_), Some(known)) if !known.is_of(segment) => return Owner::None,
                (Some(_), _) => found = Some(segment),
            }
        }
        match is_unknown {
            _ if covered < range.end => Owner::None,
            true => Owner::Unknown,
            false => Owner::One,
        }
    }

    /// Whether what is mapped at an address becomes a part of what is there.
    pub(super) fn takes_in(&self, address: u64, source: &Source, is_shared: bool) -> bool {
        let (_, segment) = self.at(address).unzip();
        let mapping = segment.and_then(|segment| segment.mapping.as_ref());
        mapping.is_some_and(|mapping| mapping.takes_in(source, is_shared))
    }

    /// Takes away what is in a range.
    pub(super) fn take(&mut self, range: Range) -> Taken {
        let touched: Taken = self
            .within(range)
            .map(|(start, segment)| (start, segment.clone()))
            .collect();
        if touched.is_empty() {
            return touched;
        }
        let segments = Arc::make_mut(&mut self.segments);
        let mut taken = Taken::new();
        for (start, segment) in touched {
            segments.remove(&start);
            if start < range.start {
                let left = Segment {
                    end: range.start,
                    ..segment.clone()
                };
                segments.insert(start, left);
            }
            if segment.end > range.end {
                segments.insert(range.end, segment.clone());
            }
            let cut = Segment {
                end: segment.end.min(range.end),
                ..segment
            };
            taken.push((start.max(range.start), cut));
        }
        taken
    }

    /// Puts something where nothing is left of what was there.
    pub(super) fn put(&mut self, start: u64, mut segment: Segment) {
        let range = Range {
            start,
            end: segment.end,
        };
        if range.start >= range.end {
            return;
        }
        self.take(range);
        let segments = Arc::make_mut(&mut self.segments);
        let mut start = start;
        if let Some(next) = segments.get(&segment.end)
            && next.is_of(&segment)
        {
            let end = std::mem::replace(&mut segment.end, next.end);
            segments.remove(&end);
        }
        if let Some((before, left)) = segments.range(..start).next_back()
            && left.end == start
            && left.is_of(&segment)
        {
            start = *before;
        }
        segments.insert(start, segment);
    }

    /// Puts back what was taken, wherever nothing has come meanwhile.
    pub(super) fn put_back(&mut self, taken: Taken) {
        for (start, segment) in taken {
            let range = Range {
                start,
                end: segment.end,
            };
            let newer = self.take(range);
            self.put(start, segment);
            for (start, segment) in newer {
                self.put(start, segment);
            }
        }
    }

    /// What is in a range is not known any more.
    pub(super) fn forget(&mut self, range: Range) {
        let unknown = Segment {
            end: range.end,
            base: 0,
            mapping: None,
        };
        self.put(range.start, unknown);
    }

    /// Lets the offsets of mappings whose heads were taken for good count from what is left.
    pub(super) fn rebase(&mut self, taken: &Taken) {
        for (start, head) in taken {
            let Some(mapping) = &head.mapping else {
                continue;
            };
            if *start != head.base
                || matches!(self.heap, Heap::Known { mapping: ref heap, .. } if heap.id == mapping.id)
            {
                continue;
            }
            // What is left begins right behind, or within what the mapping was at first.
            let reach = Range {
                start: head.end,
                end: head
                    .base
                    .saturating_add(mapping.size)
                    .max(head.end.saturating_add(1)),
            };
            let left: Vec<u64> = self
                .within(reach)
                .filter(|(start, segment)| *start >= head.end && segment.is_of(head))
                .map(|(start, _)| start)
                .collect();
            let Some(base) = left.first().copied() else {
                continue;
            };
            let segments = Arc::make_mut(&mut self.segments);
            for start in left {
                if let Some(segment) = segments.get_mut(&start) {
                    segment.base = base;
                }
            }
        }
    }
}
