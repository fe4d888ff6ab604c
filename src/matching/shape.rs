//! Lays patterns out as leaves: single steps, each with the steps that must come before it.

use super::Matcher;
use super::candidates::Candidate;
use super::field::{captures_of, has_capture};
use crate::scenario::Pattern;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A step by its place among all of them.
pub(super) type LeafId = usize;

/// A single step.
#[derive(Debug)]
pub(super) struct Leaf<'e> {
    pub(super) matcher: &'e Matcher,
    /// Its number for people: `2`, or `2.1` for the first of the second.
    pub(super) number: String,
    /// The steps that must have come before it, all of them earlier leaves.
    pub(super) after: Vec<LeafId>,
    /// Whether it must be the very next deed of the last of these steps' thread.
    pub(super) is_next: bool,
    /// The earlier leaves that must be other deeds, if no order says so already.
    pub(super) rivals: Vec<LeafId>,
    /// Whether it belongs to `any_order` and not to `sequence`.
    pub(super) is_free: bool,
    /// How many elements that list has.
    pub(super) of: usize,
}

/// Deeds that must not lie between steps.
#[derive(Debug)]
pub(super) struct Gap<'e> {
    pub(super) matchers: &'e [Matcher],
    /// The steps that it follows; empty for the beginning.
    pub(super) after: Vec<LeafId>,
    /// The steps that it precedes; empty for the end.
    pub(super) before: Vec<LeafId>,
}

/// The whole pattern.
#[derive(Debug, Default)]
pub(super) struct Shape<'e> {
    pub(super) leaves: Vec<Leaf<'e>>,
    pub(super) gaps: Vec<Gap<'e>>,
    /// For each leaf, the gaps that can be checked once it is chosen, and not before.
    pub(super) due: Vec<Vec<usize>>,
    /// For each leaf, what still matters when it is to be chosen.
    pub(super) live: Vec<Live>,
    /// The names of captures, in the order of their first use.
    pub(super) captures: Vec<&'e str>,
}

/// The earlier choices that matter for later ones.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Leaves whose exact deed matters.
    pub(super) leaves: Vec<LeafId>,
    /// Captures by number.
    pub(super) captures: Vec<usize>,
}

impl<'e> Shape<'e> {
    /// Makes the leaves of both lists; those of a sequence in its order.
    pub(super) fn new(sequence: &'e [Pattern<Matcher>], any_order: &'e [Pattern<Matcher>]) -> Self {
        let mut shape = Self::default();
        let mut open = Vec::new();
        shape.sequence(sequence, "", Vec::new(), &mut open);
        let ordered = shape.leaves.len();
        shape.any_order(any_order, "", Vec::new(), &mut Vec::new());
        for (place, leaf) in shape.leaves.iter_mut().enumerate() {
            leaf.is_free = place >= ordered;
            leaf.of = if leaf.is_free {
                any_order.len()
            } else {
                sequence.len()
            };
        }
        shape.settle();
        shape
    }

    /// Adds patterns that follow those of `frontier`, and returns the last of them. Gaps in `open`
    /// end at the next pattern.
    fn sequence(
        &mut self,
        patterns: &'e [Pattern<Matcher>],
        prefix: &str,
        mut frontier: Vec<LeafId>,
        open: &mut Vec<usize>,
    ) -> Vec<LeafId> {
        for (pattern, place) in patterns.iter().zip(1..) {
            let number = format!("{prefix}{place}");
            frontier = self.pattern(pattern, &number, frontier, open);
        }
        frontier
    }

    fn pattern(
        &mut self,
        pattern: &'e Pattern<Matcher>,
        number: &str,
        frontier: Vec<LeafId>,
        open: &mut Vec<usize>,
    ) -> Vec<LeafId> {
        match pattern {
            Pattern::Step(matcher) | Pattern::Next(matcher) => {
                let leaf = self.leaves.len();
                for gap in open.drain(..) {
                    if let Some(gap) = self.gaps.get_mut(gap) {
                        gap.before.push(leaf);
                    }
                }
                self.leaves.push(Leaf {
                    matcher,
                    number: number.to_owned(),
                    is_next: matches!(pattern, Pattern::Next(_)) && !frontier.is_empty(),
                    after: frontier,
                    rivals: Vec::new(),
                    is_free: false,
                    of: 0,
                });
                vec![leaf]
            }
            Pattern::Never(matchers) => {
                open.push(self.gaps.len());
                self.gaps.push(Gap {
                    matchers,
                    after: frontier.clone(),
                    before: Vec::new(),
                });
                frontier
            }
            Pattern::Sequence(inner) => self.sequence(inner, &format!("{number}."), frontier, open),
            Pattern::AnyOrder(inner) => {
                self.any_order(inner, &format!("{number}."), frontier, open)
            }
        }
    }

