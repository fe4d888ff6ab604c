//! The search for the first bad kernel of a list, between a good one and a bad one.

use crate::verdict::Sign;
use std::ops::RangeInclusive;

/// A kernel that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Its name in the list.
    pub kernel: String,
    /// Its release, if it came up.
    pub release: String,
    /// What it said.
    pub sign: Sign,
    /// What that follows from, a line each; nothing where all passed.
    pub why: Vec<String>,
}

/// What a search has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The first bad kernel, and the good one right before it in the list.
    First {
        /// The bad one.
        bad: String,
        /// The good one.
        good: String,
    },
    /// One of several kernels is the first bad one: those between the last good one and the first
    /// that is known to be bad said nothing, or were not tried.
    Left {
        /// The last that is known to be good.
        good: String,
        /// The kernels, in the order of the list; the last is known to be bad.
        kernels: Vec<String>,
    },
    /// The ends are not what they were said to be, so nothing was searched for.
    Ends(String),
}

/// A search, with all that it tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bisected {
    /// The kernel that was said to be good, and the one that was said to be bad.
    pub ends: (String, String),
    /// How many kernels of the list there are from one to the other, both among them.
    pub kernels: usize,
    /// The scenarios by which kernels were told apart: those that pass on the good one and are bad
    /// on the bad one, in every run.
    pub scenarios: Vec<String>,
    /// The kernels, in the order in which they were tried; the ends come first.
    pub tried: Vec<Tried>,
    /// The result.
    pub found: Found,
    /// The first kernel that is known to be bad, and the scenarios that fail there otherwise than
    /// on the end that was said to be bad: what is searched for may be another failure.
    pub otherwise: Option<(String, Vec<String>)>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// A search over kernels in the order of their list; they are meant by their places, the good one
/// is the first and the bad one the last.
#[derive(Clone, Debug)]
pub struct Bisection {
    signs: Vec<Option<Sign>>,
    good: usize,
    bad: usize,
}

impl Bisection {
    /// Begins one over so many kernels, the ends among them.
    #[must_use]
    pub fn of(kernels: usize) -> Self {
        Self {
            signs: vec![None; kernels],
            good: 0,
            bad: kernels.saturating_sub(1),
        }
    }

    /// Returns the kernel to try next; `None` if no more can be found out.
    ///
    /// It is the middle of the longest row of untried kernels that are left: so each answer halves
    /// them, and where many side by side say nothing, their ends are found by halving too.
    #[must_use]
    pub fn next(&self) -> Option<usize> {
        let (mut longest, mut from) = (0..0, None);
        for place in self.good.saturating_add(1)..=self.bad {
            let is_untried = place < self.bad && self.signs.get(place) == Some(&None);
            if is_untried {
                from.get_or_insert(place);
            } else if let Some(row) = from.take().map(|from| from..place)
                && row.len() > longest.len()
            {
                longest = row;
            }
        }
        let middle = longest.start.saturating_add(longest.len() / 2);
        (!longest.is_empty()).then_some(middle)
    }

    /// Takes what a kernel that was to be tried has said.
    pub fn tell(&mut self, kernel: usize, sign: Sign) {
        if let Some(known) = self.signs.get_mut(kernel) {
            *known = Some(sign);
        }
        let is_between = self.good < kernel && kernel < self.bad;
        match sign {
            Sign::Good if is_between => self.good = kernel,
            Sign::Bad if is_between => self.bad = kernel,
            _ => {}
        }
    }

    /// Returns the last kernel that is known to be good.
    #[must_use]
    pub fn good(&self) -> usize {
        self.good
    }

    /// Returns the kernels of which one is the first bad one: those behind the last good one, up to
    /// the first that is known to be bad.
    #[must_use]
    pub fn left(&self) -> RangeInclusive<usize> {
        self.good.saturating_add(1)..=self.bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches a history in which `first` and all behind it are bad, and these say nothing.
    fn search(kernels: usize, first: usize, unclear: &dyn Fn(usize) -> bool) -> (Bisection, usize) {
        let mut bisection = Bisection::of(kernels);
        let mut tried = 0;
        while let Some(kernel) = bisection.next() {
            assert!(0 < kernel && kernel < kernels - 1, "an end: {kernel}");
            let sign = match (unclear(kernel), kernel >= first) {
                (true, _) => Sign::Unclear,
                (false, true) => Sign::Bad,
                (false, false) => Sign::Good,
            };
            bisection.tell(kernel, sign);
            tried += 1;
            assert!(tried < kernels, "a kernel is tried twice");
        }
        (bisection, tried)
    }

    #[test]
    fn the_first_bad_kernel_is_found_by_halving() {
        for kernels in 2..70_usize {
            let most = (kernels - 1).next_power_of_two().ilog2() as usize;
            for first in 1..kernels {
                let (found, tried) = search(kernels, first, &|_| false);
                assert_eq!(found.left(), first..=first, "of {kernels}");
                assert_eq!(found.good(), first - 1);
                assert!(tried <= most, "{tried} tried of {kernels}");
            }
        }
    }

    #[test]
    fn what_says_nothing_widens_the_range_and_by_no_more_than_itself() {
        for kernels in 2..10_usize {
            for (first, mask) in
                (1..kernels).flat_map(|first| (0..1 << kernels).map(move |m| (first, m)))
            {
                let is_end = |kernel| kernel == 0 || kernel == kernels - 1;
                let unclear = |kernel: usize| !is_end(kernel) && mask >> kernel & 1 == 1;
                let (found, _) = search(kernels, first, &unclear);
                let good = (0..first).rev().find(|kernel| !unclear(*kernel)).unwrap();
                let bad = (first..kernels).find(|kernel| !unclear(*kernel)).unwrap();
                assert_eq!(found.left(), good + 1..=bad, "{kernels} {first} {mask:b}");
            }
        }
    }

    #[test]
    fn a_thousand_kernels_that_do_not_boot_are_not_walked_through() {
        // The first bad one lies far from them.
        let (found, tried) = search(4000, 100, &|kernel| (1500..2500).contains(&kernel));
        assert_eq!(found.left(), 100..=100);
        assert!(tried < 20, "{tried}");
    }

    #[test]
    fn two_neighbours_need_no_search() {
        let bisection = Bisection::of(2);
        assert_eq!((bisection.next(), bisection.left()), (None, 1..=1));
    }
}
