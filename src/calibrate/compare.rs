//! What a process' runs are compared by, and the level that makes them equal.

use super::Who;
use super::reason::{MEMORY, WAITING};
use super::treated::Treated;
use crate::trace::{Block, Deed, Level, Normalised, View};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the blocks of a process' threads, or of all processes of a program.
pub(super) fn blocks_of<'b>(who: &Who, run: &'b Normalised) -> Vec<&'b Block> {
    let is_his = |process: &&[Block]| {
        process.first().is_some_and(|leader| {
            leader.program == who.program
                && who
                    .process
                    .is_none_or(|process| process == leader.task.process)
        })
    };
    run.processes().filter(is_his).flatten().collect()
}

/// Runs of one process, row by row: only runs of the same row can be compared. Each run is the
/// blocks of the process' threads.
pub(super) struct Runs<'b> {
    pub(super) rows: Vec<Vec<Vec<&'b Block>>>,
    view: &'b View,
}

/// Whether a call varies for another reason than the order of a process' threads. If threads do
/// anything but wait in another order, then sooner or later all their calls come in another order.
fn is_others(name: &&str) -> bool {
    WAITING.contains(name) || ["rt_sigreturn", "wait4", "waitid"].contains(name)
}

// How many names may be shown with less than the rest of a process. If more vary, the whole process
// gets a lower level.
const MOST_OTHERS: usize = 4;

impl<'b> Runs<'b> {
    pub(super) fn new(rows: Vec<Vec<Vec<&'b Block>>>, view: &'b View) -> Self {
        Self { rows, view }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Vec<&'b Block>> {
        self.rows.iter().flatten()
    }

