//! Drops what is no longer known because records are missing.

use super::Reader;
use crate::plan::Meaning;
use perf_records::units::Tid;
use std::collections::HashSet;

/// What records say of others that are missing.
#[derive(Debug, Default)]
pub(super) struct Lost {
    /// Of a ring, where it has room again.
    of_rings: u64,
    /// Of an event, in all: they are among those of its ring, which does not tell of the last.
    of_events: u64,
}

impl Lost {
    /// How many are missing at least.
    pub(super) fn records(&self) -> u64 {
        self.of_rings.max(self.of_events)
    }
}

impl Reader<'_> {
    /// Records of a ring are missing.
    pub(super) fn lost_of_ring(&mut self, count: u64) {
        self.lost.of_rings += count;
        self.forget();
    }

    /// Records of an event are missing.
    pub(super) fn lost_of_event(&mut self, count: u64) {
        self.lost.of_events += count;
        self.forget();
    }

    /// What was known of descriptors and mappings may be wrong from here on.
    fn forget(&mut self) {
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
