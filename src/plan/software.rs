//! Plans software events whose occurrences are recorded: page faults, context switches, migrations.

use super::Plan;
use super::calls::Reach;
use super::error::EventsError;
use super::events::{EventsPlan, Meaning, NOT_OF_TASKS, PlannedEvent};
use super::source;
use super::wanted::WantedEvent;
use crate::matching::{Expected, Matcher};
use crate::trace::Naming;
use perf_live::events::EventRequest;
use perf_live::units::SoftwareEvent;
use perf_records::attr::{Attr, SAMPLE_TYPE, SampleType, Sampling};
use std::collections::BTreeSet;

impl Plan {
    /// Whether an expectation needs the function in which a software event fired.
    #[must_use]
    pub fn looks_at_functions(&self) -> bool {
        let all = self.sections.values().chain([&self.expected]);
        let of_spans = self.spans.iter().flat_map(|rule| [&rule.begin, &rule.end]);
        let mut matchers = all.flat_map(Expected::steps).chain(of_spans);
        let names_one = |matcher: &Matcher| {
            let mut fields = matcher.fields.iter();
            fields.any(|(word, _)| word.ends_with("function"))
        };
        let is_shown = |planned: &PlannedEvent| {
            let view = self.view.as_ref();
            let is_software = SoftwareEvent::parse(&planned.name).is_some();
            is_software && view.is_some_and(|view| view.shows(&planned.name))
        };
        matchers.any(names_one) || self.events.named.iter().any(is_shown)
    }
}

// The kernel counts these for the task that is woken as well as for the waker (__perf_task() in
// include/trace/events/sched.h). Linux 5.10 writes a record of that, later ones do not, so counter
// and records of a task's events disagree. Those of a group are the waker's alone.
const OF_TWO: [&str; 7] = [
    "sched:sched_wakeup",
    "sched:sched_wakeup_new",
    "sched:sched_waking",
    "sched:sched_stat_wait",
    "sched:sched_stat_sleep",
    "sched:sched_stat_iowait",
    "sched:sched_stat_blocked",
];

/// Whether the kernel counts such an event of a task for the task that is woken as well, and may
/// write a record for the waker alone: `__perf_task()`, `include/trace/events/sched.h`.
#[must_use]
pub fn is_counted_for_two(event: &str) -> bool {
    OF_TWO.contains(&event)
}

impl EventsPlan {
    /// Returns the first wanted event that only the events of a group record in full.
    #[must_use]
    pub fn of_group_alone(&self) -> Option<&str> {
        let mut names = self.named.iter().map(|planned| planned.name.as_ref());
        names.find(|name| *name == NOT_OF_TASKS || OF_TWO.contains(name))
    }

    /// Whether faults are recorded; to name their addresses takes all mappings.
    #[must_use]
    pub fn has_faults(&self) -> bool {
        let mut named = self.named.iter();
        named.any(|planned| {
            SoftwareEvent::parse(&planned.name).is_some_and(|event| event.kind.is_fault())
        })
    }

    /// Whether there are software events, whose instructions are named.
    #[must_use]
    pub fn has_software(&self) -> bool {
        let mut named = self.named.iter();
        named.any(|planned| SoftwareEvent::parse(&planned.name).is_some())
    }

    /// Whether the records of the event at this place of [`EventsPlan::named`] have no payload.
    #[must_use]
    pub fn has_no_payload(&self, event: usize) -> bool {
        let planned = self.named.get(event);
        planned.is_some_and(|planned| planned.format.is_none())
    }

    pub(super) fn add_software(
        &mut self,
        at: usize,
        event: SoftwareEvent,
        wanted: &WantedEvent,
    ) -> Result<(), EventsError> {
        let name = event.name();
        let SoftwareEvent { kind, modes } = event;
        let source = kind.source();
        let sampling = match wanted.sampling {
            None if kind.is_clock() => return Err(EventsError::Unsampled { at, name }),
            sampling => sampling.unwrap_or(Sampling::Period(1)),
        };
        if wanted.filter.is_some() {
            return Err(EventsError::NotFiltered { at, name });
        }
        if let Err(why) = source::software_means(source, modes) {
            return Err(EventsError::Cannot { at, name, why });
        }
        // Without the kernel's part, the rest would be taken for all of them.
        if self.reach == Reach::OwnCalls && !modes.exclude_kernel {
            return Err(EventsError::OutOfReach { at, name });
        }
        if self.named.iter().any(|planned| *planned.name == *name) {
            return Ok(());
        }
        // If its samples have a period, the kernel makes one for each occurrence
        // (perf_swevent_event(), kernel/events/core.c).
        let has_no_period = matches!(sampling, Sampling::Period(2..)) && !kind.is_clock();
        let extra = match has_no_period {
            true => SampleType::IP,
            false => SampleType::PERIOD.and(SampleType::IP),
        };
        let extra = match kind.is_fault() {
            true => extra.and(SampleType::ADDR),
            false => extra,
        };
        let attr = Attr {
            sampling,
            sample_type: SAMPLE_TYPE.and(extra),
            modes,
            ..Attr::counting(source)
        }
        .with_chain(wanted.chain);
        let request = EventRequest {
            of_group: true,
            ..EventRequest::new(name.as_str(), attr)
        };
        if self.reach != Reach::Recorded {
            source::refuse_same_id(at, &request, &self.requests)?;
        }
        self.requests.push(request);
        self.meanings.push(Meaning::Event(self.named.len()));
        self.named.push(PlannedEvent {
            name: name.as_str().into(),
            format: None,
            naming: Naming::Own(name.into()),
            want: Some(at),
            others: Vec::new(),
            filters: BTreeSet::new(),
            probe: None,
        });
        Ok(())
    }
}
