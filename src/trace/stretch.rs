//! A part of a run.

use super::{Deed, Normalised, Trace};
use std::collections::HashMap;

/// What happened after one moment and before another, in the order of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where what it begins behind was left.
    pub after: u64,
    /// Where what it ends before was entered; `None` for the end of the run.
    pub before: Option<u64>,
}

impl Stretch {
    /// To the end of the run; from 0 on it is all of it.
    #[must_use]
    pub fn from(after: u64) -> Self {
        Self {
            after,
            before: None,
        }
    }

    /// Whether something that was entered and left then is part of it: it ended behind the
    /// beginning, and began before the end.
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
    /// Leaves out what is no part of a stretch; `whole` is the trace before, normalised. Nothing is
    /// where the order was not kept.
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
