//! Writes two traces side by side: the differences, with a few lines around each.

use super::text::escape;
use crate::upgrade::{Part, Row, side_by_side};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::fmt::Write;

/// How many equal lines are shown around differing ones; the others are counted.
const AROUND: usize = 3;

/// How many rows of one pair are shown; `harness diff` shows all of two long traces.
const ROWS: usize = 400;

/// Longer lines, in bytes, are not compared word by word.
const LONGEST: usize = 4000;

/// Appends both traces, folded; nothing if no line differs.
pub(super) fn write(out: &mut String, names: [&str; 2], first: &str, second: &str) {
    let rows = side_by_side(first, second);
    let differing = rows.iter().filter(|row| !row.is_same).count();
    if differing == 0 {
        return;
    }
    let _always_fits = write!(
        out,
        "<details class=\"traces\"><summary>Both traces, of which {differing} of {} lines are not the same</summary>\n<table>\n<thead><tr>",
        rows.len()
    );
    for name in names {
        out.push_str("<th scope=\"col\">");
        escape(out, name);
        out.push_str("</th>");
    }
    out.push_str("</tr></thead>\n");
    let mut shown = 0_usize;
    let mut rest = rows.as_slice();
    while !rest.is_empty() && shown < ROWS {
        let (equal, behind) = stretch(rest, true);
        let (other, next) = stretch(behind, false);
        let is_first = rest.len() == rows.len();
        shown = shown.saturating_add(write_equal(out, equal, is_first, other.is_empty()));
        let take = other.len().min(ROWS.saturating_sub(shown));
        let (now, later) = other.split_at(take);
        for row in now {
            write_row(out, row);
        }
        shown = shown.saturating_add(take);
        rest = next;
        if !later.is_empty() {
            skipped(out, later.len().saturating_add(next.len()), "more", "");
            rest = &[];
        }
    }
    if !rest.is_empty() {
        skipped(out, rest.len(), "more", "");
    }
    out.push_str("</table></details>\n");
}

/// Splits off the rows at the beginning that are all equal, or all different.
fn stretch<'r, 'a>(rows: &'r [Row<'a>], same: bool) -> (&'r [Row<'a>], &'r [Row<'a>]) {
    let end = rows.iter().position(|row| row.is_same != same);
    rows.split_at(end.unwrap_or(rows.len()))
}

