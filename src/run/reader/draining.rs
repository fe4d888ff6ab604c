//! Drains the rings of a run, pass by pass.

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

impl Reader<'_> {
    /// Takes the new records that have settled; says up to when that is.
    pub(in crate::run) fn drain(
        &mut self,
        merge: &mut Merge,
        events: &mut EventSet,
    ) -> Result<Look, SessionError> {
        let look = events.look().map_err(system("drain the rings"))?;
        self.pass(merge, events, look, false)?;
        Ok(look)
    }

    /// Takes all records from rings of stopped events.
    pub(in crate::run) fn drain_rest(
        &mut self,
        merge: &mut Merge,
        events: &mut EventSet,
    ) -> Result<(), SessionError> {
        events.drain_by_looks().map_err(system("drain the rings"))?;
        loop {
            let look = events.look().map_err(system("drain the rings"))?;
            self.pass(merge, events, look, true)?;
            if look.is_all {
                return Ok(());
            }
        }
    }

    fn pass(
        &mut self,
        merge: &mut Merge,
        events: &mut EventSet,
        look: Look,
        is_last: bool,
    ) -> Result<(), SessionError> {
        let horizon = Nanos(look.until.0.saturating_sub(SETTLING));
        let horizon = (!(is_last && look.is_all)).then_some(horizon);
        let (drains, table) = events.parts();
        let cpus: Vec<Cpu> = drains.iter().map(Drain::cpu).collect();
        let n = merge.pass(drains, table, horizon, |place, bytes| {
            let cpu = cpus.get(place).copied().unwrap_or(Cpu(0));
            self.observer.record(table, bytes);
            if let Err(error) = self.record(cpu, table, bytes) {
                self.error.get_or_insert(error);
            }
        })?;
        if n > 0 {
            self.observer.pause();
        }
        self.error.take().map_or(Ok(()), Err)
    }
}
