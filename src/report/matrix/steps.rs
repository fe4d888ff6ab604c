//! Writes each upgrade: what differs, where, and the evidence.

use super::super::suite::diff_color;
use super::{MatrixReport, by_verdicts, evidence, noise, plural, real, title};
use crate::matrix::{Explained, Seen, Step};
use crate::upgrade::Class;
use perf_records::units::{shown, shown_lines};
use std::fmt::Write;

/// How many scenarios are named, how many lines of evidence are shown, and how many kinds of noise
/// are listed.
const NAMES: usize = 5;
const LINES: usize = 8;
const KINDS: usize = 3;

/// The width of the words of classes, so that the differences stand in a column.
const INDENT: usize = 14;

pub(super) fn write(out: &mut String, report: &MatrixReport<'_>, color: bool) {
    for step in &report.steps {
        let _always_fits = writeln!(out, "\n{} -> {}: {}", step.from, step.to, title(step));
        for change in real(step) {
            out.push('\n');
            write_change(out, change, color);
        }
        write_noise(out, step);
    }
    let classes = report.classes();
    if !classes.is_empty() {
        out.push_str("\nwhat these words mean:\n");
    }
    for class in classes {
        let _always_fits = writeln!(
            out,
            "{:>width$}  {}",
            class.word(),
            class.meaning(),
            width = INDENT - 2
        );
    }
    end(out, report);
}

fn write_change(out: &mut String, change: &Explained, color: bool) {
    let (start, end) = match (color, change.class) {
        (false, _) => ("", ""),
        (true, Class::Behaviour) => ("\u{1b}[1;31m", "\u{1b}[0m"),
        (true, _) => ("\u{1b}[33m", "\u{1b}[0m"),
    };
    let word = change.class.word();
    let mut what = shown_lines(&change.what);
    let first = what.next().unwrap_or_default();
    let _always_fits = writeln!(
        out,
        "{start}{word:>width$}{end}  {first}",
        width = INDENT - 2
    );
    let mut line = |text: &str, (start, end): (&str, &str)| {
        let _always_fits = writeln!(out, "{:INDENT$}{start}{text}{end}", "");
    };
    for more in what {
        line(&more, ("", ""));
    }
    let groups = by_verdicts(change);
    for (verdicts, seen) in &groups {
        line(&format!("{verdicts}: {}", names(seen)), ("", ""));
    }
    let first = groups.first().and_then(|(_, seen)| seen.first());
    let evidence: Vec<&str> = first
        .into_iter()
        .flat_map(|seen| evidence(change, seen))
        .collect();
    for text in evidence.iter().take(LINES).map(|text| shown(text)) {
        let text = &*text;
        line(text, if color { diff_color(text) } else { ("", "") });
    }
    if evidence.len() > LINES {
        let more = plural(evidence.len() - LINES, "more line");
        line(&format!("and {more}"), ("", ""));
    }
}

/// Writes a line of what varies, and where.
fn write_noise(out: &mut String, step: &Step) {
    let mut kinds: Vec<String> = noise(step)
        .map(|change| {
            let seen: Vec<&Seen> = change.seen.iter().collect();
            format!("{} in {}", shown(&change.what), names(&seen))
        })
        .collect();
    if kinds.is_empty() {
        return;
    }
    if kinds.len() > KINDS {
        let more = kinds.len() - KINDS;
        kinds.truncate(KINDS);
        kinds.push(format!("and {more} more"));
    }
    let _always_fits = writeln!(
        out,
        "\n{:>width$}  {}",
        Class::Noise.word(),
        kinds.join("; "),
        width = INDENT - 2
    );
}

/// Returns the first names, and how many more there are.
fn names(seen: &[&Seen]) -> String {
    let names = seen.iter().take(NAMES).map(|seen| shown(&seen.scenario));
    let names = names.collect::<Vec<_>>().join(", ");
    match seen.len().saturating_sub(NAMES) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

/// Writes how much was compared, and the result.
fn end(out: &mut String, report: &MatrixReport<'_>) {
    let matrix = report.matrix;
    let counts: Vec<String> = report
        .counts(&matrix.columns)
        .into_iter()
        .map(|(outcome, count)| format!("{count} {}", outcome.words()))
        .collect();
    let _always_fits = write!(
        out,
        "\n{}, {}: {}",
        plural(matrix.scenarios.len(), "scenario"),
        plural(matrix.columns.len(), "kernel"),
        counts.join(", ")
    );
    if let Some(compared) = report.compared() {
        let _always_fits = write!(out, "; {compared}");
    }
    out.push('\n');
}