/// Writes the ends of an equal stretch beside differences; returns how many rows these are.
fn write_equal(out: &mut String, rows: &[Row<'_>], is_first: bool, is_last: bool) -> usize {
    let before = if is_first { 0 } else { AROUND };
    let after = if is_last { 0 } else { AROUND };
    let around = before.saturating_add(after);
    // A remark on one or two lines left out takes as much room as the lines.
    if rows.len() <= around.saturating_add(2) {
        rows.iter().for_each(|row| write_row(out, row));
        return rows.len();
    }
    let (start, behind) = rows.split_at(before);
    let (middle, end) = behind.split_at(behind.len().saturating_sub(after));
    start.iter().for_each(|row| write_row(out, row));
    // The head of the process that the following lines belong to, if it is not among them.
    let is_task = |row: &&Row<'_>| row.part == Part::Task;
    let task = middle.iter().rfind(is_task);
    let task = task.filter(|_| !is_last && !end.iter().any(|row| is_task(&row)));
    let task = task.and_then(|row| row.left).unwrap_or_default();
    skipped(out, middle.len(), "equal", task);
    end.iter().for_each(|row| write_row(out, row));
    around.saturating_add(1)
}

fn skipped(out: &mut String, count: usize, how: &str, task: &str) {
    let lines = if count == 1 { "line" } else { "lines" };
    let _always_fits = write!(
        out,
        "<tr class=\"cut\"><td colspan=\"2\">\u{2026} {count} {how} {lines}"
    );
    if !task.is_empty() {
        out.push_str(", in <b>");
        escape(out, task);
        out.push_str("</b>");
    }
    out.push_str("</td></tr>\n");
}

fn write_row(out: &mut String, row: &Row<'_>) {
    let (class, left, right) = match (row.left, row.right) {
        _ if row.is_same && row.part == Part::Task => ("task", row.left, row.right),
        _ if row.is_same => ("", row.left, row.right),
        (Some(_), None) => ("gone", row.left, None),
        (None, Some(_)) => ("came", None, row.right),
        (left, right) => ("other", left, right),
    };
    if class.is_empty() {
        out.push_str("<tr>");
    } else {
        let _always_fits = write!(out, "<tr class=\"{class}\">");
    }
    let mut cell = |html: &str| {
        let _always_fits = write!(out, "<td>{html}</td>");
    };
    match (left, right) {
        (Some(left), Some(right)) if !row.is_same => {
            let (left, right) = marked(left, right);
            cell(&left);
            cell(&right);
        }
        (left, right) => {
            for text in [left, right] {
                let mut html = String::new();
                escape(&mut html, text.unwrap_or_default());
                cell(&html);
            }
        }
    }
    out.push_str("</tr>\n");
}

/// Marks the differences between two lines, if most of them is equal.
fn marked(left: &str, right: &str) -> (String, String) {
    let (mut a, mut b) = (String::new(), String::new());
    if left.len() > LONGEST || right.len() > LONGEST {
        escape(&mut a, left);
        escape(&mut b, right);
        return (a, b);
    }
    let (before, after) = (tokens(left), tokens(right));
    let ops = capture_diff_slices(Algorithm::Myers, &before, &after);
    let equal = ops.iter().filter(|op| matches!(op, DiffOp::Equal { .. }));
    let of = |op: &DiffOp| before.get(op.old_range()).unwrap_or_default().concat();
    let same: usize = equal.map(|op| of(op).trim().len()).sum();
    let is_alike = same.saturating_mul(3) > left.trim().len().max(right.trim().len());
    for op in &ops {
        let (old, new) = (
            of(op),
            after.get(op.new_range()).unwrap_or_default().concat(),
        );
        let is_equal = matches!(op, DiffOp::Equal { .. });
        mark(&mut a, &old, (is_alike && !is_equal).then_some("del"));
        mark(&mut b, &new, (is_alike && !is_equal).then_some("ins"));
    }
    (a, b)
}

fn mark(out: &mut String, text: &str, tag: Option<&str>) {
    match tag {
        Some(tag) if !text.is_empty() => {
            let _always_fits = write!(out, "<{tag}>");
            escape(out, text);
            let _always_fits = write!(out, "</{tag}>");
        }
        _ => escape(out, text),
    }
}

/// Splits a line into words, and single characters between them.
fn tokens(line: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut all = Vec::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let end = if is_word(c) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            c.len_utf8()
        };
        let (token, behind) = rest.split_at(end);
        all.push(token);
        rest = behind;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(first: &str, second: &str) -> String {
        let head = "# trace 2, level sequence\n\nP1 x\n";
        let (first, second) = (format!("{head}{first}"), format!("{head}{second}"));
        let mut out = String::new();
        write(&mut out, ["6.1", "6.12"], &first, &second);
        out
    }

    #[test]
    fn equal_traces_are_not_there() {
        assert_eq!(page("  close(3) = 0\n", "  close(3) = 0\n"), "");
    }

    #[test]
    fn words_that_differ_within_a_line_are_marked() {
        let html = page("  chmod(\"a\", 0644) = 0\n", "  chmod(\"a\", 0600) = 0\n");
        assert!(
            html.contains("chmod(&quot;a&quot;, <del>0644</del>) = 0"),
            "{html}"
        );
        assert!(html.contains(", <ins>0600</ins>) = 0"), "{html}");
        // Of lines that have little in common nothing is marked.
        let html = page(
            "  close(3) = 0\n",
            "  unlinkat(AT_FDCWD, \"b\") = -1 ENOENT\n",
        );
        assert!(!html.contains("<ins>"), "{html}");
    }

    #[test]
    fn equal_stretches_are_counted_but_for_a_few_lines() {
        let equal: String = (0..50).map(|n| format!("  read({n}) = {n}\n")).collect();
        let html = page(
            &format!("{equal}  close(3) = 0\n{equal}"),
            &format!("{equal}  close(3) = -1 EIO\n{equal}"),
        );
        // The head and the process are equal too.
        assert!(
            html.contains("\u{2026} 49 equal lines, in <b>P1 x</b>"),
            "{html}"
        );
        assert!(html.contains("\u{2026} 47 equal lines"), "{html}");
        assert_eq!(html.matches("<td>  read(").count(), 2 * 6, "{html}");
    }

    #[test]
    fn of_two_long_traces_without_anything_in_common_the_beginning_is_shown() {
        let all =
            |call: &str| -> String { (0..1000).map(|n| format!("  {call}({n}) = 0\n")).collect() };
        let html = page(&all("read"), &all("write"));
        assert!(html.matches("<tr").count() <= ROWS + 10, "{}", html.len());
        assert!(html.contains("more lines"));
    }
}
