//! A normalised trace: its deeds if the order was kept, the numbers of each in any case, and the
//! text of a snapshot.

use super::people::StableName;
use super::{By, Deed, Level, Shown, VERSION, View};
use std::collections::{BTreeMap, BTreeSet};

/// A run's trace with stable names in place of what differs from run to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalised {
    /// A block for each thread, in the order of their names.
    pub blocks: Vec<Block>,
    /// How often the text says that memory was not read. Such a text could be another workload's as
    /// well.
    pub unread: u64,
    /// How often the text says that it is not known where a path led, by the reasons.
    pub unled: BTreeMap<Box<str>, u64>,
    /// The view that was applied.
    pub view: View,
    /// The counts of events without records; they are no part of the text.
    pub counted: BTreeMap<String, u64>,
    /// The calls that handed operations to the kernel of which there are no records, `io_submit`;
    /// asked for or not.
    pub handed: BTreeSet<String>,
    pub(crate) rules: BTreeSet<&'static str>,
}

/// What one thread did.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its name.
    pub task: StableName,
    /// The program of its process at the end.
    pub program: String,
    /// The creator of its process; `None` for the workload's first process, and for a further
    /// thread of a process.
    pub parent: Option<StableName>,
    /// Its deeds in its own order, including those that the view hides; empty if the order was not
    /// kept.
    pub deeds: Vec<Deed>,
    /// How often each of them occurred.
    pub tally: BTreeMap<String, u64>,
    /// How often each of them was answered and not made; where the order was kept, the deeds tell.
    pub answered: BTreeMap<String, u64>,
}

impl Normalised {
    /// Says of each chain, where `are_lacking`, that more functions may have led to the event than
    /// were named.
    pub fn lack_functions(&mut self, are_lacking: bool) {
        let deeds = self.blocks.iter_mut().flat_map(|block| &mut block.deeds);
        deeds
            .filter(|_| are_lacking)
            .for_each(Deed::lacks_functions);
    }

    /// Whether the text knows all that it shows, so that it can be compared.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.unread == 0 && self.unled.is_empty()
    }

    /// Returns all deeds in the order of their entry.
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

    /// Returns how often each call was answered, so that it is not known to have been made
    /// ([`Deed::is_answered`]).
    #[must_use]
    pub fn answered(&self) -> BTreeMap<String, u64> {
        let mut answered: BTreeMap<String, u64> = BTreeMap::new();
        for block in &self.blocks {
            for deed in block.deeds.iter().filter(|deed| deed.is_answered()) {
                *answered.entry(deed.name.as_ref().to_owned()).or_default() += 1;
            }
            // Without the order nothing but numbers is kept.
            if block.deeds.is_empty() {
                for (name, count) in &block.answered {
                    *answered.entry(name.clone()).or_default() += count;
                }
            }
        }
        answered
    }

    /// Counts the deeds again, after they were changed.
    pub fn recount(&mut self) {
        self.blocks.iter_mut().for_each(Block::recount);
    }

    /// Returns the text of a snapshot, by this room's grammar.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("# trace {VERSION}, level {}", self.view.level.word());
        if self.view.by == By::Program {
            text.push_str(", by program");
        }
        text.push('\n');
        if !self.rules.is_empty() {
            let rules: Vec<_> = self.rules.iter().copied().collect();
            text.push_str(&format!("# rules: {}\n", rules.join(", ")));
        }
        for part in self.parts() {
            text.push('\n');
            text.push_str(&part.text);
        }
        text
    }

    /// Returns a trace with nothing but the names of calls and events of each program.
    #[must_use]
    pub fn names(&self) -> Self {
        let view = View {
            level: Level::Set,
            by: By::Program,
            stretch: None,
            ..self.view.clone()
        };
        Self {
            blocks: self.blocks.iter().map(Block::without_deeds).collect(),
            unread: 0,
            unled: BTreeMap::new(),
            view,
            counted: BTreeMap::new(),
            handed: BTreeSet::new(),
            rules: BTreeSet::new(),
        }
    }

    /// Returns the text below its header: a part for each process, then one for each program whose
    /// processes are shown as one.
    #[must_use]
    pub fn parts(&self) -> Vec<TextPart<'_>> {
        let mut parts = Vec::new();
        let mut programs: BTreeMap<_, (Shown<'_>, Vec<&Block>)> = BTreeMap::new();
        for process in self.processes() {
            let Some(leader) = process.first() else {
                continue;
            };
            let stretch = self.view.stretch;
            let mut deeds = process.iter().flat_map(|block| &block.deeds);
            if stretch.is_some_and(|stretch| !deeds.any(|deed| stretch.has(deed))) {
                continue;
            }
            let shown = self.view.of(leader.task.process, &leader.program);
            let body = match shown.level {
                Level::Sequence => sequence(process, shown),
                Level::Counts | Level::Set => tallies(process, shown),
            };
            // An event of a process is also recorded if it happens in another task's context
            // (`__perf_task()`, include/trace/perf.h), such as an interrupt of a foreign task that
            // wakes it. Such a task is no process of the run, and only deeds that it is shown to do
            // count.
            let is_stranger = leader.parent.is_none() && leader.task.process > 1;
            if is_stranger && body.is_empty() {
                continue;
            }
            if shown.level != Level::Sequence && self.view.by == By::Program {
                let of_program = programs.entry((leader.program.as_str(), shown.place()));
                let (_, blocks) = of_program.or_insert((shown, Vec::new()));
                blocks.extend(process);
                continue;
            }
            let heading = self.with_level(leader.heading(), shown);
            parts.push(TextPart {
                process: Some(leader.task.process),
                program: &leader.program,
                text: heading + &body,
            });
        }
        for ((program, _), (shown, blocks)) in programs {
            let heading = format!("program {}", program_name(program));
            parts.push(TextPart {
                process: None,
                program,
                text: self.with_level(heading, shown) + &tallies(blocks, shown),
            });
        }
        parts
    }

    /// The blocks of each process.
    pub fn processes(&self) -> impl Iterator<Item = &[Block]> {
        let is_of_one = |a: &Block, b: &Block| a.task.process == b.task.process;
        self.blocks.chunk_by(is_of_one)
    }

    /// Writes a heading, with the level if it differs from that of the header.
    fn with_level(&self, heading: String, shown: Shown<'_>) -> String {
        if shown.level == self.view.level {
            heading + "\n"
        } else {
            format!("{heading}, level {}\n", shown.level.word())
        }
    }
}

