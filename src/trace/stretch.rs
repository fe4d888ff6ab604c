//! A part of a run.

use super::{Deed, Normalised, Trace};
use std::collections::HashMap;

/// A part of the run, after one moment and before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The end of the deed after which it begins.
    pub after: u64,
    /// The entry of the deed before which it ends; `None` for the end of the run.
    pub before: Option<u64>,
}

impl Stretch {
    /// The part up to the end of the run; from 0 on, all of it.
    #[must_use]
    pub fn from(after: u64) -> Self {
        Self {
            after,
            before: None,
        }
    }

    /// Whether something with this entry and this end is part of it: it ended after the beginning,
    /// and began before the end.
    #[must_use]
    pub fn holds(self, entered: u64, left: u64) -> bool {
        left > self.after && self.before.is_none_or(|before| entered < before)
    }

    /// The same for a deed.
    #[must_use]
    pub fn has(self, deed: &Deed) -> bool {
        self.holds(deed.entered, deed.left)
    }
}

impl Trace {
    /// Leaves out what is not in a stretch; `whole` is the trace before that, normalised. Without
    /// an order, nothing is left.
    pub fn cut(&mut self, stretch: Stretch, whole: &Normalised) {
        let mut kept = HashMap::new();
        for block in &whole.blocks {
            let mut thread = None;
            let has = |deed: &Deed| {
                thread = Some(deed.thread);
                stretch.has(deed)
            };
            let places: Vec<bool> = block.deeds.iter().map(has).collect();
            kept.extend(thread.map(|thread| (thread, places)));
        }
        for log in &mut self.logs {
            let places = kept.remove(&log.thread).unwrap_or_default();
            let mut places = places.into_iter();
            log.slots.retain(|_| places.next().unwrap_or(false));
            log.recount();
        }
    }
}
