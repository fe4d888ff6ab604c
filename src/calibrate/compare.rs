//! What runs are compared by.

use super::Who;
use crate::trace::{Block, Normalised};

/// The threads of somebody.
pub(super) fn blocks_of<'b>(who: &Who, run: &'b Normalised) -> Vec<&'b Block> {
    let is_his = |process: &&[Block]| {
        process.first().is_some_and(|leader| {
            leader.program == who.program
                && who
                    .process
                    .is_none_or(|process| process == leader.task.process)
        })
    };
    run.processes().filter(is_his).flatten().collect()
}

/// Whether this is the same of all runs of each row.
pub(super) fn all_same<'b, T: PartialEq>(
    rows: &[Vec<Vec<&'b Block>>],
    of: impl Fn(&Vec<&'b Block>) -> T,
) -> bool {
    rows.iter().all(|runs| {
        let mut all = runs.iter().map(&of);
        let first = all.next();
        all.all(|other| Some(other) == first)
    })
}
