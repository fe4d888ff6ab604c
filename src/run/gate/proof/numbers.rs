//! The numbers that calls have among those that a fault counts.

use super::Counted;
use crate::scenario::When;
use crate::verdict::FaultOutcome;
use perf_records::units::Nanos;

/// The numbers that the calls of a group may have. Calls of other threads may be counted in another
/// order than they are entered in.
pub(super) struct Numbers {
    entered: Vec<Nanos>,
    earliest: Vec<Nanos>,
    unmade: u64,
}

impl Numbers {
    pub(super) fn of(group: &[Counted<'_>], outcome: &FaultOutcome) -> Self {
        let mut entered: Vec<Nanos> = group.iter().map(|call| call.deed.clock.0).collect();
        let mut earliest: Vec<Nanos> = group.iter().map(|call| call.earliest).collect();
        entered.sort_unstable();
        earliest.sort_unstable();
        Self {
            entered,
            earliest,
            unmade: outcome.unmade,
        }
    }

    /// The first and the last of one.
    pub(super) fn range(&self, call: &Counted<'_>) -> (u64, u64) {
        let before = self.entered.partition_point(|it| *it < call.earliest) as u64;
        let until = self.earliest.partition_point(|it| *it <= call.deed.clock.0) as u64;
        (before + 1, (until + self.unmade).max(before + 1))
    }
}

/// Whether one of these numbers is named.
pub(super) fn has_any(when: When, first: u64, last: u64) -> bool {
    let behind = first.saturating_sub(when.first);
    let next = behind.div_ceil(when.step).checked_mul(when.step);
    let next = next.and_then(|next| next.checked_add(when.first));
    next.is_some_and(|next| next <= last && when.has(next))
}

/// Whether one of these numbers is not named.
pub(super) fn lacks_any(when: When, first: u64, last: u64) -> bool {
    !when.has(first) || !when.has(last) || when.step > 1 && first < last
}
