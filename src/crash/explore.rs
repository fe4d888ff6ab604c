//! The states that a crash may leave, one after another.

use std::collections::HashSet;
use std::ops::Range;

use crate::crash::bits::Bits;
use crate::crash::pieces::{Moment, Pieces};
use crate::crash::random::Random;
use crate::crash::search::Search;
use crate::crash::tree::Place;

/// A state that a crash may leave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Counts from 1; the same for the same log, model, bound and seed.
    pub number: usize,
    /// The number of steps that had begun: the crash is before step `moment`.
    pub moment: usize,
    /// The number of [`Step::Acknowledged`](crate::crash::Step::Acknowledged) before the crash.
    pub acknowledged: usize,
    /// What did not reach the disk of the steps before `moment`, by step.
    pub lost: Vec<Lost>,
    /// The pieces that did.
    pub(crate) kept: Bits,
}

/// A part of a step that did not reach the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The index of the step.
    pub step: usize,
    /// What of the step.
    pub part: Part,
}

/// What of a step did not reach the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// Bytes of the file, from an offset to another; of a truncation the zeros behind its end.
    Bytes(Range<u64>),
    /// The growth of the file to this size in bytes and above; of a truncation its size.
    Size(u64),
    /// What becomes of this name, of a rename from one folder to another.
    Name(Place),
}

/// How many of the states are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// All there are: this many.
    All(usize),
    /// Some. There are at most 2 to the power of this; many of them may have the same content.
    Some {
        /// The exponent, rounded up.
        below_log2: u32,
    },
}

impl Coverage {
    /// How many there are where not all are looked at, as a power of two that is not below.
    #[must_use]
    pub fn below_log2(self) -> Option<u32> {
        match self {
            Self::All(_) => None,
            Self::Some { below_log2 } => Some(below_log2),
        }
    }
}

/// An iterator over the states that a crash may leave.
#[derive(Clone, Debug)]
pub struct Explored<'p> {
    pieces: &'p Pieces,
    most: usize,
    coverage: Coverage,
    /// Digests of the states that were given.
    seen: HashSet<u128>,
    candidates: Candidates<'p>,
}

/// How many sets of pieces are made for a state, at most, before the search gives up.
fn patience(most: usize) -> usize {
    most.saturating_mul(16).saturating_add(4096)
}

impl<'p> Explored<'p> {
    pub(crate) fn new(pieces: &'p Pieces, most: usize, seed: u64) -> Self {
        let coverage = coverage(pieces, most);
        let last = match coverage {
            Coverage::All(_) => Phase::All(0, None),
            Coverage::Some { .. } => Phase::Pairs(0, 0, 0),
        };
        let candidates = Candidates {
            pieces,
            phase: Phase::Prefix(0),
            last: Some(last),
            random: Random::new(seed),
            left: patience(most),
            patience: patience(most),
        };
        Self {
            pieces,
            most,
            coverage,
            seen: HashSet::new(),
            candidates,
        }
    }

    /// Tells how many of the states the iterator gives. Known before the first.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }
}

impl Iterator for Explored<'_> {
    type Item = State;

    fn next(&mut self) -> Option<State> {
        while self.seen.len() < self.most {
            let (moment, kept) = self.candidates.next()?;
            let digest = digest(self.pieces, &moment, &kept);
            if self.seen.insert(digest) {
                return Some(self.pieces.state(self.seen.len(), &moment, kept));
            }
        }
        None
    }
}

fn digest(pieces: &Pieces, moment: &Moment, kept: &Bits) -> u128 {
    pieces
        .disk
        .digest(&pieces.disk.view(kept), moment.acknowledged)
}

/// Counts the states, unless there are more than `most`.
fn coverage(pieces: &Pieces, most: usize) -> Coverage {
    let mut seen = HashSet::new();
    let mut left = patience(most);
    for moment in &pieces.moments {
        for kept in Search::new(pieces, *moment) {
            seen.insert(digest(pieces, moment, &kept));
            left = left.saturating_sub(1);
            if seen.len() > most || left == 0 {
                return Coverage::Some {
                    below_log2: below_log2(pieces),
                };
            }
        }
    }
    Coverage::All(seen.len())
}

/// Returns the logarithm of a number that is not below the number of states: at each moment a set
/// of pieces has so many of the first of each chain of pieces that come after each other.
fn below_log2(pieces: &Pieces) -> u32 {
    let most = pieces.moments.iter().map(|moment| {
        let mut chains: Vec<u64> = Vec::new();
        let mut ends: Vec<Option<usize>> = vec![None; moment.pieces];
        for (index, piece) in pieces.list.iter().enumerate().take(moment.pieces) {
            if pieces.durable(index, moment) {
                continue;
            }
            let mut before = piece
                .after
                .iter()
                .filter_map(|piece| ends.get_mut(*piece)?.take());
            let chain = before.next().unwrap_or(chains.len());
            match chains.get_mut(chain) {
                Some(length) => *length += 1,
                None => chains.push(1),
            }
            if let Some(end) = ends.get_mut(index) {
                *end = Some(chain);
            }
        }
        // The product, as a number below 2^64 and a power of two, rounded up.
        let (mut product, mut power) = (1_u128, 0_u32);
        for length in chains {
            product *= u128::from(length) + 1;
            while product >= 1 << 63 {
                (product, power) = (product.div_ceil(2), power + 1);
            }
        }
        power + product.next_power_of_two().trailing_zeros()
    });
    let moments = pieces.moments.len().next_power_of_two().trailing_zeros();
    most.max().unwrap_or(0) + moments
}

/// Sets of pieces in the order in which they are looked at; the same folder may come again.
#[derive(Clone, Debug)]
struct Candidates<'p> {
    pieces: &'p Pieces,
    phase: Phase<'p>,
    /// What is done after each piece was looked at.
    last: Option<Phase<'p>>,
    random: Random,
    /// How many more sets are made of pairs, by chance, or by the search.
    left: usize,
    patience: usize,
}

