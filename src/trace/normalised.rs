//! What a run did, normalised: by deeds where the order was kept, by numbers in any case, and as the text of a snapshot.

use super::people::StableName;
use super::{Deed, Level, VERSION, View};
use std::collections::{BTreeMap, BTreeSet};

/// A run's trace with stable names in place of what differs from run to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalised {
    /// A block for each thread, in the order of their names.
    pub blocks: Vec<Block>,
    /// How often the text says of something in memory that it was not read. Such a text is that of another workload just as well.
    pub unread: u64,
    /// What is shown of it.
    pub view: View,
    pub(super) rules: BTreeSet<&'static str>,
}

/// What one thread did.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its name.
    pub task: StableName,
    /// What its process runs at the end.
    pub program: String,
    /// Who created its process; `None` for the workload's first, and for a further thread of a process.
    pub parent: Option<StableName>,
    /// Its deeds in its own order, what the view hides among them; empty where the order was not kept.
    pub deeds: Vec<Deed>,
    /// How often it did what.
    pub tally: BTreeMap<String, u64>,
}

impl Normalised {
    /// Every deed, in the order in which they were entered.
    #[must_use]
    pub fn in_order(&self) -> Vec<&Deed> {
        let mut deeds: Vec<&Deed> = self.blocks.iter().flat_map(|block| &block.deeds).collect();
        deeds.sort_by_key(|deed| deed.entered);
        deeds
    }

    /// How often each call and event occurred over all processes, hidden ones included.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for (name, count) in self.blocks.iter().flat_map(|block| &block.tally) {
            *counts.entry(name.clone()).or_default() += count;
        }
        counts
    }

    /// Counts the deeds again, after they were changed.
    pub fn recount(&mut self) {
        for block in &mut self.blocks {
            block.tally.clear();
            for deed in &block.deeds {
                *block
                    .tally
                    .entry(deed.name.as_ref().to_owned())
                    .or_default() += 1;
            }
        }
    }

    /// The text of a snapshot, by the grammar of the room.
    #[must_use]
    pub fn text(&self) -> String {
        let level = self.view.level;
        let mut text = format!("# trace {VERSION}, level {}\n", level.word());
        if !self.rules.is_empty() {
            let rules: Vec<_> = self.rules.iter().copied().collect();
            text.push_str(&format!("# rules: {}\n", rules.join(", ")));
        }
        match level {
            Level::Sequence => self.sequence(&mut text),
            Level::Counts | Level::Set => self.tallies(&mut text, level),
        }
        text
    }

    fn sequence(&self, text: &mut String) {
        for block in &self.blocks {
            let shown = block
                .deeds
                .iter()
                .filter(|deed| self.view.shows(&deed.name));
            let mut shown = shown.peekable();
            // Workers that the kernel makes on its own account (io_uring) have nothing to show, and how many there are is its affair.
            if block.task.thread > 1 && shown.peek().is_none() {
                continue;
            }
            text.push('\n');
            text.push_str(&block.heading());
            for deed in shown {
                text.push_str("  ");
                text.push_str(&deed.line());
                text.push('\n');
            }
        }
    }

    /// The levels that count: all threads of a process together, sorted by name.
    fn tallies(&self, text: &mut String, level: Level) {
        let is_of_one = |a: &Block, b: &Block| a.task.process == b.task.process;
        for process in self.blocks.chunk_by(is_of_one) {
            let Some(leader) = process.first() else {
                continue;
            };
            text.push('\n');
            text.push_str(&leader.heading());
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            let tallies = process.iter().flat_map(|block| &block.tally);
            for (name, count) in tallies.filter(|(name, _)| self.view.shows(name)) {
                *counts.entry(name).or_default() += count;
            }
            for (name, count) in counts {
                text.push_str(&match level {
                    Level::Counts => format!("  {name} {count}\n"),
                    Level::Set | Level::Sequence => format!("  {name}\n"),
                });
            }
        }
    }
}

impl Block {
    fn heading(&self) -> String {
        let mut heading = self.task.to_string();
        if self.task.thread == 1 {
            if !self.program.is_empty() {
                heading = format!("{heading} {}", self.program.as_bytes().escape_ascii());
            }
            if let Some(parent) = self.parent {
                heading = format!("{heading}, child of {parent}");
            }
        }
        heading + "\n"
    }
}