/// Writes the name of a program; in quotes if a comma in it would look like the rest of a heading.
fn program_name(name: &str) -> String {
    let escaped = name.as_bytes().escape_ascii();
    match name.contains(',') || name.starts_with('"') {
        true => format!("\"{escaped}\""),
        false => escaped.to_string(),
    }
}

/// A part of a snapshot's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPart<'a> {
    /// The number of the process; `None` where it is about all that run the program.
    pub process: Option<u32>,
    /// The number of the process; `None` for all processes of the program.
    pub program: &'a str,
    /// Its lines, the heading first.
    pub text: String,
}

/// Returns the lines of a process' threads, without the heading of the first, and then the lines of
/// what is not shown in its place.
fn sequence(process: &[Block], shown: Shown<'_>) -> String {
    let mut text = String::new();
    for block in process {
        let is_shown = |deed: &&Deed| {
            shown.keeps_order_of(&deed.name) && shown.holds((deed.entered, deed.left))
        };
        let mut deeds = block.deeds.iter().filter(is_shown).peekable();
        if block.task.thread > 1 {
            // Threads that the kernel makes by itself (for io_uring) do nothing that is shown, and
            // their number is the kernel's affair.
            if deeds.peek().is_none() {
                continue;
            }
            text.push_str(&format!("\n{}\n", block.heading()));
        }
        for deed in deeds {
            text.push_str(&format!("  {}\n", deed.line()));
        }
    }
    let others = tallies(process, shown);
    if let (false, Some(leader)) = (others.is_empty(), process.first()) {
        text.push_str(&format!("\n{}, not in sequence\n{others}", leader.task));
    }
    text
}

/// Returns the lines of what is not shown in its place: all threads together, sorted by name.
fn tallies<'a>(blocks: impl IntoIterator<Item = &'a Block>, shown: Shown<'_>) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for block in blocks {
        if shown.view.stretch.is_some() {
            let is_held = |deed: &&Deed| shown.holds((deed.entered, deed.left));
            for deed in block.deeds.iter().filter(is_held) {
                *counts.entry(&deed.name).or_default() += 1;
            }
            continue;
        }
        for (name, count) in &block.tally {
            *counts.entry(name).or_default() += count;
        }
    }
    let mut text = String::new();
    for (name, count) in counts {
        text.push_str(&match shown.level_of(name) {
            Some(Level::Counts) => format!("  {name} {count}\n"),
            Some(Level::Set) => format!("  {name}\n"),
            Some(Level::Sequence) | None => continue,
        });
    }
    text
}

impl Block {
    fn without_deeds(&self) -> Self {
        Self {
            task: self.task,
            program: self.program.clone(),
            parent: self.parent,
            deeds: Vec::new(),
            tally: self.tally.clone(),
            answered: BTreeMap::new(),
        }
    }

    /// Counts the deeds again, after they were changed.
    pub fn recount(&mut self) {
        self.tally.clear();
        for deed in &self.deeds {
            let name = deed.name.as_ref().to_owned();
            *self.tally.entry(name).or_default() += 1;
        }
    }

    fn heading(&self) -> String {
        let mut heading = self.task.to_string();
        if self.task.thread == 1 {
            if !self.program.is_empty() {
                heading = format!("{heading} {}", program_name(&self.program));
            }
            if let Some(parent) = self.parent {
                heading = format!("{heading}, child of {parent}");
            }
        }
        heading
    }
}
