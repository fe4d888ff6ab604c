//! Drops what is no longer known because records are missing.

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

    /// Called when all calls come from here on, and the earlier ones were overwritten.
    pub(in crate::run) fn remembers(&mut self) {
        self.tables.lost();
        self.maps.lost();
        self.tracker.remembers();
        self.remembered = Some(HashSet::new());
    }

    /// Whether memory read for a thread may belong to a call whose records were overwritten.
    pub(super) fn forgot_calls_of(&self, tid: Tid) -> bool {
        let mut remembered = self.remembered.iter();
        remembered.any(|threads| !threads.contains(&tid))
    }

    /// Notes that a half of a call of this thread came: memory read later belongs to later calls.
    pub(super) fn sees_half(&mut self, tid: Tid, meaning: Meaning) {
        if let (Some(threads), Meaning::Enter { .. } | Meaning::Leave { .. }) =
            (&mut self.remembered, meaning)
        {
            threads.insert(tid);
        }
    }
}
