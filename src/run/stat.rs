//! Does the work of `perf stat`: counts how often events happened, without records.

use super::counting::{Count, CounterSet};
use super::record::{Recording, TICK, has_left, look_after};
use super::session::{self, Control, Next, SessionError, system};
use super::{Bench, RecordEnd, RunError};
use crate::plan::{CountedEvent, EventsError, RecordWish};
use perf_live::errors::chain;
use perf_live::events::{self, Counted, EventRequest, EventSet, OpenError, RingChoice, Subject};
use perf_live::ring::Drain;
use perf_live::sandbox::Running;
use perf_records::attr::Source;
use perf_records::units::Cpu;
use std::io;

/// Pages of the rings that tell when the last task has ended; their records are not read, and may
/// be lost.
const PAGES: usize = 1;

/// Events that are counted, each by as many counters as it needs.
#[derive(Debug)]
pub struct Counters {
    events: CounterSet,
    /// Hangs up when the last task has ended.
    ends: EventSet,
}

impl Bench<'_> {
    /// Opens the counters: of tasks, on all CPUs or on these CPUs alone, or of all tasks on these
    /// CPUs.
    ///
    /// # Errors
    /// [`RunError::Plan`], [`RunError::Open`].
    pub fn open_counters(
        &self,
        wish: &RecordWish,
        subject: &Subject,
        cpus: &[Cpu],
        on_all_cpus: bool,
    ) -> Result<Counters, RunError> {
        let wanted = wish.counters(self).map_err(RunError::Plan)?;
        let places: Vec<Counted> = match subject {
            Subject::Everybody => cpus.iter().copied().map(Counted::Everybody).collect(),
            Subject::Tasks(tasks) if on_all_cpus => {
                tasks.iter().copied().map(Counted::Task).collect()
            }
            Subject::Tasks(tasks) => {
                let pairs = cpus
                    .iter()
                    .flat_map(|cpu| tasks.iter().map(move |task| (*task, *cpu)));
                pairs
                    .map(|(task, cpu)| Counted::TaskOn(task, cpu))
                    .collect()
            }
        };
        let ends = RingChoice::New {
            cpus: &self.cpus,
            pages: PAGES,
        };
        let ends = events::record(&[], subject, wish.ends(), ends)?;
        self.hold_tracepoints(&wanted);
        let mut counters = CounterSet::default();
        let mut absent = None;
        for event in wanted.chunk_by(|one, next| one.group.is_some() && one.group == next.group) {
            if let Some(name) = self.unseen(wish, event) {
                let error = EventsError::OutOfReach { at: 0, name };
                counters.lack(event, &error.to_string());
                absent = absent.or(Some(RunError::Plan(error)));
                continue;
            }
            let places = places_of(event, subject, &places)?;
            match counters.open(event, &places) {
                Err(error) if error.is_absent() => {
                    counters.lack(event, &chain(&error));
                    absent = absent.or(Some(RunError::Open(error)));
                }
                opened => opened?,
            }
        }
        match absent.filter(|_| counters.is_empty()) {
            Some(error) => Err(error),
            None => Ok(Counters {
                events: counters,
                ends,
            }),
        }
    }
}

impl Bench<'_> {
    /// Returns the first of these events that this user may count and that would never show
    /// anything, so that its count would be taken for the number of times that it happened. Of a
    /// tracepoint that happens with the kernel's registers the kernel refuses such a user records.
    fn unseen(&self, wish: &RecordWish, events: &[CountedEvent]) -> Option<String> {
        let is_refused = |part: &EventRequest| match part.attr.source {
            Source::Tracepoint(id) => {
                let tried = events::probe(&part.name, id, true);
                tried.is_err_and(|error| error.is_permission())
            }
            _ => false,
        };
        let is_unseen =
            |part: &EventRequest| wish.never_shows(part) || wish.exclude_kernel && is_refused(part);
        let is_unseen = |event: &&CountedEvent| event.parts.iter().any(is_unseen);
        events
            .iter()
            .find(is_unseen)
            .map(|event| event.name.clone())
    }
}

/// Returns where these events are opened: some sources count on one CPU for all of its package, and
/// not for single tasks.
fn places_of(
    events: &[CountedEvent],
    subject: &Subject,
    places: &[Counted],
) -> Result<Vec<Counted>, RunError> {
    let mut places = places.to_vec();
    for event in events {
        let Some(cpus) = &event.for_all_on else {
            continue;
        };
        if !matches!(subject, Subject::Everybody) {
            let event = event.name.clone();
            return Err(RunError::Open(OpenError::OfEverybody { event }));
        }
        places.retain(|place| matches!(place, Counted::Everybody(cpu) if cpus.contains(cpu)));
    }
    Ok(places)
}

impl Counters {
    /// Starts the counters, if no `execve(2)` does.
    ///
    /// # Errors
    /// Those of `ioctl(2)`.
    pub fn enable(&self) -> io::Result<()> {
        self.events.enable()
    }

    /// Counts until the end, which is that of [`record`](super::record()), and reads the counters.
    ///
    /// # Errors
    /// [`SessionError`]; the command is dead then.
    pub fn count(
        mut self,
        mut running: Option<Running>,
        whose: Recording,
        control: &mut dyn Control,
    ) -> Result<(Vec<Count>, RecordEnd), SessionError> {
        let mut next = Next::Follow;
        while !whose.is_over(running.as_ref(), self.ends.have_hung_up()) && next != Next::Leave {
            let others = running.iter().flat_map(Running::descriptors);
            let is_called = session::wait_for(&mut self.ends, others, control, TICK)?;
            self.ends.parts().0.iter_mut().for_each(Drain::discard);
            match &mut running {
                Some(running) => next = look_after(running, is_called, control, next)?,
                None if is_called => break,
                None => {}
            }
        }
        let left = has_left(next, whose, running.as_ref(), &mut self.ends)?;
        self.events.disable().map_err(system("stop the events"))?;
        let counts = self.events.read().map_err(system("read the counters"))?;
        let exited = running.map(Running::finish).transpose();
        let end = RecordEnd {
            exited: exited.map_err(system("reap the command"))?,
            left,
        };
        Ok((counts, end))
    }
}
