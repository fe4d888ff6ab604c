//! Two traces side by side.

use super::lines::{Block, Line, TraceText, renamed};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::borrow::Cow;
use std::collections::HashMap;

/// Something in which two traces differ, in the order of the traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// A process or thread that only the first has, with how many lines.
    Gone(&'a str, String, usize),
    /// One that only the second has.
    Came(&'a str, String, usize),
    /// A line that only the first has, and whose it is there.
    Only(&'a str, Line<'a>),
    /// A line that only the second has, and whose it is there.
    New(&'a str, Line<'a>),
    /// The same call or event, otherwise.
    Other(&'a str, Line<'a>, Line<'a>),
}

/// In what the second trace differs from the first. Processes are matched by program and descent, whatever their numbers are; in a process
/// lines by their names. Where names come and go side by side it is the longest that is common which is kept.
#[must_use]
pub fn aligned<'a>(first: &TraceText<'a>, second: &TraceText<'a>) -> Vec<Change<'a>> {
    let kinds = |trace: &TraceText<'a>| -> Vec<String> {
        trace
            .blocks
            .iter()
            .map(|block| block.kind.clone())
            .collect()
    };
    let ops = capture_diff_slices(Algorithm::Patience, &kinds(first), &kinds(second));
    let mut changes = Vec::new();
    let mut pairs = Vec::new();
    for op in &ops {
        let (old, new) = (op.old_range(), op.new_range());
        let (old, new) = (
            first.blocks.get(old).unwrap_or_default(),
            second.blocks.get(new).unwrap_or_default(),
        );
        // What is replaced one by one was renamed: a program by another name.
        let is_pairwise = matches!(op, DiffOp::Equal { .. }) || old.len() == new.len();
        if is_pairwise {
            pairs.extend(old.iter().zip(new));
        } else {
            let gone =
                |block: &Block<'a>| Change::Gone(block.task, block.kind.clone(), block.lines.len());
            let came =
                |block: &Block<'a>| Change::Came(block.task, block.kind.clone(), block.lines.len());
            changes.extend(old.iter().map(gone));
            changes.extend(new.iter().map(came));
        }
    }
    // What the second calls P3 is what the first calls P2.
    let names: HashMap<&str, &str> = pairs
        .iter()
        .map(|(old, new)| (new.task, old.task))
        .collect();
    for (old, new) in pairs {
        lines(old, new, &names, &mut changes);
    }
    changes
}

fn lines<'a>(
    old: &Block<'a>,
    new: &Block<'a>,
    names: &HashMap<&str, &str>,
    changes: &mut Vec<Change<'a>>,
) {
    let of = |block: &Block<'a>| -> Vec<&'a str> { block.lines.iter().map(|it| it.name).collect() };
    for op in capture_diff_slices(Algorithm::Myers, &of(old), &of(new)) {
        let before = old.lines.get(op.old_range()).unwrap_or_default();
        let after = new.lines.get(op.new_range()).unwrap_or_default();
        if !matches!(op, DiffOp::Equal { .. }) {
            changes.extend(before.iter().map(|line| Change::Only(old.task, *line)));
            changes.extend(after.iter().map(|line| Change::New(new.task, *line)));
            continue;
        }
        for (before, after) in before.iter().zip(after) {
            let said = if after.text.contains('P') {
                Cow::Owned(renamed(after.text, |task| names.get(task).copied()))
            } else {
                Cow::Borrowed(after.text)
            };
            if before.text != said {
                changes.push(Change::Other(old.task, *before, *after));
            }
        }
    }
}
