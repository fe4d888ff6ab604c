//! What runs are compared by.

use super::Who;
use super::reason::{MEMORY, WAITING};
use super::treated::Treated;
use crate::trace::{Block, Deed, Level, Normalised, View};
use std::collections::{BTreeMap, BTreeSet};

/// The threads of somebody.
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

/// Runs of somebody, row by row: only those of a row can be compared. Each is the blocks of his
/// threads.
pub(super) struct Runs<'b> {
    pub(super) rows: Vec<Vec<Vec<&'b Block>>>,
    view: &'b View,
}

/// Whether calls vary for something else than what the threads of a process do beside each other.
/// Where these do anything but wait in another order, sooner or later all of it comes in another
/// order.
fn is_others(name: &&str) -> bool {
    WAITING.contains(name) || ["rt_sigreturn", "wait4", "waitid"].contains(name)
}

// So many names may have less shown of them than the rest of a process. Where more vary, it is the
// whole that does.
const MOST_OTHERS: usize = 4;

impl<'b> Runs<'b> {
    pub(super) fn new(rows: Vec<Vec<Vec<&'b Block>>>, view: &'b View) -> Self {
        Self { rows, view }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Vec<&'b Block>> {
        self.rows.iter().flatten()
    }

    /// The names that any run has.
    fn names(&self) -> BTreeSet<&'b str> {
        let names = self.all().flatten().flat_map(|block| block.tally.keys());
        names
            .map(String::as_str)
            .filter(|name| self.view.shows(name))
            .collect()
    }

    /// As few names as it takes for all runs to be the same in sequence without them; `None` where
    /// that takes too many.
    fn apart(&self) -> Option<BTreeSet<&'b str>> {
        let mut apart: BTreeSet<&'b str> = BTreeSet::new();
        while let Some((_, candidates)) = self.first_difference(&apart) {
            // Of two that stand at the same place in two runs the one is to blame without which
            // they go on alike for longer.
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

    /// Whether they are more than exceptions.
    fn are_too_many<'n>(&self, apart: impl IntoIterator<Item = &'n str>) -> bool {
        let apart: BTreeSet<&str> = apart.into_iter().collect();
        let is_plain = |name: &&&str| !WAITING.contains(name) && !MEMORY.contains(name);
        let is_of_memory = apart.iter().any(|name| MEMORY.contains(name));
        let n_kinds = apart.iter().filter(is_plain).count() + usize::from(is_of_memory);
        n_kinds > MOST_OTHERS || apart.len() * 2 > self.names().len()
    }

    /// How somebody has to be shown of whom so much was shown.
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

    /// The same with all calls about memory, if threads ask for it and any of these calls vary: the
    /// others will.
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

    /// The first place at which two runs of a row differ, and the names that stand there.
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

    /// The fewest and the most of a name in a run, and whether it is the same in all runs of each
    /// row.
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

    /// The most that can be shown of calls which cannot be shown in sequence.
    fn how(&self, name: &str) -> Option<Level> {
        let (least, most, is_same) = self.times(name);
        // So few of a number that varies so much may be none at all in some run to come.
        let may_be_absent = least == 0 || least <= 2 && most >= 2 * least;
        if WAITING.contains(&name) {
            None
        } else if is_same {
            Some(Level::Counts)
        } else {
            (!may_be_absent).then_some(Level::Set)
        }
    }

    /// Those of a level's names that have to be shown with less.
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
