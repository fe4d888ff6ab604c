//! Aligns two traces.

use super::lines::{Block, Line, TraceText, renamed};
use super::optimum::{Lists, Weight};
use std::collections::HashMap;
use std::hash::Hash;

/// A difference between two traces, in the order of the traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// A process or thread that only the first has, with its number of lines.
    Gone(&'a str, String, usize),
    /// A process or thread that only the second has, with its number of lines.
    Came(&'a str, String, usize),
    /// A line that only the first has, and its task.
    Only(&'a str, Line<'a>),
    /// A line that only the second has, and its task.
    New(&'a str, Line<'a>),
    /// The same call or event with other values.
    Other(&'a str, Line<'a>, Line<'a>),
}

/// Returns the differences of the second trace from the first. Processes are matched by program and
/// descent, whatever their numbers, and lines within a process by their names. Among all ways to
/// match them, one with the fewest differing lines is chosen.
#[must_use]
pub fn aligned<'a>(first: &TraceText<'a>, second: &TraceText<'a>) -> Vec<Change<'a>> {
    changes(&laid_out(first, second))
}

/// The differences of two traces that are laid out.
pub(super) fn changes<'a>(all: &[Laid<'_, 'a>]) -> Vec<Change<'a>> {
    let told = |block: &Block<'a>| (block.task, block.kind.clone(), block.lines.len());
    let mut changes = Vec::new();
    for laid in all {
        let (gone, came) = match laid {
            Laid::First(block) => (Some(block), None),
            Laid::Second(block) => (None, Some(block)),
            // The same process with another program.
            Laid::Both(Both { old, new, .. }) if old.kind != new.kind => (Some(old), Some(new)),
            Laid::Both(_) => (None, None),
        };
        if let Some((task, kind, lines)) = gone.map(|block| told(block)) {
            changes.push(Change::Gone(task, kind, lines));
        }
        if let Some((task, kind, lines)) = came.map(|block| told(block)) {
            changes.push(Change::Came(task, kind, lines));
        }
    }
    for laid in all {
        let Laid::Both(Both {
            old, new, pairs, ..
        }) = laid
        else {
            continue;
        };
        for pair in pairs.iter().filter(|pair| !pair.is_same) {
            match (pair.first, pair.second) {
                (Some(before), Some(after)) => {
                    changes.push(Change::Other(old.task, before, after));
                }
                (Some(before), None) => changes.push(Change::Only(old.task, before)),
                (None, Some(after)) => changes.push(Change::New(new.task, after)),
                (None, None) => {}
            }
        }
    }
    changes
}

/// The lines that two traces which are laid out have in common, each with its task in the first.
pub(super) fn alike<'l, 'a>(
    all: &'l [Laid<'_, 'a>],
) -> impl Iterator<Item = (&'a str, &'l Line<'a>, &'l Line<'a>)> {
    let both = all.iter().filter_map(|laid| match laid {
        Laid::Both(both) => Some(both),
        Laid::First(_) | Laid::Second(_) => None,
    });
    both.flat_map(|both| {
        let same = both.pairs.iter().filter(|pair| pair.is_same);
        same.filter_map(|pair| Some((both.old.task, pair.first.as_ref()?, pair.second.as_ref()?)))
    })
}

/// An element of the alignment.
pub(super) enum Laid<'t, 'a> {
    First(&'t Block<'a>),
    Second(&'t Block<'a>),
    Both(Both<'t, 'a>),
}

/// A task that both traces have.
pub(super) struct Both<'t, 'a> {
    pub(super) old: &'t Block<'a>,
    pub(super) new: &'t Block<'a>,
    pub(super) pairs: Vec<Pair<'a>>,
    /// Whether its parents are two processes.
    pub(super) is_moved: bool,
}

/// Two aligned lines; one of them may be missing.
pub(super) struct Pair<'a> {
    pub(super) first: Option<Line<'a>>,
    pub(super) second: Option<Line<'a>>,
    /// Whether they are equal, apart from the numbers of matched tasks.
    pub(super) is_same: bool,
}

/// Aligns all blocks of two traces and their lines, in the order of both.
pub(super) fn laid_out<'t, 'a>(
    first: &'t TraceText<'a>,
    second: &'t TraceText<'a>,
) -> Vec<Laid<'t, 'a>> {
    // Among equally good alignments, the choice does not depend on which trace comes first.
    let text = |trace: &'t TraceText<'a>| {
        let blocks = trace.blocks.iter();
        blocks.flat_map(|it| std::iter::once(it.head).chain(it.lines.iter().map(|it| it.text)))
    };
    let is_turned = text(first).gt(text(second));
    let pairs = blocks(&first.blocks, &second.blocks, is_turned);
    let names: HashMap<&str, &str> = pairs
        .iter()
        .filter_map(|(old, new)| Some((first.blocks.get(*old)?, second.blocks.get(*new)?)))
        .map(|(old, new)| (new.task, old.task))
        .collect();
    let names = Names {
        known: second.blocks.iter().map(|block| block.task).collect(),
        names,
    };
    steps(&pairs, first.blocks.len(), second.blocks.len())
        .filter_map(|(old, new)| {
            let old = old.and_then(|place| first.blocks.get(place));
            let new = new.and_then(|place| second.blocks.get(place));
            Some(match (old, new) {
                (Some(old), Some(new)) => Laid::Both(Both {
                    old,
                    new,
                    pairs: lines(old, new, &names, is_turned),
                    is_moved: is_moved(old, new, &names),
                }),
                (Some(old), None) => Laid::First(old),
                (None, Some(new)) => Laid::Second(new),
                (None, None) => return None,
            })
        })
        .collect()
}

/// Whether the parents of a matched process are two processes. One that its trace does not show may
/// be any.
fn is_moved(old: &Block<'_>, new: &Block<'_>, names: &Names<'_>) -> bool {
    let (Some(before), Some(after)) = (old.parent, new.parent) else {
        return false;
    };
    names.known.contains(after) && names.names.get(after) != Some(&before)
}

/// Returns pairs of places with all that lies between them: first what only the first has, then
/// what only the second has.
fn steps(
    pairs: &[(usize, usize)],
    first: usize,
    second: usize,
) -> impl Iterator<Item = (Option<usize>, Option<usize>)> {
    let (mut old, mut new) = (0, 0);
    let ends = pairs.iter().copied().map(Some).chain([None]);
    ends.flat_map(move |pair| {
        let (to_old, to_new) = pair.unwrap_or((first, second));
        let (gone, came) = (old..to_old, new..to_new);
        (old, new) = (to_old + 1, to_new + 1);
        let gone = gone.map(|place| (Some(place), None));
        let came = came.map(|place| (None, Some(place)));
        let both = pair.map(|(old, new)| (Some(old), Some(new)));
        gone.chain(came).chain(both)
    })
}

/// Does the work of [`Lists::matched`], with the two lists exchanged if asked to.
fn matched(
    first: &[u32],
    second: &[u32],
    is_turned: bool,
    weight: Weight<'_>,
) -> Vec<(usize, usize)> {
    if !is_turned {
        return Lists { first, second }.matched(weight);
    }
    let turned = Lists {
        first: second,
        second: first,
    };
    let pairs = turned.matched(&|new, old| weight(old, new));
    pairs.into_iter().map(|(new, old)| (old, new)).collect()
}

/// Gives each value a number, and equal values the same.
struct Numbers<T>(HashMap<T, u32>);

impl<T: Hash + Eq> Numbers<T> {
    fn of(&mut self, value: T) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(value).or_insert(next)
    }
}

