//! Counters of events that leave no records: those of `harness stat`, and those of a scenario.

use super::{Bench, RunError};
use crate::plan::{CountedEvent, Plan, Unit};
use perf_live::errors::chain;
use perf_live::events::{Counted, Counter, CounterAccount, CounterGroup, EventRequest, OpenError};
use perf_live::sandbox::Corked;
use perf_live::sys::perf::Counts;
use perf_records::attr::Attr;
use std::io;
use std::ops::Range;

/// Events that are counted, each by as many counters as it needs.
#[derive(Debug, Default)]
pub(super) struct CounterSet {
    events: Vec<Held>,
    /// Groups whose events are counted at the same times, one for each place.
    groups: Vec<Vec<CounterGroup>>,
}

/// An event that is to be counted.
#[derive(Debug)]
struct Held {
    /// The event's name.
    name: String,
    unit: Option<Unit>,
    group: Option<usize>,
    means: Means,
}

/// How an event is counted.
#[derive(Debug)]
enum Means {
    /// By counters of its own; their sum is the value.
    Own(Vec<Counter>),
    /// By these members of the group with this number.
    OfGroup(usize, Range<usize>),
    /// Not at all, for this reason.
    Nothing(String),
}

/// The value of one counted event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The event's name.
    pub name: String,
    /// How often it happened; nanoseconds if the event is a clock.
    pub value: u64,
    /// How long it was enabled, summed over all its counters, in nanoseconds.
    pub enabled: u64,
    /// For how much of that time it was counted, in nanoseconds: less only if events share a
    /// counter of the hardware. The value covers this time alone.
    pub running: u64,
    /// The unit of the value, if its source names one.
    pub unit: Option<Unit>,
    /// The number of its group; events of a group are counted at the same times.
    pub group: Option<usize>,
    /// Why the machine does not count it.
    pub absent: Option<String>,
}

impl CounterSet {
    /// Whether the machine counts none of the events.
    pub(super) fn is_empty(&self) -> bool {
        let is_counted = |held: &Held| !matches!(held.means, Means::Nothing(_));
        !self.events.iter().any(is_counted)
    }

    /// Opens one event, or all of a group.
    pub(super) fn open(
        &mut self,
        events: &[CountedEvent],
        places: &[Counted],
    ) -> Result<(), OpenError> {
        let group = events.first().and_then(|event| event.group);
        if group.is_none() {
            for event in events {
                let mut own = Vec::new();
                for part in &event.parts {
                    own.extend(Counter::open_each(part, places)?);
                }
                self.hold(event, Means::Own(own));
            }
            return Ok(());
        }
        let parts: Vec<_> = events.iter().flat_map(|event| &event.parts).collect();
        self.groups.push(CounterGroup::open_each(&parts, places)?);
        let mut first = 0;
        for event in events {
            let next = first + event.parts.len();
            let means = Means::OfGroup(self.groups.len() - 1, first..next);
            self.hold(event, means);
            first = next;
        }
        Ok(())
    }

    /// Records why the machine does not count these events; a group is lacking if one of its events
    /// is.
    pub(super) fn lack(&mut self, events: &[CountedEvent], why: &str) {
        for event in events {
            self.hold(event, Means::Nothing(why.to_owned()));
        }
    }

    fn hold(&mut self, event: &CountedEvent, means: Means) {
        self.events.push(Held {
            name: event.name.clone(),
            unit: event.unit.clone(),
            group: event.group,
            means,
        });
    }

    /// Starts the counters, if no `execve(2)` does.
    pub(super) fn enable(&self) -> io::Result<()> {
        self.own().try_for_each(Counter::enable)?;
        self.groups
            .iter()
            .flatten()
            .try_for_each(CounterGroup::enable)
    }

    /// Stops the counters.
    pub(super) fn disable(&self) -> io::Result<()> {
        self.own().try_for_each(Counter::disable)?;
        self.groups
            .iter()
            .flatten()
            .try_for_each(CounterGroup::disable)
    }

    fn own(&self) -> impl Iterator<Item = &Counter> {
        self.events.iter().flat_map(|event| match &event.means {
            Means::Own(counters) => counters.as_slice(),
            Means::OfGroup(..) | Means::Nothing(_) => &[],
        })
    }
}

