//! Events whose records have no payload.

use super::Reader;
use crate::run::setting::Fired;
use perf_records::record::Sample;
use perf_records::space::Stack;
use perf_records::units::{Cpu, Nanos, Pid, Tid};
use std::sync::Arc;

impl Reader<'_> {
    /// Takes a software event, by its place in the plan, with where it fired.
    pub(super) fn software(
        &mut self,
        cpu: Cpu,
        (pid, tid): (Pid, Tid),
        place: usize,
        time: Nanos,
        (sample, bytes): (&Sample<'_>, &[u8]),
        stack: Option<Arc<Stack>>,
    ) {
        let wants_functions = self.observer.wants_functions();
        let chains = self.chains.as_mut();
        let scene = chains.map(|chains| chains.scene(sample, bytes, wants_functions));
        let actor = self.tracker.actor(pid, tid, &mut self.out);
        self.flush();
        self.observer.event(&Fired {
            actor: &actor,
            time,
            cpu,
            place,
            sample,
            stack: stack.as_ref(),
            functions: &[],
            scene: scene.as_ref(),
        });
    }
}
