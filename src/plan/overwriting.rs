//! Decides which events write into overwritten rings, and refuses what cannot be told of these.

use super::events::{EventsPlan, Meaning, PlannedEvent};
use super::{Facts, Marks, PlanError, invalid, is_of_nobody, operations, ring_pages};
use crate::matching::{MARKING, Mark, SpanRule};
use crate::scenario::{EventSpec, EventWish, KeyPath, Last, RingMode, Scenario, Since};
use crate::trace::{Naming, View};
use perf_live::events::Account;
use std::collections::BTreeSet;
use std::time::Duration;

/// How much is kept of the end of a run whose rings are not overwritten.
const LAST: Duration = Duration::from_secs(5);

/// Decides for each request whether its ring is overwritten, and how large that ring is.
pub(super) fn choose(
    scenario: &Scenario,
    facts: &Facts<'_>,
    events: &mut EventsPlan,
) -> Result<(), PlanError> {
    let ring = scenario.trace.ring;
    let bytes = ring.size.unwrap_or(facts.default_ring);
    let pages = ring_pages(bytes, facts.page_size);
    let mut rings = Vec::new();
    for (at, spec) in scenario.trace.events.iter().enumerate() {
        let ring = match spec {
            EventSpec::Event(EventWish { name, ring, .. }) => {
                if ring.is_some() && operations::is_operation(name) {
                    let at = KeyPath::root().key("trace").key("events").index(at);
                    let message = "submissions to io_uring go where system calls go";
                    let help = "leave `ring` out: `trace.ring.mode` says where that is".to_owned();
                    let at = at.key("ring");
                    return Err(invalid(scenario.complaint(&at, message, Some(help))));
                }
                *ring
            }
            _ => None,
        };
        rings.push(ring);
    }
    for (request, meaning) in events.requests.iter_mut().zip(&events.meanings) {
        let own = match meaning {
            Meaning::Event(place) | Meaning::Entries { place, .. } => {
                let planned = events.named.get(*place);
                let wants = planned
                    .into_iter()
                    .flat_map(|it| it.want.iter().chain(&it.others));
                let of_each = wants.map(|at| rings.get(*at).copied().flatten());
                // What one wish streams is whole for all.
                let of_each = of_each.map(|own| own.unwrap_or(ring.mode));
                of_each.reduce(|one, other| match other {
                    RingMode::Stream => other,
                    RingMode::Flight => one,
                })
            }
            _ => None,
        };
        let mode = match meaning {
            // A move out of the group must not be overwritten.
            Meaning::LeavesGroup | Meaning::JoinsGroup { .. } | Meaning::LegacyCall { .. } => {
                RingMode::Stream
            }
            // It could not be told how many samples were overwritten.
            _ if request.attr.sampling.skips() => RingMode::Stream,
            _ => own.unwrap_or(ring.mode),
        };
        request.overwrites = (mode == RingMode::Flight).then_some(pages);
    }
    Ok(())
}

/// Returns how much is kept of a failed run.
pub(super) fn last(scenario: &Scenario, events: &EventsPlan) -> Option<Last> {
    Some(match scenario.on_failure? {
        Last::All if !events.overwrites() => Last::Time(LAST),
        last => last,
    })
}

/// Refuses expectations and snapshots that need the beginning of the trace.
pub(super) fn check(
    scenario: &Scenario,
    events: &EventsPlan,
    marks: &Marks,
    spans: &[SpanRule],
    compared: Option<&View>,
) -> Result<(), PlanError> {
    let names = events.names_where(|place| {
        let request = events.requests.get(place);
        request.is_some_and(|request| request.overwrites.is_some())
    });
    if names.is_empty() {
        return Ok(());
    }
    let root = KeyPath::root();
    let complain = |at: KeyPath, message: String, help: &str| {
        Err(invalid(scenario.complaint(
            &at,
            message,
            Some(help.to_owned()),
        )))
    };
    if let Some(view) = compared
        && let asked_for = events.names()
        && let taken = spans.iter().filter(|rule| rule.takes(&names))
        && let mut shown = names
            .intersection(&asked_for)
            .map(String::as_str)
            .chain(taken.map(|rule| &*rule.name))
        && let Some(name) = shown.find(|name| view.shows(name))
    {
        let message = format!(
            "the snapshot shows `{name}`, whose ring is overwritten: its records begin at another point in every run"
        );
        let help = "write `snapshot: false`, or `hide` all that is overwritten";
        let at = match scenario.trace.ring.mode {
            RingMode::Flight => root.key("trace").key("ring").key("mode"),
            RingMode::Stream => root.key("trace").key("events"),
        };
        return complain(at, message, help);
    }
    if scenario.baseline.is_some() {
        let message = "a run whose ring is overwritten cannot be compared with another".to_owned();
        let help = "leave `baseline` out, or `ring.mode: flight`";
        return complain(root.key("baseline").key_itself(), message, help);
    }
    let may_miss = |mark: &Mark| match mark {
        Mark::Written(_) => MARKING.iter().any(|name| names.contains(*name)),
        Mark::Step(matcher) => !matcher.names.is_disjoint(&names),
    };
    let help = "let the mark be an event that says `ring: stream`";
    let message = || "this mark may be overwritten before it is read".to_owned();
    if let (Some(mark), Since::Mark(_)) = (&marks.since, &scenario.trace.since)
        && may_miss(mark)
    {
        return complain(root.key("trace").key("since"), message(), help);
    }
    for (name, (from, to)) in &marks.sections {
        let at = root.clone().key("sections").key(name);
        for (mark, key) in [(from, "from"), (to, "to")] {
            if may_miss(mark) {
                return complain(at.key(key), message(), help);
            }
        }
    }
    Ok(())
}

