//! Writes the results on several kernels as one page: without scripts or links to a network, folded
//! by `<details>` alone.
//!
//! Of several kernels equal results are not in it: its size depends on the differences. A trace is
//! in it once, however many kernels have the same.

mod more;
pub(super) mod power_cuts;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod traces;

use super::date;
use super::matrix::{MatrixReport, plural};
use crate::matrix::Column;
use crate::upgrade::Class;
use std::fmt::Write;

/// Colours, the fixed head of the table, and the rows that the choice above it shows.
const STYLE: &str = include_str!("style.css");

/// Appends the page.
pub(super) fn write(out: &mut String, report: &MatrixReport<'_>) {
    let scenarios = plural(report.matrix.scenarios.len(), "scenario");
    let title = format!(
        "{scenarios} on {}",
        match report.matrix.columns.as_slice() {
            [column] => {
                let mut name = String::new();
                text::escape(&mut name, &column.kernel);
                name
            }
            columns => plural(columns.len(), "kernel"),
        }
    );
    // No script and no foreign content can run, even if text of a trace contained it.
    let _always_fits = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <style>\n{STYLE}"
    );
    cards(out, report);
    let _always_fits = write!(
        out,
        "</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n"
    );
    if let Some(made) = report.made {
        let iso = date::iso(made);
        let shown = iso.replace('T', " ").replace('Z', " UTC");
        let _always_fits = writeln!(out, "<p><time datetime=\"{iso}\">{shown}</time></p>");
    }
    summary::lead(out, report);
    out.push_str("</header>\n<main>\n");
    summary::kernels(out, report);
    summary::upgrades(out, report);
    table::write(out, report);
    out.push_str("</main>\n<footer>\n");
    summary::legend(out, report);
    let _always_fits = writeln!(
        out,
        "<p>Made by harness {}.</p>\n</footer>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION")
    );
}

/// Appends rules by which a verdict names its kernel on a narrow page, whose table has no head.
fn cards(out: &mut String, report: &MatrixReport<'_>) {
    out.push_str("@media (max-width: 46rem) {\n");
    for (place, column) in report.matrix.columns.iter().enumerate() {
        let number = place.saturating_add(2);
        let _always_fits = write!(
            out,
            "  .matrix > tbody > tr:not(.more) > td:nth-child({number})::after {{ content: \"\\2002 "
        );
        for c in column.kernel.chars() {
            match c.is_ascii_alphanumeric() {
                true => out.push(c),
                // By its number and a blank, which ends the number, as above.
                false => {
                    let _always_fits = write!(out, "\\{:x} ", u32::from(c));
                }
            }
        }
        out.push_str("\"; }\n");
    }
    out.push_str("}\n");
}

/// The name of a class in the style sheet.
const fn slug(class: Class) -> &'static str {
    match class {
        Class::Behaviour => "behaviour",
        Class::Path => "path",
        Class::Layout => "layout",
        Class::Absent => "absent",
        Class::Environment => "environment",
        Class::Architecture => "architecture",
        Class::Noise => "noise",
    }
}

/// Appends a class's word in its colour.
fn chip(out: &mut String, class: Class) {
    let _always_fits = write!(
        out,
        "<span class=\"chip {}\" title=\"{}\">{}</span>",
        slug(class),
        class.meaning(),
        class.word()
    );
}

/// Returns the anchor of a scenario's differences at a kernel.
fn place(report: &MatrixReport<'_>, scenario: &str, kernel: &str) -> String {
    let row = report
        .matrix
        .scenarios
        .iter()
        .position(|name| name == scenario);
    let columns = &report.matrix.columns;
    let column = columns.iter().position(|column| column.kernel == kernel);
    format!(
        "s{}k{}",
        row.unwrap_or_default(),
        column.unwrap_or_default()
    )
}

fn column<'a>(report: &MatrixReport<'a>, kernel: &str) -> Option<&'a Column> {
    let mut columns = report.matrix.columns.iter();
    columns.find(|column| column.kernel == kernel)
}
