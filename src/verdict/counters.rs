//! What was counted without records.

use crate::plan::Plan;
use crate::verdict::{Ended, Verdict};

/// A reason for each number that is another than expected, and for each that nobody knows.
pub(super) fn judge(plan: &Plan, ended: &Ended) -> Vec<(Verdict, String)> {
    let expected = plan.counters.expect.iter();
    let judged = expected.filter_map(|(name, range)| {
        let mut counted = ended.account.counters.iter();
        match counted.find(|counter| counter.name == *name) {
            None => {
                let reason = format!("how often `{name}` happened was not counted in this run");
                Some((Verdict::Incomplete, reason))
            }
            Some(counter) if range.contains(counter.value) => None,
            Some(counter) => {
                let reason = format!("expected {range} of `{name}`, counted {}", counter.value);
                Some((Verdict::Fail, reason))
            }
        }
    });
    judged.collect()
}