impl CounterSet {
    /// Reads the counters.
    pub(super) fn read(self) -> io::Result<Vec<Count>> {
        let read = |group: &Vec<CounterGroup>| group.iter().map(CounterGroup::read).collect();
        let groups: Vec<Vec<Vec<Counts>>> =
            self.groups.iter().map(read).collect::<io::Result<_>>()?;
        let mut all = Vec::new();
        for held in self.events {
            let mut count = Count {
                name: held.name,
                value: 0,
                enabled: 0,
                running: 0,
                unit: held.unit,
                group: held.group,
                absent: None,
            };
            match held.means {
                Means::Own(counters) => {
                    for counter in counters {
                        count.add(&counter.read()?);
                    }
                }
                Means::OfGroup(group, parts) => {
                    let places = groups.get(group).into_iter().flatten();
                    let of_it = places.filter_map(|place| place.get(parts.clone()));
                    of_it.flatten().for_each(|counts| count.add(counts));
                }
                Means::Nothing(why) => count.absent = Some(why),
            }
            all.push(count);
        }
        Ok(all)
    }
}

impl Bench<'_> {
    /// Keeps the tracepoints registered that are to be counted.
    pub(super) fn hold_tracepoints(&self, events: &[CountedEvent]) {
        for part in events.iter().flat_map(|event| &event.parts) {
            self.pin(part.attr.source);
        }
    }

    /// Opens the counters of a plan on a corked workload: they count from its exec on, and all
    /// processes that it starts.
    pub(super) fn count(&self, plan: &Plan, corked: &Corked) -> Result<CounterSet, RunError> {
        let events = &plan.counters.events;
        self.hold_tracepoints(events);
        let mut counters = CounterSet::default();
        let places = [Counted::Task(corked.pid())];
        for event in events.chunk_by(|one, next| one.group.is_some() && one.group == next.group) {
            counters.open(event, &places).map_err(RunError::Open)?;
        }
        Ok(counters)
    }

    /// Returns why this machine does not count an event, or `None` if it does: found by opening it.
    pub(super) fn cannot_count(&self, event: &EventRequest) -> Option<String> {
        let event = EventRequest {
            attr: Attr {
                inherit: false,
                enable_on_exec: false,
                ..event.attr
            },
            ..event.clone()
        };
        let error = Counter::open(&event, Counted::Myself).err()?;
        match error.is_absent() {
            true => Some("this machine has no counter for it".to_owned()),
            false => Some(chain(&error)),
        }
    }
}

impl From<Count> for CounterAccount {
    fn from(count: Count) -> Self {
        Self {
            name: count.name,
            value: count.value,
            enabled: count.enabled,
            running: count.running,
        }
    }
}

impl Count {
    fn add(&mut self, counts: &Counts) {
        let (enabled, running) = counts.times.unwrap_or_default();
        self.value += counts.value;
        self.enabled += enabled;
        self.running += running;
    }

    /// Whether the machine can count the event but never had a free counter for it.
    #[must_use]
    pub fn is_uncounted(&self) -> bool {
        self.absent.is_none() && self.running == 0
    }

    /// The value scaled up to all of the time enabled; `None` if it was never counted.
    #[must_use]
    pub fn scaled(&self) -> Option<u64> {
        let whole = u128::from(self.value) * u128::from(self.enabled);
        u64::try_from(whole.checked_div(self.running.into())?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scaled_value_is_of_the_time_that_it_was_enabled() {
        let count = |value, enabled, running| Count {
            name: "a".to_owned(),
            value,
            enabled,
            running,
            unit: None,
            group: None,
            absent: None,
        };
        assert_eq!(count(7, 100, 100).scaled(), Some(7));
        assert_eq!(count(7, 100, 25).scaled(), Some(28));
        assert_eq!(count(u64::MAX, 2, 1).scaled(), None);
        assert_eq!(count(0, 100, 0).scaled(), None);
        assert!(count(0, 100, 0).is_uncounted() && !count(0, 100, 1).is_uncounted());
    }
}
