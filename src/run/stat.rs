//! `perf stat`: how often things happened, without a record of any.

use super::record::{Recording, TICK, look_after};
use super::session::{self, Control, Next, SessionError, system};
use super::{Bench, RecordEnd, RunError};
use crate::events::{self, Counted, Counter, EventSet, RingChoice, Subject};
use crate::merge::Source as _;
use crate::plan::{CountedEvent, RecordWish};
use crate::sandbox::Running;
use crate::sys::perf::Counts;
use crate::units::Cpu;
use std::io;

/// Pages of the rings that tell when the last task is gone; what else comes through them is of no interest, and may be lost.
const PAGES: usize = 1;

/// Events that are counted, each in as many places as it takes.
#[derive(Debug)]
pub struct Counters {
    /// The name, and the counters that add up to it.
    events: Vec<(String, Vec<Counter>)>,
    /// Hangs up when nobody is left.
    ends: EventSet,
}

/// What was counted of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// What it is called.
    pub name: String,
    /// How often it happened; nanoseconds of what is a clock.
    pub value: u64,
    /// How long it was enabled, over all that it was counted on, in nanoseconds.
    pub enabled: u64,
    /// How much of that it was being counted, in nanoseconds: less only where events share a counter of the hardware. The value is what was
    /// counted then, and nothing else.
    pub running: u64,
}

impl Bench<'_> {
    /// Opens what is to be counted of the tasks, wherever they are or on these CPUs alone, or of everybody on these.
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
        let mut all = Vec::new();
        for CountedEvent { name, parts } in wanted {
            let mut counters = Vec::new();
            for part in &parts {
                self.pin(part.attr.source);
                counters.extend(Counter::open_each(part, &places)?);
            }
            all.push((name, counters));
        }
        Ok(Counters { events: all, ends })
    }
}

impl Counters {
    /// Starts them, where no `execve(2)` does.
    ///
    /// # Errors
    /// Those of `ioctl(2)`.
    pub fn enable(&self) -> io::Result<()> {
        let mut counters = self.events.iter().flat_map(|(_, counters)| counters);
        counters.try_for_each(Counter::enable)
    }

    /// Counts until it is over, as [`record`](super::record()) has it, and reads what was counted.
    ///
    /// # Errors
    /// [`SessionError`]; the command is dead then.
    pub fn count(
        mut self,
        mut running: Option<Running>,
        whose: Recording,
        control: &mut dyn Control,
    ) -> Result<(Vec<Count>, RecordEnd), SessionError> {
        let mut hung_up = vec![false; self.ends.descriptors().len()];
        let mut next = Next::Follow;
        while !whose.is_over(running.as_ref(), &hung_up) && next != Next::Leave {
            let others = running.iter().flat_map(Running::descriptors);
            let is_called = session::wait_for(&self.ends, others, control, TICK, &mut hung_up)?;
            for drain in self.ends.parts().0 {
                drain.refresh();
                drain.discard();
            }
            match &mut running {
                Some(running) => next = look_after(running, is_called, control, next)?,
                None if is_called => break,
                None => {}
            }
        }
        let mut counters = self.events.iter().flat_map(|(_, counters)| counters);
        counters
            .try_for_each(Counter::disable)
            .map_err(system("stop the events"))?;
        let counts: io::Result<Vec<Count>> = self.events.into_iter().map(sum).collect();
        let counts = counts.map_err(system("read the counters"))?;
        let exited = running.map(Running::finish).transpose();
        let end = RecordEnd {
            exited: exited.map_err(system("reap the command"))?,
            left: next == Next::Leave,
        };
        Ok((counts, end))
    }
}

fn sum((name, counters): (String, Vec<Counter>)) -> io::Result<Count> {
    let mut count = Count {
        name,
        value: 0,
        enabled: 0,
        running: 0,
    };
    for counter in counters {
        let Counts { value, times, .. } = counter.read()?;
        let (enabled, running) = times.unwrap_or_default();
        count.value += value;
        count.enabled += enabled;
        count.running += running;
    }
    Ok(count)
}
