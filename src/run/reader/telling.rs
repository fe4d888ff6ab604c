//! Tells the observer what comes out of the records.

use super::{Reader, stacks};
use crate::run::chains::Chains;
use perf_records::units::Nanos;
use syscall_model::{Entry, Observation, uring};

impl Reader<'_> {
    /// Tells the observer what came out of the last record.
    pub(super) fn flush(&mut self) {
        // Where they are: they are large.
        for observation in &mut self.out {
            self.tables.observe(observation);
            self.maps.observe(observation);
            self.lineage.observe(observation);
            match observation {
                Observation::Call(call) => {
                    if let Some(held) = &mut self.held {
                        held.compare(call);
                    }
                    self.saw_uncorking |= call.entry == Entry::Uncorking;
                    self.blind_rings +=
                        u64::from(self.plan.operations.is_blind && uring::submits(call));
                    if self.reads_memory {
                        self.fetched.take(call);
                    }
                    self.left_group += u64::from(Self::is_born_elsewhere(call));
                }
                Observation::OutOfSight(_) => self.out_of_sight += 1,
                _ => {}
            }
            match stacks::of(&mut self.stacks, observation) {
                Some(stack) => self.observer.observe_with(observation, &stack),
                None => self.observer.observe(observation),
            }
        }
        self.out.clear();
    }

    /// Called when all records have been taken.
    pub fn finish(&mut self) {
        self.catch_up(Nanos(u64::MAX));
        self.tracker.finish(&mut self.out);
        self.flush();
        self.tables.settle();
        for note in self.chains.iter_mut().flat_map(Chains::notes) {
            self.observer.note(&note);
        }
        if !self.chains.as_mut().is_none_or(Chains::has_all) {
            self.observer.lacks_functions();
        }
        self.observer.pause();
    }
}