/// What a block is compared by.
struct Gist {
    kind: u32,
    is_thread: bool,
    /// Numbers for its lines, without the numbers of tasks, and for their names; sorted.
    texts: Vec<u32>,
    names: Vec<u32>,
}

/// Returns the pairs of blocks that belong to the same task.
fn blocks(first: &[Block<'_>], second: &[Block<'_>], is_turned: bool) -> Vec<(usize, usize)> {
    let mut words = Numbers(HashMap::new());
    let mut wholes = Numbers(HashMap::new());
    let mut gists = |blocks: &[Block<'_>]| -> (Vec<Gist>, Vec<u32>) {
        let gist = |block: &Block<'_>| {
            let masked = |line: &Line<'_>| renamed(line.text, |_| Some("P".to_owned()));
            let texts = block.lines.iter().map(masked);
            let mut texts: Vec<u32> = texts.map(|text| words.of(text)).collect();
            let names = block.lines.iter().map(|line| line.name.to_owned());
            let mut names: Vec<u32> = names.map(|name| words.of(name)).collect();
            let kind = words.of(block.kind.clone());
            let whole = wholes.of((kind, texts.clone()));
            texts.sort_unstable();
            names.sort_unstable();
            let gist = Gist {
                kind,
                is_thread: block.is_thread(),
                texts,
                names,
            };
            (gist, whole)
        };
        blocks.iter().map(gist).unzip()
    };
    let ((ours, first), (theirs, second)) = (gists(first), gists(second));
    let weight = |old: usize, new: usize| match (ours.get(old), theirs.get(new)) {
        (Some(old), Some(new)) => old.weight(new),
        _ => 0,
    };
    matched(&first, &second, is_turned, &weight)
}

