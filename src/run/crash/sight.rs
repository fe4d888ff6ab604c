//! What is seen of a run's calls, as long as there is room for it.

use crate::crash::{Act, Seen};

/// So many bytes are kept of what a run writes and promises. The log has them once more, and so
/// have its pieces.
const MOST: usize = 512 << 20;

/// Why a run is incomplete whose bytes there is no room for.
pub(super) const TOO_MUCH: &str =
    "it wrote more than 512 MiB, which are all that is kept of what calls write";

/// The calls in the order in which they were let go on.
#[derive(Debug, Default)]
pub(super) struct Sight {
    pub(super) all: Vec<Seen>,
    bytes: usize,
}

impl Sight {
    /// Whether there was no room for all of it.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > MOST
    }

    /// Adds a call, or that it was one, where there is no room for more.
    pub(super) fn push(&mut self, mut seen: Seen) {
        let (bytes, is_call) = match &seen.act {
            Act::Write { bytes, .. } | Act::Cloned { bytes, .. } | Act::Said(bytes) => {
                (bytes.len(), true)
            }
            Act::Mapped { content, .. } => (usize::try_from(content.held()).unwrap_or(MOST), false),
            Act::Stored { pages, .. } | Act::StoredIn { pages, .. } => {
                (pages.iter().map(|page| page.bytes.len()).sum(), false)
            }
            _ => (0, true),
        };
        self.bytes = self.bytes.saturating_add(bytes);
        match (self.is_full(), is_call) {
            (false, _) => self.all.push(seen),
            (true, true) => {
                seen.act = Act::Nothing;
                self.all.push(seen);
            }
            (true, false) => {}
        }
    }
}
