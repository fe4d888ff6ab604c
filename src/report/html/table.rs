//! Writes the table of scenarios by kernels, and the choice of rows.

use super::text::escape;
use super::{more, place, slug};
use crate::matrix::{Cell, Column};
use crate::report::matrix::{Found, MatrixReport, Outcome, in_cell, plural, words};
use crate::upgrade::Class;
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The row of a scenario.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) cells: Vec<Told<'a>>,
    pub(super) found: Vec<Found<'a>>,
}

/// The result of a scenario on a kernel.
pub(super) struct Told<'a> {
    column: &'a Column,
    pub(super) cell: &'a Cell,
    /// There is no result, for a reason that is told with the kernel.
    is_untold: bool,
}

impl<'a> Told<'a> {
    pub(super) fn kernel(&self) -> &'a str {
        &self.column.kernel
    }

    /// Whether one word does not tell it all.
    pub(super) fn is_odd(&self) -> bool {
        let is_plain = self.cell.verdict() == Verdict::Pass && self.cell.notes.is_empty();
        !is_plain && !self.is_untold
    }
}

impl Line<'_> {
    /// Whether there is more to tell than its verdicts.
    fn has_more(&self, report: &MatrixReport<'_>) -> bool {
        let is_odd = self.cells.iter().any(Told::is_odd);
        let has_trace = || !more::traces_of(report, self.name).is_empty();
        is_odd || !self.found.is_empty() || (report.shows_traces && has_trace())
    }

    /// Returns the words by which the row is chosen.
    fn marks(&self) -> BTreeSet<String> {
        let mut marks = BTreeSet::new();
        for told in &self.cells {
            match Outcome::of(told.column, self.name) {
                Outcome::Told(Verdict::Pass) | Outcome::Interrupted => {}
                Outcome::Told(verdict) => {
                    marks.insert(format!("any-{verdict}"));
                }
            }
        }
        for found in &self.found {
            marks.insert(format!("has-{}", slug(found.change.class)));
        }
        if self.found.iter().any(|it| it.change.class != Class::Noise) {
            marks.insert("differs".to_owned());
        }
        marks
    }
}

pub(super) fn write(out: &mut String, report: &MatrixReport<'_>) {
    let mut found = report.by_scenario();
    let names = report.matrix.scenarios.iter();
    let rows: Vec<Line<'_>> = names
        .map(|name| Line {
            name,
            cells: report
                .matrix
                .row(name)
                .map(|(column, cell)| Told {
                    column,
                    cell,
                    is_untold: report.is_untold(&column.kernel, name),
                })
                .collect(),
            found: found.remove(name.as_str()).unwrap_or_default(),
        })
        .collect();
    out.push_str("<section>\n<h2>Scenarios</h2>\n");
    choice(out, &rows);
    out.push_str(
        "</section>\n<table class=\"matrix\">\n<thead><tr><th scope=\"col\">Scenario</th>",
    );
    for column in &report.matrix.columns {
        out.push_str("<th scope=\"col\">");
        escape(out, &column.kernel);
        out.push_str("</th>");
    }
    out.push_str("<td></td></tr></thead>\n");
    for row in &rows {
        write_row(out, report, row);
    }
    out.push_str("</table>\n");
}

/// Writes the choice: all, what differs, then each class and each verdict that occurs.
fn choice(out: &mut String, rows: &[Line<'_>]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for mark in rows.iter().flat_map(Line::marks) {
        let count = counts.entry(mark).or_default();
        *count = count.saturating_add(1);
    }
    if counts.is_empty() {
        return;
    }
    out.push_str("<fieldset class=\"show\"><legend>Show</legend>\n");
    let mut radio = |mark: &str, text: &str, count: usize| {
        let checked = if mark == "all" { " checked" } else { "" };
        let _always_fits = writeln!(
            out,
            "<label><input type=\"radio\" name=\"show\" id=\"{mark}\"{checked}> {text} <small>{count}</small></label>"
        );
    };
    radio("all", "all", rows.len());
    let classes = Class::ALL.map(|class| (format!("has-{}", slug(class)), class.word().to_owned()));
    let verdicts = Verdict::ALL.map(|verdict| (format!("any-{verdict}"), words(verdict)));
    let differs = ("differs".to_owned(), "differs".to_owned());
    for (mark, text) in [differs].into_iter().chain(classes).chain(verdicts) {
        if let Some(count) = counts.get(&mark) {
            radio(&mark, &text, *count);
        }
    }
    out.push_str("</fieldset>\n");
}

fn write_row(out: &mut String, report: &MatrixReport<'_>, row: &Line<'_>) {
    let marks: Vec<String> = row.marks().into_iter().collect();
    let class = match marks.as_slice() {
        [] => String::new(),
        marks => format!(" class=\"{}\"", marks.join(" ")),
    };
    let _always_fits = write!(out, "<tbody{class}><tr><th scope=\"row\">");
    escape(out, row.name);
    out.push_str("</th>");
    for told in &row.cells {
        write_cell(out, report, row, told);
    }
    out.push_str("</tr>\n");
    if row.has_more(report) {
        let columns = row.cells.len().saturating_add(2);
        let _always_fits = write!(out, "<tr class=\"more\"><td colspan=\"{columns}\">");
        more::write(out, report, row);
        out.push_str("</td></tr>");
    }
    out.push_str("</tbody>\n");
}

/// Writes a verdict; with a link if there is more to tell.
fn write_cell(out: &mut String, report: &MatrixReport<'_>, row: &Line<'_>, told: &Told<'_>) {
    let verdict = told.cell.verdict();
    let word = in_cell(told.column, row.name, told.cell);
    let _always_fits = write!(out, "<td class=\"{verdict}\">");
    let here = row.found.iter().filter(|it| it.step.to == told.kernel());
    let mut classes: Vec<Class> = here.map(|found| found.change.class).collect();
    classes.dedup();
    if told.is_untold {
        let columns = &report.matrix.columns;
        let place = columns.iter().position(|it| it.kernel == told.kernel());
        let place = place.unwrap_or_default();
        let _always_fits = write!(out, "<a href=\"#k{place}\">{word}</a></td>");
        return;
    }
    if classes.is_empty() && !told.is_odd() {
        let _always_fits = write!(out, "{word}</td>");
        return;
    }
    let place = place(report, row.name, told.kernel());
    let _always_fits = write!(out, "<a href=\"#{place}\">{word}");
    if let Some((first, others)) = classes.split_first() {
        let _always_fits = write!(
            out,
            "<small class=\"{}\">\u{2260} {}",
            slug(*first),
            first.word()
        );
        if !others.is_empty() {
            let _always_fits = write!(out, " +{}", others.len());
        }
        out.push_str("</small>");
    } else if verdict == Verdict::Pass {
        let notes = plural(told.cell.notes.len(), "note");
        let _always_fits = write!(out, "<small>{notes}</small>");
    }
    out.push_str("</a></td>");
}
