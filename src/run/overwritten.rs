//! A run whose newest records overwrite the oldest: what is kept while it goes on, and what is
//! added at its end.

use super::Saving;
use super::flight::FlightLog;
use super::session::SessionError;
use crate::plan::EventsPlan;
use perf_live::events::{Account, EventAccount, EventSet, Origin};

/// Why such runs cannot be compared with each other.
pub(super) const OVERWRITTEN: &str =
    "its rings are overwritten (`flight`), so that the trace of each run begins at another place";

/// Adds to a run's records what its overwritten rings still hold, and to its account what became of
/// the others. Its events have been stopped, so the numbers are exact.
///
/// # Errors
/// [`SessionError`].
pub(super) fn conclude(
    mut log: FlightLog,
    events: &mut EventSet,
    saving: &mut Saving,
    plan: &EventsPlan,
    account: &mut Account,
) -> Result<(), SessionError> {
    let dump = log.dump(events)?;
    let overwrites_memory = events.overwrites_memory();
    let Some((_, writers)) = events.flight() else {
        return Ok(());
    };
    let table = writers.table();
    let mut n_memory = 0;
    for record in dump.records() {
        saving.record(table, record);
        let origin = table.resolve(record).map(|(_, origin)| origin);
        n_memory += u64::from(origin == Some(Origin::Memory));
    }
    let requests = plan.requests.iter().enumerate();
    for (event, (place, request)) in account.events.iter_mut().zip(requests) {
        if request.overwrites.is_some() {
            event.delivered = saving.occurrences_of(place);
            settle(event, dump.is_cut);
        }
    }
    if overwrites_memory && let Some(memory) = account.events.get_mut(plan.requests.len()) {
        memory.delivered = n_memory;
        settle(memory, dump.is_cut);
    }
    account.remembers_from = dump.is_cut.then_some(dump.span.0.0);
    // The record of the workload's own start was in those rings.
    account.never_started &= !plan.overwrites_calls();
    Ok(())
}

/// If a ring was overwritten, all missing records count as overwritten but those that the kernel
/// says it dropped.
fn settle(event: &mut EventAccount, is_cut: bool) {
    let missing = event.missing().saturating_sub(event.said_lost.unwrap_or(0));
    event.overwritten = if is_cut { missing } else { 0 };
}
