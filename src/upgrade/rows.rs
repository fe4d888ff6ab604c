//! Two traces, line beside line.

use super::lines::TraceText;

/// Two lines that stand beside each other; one of them may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The line of the first trace.
    pub left: Option<&'a str>,
    /// The line of the second.
    pub right: Option<&'a str>,
    /// Whether they say the same: the numbers of processes may differ.
    pub is_same: bool,
}

/// All lines of two traces, as a person would lay them side by side: what [`super::aligned`] takes for the same process stands together, in it
/// the same calls and events.
#[must_use]
pub fn side_by_side<'a>(first: &'a str, second: &'a str) -> Vec<Row<'a>> {
    let is_trace = |text: &str| !TraceText::read(text).blocks.is_empty();
    if !is_trace(first) && !is_trace(second) {
        return Vec::new();
    }
    let (left, right): (Vec<&str>, Vec<&str>) = (first.lines().collect(), second.lines().collect());
    let mut rows = Vec::new();
    for op in similar::capture_diff_slices(similar::Algorithm::Patience, &left, &right) {
        let before = left.get(op.old_range()).unwrap_or_default();
        let after = right.get(op.new_range()).unwrap_or_default();
        for place in 0..before.len().max(after.len()) {
            let (left, right) = (before.get(place).copied(), after.get(place).copied());
            rows.push(Row {
                left,
                right,
                is_same: left == right,
            });
        }
    }
    rows
}
