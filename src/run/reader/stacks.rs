//! The functions that led to samples, beside what the samples say.

use super::Reader;
use crate::plan::Meaning;
use crate::run::chains::Chains;
use crate::run::halves::{convention, number};
use crate::run::session::SessionError;
use perf_records::attr::Layout;
use perf_records::record::Sample;
use perf_records::space::Stack;
use perf_records::units::{Cpu, Hashed, Nanos, Tid};
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
        let Some(chains) = self.chains.as_mut().filter(|_| is_wanted) else {
            return Ok(None);
        };
        if let Some(Meaning::Enter { id, .. }) = self.plan.meanings.get(place) {
            let number = sample.raw.and_then(|raw| number(raw, *id)).unwrap_or(-1);
            let mask = chains.registers(place);
            if !self
                .plan
                .wants_chain(convention(number, sample, mask), number)
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
        match &self.chains {
            Some(chains) => chains.registers(place),
            None => {
                let request = self.plan.requests.get(place);
                request.map_or(0, |request| request.attr.user_registers)
            }
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
