//! Finds which items of two lists belong together, in the order of both.

use std::collections::HashMap;
use std::ops::Range;

/// How many pairs are weighed against each other at most, 4 bytes each; in longer stretches, items
/// that are unique in both lists are matched first.
const MOST: usize = 1 << 22;

/// Returns the weight of a pair; 0 if the two do not belong together.
pub(super) type Weight<'a> = &'a dyn Fn(usize, usize) -> u32;

/// Two lists of numbers for items: equal items have the same number.
pub(super) struct Lists<'a> {
    pub(super) first: &'a [u32],
    pub(super) second: &'a [u32],
}

impl Lists<'_> {
    /// Returns the pairs, ascending in both lists, with the greatest sum of weights. An item weighs
    /// most with an equal one. Stretches of more than [`MOST`] pairs are split, and the sum there
    /// may be less than the greatest.
    pub(super) fn matched(&self, weight: Weight<'_>) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        self.stretch(
            0..self.first.len(),
            0..self.second.len(),
            weight,
            &mut pairs,
        );
        pairs
    }

    fn is_same(&self, first: usize, second: usize) -> bool {
        self.first.get(first) == self.second.get(second)
    }

    fn stretch(
        &self,
        mut first: Range<usize>,
        mut second: Range<usize>,
        weight: Weight<'_>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        // Equal items at either end belong to one of the best matches.
        while !first.is_empty() && !second.is_empty() && self.is_same(first.start, second.start) {
            pairs.push((first.start, second.start));
            first.start += 1;
            second.start += 1;
        }
        let ends = (first.end, second.end);
        while !first.is_empty() && !second.is_empty() && self.is_same(first.end - 1, second.end - 1)
        {
            first.end -= 1;
            second.end -= 1;
        }
        let rest = (first.end..ends.0).zip(second.end..ends.1);
        if !first.is_empty() && !second.is_empty() {
            if first.len().saturating_mul(second.len()) <= MOST {
                self.weighed(first, second, weight, pairs);
            } else {
                self.parted(first, second, weight, pairs);
            }
        }
        pairs.extend(rest);
    }

    /// Splits a stretch that is too long: at items that are unique in both lists, else in halves.
    fn parted(
        &self,
        first: Range<usize>,
        second: Range<usize>,
        weight: Weight<'_>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let anchors = self.unique(&first, &second);
        let (mut from, mut beside) = (first.start, second.start);
        if anchors.is_empty() {
            let middle = (from + first.len() / 2, beside + second.len() / 2);
            self.stretch(from..middle.0, beside..middle.1, weight, pairs);
            (from, beside) = middle;
        }
        for (one, other) in anchors {
            self.stretch(from..one, beside..other, weight, pairs);
            pairs.push((one, other));
            (from, beside) = (one + 1, other + 1);
        }
        self.stretch(from..first.end, beside..second.end, weight, pairs);
    }

    /// Returns the longest ascending row of items that are unique in both lists.
    fn unique(&self, first: &Range<usize>, second: &Range<usize>) -> Vec<(usize, usize)> {
        fn once(list: &[u32], range: &Range<usize>) -> HashMap<u32, Option<usize>> {
            let mut places: HashMap<u32, Option<usize>> = HashMap::new();
            for place in range.clone() {
                if let Some(number) = list.get(place) {
                    let known = places.entry(*number);
                    known
                        .and_modify(|place| *place = None)
                        .or_insert(Some(place));
                }
            }
            places
        }
        let (ours, theirs) = (once(self.first, first), once(self.second, second));
        let mut both: Vec<(usize, usize)> = ours
            .iter()
            .filter_map(|(number, place)| Some(((*place)?, (*theirs.get(number)?)?)))
            .collect();
        both.sort_unstable();
        ascending(&both)
    }

    fn weighed(
        &self,
        first: Range<usize>,
        second: Range<usize>,
        weight: Weight<'_>,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        // best[i][j]: the greatest sum from the i-th and the j-th item on.
        let width = second.len() + 1;
        let mut best = vec![0_u32; (first.len() + 1) * width];
        let at = |best: &[u32], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0);
        for (i, one) in first.clone().enumerate().rev() {
            for (j, other) in second.clone().enumerate().rev() {
                let both = match weight(one, other) {
                    0 => 0,
                    own => own + at(&best, i + 1, j + 1),
                };
                let most = both.max(at(&best, i + 1, j)).max(at(&best, i, j + 1));
                if let Some(place) = best.get_mut(i * width + j) {
                    *place = most;
                }
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < first.len() && j < second.len() {
            let (one, other) = (first.start + i, second.start + j);
            let here = at(&best, i, j);
            let own = weight(one, other);
            if own > 0 && here == own + at(&best, i + 1, j + 1) {
                pairs.push((one, other));
                (i, j) = (i + 1, j + 1);
            } else if here == at(&best, i + 1, j) {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
}

/// Returns, of pairs that ascend in the first list, the longest row that ascends in the second.
fn ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // ends[n]: the pair with the least second place at which a row of n + 1 ends; before[i]: the
    // pair before the i-th in its row.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    let second = |place: &usize| pairs.get(*place).map_or(0, |pair| pair.1);
    for (place, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| second(end) < pair.1);
        before.push(length.checked_sub(1).and_then(|at| ends.get(at).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut row = Vec::new();
    let mut place = ends.last().copied();
    while let Some(at) = place {
        row.extend(pairs.get(at).copied());
        place = before.get(at).copied().flatten();
    }
    row.reverse();
    row
}