    fn any_order(
        &mut self,
        patterns: &'e [Pattern<Matcher>],
        prefix: &str,
        frontier: Vec<LeafId>,
        open: &mut Vec<usize>,
    ) -> Vec<LeafId> {
        let first = self.leaves.len();
        let (mut lasts, mut still_open) = (Vec::new(), Vec::new());
        for (pattern, place) in patterns.iter().zip(1..) {
            let start = self.leaves.len();
            let mut own = open.clone();
            let number = format!("{prefix}{place}");
            lasts.extend(self.pattern(pattern, &number, frontier.clone(), &mut own));
            for leaf in self.leaves.iter_mut().skip(start) {
                leaf.rivals.extend(first..start);
            }
            still_open.extend(own);
        }
        if self.leaves.len() > first {
            still_open.retain(|gap| !open.contains(gap));
        }
        still_open.sort_unstable();
        still_open.dedup();
        *open = still_open;
        lasts.sort_unstable();
        lasts.dedup();
        match lasts.is_empty() {
            true => frontier,
            false => lasts,
        }
    }

    /// Derives what depends on all leaves together.
    fn settle(&mut self) {
        let matchers: Vec<&'e Matcher> = self.leaves.iter().map(|leaf| leaf.matcher).collect();
        let of_leaves: Vec<Vec<usize>> = matchers
            .into_iter()
            .map(|matcher| self.captures(matcher))
            .collect();
        let first_use = |capture: &usize| of_leaves.iter().position(|all| all.contains(capture));
        self.due = vec![Vec::new(); self.leaves.len()];
        // For each use: the leaf, the leaves and the captures that it needs.
        let mut uses: Vec<(LeafId, Vec<LeafId>, Vec<usize>)> = Vec::new();
        for gap in 0..self.gaps.len() {
            let Some(Gap {
                matchers,
                after,
                before,
            }) = self.gaps.get(gap)
            else {
                continue;
            };
            let matchers: &'e [Matcher] = matchers;
            let anchors: Vec<LeafId> = after.iter().chain(before).copied().collect();
            let captures: Vec<usize> = matchers.iter().flat_map(|it| self.captures(it)).collect();
            let bound = captures.iter().filter_map(first_use);
            let due = anchors.iter().copied().chain(bound).max().unwrap_or(0);
            if let Some(gaps) = self.due.get_mut(due) {
                gaps.push(gap);
            }
            uses.push((due, anchors, captures));
        }
        for ((at, leaf), captures) in self.leaves.iter().enumerate().zip(of_leaves) {
            let leaves = leaf.after.iter().chain(&leaf.rivals).copied().collect();
            uses.push((at, leaves, captures));
        }
        // When each of them is needed for the last time.
        let (mut leaves, mut captures) = (BTreeMap::new(), BTreeMap::new());
        for (when, of_leaves, of_captures) in uses {
            for leaf in of_leaves {
                let last = leaves.entry(leaf).or_insert(when);
                *last = when.max(*last);
            }
            for capture in of_captures {
                let last = captures.entry(capture).or_insert(when);
                *last = when.max(*last);
            }
        }
        let alive = |of: &BTreeMap<usize, LeafId>, at: LeafId| -> Vec<usize> {
            let alive = of.iter().filter(|(_, last)| **last >= at);
            alive.map(|(number, _)| *number).collect()
        };
        self.live = (0..self.leaves.len())
            .map(|at| Live {
                leaves: alive(&leaves, at)
                    .into_iter()
                    .filter(|it| *it < at)
                    .collect(),
                captures: alive(&captures, at),
            })
            .collect();
    }

    /// For each leaf the one before it that has the same candidates, and could as well have its
    /// deed: nothing else hangs on which of the two has which.
    pub(super) fn twins(&self, candidates: &[Vec<Candidate>]) -> Vec<Option<LeafId>> {
        let mut anchors: BTreeSet<LeafId> = BTreeSet::new();
        anchors.extend(self.leaves.iter().flat_map(|leaf| &leaf.after));
        anchors.extend(
            self.gaps
                .iter()
                .flat_map(|gap| gap.after.iter().chain(&gap.before)),
        );
        let is_plain = |number: LeafId, leaf: &Leaf<'_>| {
            let mut fields = leaf.matcher.fields.iter();
            !leaf.is_next
                && !anchors.contains(&number)
                && !fields.any(|(_, test)| has_capture(test))
        };
        let mut last = HashMap::new();
        let twin = |(number, leaf): (LeafId, &Leaf<'e>)| {
            let own = candidates.get(number)?;
            let alike =
                is_plain(number, leaf).then_some((leaf.is_free, leaf.after.clone(), own))?;
            last.insert(alike, number)
        };
        self.leaves.iter().enumerate().map(twin).collect()
    }

    /// The captures of a matcher, by number.
    fn captures(&mut self, matcher: &'e Matcher) -> Vec<usize> {
        let mut names = Vec::new();
        for (_, test) in &matcher.fields {
            captures_of(test, &mut names);
        }
        let mut numbers = Vec::new();
        for name in names {
            let known = self.captures.iter().position(|known| *known == name);
            numbers.push(known.unwrap_or(self.captures.len()));
            if known.is_none() {
                self.captures.push(name);
            }
        }
        numbers
    }
}