    /// Returns the names that occur in any run.
    fn names(&self) -> BTreeSet<&'b str> {
        let names = self.all().flatten().flat_map(|block| block.tally.keys());
        names
            .map(String::as_str)
            .filter(|name| self.view.shows(name))
            .collect()
    }

    /// Returns the fewest names without which all runs are equal in sequence; `None` if there are
    /// too many of them.
    fn apart(&self) -> Option<BTreeSet<&'b str>> {
        let mut apart: BTreeSet<&'b str> = BTreeSet::new();
        while let Some((_, candidates)) = self.first_difference(&apart) {
            // If two calls stand at the same place in two runs, the one to blame is the one without
            // which the runs stay equal for longer.
            let reach = |name: &&'b str| {
                let mut without = apart.clone();
                without.insert(name);
                self.first_difference(&without)
                    .map_or(usize::MAX, |(place, _)| place)
            };
            apart.insert(candidates.into_iter().max_by_key(reach)?);
            if self.are_too_many(apart.iter().copied()) {
                return None;
            }
        }
        for name in apart.clone() {
            apart.remove(name);
            if self.first_difference(&apart).is_some() {
                apart.insert(name);
            }
        }
        Some(apart)
    }

    /// Whether so many names vary that they are no exceptions.
    fn are_too_many<'n>(&self, apart: impl IntoIterator<Item = &'n str>) -> bool {
        let apart: BTreeSet<&str> = apart.into_iter().collect();
        let is_plain = |name: &&&str| !WAITING.contains(name) && !MEMORY.contains(name);
        let is_of_memory = apart.iter().any(|name| MEMORY.contains(name));
        let n_kinds = apart.iter().filter(is_plain).count() + usize::from(is_of_memory);
        n_kinds > MOST_OTHERS || apart.len() * 2 > self.names().len()
    }

    /// Returns the next lower level of a process, given its present one.
    pub(super) fn treated(&self, now: &Treated) -> Treated {
        let mut level = now.level;
        if *now == Treated::default() {
            let apart = self.apart().filter(|apart| !apart.is_empty());
            let apart = apart.filter(|apart| !self.has_threads() || apart.iter().all(is_others));
            if let Some(apart) = apart {
                let others = apart
                    .into_iter()
                    .map(|name| (name.to_owned(), self.how(name)));
                let others = self.with_their_like(others.collect());
                return Treated { level, others };
            }
            level = Level::Counts;
        } else if level == Level::Sequence {
            level = Level::Counts;
        } else {
            level = Level::Set;
        }
        let mut others = self.with_their_like(self.less_than(level));
        if level == Level::Counts && self.are_too_many(others.keys().map(String::as_str)) {
            level = Level::Set;
            others = self.less_than(level);
        }
        Treated { level, others }
    }

    fn has_threads(&self) -> bool {
        self.all().flatten().any(|block| block.task.thread > 1)
    }

    /// Adds all calls about memory, if threads make such calls and any of them varies: the others
    /// will vary too.
    fn with_their_like(
        &self,
        mut others: BTreeMap<String, Option<Level>>,
    ) -> BTreeMap<String, Option<Level>> {
        if self.has_threads() && MEMORY.iter().any(|name| others.contains_key(*name)) {
            let like = self
                .names()
                .into_iter()
                .filter(|name| MEMORY.contains(name));
            for name in like {
                let how = self.how(name).map(|how| how.max(Level::Set));
                others.insert(name.to_owned(), how);
            }
        }
        others
    }

    /// Returns the first place at which two runs of a row differ, and the names there.
    fn first_difference(&self, apart: &BTreeSet<&str>) -> Option<(usize, BTreeSet<&'b str>)> {
        let sequence = |blocks: &Vec<&'b Block>| {
            let mut sequence: Vec<(u32, &'b Deed)> = Vec::new();
            for block in blocks {
                let deeds = block.deeds.iter();
                let deeds = deeds
                    .filter(|deed| self.view.shows(&deed.name) && !apart.contains(&*deed.name));
                sequence.extend(deeds.map(|deed| (block.task.thread, deed)));
            }
            sequence
        };
        for runs in &self.rows {
            let mut runs = runs.iter().map(sequence);
            let first = runs.next().unwrap_or_default();
            let first_lines: Vec<String> = first.iter().map(|(_, deed)| deed.line()).collect();
            for other in runs {
                let longest = first.len().max(other.len());
                let differs = |place: &usize| match (first.get(*place), other.get(*place)) {
                    (Some((a, _)), Some((b, deed))) => {
                        a != b || first_lines.get(*place) != Some(&deed.line())
                    }
                    _ => true,
                };
                if let Some(place) = (0..longest).find(differs) {
                    let here = [first.get(place), other.get(place)].into_iter().flatten();
                    return Some((place, here.map(|(_, deed)| &*deed.name).collect()));
                }
            }
        }
        None
    }

    /// Returns the fewest and the most calls of a name in a run, and whether all runs of each row
    /// have the same number.
    fn times(&self, name: &str) -> (u64, u64, bool) {
        let count = |blocks: &Vec<&Block>| {
            let counts = blocks.iter().filter_map(|block| block.tally.get(name));
            counts.sum::<u64>()
        };
        let counts: Vec<Vec<u64>> = self
            .rows
            .iter()
            .map(|runs| runs.iter().map(count).collect())
            .collect();
        let is_same = counts
            .iter()
            .all(|row| row.iter().min() == row.iter().max());
        let all = counts.iter().flatten();
        let least = all.clone().min().copied().unwrap_or_default();
        (least, all.max().copied().unwrap_or_default(), is_same)
    }

    /// Returns the strictest level for calls that cannot be shown in sequence.
    fn how(&self, name: &str) -> Option<Level> {
        let (least, most, is_same) = self.times(name);
        // A number so small that varies so much may be zero in some run to come.
        let may_be_absent = least == 0 || least <= 2 && most >= 2 * least;
        if WAITING.contains(&name) {
            None
        } else if is_same {
            Some(Level::Counts)
        } else {
            (!may_be_absent).then_some(Level::Set)
        }
    }

    /// Returns the names that have to be shown at a lower level than this.
    fn less_than(&self, level: Level) -> BTreeMap<String, Option<Level>> {
        let names = self.names().into_iter();
        let names = names.map(|name| {
            let (_, _, is_same) = self.times(name);
            let how = if is_same {
                Some(Level::Counts)
            } else {
                self.how(name)
            };
            (name.to_owned(), how)
        });
        names
            .filter(|(_, how)| how.is_none_or(|how| how > level))
            .collect()
    }
}
