//! A sum over a recording, which shows changes that nothing else would.

use perf_records::perfdata::{ATTR_SIZE, EventDesc, TracingData};
use perf_records::record::{Header, kind};

/// A sum over the parts of a recording, FNV-1a of 64 bits each. It changes with any byte, and if a
/// part is missing or doubled. It does not depend on the order of parts, as sorting by time changes
/// the order of records. It guards against accidents, not against a forger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::run) struct Sum(u64);

impl Sum {
    /// Adds the events and their formats, without which no record means what it says.
    pub(in crate::run) fn events(&mut self, events: &[EventDesc], tracing: Option<&TracingData>) {
        for event in events {
            let ids = event.ids.iter().flat_map(|id| id.to_ne_bytes());
            let mut all = event.attr.to_bytes(ATTR_SIZE);
            all.extend(ids.chain(event.name.bytes()));
            self.add(&all);
        }
        if let Some(tracing) = tracing {
            self.add(&tracing.to_bytes());
        }
    }

    /// Adds a record of the kernel. Records of a tool may differ in a copy, and are not added.
    pub(in crate::run) fn record(&mut self, bytes: &[u8]) {
        let head = bytes.first_chunk().copied().unwrap_or_default();
        if Header::from_bytes(head).kind < kind::OWN {
            self.add(bytes);
        }
    }

    /// Returns the sum.
    pub(in crate::run) fn number(self) -> u64 {
        self.0
    }

    /// Adds one part.
    pub(in crate::run) fn add(&mut self, bytes: &[u8]) {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
        self.0 = self.0.wrapping_add(hash);
    }
}
