//! Lays two traces out for a reader.

use perf_records::units::shown as plain;
use std::fmt::Write;
use trace_harness::upgrade::{Part, Row};

/// How many equal lines are shown before and after a difference.
const CONTEXT: usize = 3;
const GONE: &str = "\u{1b}[31m";
const CAME: &str = "\u{1b}[32m";
const PLAIN: &str = "\u{1b}[0m";

/// A row, or a stretch of equal rows in its place.
enum Shown<'r, 'a> {
    Row(&'r Row<'a>),
    /// This many equal rows.
    Same(usize),
}

/// Returns the differences, with the lines around them and the heads of their processes; empty
/// without a difference.
fn shown<'r, 'a>(rows: &'r [Row<'a>]) -> Vec<Shown<'r, 'a>> {
    let mut is_shown = vec![false; rows.len()];
    let mut head = None;
    for (place, row) in rows.iter().enumerate() {
        if row.part == Part::Task {
            head = Some(place);
        }
        if row.is_same {
            continue;
        }
        let around = place.saturating_sub(CONTEXT)..rows.len().min(place + CONTEXT + 1);
        // The lines around it are of its own process.
        let from = head.unwrap_or(0).max(around.start);
        for near in from..around.end {
            let is_next = near > place && rows.get(near).is_some_and(|it| it.part == Part::Task);
            if is_next {
                break;
            }
            if let Some(is_shown) = is_shown.get_mut(near) {
                *is_shown = true;
            }
        }
        if let Some(is_shown) = head.and_then(|head| is_shown.get_mut(head)) {
            *is_shown = true;
        }
    }
    let mut all = Vec::new();
    if !is_shown.contains(&true) {
        return all;
    }
    for (row, is_shown) in rows.iter().zip(is_shown) {
        match (is_shown, all.last_mut()) {
            (true, _) => all.push(Shown::Row(row)),
            // The head of a trace, and a process without a difference, are not shown.
            (false, _) if row.part != Part::Line => {}
            (false, Some(Shown::Same(many))) => *many += 1,
            (false, _) => all.push(Shown::Same(1)),
        }
    }
    all
}

