//! What was counted without records.

use crate::plan::{Plan, WHY_OF_NOBODY, is_of_nobody};
use crate::verdict::Run;
use crate::verdict::finding::{About, Finding};

/// Returns findings on counters that are not as expected, and on those whose value is not known.
pub(super) fn judge(plan: &Plan, run: &Run) -> Vec<Finding> {
    let expected = plan.counters.expect.iter();
    let judged = expected.filter_map(|(name, range)| {
        let about = || About::Counter(name.clone());
        let mut counted = run.account.counters.iter();
        match counted.find(|counter| counter.name == *name) {
            None => {
                let reason = format!("how often `{name}` happened was not counted in this run");
                Some(Finding::unknown(about(), reason))
            }
            // It is chance which of them are counted.
            Some(counter) if is_of_nobody(name) && range.is_open_to_more(counter.value) => {
                let reason =
                    format!("whether there were {range} of `{name}` is not known: {WHY_OF_NOBODY}");
                Some(Finding::unknown(about(), reason))
            }
            Some(counter) if range.contains(counter.value) => None,
            Some(counter) => {
                let reason = format!("expected {range} of `{name}`, counted {}", counter.value);
                let finding = Finding::missed(about(), reason).of_event(name);
                Some(finding.but(range.to_string(), counter.value.to_string()))
            }
        }
    });
    judged.collect()
}
