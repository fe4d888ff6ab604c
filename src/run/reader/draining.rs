//! Drains the rings of a run, pass by pass.
//!
//! Between the records of a pass the reader asks whether to break it off: a signal or a deadline
//! must not wait for a backlog, or for an observer that takes its time.

use super::Reader;
use crate::run::session::{SessionError, system};
use perf_live::events::EventSet;
use perf_live::ring::{Drain, Look};
use perf_records::merge::Merge;
use perf_records::units::{Cpu, Nanos};

// How long after its time stamp a record may become visible, in nanoseconds: the stamp is taken
// before the record is written. That takes a microsecond at most, or as long as a virtual CPU
// pauses.
const SETTLING: u64 = 50_000;

/// How many records are taken before it is asked whether to break off.
const STRETCH: u64 = 1024;

/// Says whether to break off what is read.
pub(in crate::run) type Asks<'a> = &'a mut dyn FnMut() -> Result<bool, SessionError>;

impl Reader<'_> {
    /// Takes the new records that have settled; says up to when that is. What is left after a break
    /// comes with the next pass.
    pub(in crate::run) fn drain(
        &mut self,
        merge: &mut Merge,
        events: &mut EventSet,
        asks: Asks<'_>,
    ) -> Result<Look, SessionError> {
        let look = events.look().map_err(system("drain the rings"))?;
        let is_whole = self.pass(merge, events, (look, false), asks)?;
        Ok(Look {
            is_all: look.is_all && is_whole,
            ..look
        })
    }

    /// Takes all records from rings of stopped events. After a break the rest is not read, and the
    /// account says so.
    pub(in crate::run) fn drain_rest(
        &mut self,
        merge: &mut Merge,
        events: &mut EventSet,
        asks: Asks<'_>,
    ) -> Result<(), SessionError> {
        events.drain_by_looks().map_err(system("drain the rings"))?;
        loop {
            let look = events.look().map_err(system("drain the rings"))?;
            if !self.pass(merge, events, (look, true), asks)? {
                self.broke_off = true;
                return Ok(());
            }
            if look.is_all {
                return Ok(());
            }
        }
    }

    /// Whether it was not broken off.
    fn pass(
        &mut self,
        merge: &mut Merge,
        events: &mut EventSet,
        (look, is_last): (Look, bool),
        asks: Asks<'_>,
    ) -> Result<bool, SessionError> {
        let horizon = Nanos(look.until.0.saturating_sub(SETTLING));
        let horizon = (!(is_last && look.is_all)).then_some(horizon);
        let (drains, table) = events.parts();
        let cpus: Vec<Cpu> = drains.iter().map(Drain::cpu).collect();
        let (mut any, mut is_whole) = (false, true);
        loop {
            let n = merge.stretch(drains, table, (horizon, STRETCH), |place, bytes| {
                let cpu = cpus.get(place).copied().unwrap_or(Cpu(0));
                self.observer.record(table, bytes);
                let taken = match table.resolve(bytes) {
                    Some((layout, origin)) => self.take(cpu, layout, origin, bytes),
                    None => Err(SessionError::Stranger { cpu }),
                };
                if let Err(error) = taken {
                    self.error.get_or_insert(error);
                }
            })?;
            any |= n > 0;
            if n < STRETCH || self.error.is_some() {
                break;
            }
            if asks()? {
                is_whole = false;
                break;
            }
        }
        if any {
            self.observer.pause();
        }
        self.error.take().map_or(Ok(is_whole), Err)
    }
}
