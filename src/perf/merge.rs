//! Many sources in time order.
//!
//! Each source is in order by itself. A pass delivers, across all of them, what is older than a
//! horizon; the rest stays where it is. The horizon is a moment *before* the last look at the
//! sources. So the events of one thread come in their order, whichever CPUs it ran on, and so do
//! any two of which one caused the other: had the later one been seen and the earlier not, the
//! earlier would have been written after the look, and the later one's time would lie beyond the
//! horizon. What remains is a record of an unrelated thread that was stamped before the horizon and
//! became visible only after the look; it is delivered at the next pass and counted as late.

use crate::record::LayoutTable;
use crate::units::Nanos;

/// Where records come from: a ring, or later a file.
pub trait Source {
    /// Why it cannot be read on.
    type Error;
    /// The oldest record that has not been popped.
    ///
    /// # Errors
    /// The source's contents make no sense from here on.
    fn peek(&mut self) -> Result<Option<&[u8]>, Self::Error>;
    /// Drops the record that `peek` showed.
    fn pop(&mut self);
}

/// Merges sources pass by pass.
#[derive(Debug, Default)]
pub struct Merge {
    newest: Nanos,
    late: u64,
    fronts: Vec<Option<Nanos>>,
}

impl Merge {
    /// How many records were delivered after one that is younger.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Delivers every record that is not younger than `horizon` (all of them where there is none),
    /// oldest first; on equal times the source that comes first in the slice wins. `deliver` gets
    /// the source's place and the record. Returns how many were delivered.
    ///
    /// # Errors
    /// The first source's error; what was delivered before stands.
    pub fn pass<S: Source, E: Copy>(
        &mut self,
        sources: &mut [S],
        table: &LayoutTable<E>,
        horizon: Option<Nanos>,
        deliver: impl FnMut(usize, &[u8]),
    ) -> Result<u64, S::Error> {
        self.stretch(sources, table, (horizon, u64::MAX), deliver)
    }

    /// The same of so many records at most. Where it delivered as many, there may be more.
    ///
    /// # Errors
    /// As [`Self::pass`].
    pub fn stretch<S: Source, E: Copy>(
        &mut self,
        sources: &mut [S],
        table: &LayoutTable<E>,
        (horizon, most): (Option<Nanos>, u64),
        mut deliver: impl FnMut(usize, &[u8]),
    ) -> Result<u64, S::Error> {
        self.fronts.clear();
        for source in sources.iter_mut() {
            self.fronts.push(front(source, table)?);
        }
        let mut delivered = 0;
        while delivered < most
            && let Some((place, mut time)) = oldest(&self.fronts, None)
        {
            let next = oldest(&self.fronts, Some(place));
            let Some(source) = sources.get_mut(place) else {
                break;
            };
            // One source's records come in a row as long as no other has an older one.
            let is_next = |time| next.is_none_or(|(other, its)| (time, place) < (its, other));
            let is_due = |time| horizon.is_none_or(|horizon| time <= horizon);
            if !is_due(time) {
                break;
            }
            self.fronts[place] = loop {
                if let Some(record) = source.peek()? {
                    deliver(place, record);
                }
                source.pop();
                delivered += 1;
                self.late += u64::from(time < self.newest && time.0 > 0);
                self.newest = self.newest.max(time);
                match front(source, table)? {
                    Some(front) if delivered < most && is_due(front) && is_next(front) => {
                        time = front;
                    }
                    front => break front,
                }
            };
        }
        Ok(delivered)
    }
}

/// The time of a source's next record; one without a time is delivered at once.
fn front<S: Source, E: Copy>(
    source: &mut S,
    table: &LayoutTable<E>,
) -> Result<Option<Nanos>, S::Error> {
    Ok(source
        .peek()?
        .map(|record| table.time(record).unwrap_or_default()))
}

