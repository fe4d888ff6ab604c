//! The power cuts of a log of writes: what each leaves of them.

use std::collections::BTreeSet;

use crate::machine::Entry;
use crate::programs::Dice;

/// A part of an entry: a block of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part(pub(crate) usize, pub(crate) usize);

/// A power cut.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cut {
    /// How many steps of the program had returned at the latest.
    pub(crate) returned: usize,
    /// What is on the disk, in order.
    pub(crate) writes: Vec<Part>,
}

/// What is written between two flushes.
struct Stretch {
    /// Its first entry, and the one behind its last.
    first: usize,
    end: usize,
}

/// Returns at most `most` power cuts after the beginning of the program: all between two writes
/// that are durable when they end, and behind them some with parts of the other writes.
///
/// The log has a write that is not through at the flush behind it. So it may have been written
/// after all writes of its stretch that are; with all of them any part of the others can be there
/// when the flush begins.
pub(crate) fn cuts(written: &[Entry], most: usize, dice: &mut Dice) -> Vec<Cut> {
    let is = |entry: &Entry, mark: &[u8]| entry.mark() == Some(mark);
    let begun = written.iter().position(|entry| is(entry, b"begun"));
    let begun = begun.map_or(written.len(), |at| at + 1);
    let stretches = stretches(written, begun);
    let mut sure = BTreeSet::new();
    for stretch in &stretches {
        let through = through(written, stretch);
        for there in 0..=through.len() {
            let next = through.get(there).copied().unwrap_or(stretch.end);
            let kept = through.iter().take(there).copied();
            sure.insert(Cut {
                returned: returned(written, next),
                writes: parts(written, (0..stretch.first).chain(kept)),
            });
        }
    }
    let mut cuts = some(sure.into_iter().collect(), most * 2 / 3, dice);
    let mut torn = BTreeSet::new();
    for stretch in &stretches {
        let through = through(written, stretch);
        let open = (stretch.first..stretch.end).filter(|at| !through.contains(at));
        let open = parts(written, open);
        let sets = [
            open.iter().map(|part| vec![*part]).collect::<Vec<_>>(),
            open.iter().map(|part| without(&open, *part)).collect(),
            (0..8).map(|_| drawn(&open, dice)).collect(),
            vec![open.clone()],
        ];
        for kept in sets.concat() {
            let before = (0..stretch.first).chain(through.iter().copied());
            let mut writes = parts(written, before);
            writes.extend(kept);
            writes.sort_unstable();
            torn.insert(Cut {
                returned: returned(written, stretch.end),
                writes,
            });
        }
    }
    let left = most.saturating_sub(cuts.len());
    cuts.extend(some(torn.into_iter().collect(), left, dice));
    cuts
}

fn stretches(written: &[Entry], begun: usize) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut first = begun;
    for (at, entry) in written.iter().enumerate().skip(begun) {
        if entry.is_flush() && (at > first || entry.data.is_empty()) {
            stretches.push(Stretch { first, end: at });
            first = at;
        }
    }
    let end = written.len();
    stretches.push(Stretch { first, end });
    stretches
}

/// Returns the entries of a stretch that are durable when they end.
fn through(written: &[Entry], stretch: &Stretch) -> Vec<usize> {
    let entries = written
        .iter()
        .enumerate()
        .take(stretch.end)
        .skip(stretch.first);
    let through = entries.filter(|(_, entry)| entry.is_through() && entry.parts() > 0);
    through.map(|(at, _)| at).collect()
}

/// Returns how many steps have returned in front of an entry.
fn returned(written: &[Entry], end: usize) -> usize {
    let marks = written.iter().take(end).filter_map(Entry::mark).rev();
    let numbers = marks.filter_map(|mark| std::str::from_utf8(mark).ok()?.parse().ok());
    numbers.into_iter().next().unwrap_or(0)
}

fn parts(written: &[Entry], entries: impl Iterator<Item = usize>) -> Vec<Part> {
    let all = entries.filter_map(|at| Some((at, written.get(at)?.parts())));
    all.flat_map(|(at, parts)| (0..parts).map(move |part| Part(at, part)))
        .collect()
}

fn without(parts: &[Part], out: Part) -> Vec<Part> {
    parts.iter().copied().filter(|part| *part != out).collect()
}

fn drawn(parts: &[Part], dice: &mut Dice) -> Vec<Part> {
    let of_8 = 1 + dice.below(7);
    let kept = parts.iter().copied();
    kept.filter(|_| dice.below(8) < of_8).collect()
}

/// Returns at most `most` of the cuts, any of them.
fn some(mut cuts: Vec<Cut>, most: usize, dice: &mut Dice) -> Vec<Cut> {
    while cuts.len() > most {
        let out = usize::try_from(dice.below(cuts.len() as u64)).unwrap_or(0);
        cuts.swap_remove(out);
    }
    cuts
}
