//! A run whose newest records overwrite the oldest: what is kept while it goes on, and what is added to that when it is over.

use super::flight::FlightLog;
use super::saving::Saving;
use super::session::SessionError;
use crate::events::{Account, EventSet, Origin};
use crate::plan::EventsPlan;
use crate::record::LayoutTable;
use crate::units::Nanos;
use std::collections::VecDeque;

/// Why some things are not done with such runs.
pub(super) const OVERWRITTEN: &str =
    "its rings are overwritten (`flight`), so that the trace of each run begins at another place";

/// Of what programs read from memory, the newest records: their rings are not overwritten, as a ring takes either what the kernel writes
/// forward or what it writes backward, and these go with calls that are forgotten.
#[derive(Debug)]
pub(super) struct Tail {
    records: VecDeque<(Nanos, Box<[u8]>)>,
    bytes: usize,
    most: usize,
    /// When the youngest was read that was dropped, and how many were.
    dropped: (Nanos, u64),
}

/// So many times as much as the overwritten rings hold of calls: a call's two halves have some 250 bytes, and what is read for it rarely more
/// than a path or two. Where it is more, the dump begins later, and says so.
const SHARE: usize = 4;
/// No less, in bytes.
const LEAST: usize = 16 << 20;

impl Tail {
    /// For the rings of a plan on so many CPUs; `None` where calls are not overwritten.
    pub(super) fn new(plan: &EventsPlan, n_cpus: usize) -> Option<Self> {
        let requests = plan.requests.iter();
        let pages = requests.filter_map(|request| request.overwrites).max()?;
        let ring = pages.saturating_mul(crate::sys::page_size());
        let all = ring.saturating_mul(n_cpus).saturating_mul(SHARE);
        plan.overwrites_calls().then(|| Self::of(all.max(LEAST)))
    }

    fn of(most: usize) -> Self {
        Self {
            records: VecDeque::new(),
            bytes: 0,
            most,
            dropped: (Nanos(0), 0),
        }
    }

    /// Takes a record if it is of memory.
    pub(super) fn takes(&mut self, table: &LayoutTable<Origin>, bytes: &[u8]) -> bool {
        if !matches!(table.resolve(bytes), Some((_, Origin::Memory))) {
            return false;
        }
        self.add(table.time(bytes).unwrap_or_default(), bytes);
        true
    }

    fn add(&mut self, time: Nanos, bytes: &[u8]) {
        self.bytes += bytes.len();
        self.records.push_back((time, bytes.into()));
        while self.bytes > self.most {
            let Some((time, oldest)) = self.records.pop_front() else {
                break;
            };
            self.bytes -= oldest.len();
            self.dropped = (self.dropped.0.max(time), self.dropped.1 + 1);
        }
    }
}

/// What the rings of a run hold that are overwritten, added to its records, and what became of the others, to its account. Its events have been
/// stopped: so the numbers are exact.
///
/// # Errors
/// [`SessionError`].
pub(super) fn conclude(
    mut log: FlightLog,
    events: &mut EventSet,
    saving: &mut Saving,
    tail: Option<Tail>,
    plan: &EventsPlan,
    account: &mut Account,
) -> Result<(), SessionError> {
    let dump = log.dump(events)?;
    let n_dropped = tail.as_ref().map_or(0, |tail| tail.dropped.1);
    let dropped = tail.as_ref().map(|tail| tail.dropped.0);
    let is_cut = dump.is_cut || n_dropped > 0;
    // What was dropped is of a moment that cannot be told of any more.
    let since = match n_dropped {
        0 => dump.span.0,
        _ => dump.span.0.max(Nanos(dropped.unwrap_or_default().0 + 1)),
    };
    let is_told = |time: Option<Nanos>| !is_cut || time.is_none_or(|time| time >= since);
    let Some((_, writers)) = events.flight() else {
        return Ok(());
    };
    let table = writers.table();
    for record in dump.records().filter(|it| is_told(table.time(it))) {
        saving.record(table, record);
    }
    let mut n_memory = 0;
    for (time, record) in tail.iter().flat_map(|tail| &tail.records) {
        if is_told(Some(*time)) {
            saving.record(table, record);
            n_memory += 1;
        }
    }
    let requests = plan.requests.iter().enumerate();
    for (event, (place, request)) in account.events.iter_mut().zip(requests) {
        if request.overwrites.is_some() {
            event.delivered = saving.occurrences_of(place);
            // Of what is missing, all that the kernel does not say it dropped.
            let fallen = event.said_lost.unwrap_or(0);
            let missing = event.counted.saturating_sub(event.delivered);
            event.overwritten = if is_cut {
                missing.saturating_sub(fallen)
            } else {
                0
            };
        }
    }
    if tail.is_some()
        && let Some(memory) = account.events.get_mut(plan.requests.len())
    {
        memory.overwritten = memory.delivered.saturating_sub(n_memory);
        memory.delivered = n_memory;
    }
    account.remembers_from = is_cut.then_some(since.0);
    // Its own start was in those rings.
    account.never_started &= !plan.overwrites_calls();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_memory_the_newest_is_kept_and_the_rest_counted() {
        let mut tail = Tail::of(25);
        for time in 1..=10 {
            tail.add(Nanos(time), &[0; 10]);
        }
        let times: Vec<Nanos> = tail.records.iter().map(|(time, _)| *time).collect();
        assert_eq!(times, [Nanos(9), Nanos(10)]);
        assert_eq!((tail.bytes, tail.dropped), (20, (Nanos(8), 8)));
    }
}
