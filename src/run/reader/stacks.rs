//! The functions that led to samples, beside what the samples say.

use super::{Reader, Width};
use crate::plan::Meaning;
use crate::run::chains::Chains;
use crate::run::halves::{convention, number};
use crate::run::session::SessionError;
use perf_records::attr::Layout;
use perf_records::record::Sample;
use perf_records::space::Stack;
use perf_records::units::{Cpu, Hashed, Nanos, Pid, Tid};
use std::collections::HashMap;
use std::sync::Arc;
use syscall_model::{Entry, Observation};

impl Reader<'_> {
    /// Returns what names call chains; `None` if nothing asks for them.
    pub(in crate::run) fn chains(&mut self) -> Option<&mut Chains> {
        self.chains.as_mut()
    }

    /// Returns the functions that led to a sample, if they are wanted for its event.
    pub(super) fn stack(
        &mut self,
        cpu: Cpu,
        place: usize,
        layout: &Layout,
        sample: &Sample<'_>,
        bytes: &[u8],
    ) -> Result<Option<Arc<Stack>>, SessionError> {
        let request = self.plan.requests.get(place);
        let is_wanted = request.is_some_and(|request| request.attr.has_chain()) && self.started;
        let (mask, width) = match sample.task {
            Some((pid, _)) if is_wanted => (self.registers(place), self.width(pid, &[])),
            _ => (self.registers(place), None),
        };
        let Some(chains) = self.chains.as_mut().filter(|_| is_wanted) else {
            return Ok(None);
        };
        if let Some(Meaning::Enter { id, .. }) = self.plan.meanings.get(place) {
            let number = sample.raw.and_then(|raw| number(raw, *id)).unwrap_or(-1);
            if !self
                .plan
                .wants_chain(convention(number, (sample, mask), width), number)
            {
                return Ok(None);
            }
        }
        chains
            .stack(place, layout, sample, bytes)
            .map_err(|source| SessionError::Record { cpu, source })
    }

    /// Returns the mask of user registers in the records of a request.
    pub(super) fn registers(&self, place: usize) -> u64 {
        self.registers.get(place).copied().unwrap_or_default()
    }

    /// Says which user registers the samples of a request have, which another recorder chose.
    pub(in crate::run) fn has_registers(&mut self, place: usize, mask: u64) {
        if let Some(known) = self.registers.get_mut(place) {
            *known = mask;
        }
        if let Some(chains) = &mut self.chains {
            chains.has_registers(place, mask);
        }
    }

    /// Returns of how many bits the program is that makes a call with these words; `None` if
    /// neither they nor a mapping tell it, or if none is needed.
    pub(super) fn width(&mut self, pid: Pid, words: &[u64]) -> Option<Width> {
        match &mut self.widths {
            // The tracepoints of single calls fire for native ones.
            Some(_) if self.plan.reach.has_own_tracepoints() => Some(Width::Of64),
            Some(widths) => widths.of(pid, words),
            None => None,
        }
    }
}

/// The call chain of a call that has ended.
pub(super) fn of(
    stacks: &mut HashMap<(Tid, Nanos), Arc<Stack>, Hashed>,
    observation: &Observation,
) -> Option<Arc<Stack>> {
    let Observation::Call(call) = observation else {
        return None;
    };
    match call.entry {
        Entry::Seen { time, .. } if !stacks.is_empty() => stacks.remove(&(call.actor.tid, time)),
        _ => None,
    }
}
