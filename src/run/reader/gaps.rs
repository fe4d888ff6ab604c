//! What is not known any more where records are missing.

use super::Reader;
use crate::plan::Meaning;
use perf_records::units::Tid;
use std::collections::HashSet;

impl Reader<'_> {
    /// Records are missing: what was known of descriptors and mappings may be wrong from here on.
    pub(super) fn lost(&mut self, count: u64) {
        self.lost_records += count;
        self.tables.lost();
        self.maps.lost();
    }

    /// All calls come from here on, and what they did before was overwritten.
    pub(in crate::run) fn remembers(&mut self) {
        self.tables.lost();
        self.maps.lost();
        self.tracker.remembers();
        self.remembered = Some(HashSet::new());
    }

    /// Whether what was read for a thread may be of a call whose own records were overwritten.
    pub(super) fn forgot_calls_of(&self, tid: Tid) -> bool {
        let mut remembered = self.remembered.iter();
        remembered.any(|threads| !threads.contains(&tid))
    }

    /// A record of a thread came: behind a half of a call, what is read is of later ones.
    pub(super) fn sees_half(&mut self, tid: Tid, meaning: Meaning) {
        if let (Some(threads), Meaning::Enter { .. } | Meaning::Leave { .. }) =
            (&mut self.remembered, meaning)
        {
            threads.insert(tid);
        }
    }
}