fn is_of_calls(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Enter { .. } | Meaning::Leave { .. } | Meaning::Copies(_)
    )
}

impl EventsPlan {
    /// Whether some events overwrite their oldest records.
    #[must_use]
    pub fn overwrites(&self) -> bool {
        let mut requests = self.requests.iter();
        requests.any(|request| request.overwrites.is_some())
    }

    /// Whether calls do.
    #[must_use]
    pub fn overwrites_calls(&self) -> bool {
        let mut requests = self.requests.iter().zip(&self.meanings);
        requests.any(|(request, meaning)| is_of_calls(*meaning) && request.overwrites.is_some())
    }

    /// Whether perf's own rings get little where programs record the calls: what comes with calls,
    /// the operations of io_uring among it, and no events that the author chose.
    #[must_use]
    pub(crate) fn leaves_perf_little(&self) -> bool {
        let halves = self.requests.iter().filter(|it| it.calls.is_some());
        let is_chosen = |planned: &PlannedEvent| planned.naming != Naming::Operations;
        let only_calls = !self.named.iter().any(is_chosen);
        halves.count() == 2 && only_calls && self.chained.is_none() && !self.turns
    }

    /// Whether records of calls were overwritten in a run.
    #[must_use]
    pub fn forgot_calls(&self, account: &Account) -> bool {
        let mut meanings = self.meanings.iter().enumerate();
        meanings.any(|(place, meaning)| {
            is_of_calls(*meaning) && self.overwritten_of(place, account) > 0
        })
    }

    /// Returns how many records of a request were overwritten.
    fn overwritten_of(&self, place: usize, account: &Account) -> u64 {
        let event = self.name_of(place);
        let event = event.and_then(|(name, before)| account.of(name, before));
        event.map_or(0, |event| event.overwritten)
    }

    /// Returns the name of a request, and the number of earlier requests with the same name.
    #[must_use]
    pub fn name_of(&self, place: usize) -> Option<(&str, usize)> {
        let (before, rest) = self.requests.split_at_checked(place)?;
        let name = rest.first()?.name.as_str();
        let same = before.iter().filter(|request| request.name == name);
        Some((name, same.count()))
    }

    /// Returns the names that requests at these places have in a trace.
    fn names_where(&self, is_meant: impl Fn(usize) -> bool) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut has_calls = false;
        for (place, meaning) in self.meanings.iter().enumerate() {
            if !is_meant(place) {
                continue;
            }
            match meaning {
                _ if is_of_calls(*meaning) => has_calls = true,
                Meaning::Event(tracepoint)
                | Meaning::Entries {
                    place: tracepoint, ..
                } => match self.named.get(*tracepoint).map(|it| &it.naming) {
                    Some(Naming::Own(name)) => {
                        names.insert(name.as_ref().to_owned());
                    }
                    Some(Naming::Operations) => names.extend(self.operation_names()),
                    None => {}
                },
                _ => {}
            }
        }
        if has_calls {
            // Calls that are recorded for marks are included.
            let calls = self.recorded.all_names();
            names.extend(calls.map(str::to_owned));
        }
        names
    }

    /// Returns the names of which more occurred than the trace shows: records of them were
    /// overwritten, they are sampled, or they fire in interrupts, of which it is chance which are
    /// recorded.
    #[must_use]
    pub fn overwritten(&self, account: &Account) -> BTreeSet<String> {
        let all = account.events.iter();
        let has_overwritten = all.clone().any(|event| event.overwritten > 0);
        let mut of_nobody = all.clone().filter(|event| is_of_nobody(&event.name));
        if !has_overwritten && !all.clone().any(|it| it.sampled) && of_nobody.next().is_none() {
            return BTreeSet::new();
        }
        self.names_where(|place| self.misses_any(place) || self.overwritten_of(place, account) > 0)
    }

    /// Whether any record of a request may be missing, and not earlier ones alone: it is sampled,
    /// or fires in interrupts.
    fn misses_any(&self, place: usize) -> bool {
        let request = self.requests.get(place);
        request.is_some_and(|it| it.attr.sampling.skips() || is_of_nobody(&it.name))
    }

    /// Returns the names of the probes that are not in all copies of their functions: of these the
    /// trace shows the same in each run, and more occurred than it shows.
    #[must_use]
    pub fn copied(&self, account: &Account) -> BTreeSet<String> {
        if account.copied.is_empty() {
            return BTreeSet::new();
        }
        self.names_where(|place| self.is_copied(place, account))
    }

    fn is_copied(&self, place: usize, account: &Account) -> bool {
        let request = self.requests.get(place);
        request.is_some_and(|it| account.copied.contains_key(&*it.name))
    }

    /// Whether any deed of these names may be missing. A span is one of its ends.
    #[must_use]
    pub fn misses_any_of(
        &self,
        names: &BTreeSet<String>,
        spans: &[SpanRule],
        account: &Account,
    ) -> bool {
        let missed =
            self.names_where(|place| self.misses_any(place) || self.is_copied(place, account));
        let mut spans = spans.iter();
        let is_span = |rule: &SpanRule| names.contains(&*rule.name) && rule.takes(&missed);
        !missed.is_disjoint(names) || spans.any(is_span)
    }
}