/// The source with the oldest front, but for one; the first of several.
fn oldest(fronts: &[Option<Nanos>], but: Option<usize>) -> Option<(usize, Nanos)> {
    let present = fronts
        .iter()
        .enumerate()
        .filter_map(|(place, time)| Some((place, (*time)?)));
    let others = present.filter(|(place, _)| Some(*place) != but);
    others.min_by_key(|(_, time)| *time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attr::{Layout, SampleType};
    use std::collections::VecDeque;

    /// A source whose records become visible one look after another.
    #[derive(Default)]
    struct Script {
        hidden: VecDeque<Vec<u64>>,
        seen: VecDeque<Vec<u8>>,
    }

    impl Script {
        fn new(looks: &[&[u64]]) -> Self {
            Self {
                hidden: looks.iter().map(|times| times.to_vec()).collect(),
                seen: VecDeque::new(),
            }
        }
        fn look(&mut self) {
            for time in self.hidden.pop_front().unwrap_or_default() {
                let head = 9_u32.to_ne_bytes();
                self.seen
                    .push_back([&head[..], &[0, 0, 16, 0], &time.to_ne_bytes()].concat());
            }
        }
    }

    impl Source for Script {
        type Error = std::convert::Infallible;
        fn peek(&mut self) -> Result<Option<&[u8]>, Self::Error> {
            Ok(self.seen.front().map(Vec::as_slice))
        }
        fn pop(&mut self) {
            self.seen.pop_front();
        }
    }

    fn table() -> LayoutTable<()> {
        let layout = Layout {
            sample_type: SampleType::TIME,
            ..Layout::default()
        };
        LayoutTable::new([(1, layout, ())]).unwrap()
    }

    fn passes(sources: &mut [Script], horizons: &[Option<u64>]) -> (Vec<(usize, u64)>, u64) {
        let mut merge = Merge::default();
        let mut out = Vec::new();
        for horizon in horizons {
            sources.iter_mut().for_each(Script::look);
            let deliver = |place: usize, record: &[u8]| {
                out.push((place, u64::from_ne_bytes(*record.last_chunk().unwrap())));
            };
            merge
                .pass(sources, &table(), horizon.map(Nanos), deliver)
                .unwrap();
        }
        (out, merge.late())
    }

    #[test]
    fn sources_are_merged_by_time_and_the_first_wins_a_tie() {
        let mut sources = [Script::new(&[&[1, 4, 5]]), Script::new(&[&[2, 4, 9]])];
        let (out, late) = passes(&mut sources, &[None]);
        assert_eq!(out, [(0, 1), (1, 2), (0, 4), (1, 4), (0, 5), (1, 9)]);
        assert_eq!(late, 0);
    }

    #[test]
    fn what_is_younger_than_the_horizon_waits_for_the_next_pass() {
        // A thread wrote 3 on the first CPU after the look at it, moved, and wrote 4 on the second
        // before the look at that one.
        let mut sources = [Script::new(&[&[1], &[3]]), Script::new(&[&[2, 4], &[]])];
        let (out, late) = passes(&mut sources, &[Some(2), None]);
        assert_eq!(out, [(0, 1), (1, 2), (0, 3), (1, 4)]);
        assert_eq!(late, 0);
    }

    #[test]
    fn stretches_deliver_together_what_a_pass_does() {
        let looks: [&[u64]; 2] = [&[1, 4, 5, 6, 7], &[2, 4, 9]];
        for most in 1..9 {
            let mut sources = looks.map(|times| Script::new(&[times]));
            sources.iter_mut().for_each(Script::look);
            let (mut merge, mut out) = (Merge::default(), Vec::new());
            loop {
                let deliver = |place: usize, record: &[u8]| {
                    out.push((place, u64::from_ne_bytes(*record.last_chunk().unwrap())));
                };
                let limits = (Some(Nanos(7)), most);
                let n = merge.stretch(&mut sources, &table(), limits, deliver);
                if n.unwrap() < most {
                    break;
                }
            }
            let mut sources = looks.map(|times| Script::new(&[times]));
            assert_eq!(out, passes(&mut sources, &[Some(7)]).0, "{most} at a time");
            assert_eq!(merge.late(), 0);
        }
    }

    #[test]
    fn a_late_record_is_delivered_and_counted() {
        let mut sources = [Script::new(&[&[], &[1]]), Script::new(&[&[2], &[]])];
        let (out, late) = passes(&mut sources, &[Some(5), None]);
        assert_eq!((out, late), (vec![(1, 2), (0, 1)], 1));
    }
}
