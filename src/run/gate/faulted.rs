//! All calls that faults are about, for the comparison with what was done.

use super::prove;
use crate::plan::Plan;
use crate::trace::{Builder, Normalised, View};
use crate::verdict::Faults;
use perf_records::space::Stack;
use std::sync::Arc;
use syscall_model::{Call, Observation, Signatures};

/// What collects the calls that faults are about, those of loaders and before the mark as well.
pub(in crate::run) struct Faulted {
    builder: Builder,
    /// How many threads ended without a reason in the calls of their process.
    n_vanished: u64,
}

impl Faulted {
    /// `None` where nothing is done to calls.
    pub(in crate::run) fn of(plan: &Plan) -> Option<Self> {
        (!plan.faults.is_empty()).then(|| Self {
            builder: Builder::new(true),
            n_vanished: 0,
        })
    }

    pub(in crate::run) fn observe(&mut self, plan: &Plan, observation: &Observation) {
        match observation {
            Observation::Starting(..) => return,
            Observation::Vanished(_) => self.n_vanished += 1,
            _ => {}
        }
        let is_about = |call: &Call| {
            let is_of = |name| plan.faults.iter().any(|fault| fault.holds(name));
            plan.keeps_all && plan.events.wants(call) || call.name().is_some_and(is_of)
        };
        self.builder.observe(observation, is_about);
    }

    pub(in crate::run) fn led_by(&mut self, stack: Arc<Stack>) {
        self.builder.led_by(stack);
    }

    /// Compares the calls with what was done to them, where that is known; returns them.
    pub(in crate::run) fn finish(
        self,
        plan: &Plan,
        told: Option<&mut Faults>,
        judged: &Normalised,
        (view, signatures): (&View, &Signatures<'_>),
    ) -> Normalised {
        let whole = self.builder.finish().normalise(view, signatures);
        if let Some(told) = told {
            prove(&plan.faults, told, (&whole, self.n_vanished), judged);
        }
        whole
    }
}