impl Gist {
    /// Returns by how many lines fewer the traces may differ if the two are the same task, heads
    /// included; 0 if they cannot be.
    fn weight(&self, other: &Self) -> u32 {
        let (texts, names) = (
            common(&self.texts, &other.texts),
            common(&self.names, &other.names),
        );
        let longest = self.names.len().max(other.names.len());
        let is_renamed = self.is_thread == other.is_thread && names > 0 && names * 2 >= longest;
        let head = match self.kind == other.kind {
            true => 2,
            false if is_renamed => 1,
            false => return 0,
        };
        head + u32::try_from(texts + names).unwrap_or(u32::MAX / 2)
    }
}

/// Returns how many items two sorted lists have in common.
fn common(first: &[u32], second: &[u32]) -> usize {
    let mut others = second.iter().peekable();
    let is_there = |item: &&u32| {
        while others.next_if(|other| other < item).is_some() {}
        others.next_if(|other| other == item).is_some()
    };
    first.iter().filter(is_there).count()
}

/// The names of tasks: P3 of the second trace may be P2 of the first.
struct Names<'a> {
    /// The tasks of the second trace.
    known: std::collections::HashSet<&'a str>,
    /// Those that the first has too, with their names there.
    names: HashMap<&'a str, &'a str>,
}

impl Names<'_> {
    /// Returns a text of the second trace with the names of the first. A task that only the second
    /// has gets a name that the first does not use.
    fn translated(&self, text: &str) -> String {
        renamed(text, |task| {
            let alone = |task: &str| self.known.contains(task).then(|| format!("+{task}"));
            let named = |task: &str| self.names.get(task).map(|name| (*name).to_owned());
            if let Some(name) = named(task).or_else(|| alone(task)) {
                return Some(name);
            }
            // A thread without a line of its own.
            let (process, thread) = task.split_once('.')?;
            let process = named(process).or_else(|| alone(process))?;
            Some(format!("{process}.{thread}"))
        })
    }
}

/// The weight of a call with other values. An equal line weighs twice as much. Among differing
/// lines, the more similar text is preferred, but never at the cost of an equal line.
const LINE: u32 = 1 << 16;

fn lines<'a>(
    old: &Block<'a>,
    new: &Block<'a>,
    names: &Names<'_>,
    is_turned: bool,
) -> Vec<Pair<'a>> {
    let translated: Vec<String> = new
        .lines
        .iter()
        .map(|it| names.translated(it.text))
        .collect();
    let mut numbers = Numbers(HashMap::new());
    let first: Vec<u32> = old.lines.iter().map(|it| numbers.of(it.text)).collect();
    let second: Vec<u32> = translated
        .iter()
        .map(|it| numbers.of(it.as_str()))
        .collect();
    let weight = |one: usize, other: usize| {
        if first.get(one) == second.get(other) {
            return 2 * LINE;
        }
        match (
            old.lines.get(one),
            new.lines.get(other),
            translated.get(other),
        ) {
            (Some(before), Some(after), Some(text)) if before.name == after.name => {
                LINE + likeness(before.text, text)
            }
            _ => 0,
        }
    };
    let pairs = matched(&first, &second, is_turned, &weight);
    let steps = steps(&pairs, first.len(), second.len());
    let pair = |(one, other): (Option<usize>, Option<usize>)| Pair {
        first: one.and_then(|place| old.lines.get(place).copied()),
        second: other.and_then(|place| new.lines.get(place).copied()),
        is_same: match (one, other) {
            (Some(one), Some(other)) => first.get(one) == second.get(other),
            _ => false,
        },
    };
    steps.map(pair).collect()
}

/// Returns how much of two texts is equal at their beginnings and ends, from 0 to 31.
fn likeness(first: &str, second: &str) -> u32 {
    let (first, second) = (first.as_bytes(), second.as_bytes());
    let same = |it: &(&u8, &u8)| it.0 == it.1;
    let head = first.iter().zip(second).take_while(same).count();
    let tail = first
        .iter()
        .rev()
        .zip(second.iter().rev())
        .take_while(same)
        .count();
    let longest = first.len().max(second.len()).max(1);
    let shared = (head + tail).min(longest);
    u32::try_from(shared * 31 / longest).unwrap_or(0)
}
