//! What a run has no record of, by the kernel's own numbers.

use super::{About, Finding, Kind};
use crate::plan::{WHY_OF_NOBODY, is_of_nobody};
use perf_live::events::{Account, EventAccount, MEMORY};

/// Returns findings on missing records; at least one if any is missing.
pub(super) fn missing(account: &Account) -> Vec<Finding> {
    let lost = |text| Finding::new(Kind::Lost, About::Run, text);
    let mut missing: Vec<Finding> = account.of_all().into_iter().map(lost).collect();
    let of_probes = account.of_probes();
    missing.extend(
        of_probes
            .map(|(event, text)| Finding::new(Kind::Lost, About::Events, text).of_event(event)),
    );
    if missing.is_empty() && !account.is_complete() {
        return vec![lost("records are missing".to_owned())];
    }
    missing
}

/// Whether records of any event were overwritten.
pub(super) fn has_overwritten(account: &Account) -> bool {
    account.events.iter().any(|event| event.overwritten > 0)
}

/// Returns what was overwritten in a run, and how to keep it; `None` if nothing was.
#[must_use]
pub fn overwritten(account: &Account) -> Option<String> {
    let events = account.events.iter();
    // Memory that was read for calls was overwritten with them.
    let events = events.filter(|event| event.overwritten > 0 && event.name != MEMORY);
    let each = events.map(|event| {
        let EventAccount {
            name, overwritten, ..
        } = event;
        format!("{overwritten} of `{name}`")
    });
    let each: Vec<String> = each.collect();
    let overwritten = (!each.is_empty()).then(|| {
        format!(
            "records were overwritten: {}; a larger ring (`trace.ring.size`) would hold more of them, and with `ring: stream` none are",
            each.join(", ")
        )
    });
    let sampled = account.events.iter().filter(|event| event.sampled);
    let sampled =
        sampled.map(|event| format!("`{}` is sampled: most of it has no record", event.name));
    let of_nobody = account
        .events
        .iter()
        .filter(|event| is_of_nobody(&event.name));
    let of_nobody =
        of_nobody.map(|event| format!("of `{}` little is seen: {WHY_OF_NOBODY}", event.name));
    let all: Vec<String> = overwritten
        .into_iter()
        .chain(sampled)
        .chain(of_nobody)
        .collect();
    (!all.is_empty()).then(|| all.join("; "))
}
