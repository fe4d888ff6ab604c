//! What must be known of events for expectations to be judged.

use super::memory::{MemoryPlan, MemoryReader};
use super::{EventsPlan, Lack};
use crate::scenario::{Literal, Test};
use std::collections::BTreeSet;

/// What must be known of the events for expectations to be judged, besides that they were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// How many bytes of what is read and written.
    pub(super) contents: u16,
    /// The absolute paths that calls name.
    pub(super) paths: bool,
    /// The files that paths and descriptors lead to.
    pub(super) names: bool,
    /// The paths that are written out, which may be links themselves.
    pub(super) exact: BTreeSet<String>,
    /// The first field that is read from the memory of the workload, in words.
    pub(super) memory: Option<String>,
    /// The first field that is judged by what a descriptor refers to.
    pub(super) descriptor: Option<String>,
}

impl Needs {
    /// What is to be read for them, and for what else it is read.
    pub(super) fn memory(&self, plan: MemoryPlan) -> MemoryPlan {
        MemoryPlan {
            contents: plan.contents.max(self.contents),
            paths: plan.paths || self.paths,
            names: plan.names || self.names,
            ..plan
        }
    }

    /// The paths that are written out.
    pub(super) fn exact(&self) -> Vec<String> {
        self.exact.iter().cloned().collect()
    }

    /// Why they cannot be judged with what is seen here; `None` where they can.
    pub(super) fn unmet(&self, events: &EventsPlan, without_bpf: Option<&str>) -> Option<Lack> {
        if events.memory.reader != MemoryReader::Bpf
            && let Some(field) = &self.memory
        {
            let why = without_bpf
                .map(|why| format!(": {why}"))
                .unwrap_or_default();
            let text = format!("its expectations need BPF, to read {field}{why}");
            return Some(Lack::of_kernel(text));
        }
        let field = self.descriptor.as_ref()?;
        events.reach.has_own_tracepoints().then(|| {
            Lack::of_machine(format!(
                "its expectations need the right to trace everything, for what {field} refers to"
            ))
        })
    }
}

/// The paths that a test has as they are.
pub(super) fn exact_paths(test: &Test, into: &mut BTreeSet<String>) {
    match test {
        Test::Is(Literal::Text(text)) => drop(into.insert(text.clone())),
        Test::OneOf(tests) => tests.iter().for_each(|test| exact_paths(test, into)),
        Test::Not(test) => exact_paths(test, into),
        _ => {}
    }
}
