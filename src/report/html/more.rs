//! Writes what is folded below a scenario's verdicts: why it did not pass, and what differs from
//! each kernel to the next.

use super::summary::arrow;
use super::table::Line;
use super::text::{escape, lines, words as text};
use super::{chip, column, place, traces};
use crate::matrix::{Cell, Column, Step};
use crate::report::matrix::{Found, MatrixReport, both, evidence, plural, words};
use crate::upgrade::Within;
use crate::verdict::Verdict;
use std::fmt::Write;

pub(super) fn write(out: &mut String, report: &MatrixReport<'_>, row: &Line<'_>) {
    let _always_fits = writeln!(out, "<details><summary>{}</summary>", summary(row));
    // That a scenario was skipped, and what it lacked, is told by the upgrade alone.
    let is_told = |(cell, kernels): &Group<'_>| {
        let is_at = |kernel: &String| kernels.contains(&kernel.as_str());
        let mut found = row.found.iter();
        cell.verdict() == Verdict::Skipped
            && found.any(|found| {
                let is_of_one = is_at(&found.step.from) != is_at(&found.step.to);
                found.change.within == Within::Skipped && is_of_one
            })
    };
    let (told, untold): (Vec<Group<'_>>, Vec<Group<'_>>) = odd(row).into_iter().partition(is_told);
    for (cell, kernels) in &untold {
        reasons(out, report, row, cell, kernels);
    }
    // Each link of a cell leads to the first paragraph about it.
    let mut done: Vec<&str> = untold.into_iter().flat_map(|it| it.1).collect();
    let mut waiting: Vec<&str> = told.into_iter().flat_map(|it| it.1).collect();
    let mut steps: Vec<&Step> = row.found.iter().map(|found| found.step).collect();
    steps.dedup_by(|a, b| std::ptr::eq(*a, *b));
    for step in steps {
        let of_it = |found: &&Found<'_>| std::ptr::eq(found.step, step);
        let found: Vec<&Found<'_>> = row.found.iter().filter(of_it).collect();
        waiting.push(&step.to);
        waiting.retain(|kernel| !done.contains(kernel));
        waiting.dedup();
        write_step(out, report, row, step, &found, &waiting);
        done.append(&mut waiting);
    }
    for (trace, kernels) in traces_of(report, row.name) {
        whole(out, trace, &kernels);
    }
    out.push_str("</details>");
}

/// Returns the traces of a scenario, each with the kernels that have it.
pub(super) fn traces_of<'a>(
    report: &MatrixReport<'a>,
    scenario: &str,
) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for column in &report.matrix.columns {
        let Some(answer) = column.answers(scenario).first() else {
            continue;
        };
        match all.iter_mut().find(|(trace, _)| *trace == answer.trace) {
            _ if answer.trace.is_empty() => {}
            Some((_, kernels)) => kernels.push(&column.kernel),
            None => all.push((&answer.trace, vec![&column.kernel])),
        }
    }
    all
}

/// How many lines of a trace are shown; `harness run --traces` has all of a longer one.
const LINES: usize = 10_000;

/// Writes a whole trace, folded.
fn whole(out: &mut String, trace: &str, kernels: &[&str]) {
    let count = trace.lines().count();
    out.push_str("<details class=\"whole\"><summary>The trace on ");
    escape(out, &kernels.join(", "));
    let _always_fits = write!(out, ": {}</summary><pre>", plural(count, "line"));
    for line in trace.lines().take(LINES) {
        escape(out, line);
        out.push('\n');
    }
    let more = count.saturating_sub(LINES);
    if more > 0 {
        let _always_fits = writeln!(out, "\u{2026} {more} more lines");
    }
    out.push_str("</pre></details>\n");
}

/// `fail on 6.12; 2 differences from 6.1 to 6.12`.
fn summary(row: &Line<'_>) -> String {
    let mut out = String::new();
    for (cell, kernels) in odd(row) {
        out.push_str(if out.is_empty() { "" } else { "; " });
        match cell.verdict() {
            Verdict::Pass => out.push_str(&plural(cell.notes.len(), "note")),
            verdict => out.push_str(&words(verdict)),
        }
        out.push_str(" on ");
        escape(&mut out, &kernels.join(", "));
    }
    let count = row.found.len();
    if count > 0 {
        out.push_str(if out.is_empty() { "" } else { "; " });
        out.push_str(&plural(count, "difference"));
    }
    if out.is_empty() {
        out.push_str("trace");
    }
    out
}

/// Returns the results that are no plain pass, with the kernels of each.
fn odd<'a>(row: &Line<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for told in row.cells.iter().filter(|told| told.is_odd()) {
        match groups.iter_mut().find(|(known, _)| *known == told.cell) {
            Some((_, kernels)) => kernels.push(told.kernel()),
            None => groups.push((told.cell, vec![told.kernel()])),
        }
    }
    groups
}

/// A cell, and the kernels that have the same.
type Group<'a> = (&'a Cell, Vec<&'a str>);

fn reasons(
    out: &mut String,
    report: &MatrixReport<'_>,
    row: &Line<'_>,
    cell: &Cell,
    kernels: &[&str],
) {
    let verdict = cell.verdict();
    out.push_str("<h4>");
    for (n, kernel) in kernels.iter().enumerate() {
        let place = place(report, row.name, kernel);
        out.push_str(if n > 0 { ", " } else { "" });
        let _always_fits = write!(out, "<span id=\"{place}\">");
        escape(out, kernel);
        out.push_str("</span>");
    }
    let _always_fits = writeln!(
        out,
        ": <span class=\"{verdict}\">{}</span></h4>",
        words(verdict)
    );
    if !cell.findings.is_empty() {
        let findings = cell.findings.iter();
        lines(out, findings.flat_map(|finding| finding.text.lines()));
    }
    for note in &cell.notes {
        out.push_str("<p>Note: ");
        text(out, note);
        out.push_str("</p>\n");
    }
}

fn write_step(
    out: &mut String,
    report: &MatrixReport<'_>,
    row: &Line<'_>,
    step: &Step,
    found: &[&Found<'_>],
    targets: &[&str],
) {
    out.push_str("<h4>");
    for kernel in targets {
        let place = place(report, row.name, kernel);
        let _always_fits = write!(out, "<span id=\"{place}\"></span>");
    }
    arrow(out, step);
    let ends = found.first().map(|found| both(&found.seen.runs));
    let _always_fits = writeln!(out, ": {}</h4>", ends.unwrap_or_default());
    for found in found {
        out.push_str("<div class=\"change\">");
        chip(out, found.change.class);
        out.push(' ');
        text(out, &found.change.what);
        let mut evidence = evidence(found.change, found.seen).peekable();
        if evidence.peek().is_some() {
            lines(out, evidence);
        }
        out.push_str("</div>\n");
    }
    let columns = (column(report, &step.from), column(report, &step.to));
    if let (Some(from), Some(to)) = columns {
        let trace = |of: &Column| {
            let first = of.answers(row.name).first();
            first.map(|answer| answer.trace.clone()).unwrap_or_default()
        };
        let (before, after) = (trace(from), trace(to));
        if !before.is_empty() && !after.is_empty() {
            traces::write(out, [&name(from), &name(to)], &before, &after);
        }
    }
}

/// `6.1 (6.1.0-50-amd64)`.
fn name(column: &Column) -> String {
    if column.release.is_empty() {
        column.kernel.clone()
    } else {
        format!("{} ({})", column.kernel, column.release)
    }
}