#[derive(Clone, Debug)]
enum Phase<'p> {
    /// Nothing lost before this number of steps, counted from the end.
    Prefix(usize),
    /// At this moment, this piece left out.
    Piece(usize, usize),
    /// At this moment, this step left out.
    Step(usize, usize),
    /// At this moment, of all that is not durable this piece alone kept.
    Alone(usize, usize),
    /// At this moment, these two steps left out.
    Pairs(usize, usize, usize),
    /// Any.
    Random,
    /// Each, from this moment on.
    All(usize, Option<Search<'p>>),
}

impl<'p> Candidates<'p> {
    fn next(&mut self) -> Option<(Moment, Bits)> {
        let pieces = self.pieces;
        loop {
            match &mut self.phase {
                Phase::Prefix(back) => {
                    let first = pieces.moments.first()?.first;
                    let steps = pieces.steps().checked_sub(*back);
                    let Some(steps) = steps.filter(|steps| *steps >= first) else {
                        self.phase = Phase::Piece(0, 0);
                        continue;
                    };
                    *back += 1;
                    let moment = pieces.moments.iter().find(|moment| steps <= moment.last)?;
                    let kept = pieces
                        .list
                        .iter()
                        .take_while(|piece| piece.step < steps)
                        .count();
                    return Some((*moment, (0..kept).collect()));
                }
                Phase::Piece(at, piece) => {
                    if let Some(moment) = step_on(pieces, at, piece, |moment| moment.pieces) {
                        let out = *piece - 1;
                        if pieces.durable(out, &moment) {
                            continue;
                        }
                        return Some((moment, pieces.without(&moment, |piece| piece == out)));
                    }
                    self.phase = Phase::Step(0, 0);
                }
                Phase::Step(at, step) => {
                    if let Some(moment) = step_on(pieces, at, step, |moment| moment.last) {
                        let out = *step - 1;
                        if let Some(kept) = without_steps(pieces, &moment, [out, out]) {
                            return Some((moment, kept));
                        }
                        continue;
                    }
                    self.phase = Phase::Alone(0, 0);
                }
                Phase::Alone(at, piece) => {
                    if let Some(moment) = step_on(pieces, at, piece, |moment| moment.pieces) {
                        let alone = *piece - 1;
                        if pieces.durable(alone, &moment) {
                            continue;
                        }
                        let mut kept = pieces.without(&moment, |_| true);
                        pieces.add(&mut kept, alone);
                        return Some((moment, kept));
                    }
                    self.phase = self.last.take()?;
                }
                Phase::Pairs(at, one, other) => {
                    let moment = pieces.moments.get(*at).filter(|_| self.left > 0);
                    let Some(moment) = moment else {
                        self.left = self.patience;
                        self.phase = Phase::Random;
                        continue;
                    };
                    *other += 1;
                    if *other >= moment.last {
                        (*one, *other) = (*one + 1, *one + 2);
                    }
                    if *other >= moment.last {
                        (*at, *one, *other) = (*at + 1, 0, 0);
                        continue;
                    }
                    self.left -= 1;
                    if let Some(kept) = without_steps(pieces, moment, [*one, *other]) {
                        return Some((*moment, kept));
                    }
                }
                Phase::Random => {
                    let Some(left) = self.left.checked_sub(1) else {
                        // Chance comes upon the same folders again and again; a search does not.
                        self.left = self.patience;
                        self.phase = Phase::All(0, None);
                        continue;
                    };
                    self.left = left;
                    let moment = pieces
                        .moments
                        .get(self.random.below(pieces.moments.len()))?;
                    return Some((*moment, random(pieces, moment, &mut self.random)));
                }
                Phase::All(at, search) => {
                    let moment = pieces.moments.get(*at)?;
                    let search = search.get_or_insert_with(|| Search::new(pieces, *moment));
                    if let Some(kept) = search.next() {
                        self.left = self.left.checked_sub(1)?;
                        return Some((*moment, kept));
                    }
                    self.phase = Phase::All(*at + 1, None);
                }
            }
        }
    }
}

/// Counts `index` up, and the moment at the end of what `end` says of it.
fn step_on(
    pieces: &Pieces,
    at: &mut usize,
    index: &mut usize,
    end: impl Fn(&Moment) -> usize,
) -> Option<Moment> {
    loop {
        let moment = pieces.moments.get(*at)?;
        if *index < end(moment) {
            *index += 1;
            return Some(*moment);
        }
        (*at, *index) = (*at + 1, 0);
    }
}

/// Returns all pieces but those of two steps, `None` if one of the steps has nothing to lose.
fn without_steps(pieces: &Pieces, moment: &Moment, steps: [usize; 2]) -> Option<Bits> {
    let of = |step: usize| {
        let first = pieces.list.partition_point(|piece| piece.step < step);
        first..pieces.list.partition_point(|piece| piece.step <= step)
    };
    let [one, other] = steps.map(of);
    let loses = |mut pieces_of: Range<usize>| pieces_of.any(|piece| !pieces.durable(piece, moment));
    (loses(one.clone()) && loses(other.clone())).then(|| {
        pieces.without(moment, |piece| {
            one.contains(&piece) || other.contains(&piece)
        })
    })
}

/// Returns a random set: so many of 16 pieces are left out by themselves, which is random too.
fn random(pieces: &Pieces, moment: &Moment, random: &mut Random) -> Bits {
    let of_16 = random.below(16);
    let out: Bits = (0..moment.pieces)
        .filter(|_| random.below(16) < of_16)
        .collect();
    pieces.without(moment, |piece| out.has(piece))
}
