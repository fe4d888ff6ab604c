//! What a filter lets through, in the form that a BPF program asks for.

use super::Selection;
use super::filter::{FilterPlan, admitted_spans, in_kernel_filter};
use crate::names::{Abi, X32_BIT};

/// How many words the bits have.
const WORDS: usize = 9;

/// The numbers of calls that the filter of [`in_kernel_filter`] lets through, on x86_64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// A bit for each number below [`Admitted::PLAIN`], the lowest of the first word first.
    pub plain: [u64; WORDS],
    /// Whether the number -1 passes.
    pub minus_one: bool,
    /// Whether other numbers do.
    pub others: bool,
    /// Whether numbers from [`Admitted::X32`] on do.
    pub x32: bool,
}

impl Admitted {
    /// Numbers below this have a bit.
    pub const PLAIN: u32 = WORDS as u32 * 64;
    /// The least number of an x32 call.
    pub const X32: u32 = X32_BIT;

    /// What passes of a set at the entry of calls (`enter`) or at their exit; `None` for other
    /// machines than x86_64.
    #[must_use]
    pub fn of(selection: &Selection, enter: bool) -> Option<Self> {
        if selection.native != Abi::X86_64 {
            return None;
        }
        let spans = match in_kernel_filter(selection, enter) {
            FilterPlan::Everything => None,
            FilterPlan::Nothing => Some(Vec::new()),
            FilterPlan::Only(_) => {
                let spans = admitted_spans(selection, enter, |nr| selection.admits(nr));
                Some(spans)
            }
        };
        let passes = |number: i64| {
            let Some(spans) = &spans else { return true };
            let mut spans = spans.iter().filter(|span| span.admitted);
            spans.any(|span| {
                span.first.is_none_or(|first| first <= number)
                    && span.last.is_none_or(|last| number <= last)
            })
        };
        let mut plain = [0; WORDS];
        for number in (0..Self::PLAIN).filter(|number| passes((*number).into())) {
            if let Some(word) = plain.get_mut(number as usize / 64) {
                *word |= 1_u64 << (number % 64);
            }
        }
        Some(Self {
            plain,
            minus_one: passes(-1),
            others: passes(-2),
            x32: passes(X32_BIT.into()),
        })
    }

    /// Whether a number passes.
    #[must_use]
    pub fn has(&self, number: i64) -> bool {
        match u32::try_from(number) {
            Ok(number) if number < Self::PLAIN => {
                let word = self.plain.get(number as usize / 64);
                word.is_some_and(|word| word >> (number % 64) & 1 != 0)
            }
            Ok(number) if number >= Self::X32 => self.x32,
            Err(_) if number == -1 => self.minus_one,
            _ => self.others,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the filter's own spans have a number, as its text says them.
    fn passes(selection: &Selection, enter: bool, number: i64) -> bool {
        match in_kernel_filter(selection, enter) {
            FilterPlan::Everything => true,
            FilterPlan::Nothing => false,
            FilterPlan::Only(_) => admitted_spans(selection, enter, |nr| selection.admits(nr))
                .iter()
                .any(|span| {
                    span.admitted
                        && span.first.is_none_or(|first| first <= number)
                        && span.last.is_none_or(|last| number <= last)
                }),
        }
    }

    #[test]
    fn a_program_lets_through_what_the_filter_does() {
        let written: [&[&str]; 9] = [
            &[],
            &["!*"],
            &["openat"],
            &["read", "write", "close"],
            &["%file"],
            &["!%file"],
            &["!futex"],
            &["rt_sigreturn"],
            &["close_range", "openat2", "pidfd_getfd"],
        ];
        for words in written {
            let selection = Selection::parse(words, Abi::X86_64).expect("words that name calls");
            for enter in [true, false] {
                let admitted = Admitted::of(&selection, enter).expect("x86_64");
                let far = [983_041, 5000, (1 << 30) - 1, 1 << 30, (1 << 30) + 257];
                for number in (-3..=700)
                    .chain(far)
                    .chain([i64::from(i32::MIN), i64::MAX >> 32])
                {
                    let expected = passes(&selection, enter, number);
                    assert_eq!(admitted.has(number), expected, "{number} of {words:?}");
                }
            }
        }
    }

    #[test]
    fn another_machine_has_no_such_program() {
        let selection = Selection::parse(&["openat"], Abi::Aarch64).expect("a call");
        assert_eq!(Admitted::of(&selection, true), None);
    }
}
