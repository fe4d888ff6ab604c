//! Writes the parts above the table and below it.

use super::text::{escape, lines, words as text};
use super::{chip, place};
use crate::matrix::{Explained, Seen, Step};
use crate::report::matrix::{MatrixReport, by_verdicts, noise, plural, real, title};
use std::fmt::Write;

/// How many scenarios are named before the others are folded.
const NAMES: usize = 8;

/// Writes the overall result.
pub(super) fn lead(out: &mut String, report: &MatrixReport<'_>) {
    out.push_str("<p class=\"counts\">");
    for (outcome, count) in report.counts(&report.matrix.columns) {
        let (class, word) = (outcome.like(), outcome.words());
        let _always_fits = write!(out, "<span class=\"{class}\">{count} {word}</span> ");
    }
    out.push_str("</p>\n");
    if let Some(compared) = report.compared() {
        let _always_fits = writeln!(out, "<p>From each kernel to the next: {compared}.</p>");
    }
}

/// Writes a line for each kernel, and why it has no results for some scenarios.
pub(super) fn kernels(out: &mut String, report: &MatrixReport<'_>) {
    let columns = &report.matrix.columns;
    let given = report.counts(columns);
    out.push_str(
        "<section>\n<h2>Kernels</h2>\n<div class=\"wide\"><table class=\"kernels\">\n<thead><tr><th scope=\"col\">Kernel</th>\
         <th scope=\"col\">Release</th><th scope=\"col\" class=\"n\">Time</th>",
    );
    for outcome in given.keys() {
        let word = outcome.words();
        let _always_fits = write!(out, "<th scope=\"col\" class=\"n\">{word}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for column in columns {
        out.push_str("<tr><th scope=\"row\">");
        escape(out, &column.kernel);
        out.push_str("</th><td>");
        escape(out, &column.release);
        let _always_fits = write!(
            out,
            "</td><td class=\"n\">{:.1} s</td>",
            column.took.as_secs_f64()
        );
        let own = report.counts(std::slice::from_ref(column));
        for outcome in given.keys() {
            let count = own.get(outcome).copied().unwrap_or_default();
            let class = match count {
                0 => "none",
                _ => outcome.like().word(),
            };
            let word = outcome.words();
            let _always_fits = write!(
                out,
                "<td class=\"n {class}\" data-word=\"{word}\">{count}</td>"
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    for (place, column) in columns.iter().enumerate() {
        if let Some(trouble) = &column.trouble {
            let _always_fits = write!(
                out,
                "<details class=\"trouble\" id=\"k{place}\" open><summary>"
            );
            escape(out, &column.kernel);
            out.push_str(": ");
            escape(out, &trouble.said);
            out.push_str("</summary>");
            let more: Vec<String> = trouble.more().collect();
            if !more.is_empty() {
                lines(out, more.iter().map(String::as_str));
            }
            out.push_str("</details>\n");
        }
    }
    out.push_str("</section>\n");
}

/// Writes each upgrade with its differences, each once.
pub(super) fn upgrades(out: &mut String, report: &MatrixReport<'_>) {
    if report.steps.is_empty() {
        return;
    }
    out.push_str("<section>\n<h2>Upgrades</h2>\n");
    for step in &report.steps {
        out.push_str("<h3>");
        arrow(out, step);
        let _always_fits = writeln!(out, " <small>{}</small></h3>", title(step));
        if real(step).next().is_some() {
            out.push_str("<ul class=\"changes\">\n");
            for change in real(step) {
                item(out, report, step, change);
            }
            out.push_str("</ul>\n");
        }
        let noisy: Vec<&Explained> = noise(step).collect();
        if !noisy.is_empty() {
            let _always_fits = writeln!(
                out,
                "<details class=\"noisy\"><summary>Noise: {} from run to run on one kernel too</summary>\n<ul class=\"changes\">",
                match noisy.len() {
                    1 => "1 thing varies".to_owned(),
                    n => format!("{n} things vary"),
                }
            );
            for change in noisy {
                item(out, report, step, change);
            }
            out.push_str("</ul>\n</details>\n");
        }
    }
    out.push_str("</section>\n");
}

pub(super) fn arrow(out: &mut String, step: &Step) {
    escape(out, &step.from);
    out.push_str(" \u{2192} ");
    escape(out, &step.to);
}

fn item(out: &mut String, report: &MatrixReport<'_>, step: &Step, change: &Explained) {
    out.push_str("<li>");
    chip(out, change.class);
    out.push_str("<div>");
    text(out, &change.what);
    for (verdicts, seen) in by_verdicts(change) {
        let _always_fits = write!(out, "<div class=\"where\">{verdicts}: ");
        let (first, others) = seen.split_at(seen.len().min(NAMES));
        links(out, report, step, first);
        if !others.is_empty() {
            let _always_fits = write!(
                out,
                "<details><summary>and {}</summary>",
                plural(others.len(), "other")
            );
            links(out, report, step, others);
            out.push_str("</details>");
        }
        out.push_str("</div>");
    }
    out.push_str("</div></li>\n");
}

fn links(out: &mut String, report: &MatrixReport<'_>, step: &Step, seen: &[&Seen]) {
    for (n, seen) in seen.iter().enumerate() {
        out.push_str(if n > 0 { ", " } else { "" });
        let place = place(report, &seen.scenario, &step.to);
        let _always_fits = write!(out, "<a href=\"#{place}\">");
        escape(out, &seen.scenario);
        out.push_str("</a>");
    }
}

/// Explains the classes that occur.
pub(super) fn legend(out: &mut String, report: &MatrixReport<'_>) {
    let classes = report.classes();
    if classes.is_empty() {
        return;
    }
    out.push_str("<dl>\n");
    for class in classes {
        out.push_str("<dt>");
        chip(out, class);
        let _always_fits = writeln!(out, "</dt><dd>{}</dd>", class.meaning());
    }
    out.push_str("</dl>\n");
}
