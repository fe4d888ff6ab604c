//! Lays two traces out line by line.

use super::align::{Laid, laid_out};
use super::lines::{Block, TraceText};

/// Two lines side by side; one of them may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The line of the first trace.
    pub left: Option<&'a str>,
    /// The line of the second.
    pub right: Option<&'a str>,
    /// Whether they are equal, apart from the numbers of processes.
    pub is_same: bool,
    /// The kind of the row.
    pub part: Part,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A line of the trace's own head, behind a `#`.
    Trace,
    /// The head of a process or thread.
    Task,
    /// A call or an event.
    Line,
}

/// Returns all lines of two traces, side by side as a person would lay them out: processes that
/// [`super::aligned`] takes for the same, and within them the same calls and events. A line that
/// only one trace has stands alone. Empty lines are left out.
#[must_use]
pub fn side_by_side<'a>(first: &'a str, second: &'a str) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let heads = |text: &'a str| text.lines().take_while(|line| line.starts_with('#'));
    let (mut left, mut right) = (heads(first), heads(second));
    loop {
        let (left, right) = (left.next(), right.next());
        if left.is_none() && right.is_none() {
            break;
        }
        rows.push(Row {
            left,
            right,
            is_same: left == right,
            part: Part::Trace,
        });
    }
    let (first, second) = (TraceText::read(first), TraceText::read(second));
    for laid in laid_out(&first, &second) {
        match laid {
            Laid::First(block) => {
                rows.extend(alone(block).map(|(left, part)| Row {
                    left: Some(left),
                    right: None,
                    is_same: false,
                    part,
                }));
            }
            Laid::Second(block) => {
                rows.extend(alone(block).map(|(right, part)| Row {
                    left: None,
                    right: Some(right),
                    is_same: false,
                    part,
                }));
            }
            Laid::Both(both) => {
                let (old, new) = (both.old, both.new);
                rows.push(Row {
                    left: Some(old.head),
                    right: Some(new.head),
                    is_same: old.kind == new.kind && !both.is_moved,
                    part: Part::Task,
                });
                rows.extend(both.pairs.into_iter().map(|pair| Row {
                    left: pair.first.map(|line| line.whole),
                    right: pair.second.map(|line| line.whole),
                    is_same: pair.is_same,
                    part: Part::Line,
                }));
            }
        }
    }
    rows
}

fn alone<'a>(block: &Block<'a>) -> impl Iterator<Item = (&'a str, Part)> {
    let lines = block.lines.iter().map(|line| (line.whole, Part::Line));
    std::iter::once((block.head, Part::Task)).chain(lines)
}