/// Writes `-` and `+` lines below the head of their process; empty without a difference.
pub(super) fn unified(names: [&str; 2], rows: &[Row<'_>]) -> String {
    let all = shown(rows);
    let mut out = String::new();
    if all.is_empty() {
        return out;
    }
    let [first, second] = names;
    let _always_fits = writeln!(
        out,
        "{GONE}--- {}{PLAIN}\n{CAME}+++ {}{PLAIN}",
        plain(first),
        plain(second)
    );
    for shown in all {
        let row = match shown {
            Shown::Row(row) => row,
            Shown::Same(many) => {
                let lines = if many == 1 { "line" } else { "lines" };
                let _always_fits = writeln!(out, "   ... {many} {lines}");
                continue;
            }
        };
        match (row.left, row.right) {
            (Some(left), Some(right)) if row.is_same => {
                let other = if row.part == Part::Task && left != right {
                    let number = right.split([' ', ',']).next().unwrap_or(right);
                    let own = left.split([' ', ',']).next().unwrap_or(left);
                    if number == own { "" } else { number }
                } else {
                    ""
                };
                let other = match other {
                    "" => String::new(),
                    number => format!("  (+ {number})"),
                };
                let _always_fits = writeln!(out, " {}{}", plain(left), plain(&other));
            }
            (left, right) => {
                if let Some(left) = left {
                    let _always_fits = writeln!(out, "{GONE}-{}{PLAIN}", plain(left));
                }
                if let Some(right) = right {
                    let _always_fits = writeln!(out, "{CAME}+{}{PLAIN}", plain(right));
                }
            }
        }
    }
    out
}

/// Writes both traces side by side in this many columns: `|` between lines that differ, `<` and `>`
/// beside a line that only one has.
pub(super) fn columns(names: [&str; 2], rows: &[Row<'_>], width: usize) -> String {
    let all = shown(rows);
    let mut out = String::new();
    if all.is_empty() {
        return out;
    }
    // A sign between two blanks.
    let column = width.saturating_sub(3).max(2 * LEAST) / 2;
    beside(&mut out, names, ' ', "", column);
    for shown in all {
        let row = match shown {
            Shown::Row(row) => row,
            Shown::Same(many) => {
                let lines = if many == 1 { "line" } else { "lines" };
                let said = format!("  ... {many} {lines}");
                beside(&mut out, [&said, &said], ' ', "", column);
                continue;
            }
        };
        let (sign, color) = match (row.left, row.right) {
            _ if row.is_same => (' ', ""),
            (Some(_), None) => ('<', GONE),
            (None, Some(_)) => ('>', CAME),
            _ => ('|', "\u{1b}[33m"),
        };
        let cells = [row.left, row.right].map(Option::unwrap_or_default);
        beside(&mut out, cells, sign, color, column);
    }
    out
}

/// The least width of a column in characters.
const LEAST: usize = 20;

/// Writes two cells, of several lines if they are too long for one.
fn beside(out: &mut String, cells: [&str; 2], sign: char, color: &str, column: usize) {
    let [left, right] = cells.map(|cell| wrapped(&plain(cell), column));
    let plain = if color.is_empty() { "" } else { PLAIN };
    for place in 0..left.len().max(right.len()).max(1) {
        let cell = |cells: &[String]| cells.get(place).cloned().unwrap_or_default();
        let line = format!("{:column$} {sign} {}", cell(&left), cell(&right));
        let _always_fits = writeln!(out, "{color}{}{plain}", line.trim_end());
    }
}

/// Splits a text into pieces of this many characters; all but the first are indented.
fn wrapped(text: &str, column: usize) -> Vec<String> {
    const FURTHER: &str = "      ";
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for c in text.chars() {
        if piece.chars().count() >= column {
            pieces.push(std::mem::replace(&mut piece, FURTHER.to_owned()));
        }
        piece.push(if c == '\t' { ' ' } else { c });
    }
    pieces.push(piece);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_harness::upgrade::side_by_side;

    const FIRST: &str = "# trace 2, level sequence\n\nP1 sh\n  a() = 0\n  b() = 0\n  c() = 0\n  d() = 0\n  e() = 0\n  wait4(P2) = P2\n\n\
P2 cat, child of P1\n  close(3) = 0\n";
    const SECOND: &str = "# trace 2, level sequence\n\nP1 sh\n  a() = 0\n  b() = 0\n  c() = 0\n  d() = 0\n  e() = 0\n  wait4(P3) = P3\n\n\
P2 tool, child of P1\n\nP3 cat, child of P1\n  close(3) = -1 EBADF\n";

    fn without_colors(text: &str) -> String {
        let mut out = String::new();
        for (place, part) in text.split('\u{1b}').enumerate() {
            let rest = part.split_once('m').filter(|_| place > 0);
            out.push_str(rest.map_or(part, |(_, rest)| rest));
        }
        out
    }

    #[test]
    fn what_differs_stands_under_its_process_and_the_rest_is_left_out() {
        let text = unified(["a", "b"], &side_by_side(FIRST, SECOND));
        let said = "--- a\n+++ b\n   ... 6 lines\n+P2 tool, child of P1\n P2 cat, child of P1  (+ P3)\n-  close(3) = 0\n+  close(3) = -1 EBADF\n";
        assert_eq!(without_colors(&text), said);
    }

    #[test]
    fn what_stands_around_a_line_is_of_its_own_process() {
        let first = "P1 sh\n  a() = 0\n  b() = 0\n  c() = 0\n  d() = 0\n  e() = 0\n\nP2 x, child of P1\n  f() = 0\n";
        let second = first.replace("e() = 0", "e() = 1");
        let text = unified(["a", "b"], &side_by_side(first, &second));
        let said = "--- a\n+++ b\n P1 sh\n   ... 1 line\n   b() = 0\n   c() = 0\n   d() = 0\n-  e() = 0\n+  e() = 1\n   ... 1 line\n";
        assert_eq!(without_colors(&text), said);
    }

    #[test]
    fn of_the_same_nothing_is_said() {
        assert_eq!(unified(["a", "b"], &side_by_side(FIRST, FIRST)), "");
        assert_eq!(columns(["a", "b"], &side_by_side(FIRST, FIRST), 80), "");
    }

    #[test]
    fn two_columns_are_as_wide_as_is_said_and_cut_nothing_off() {
        let first = "P1 sh\n  openat(AT_FDCWD, \"/a/rather/long/path\", O_RDONLY) = 3\n";
        let text = columns(["a", "b"], &side_by_side(first, "P1 sh\n  b() = 0\n"), 43);
        let said = "\
a                      b
P1 sh                  P1 sh
  openat(AT_FDCWD, \" <
      /a/rather/long <
      /path\", O_RDON <
      LY) = 3        <
                     >   b() = 0
";
        assert_eq!(without_colors(&text), said);
    }
}
