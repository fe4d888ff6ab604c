//! Collects what must be known of events so that expectations can be judged.

use super::memory::{MemoryPlan, MemoryReader};
use super::{EventsPlan, Lack, Reach};
use crate::scenario::{Literal, Test};
use std::collections::BTreeSet;

/// What must be known of events so that expectations can be judged, apart from their occurrence.
#[derive(Clone, Debug, Default)]
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
    /// Whether the functions that led to calls that are held.
    pub(super) callers: bool,
    /// The functions that must have led to events, each by the test of its name.
    pub(super) functions: Vec<Test>,
}

impl Needs {
    /// What it takes to tell which files calls reach, whatever they are.
    pub(super) fn every_path(&mut self) {
        let what = || "the files that calls reach".to_owned();
        self.memory.get_or_insert_with(what);
        self.descriptor.get_or_insert_with(what);
        (self.paths, self.names) = (true, true);
    }

    /// Adds it to a plan for memory.
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

    /// Returns why the expectations cannot be judged here; `None` if they can.
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
        if self.callers && events.reach == Reach::OwnCalls {
            let text = "its faults need the right to trace everything, for the functions that led to a call";
            return Some(Lack::of_machine(text));
        }
        let field = self.descriptor.as_ref()?;
        events.reach.has_own_tracepoints().then(|| {
            Lack::of_machine(format!(
                "its expectations need the right to trace everything, for what {field} refers to"
            ))
        })
    }
}

/// Collects the paths that a test has in full.
pub(super) fn exact_paths(test: &Test, into: &mut BTreeSet<String>) {
    match test {
        Test::Is(Literal::Text(text)) => drop(into.insert(text.clone())),
        Test::OneOf(tests) => tests.iter().for_each(|test| exact_paths(test, into)),
        Test::Not(test) => exact_paths(test, into),
        _ => {}
    }
}
