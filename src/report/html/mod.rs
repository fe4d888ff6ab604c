//! Writes the results on several kernels as one page: without scripts or links to a network, folded
//! by `<details>` alone.
//!
//! Equal results are not in it: its size depends on the differences.

mod more;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod traces;

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
        plural(report.matrix.columns.len(), "kernel")
    );
    // No script and no foreign content can run, even if text of a trace contained it.
    let _always_fits = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n"
    );
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

/// The name of a class in the style sheet.
const fn slug(class: Class) -> &'static str {
    match class {
        Class::Behaviour => "behaviour",
        Class::Path => "path",
        Class::Layout => "layout",
        Class::Absent => "absent",
        Class::Environment => "environment",
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
