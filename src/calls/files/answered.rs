//! Calls that were answered in place of being made: they change no table.

use super::super::{Call, Outcome, names};
use super::lookup::State;
use super::tables::{Tables, descriptors};
use perf_records::units::Nanos;

impl Tables {
    /// Puts into a call that was not made what its descriptors and paths referred to.
    pub(super) fn answered(&mut self, call: &mut Call) {
        let Some(plan) = self.plan(call.abi, call.number) else {
            return;
        };
        let at = self.at(call.actor.thread).filter(|_| self.watched.complete);
        let Some(at) = at else {
            for (place, _) in descriptors(plan, call.entry.args()) {
                call.files.set_argument(place, State::Unknown);
            }
            return;
        };
        let mut pending = self.pending(at, plan, (call.abi, call.number), &call.entry);
        self.reaches(at, None, &mut pending);
        call.files = std::mem::take(&mut pending.files);
        // Whatever it was told, nothing came of it.
        let failed = Outcome::Returned {
            time: Nanos(0),
            value: -i64::from(libc::ENOSYS),
        };
        let told = std::mem::replace(&mut call.outcome, failed);
        self.name_paths(at, call, plan, pending.version);
        // Its name decides how its paths are followed.
        if names::name_of(call.abi, call.number).is_some() {
            self.walks(at, call, plan.paths, &pending);
        }
        call.outcome = told;
    }
}
