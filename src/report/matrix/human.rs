//! Writes the table, and the results that are no plain pass.

use super::super::suite::{diff_color, verdict_color};
use super::{MatrixReport, in_cell, is_of_verdict, plural, real, scenarios, words};
use crate::matrix::{Difference, Matrix, Step};
use crate::upgrade::Within;
use crate::verdict::Verdict;
use perf_records::units::{shown, shown_lines};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

pub(super) fn write(out: &mut String, report: &MatrixReport<'_>, color: bool) {
    let matrix = report.matrix;
    table(out, matrix, color);
    let mut told = Told::default();
    for difference in matrix.differences() {
        if is_untold(&difference, report) {
            continue;
        }
        let step = explaining(&difference, &report.steps);
        if step.is_some_and(|step| is_told(&difference, step)) {
            continue;
        }
        if let Some(step) = step {
            told.add(&difference, step);
            continue;
        }
        head(out, &difference, color);
        let whole = difference.findings.iter();
        let whole = whole.flat_map(|finding| finding.text.lines());
        lines(out, whole, color);
        for note in &difference.notes {
            let _always_fits = writeln!(out, "        note: {}", shown(note));
        }
    }
    told.write(out, matrix, color);
    for column in &matrix.columns {
        if let Some(trouble) = &column.trouble {
            let trouble = trouble.to_string();
            let trouble = shown_lines(&trouble).collect::<Vec<_>>().join("\n");
            let names = matrix.scenarios.iter();
            let untold = names.filter(|name| report.is_untold(&column.kernel, name));
            let how = match column.interrupted {
                true => "had not ended",
                false => "broken",
            };
            let _always_fits = match untold.count() {
                0 => writeln!(out, "\n{}: {trouble}", column.kernel),
                n => writeln!(
                    out,
                    "\n{} ({n} of {} {how}): {trouble}",
                    column.kernel,
                    plural(matrix.scenarios.len(), "scenario")
                ),
            };
        }
    }
}

/// The results that an upgrade explains, by scenario: they are not explained twice.
#[derive(Default)]
struct Told(BTreeMap<String, Explained>);

/// The result of a scenario that did not pass.
#[derive(Default)]
struct Explained {
    verdicts: BTreeMap<Verdict, BTreeSet<String>>,
    steps: BTreeSet<String>,
    /// The first lines of the findings, and the notes.
    said: BTreeSet<String>,
}

impl Told {
    fn add(&mut self, difference: &Difference, step: &Step) {
        let found = difference.findings.iter();
        let found = found.filter_map(|finding| finding.text.lines().next());
        // What such a line introduces is told below, with the upgrade.
        let found = found.map(|line| line.strip_suffix(':').unwrap_or(line));
        let notes = difference.notes.iter().map(|note| format!("note: {note}"));
        let said: BTreeSet<String> = found.map(str::to_owned).chain(notes).collect();
        for name in &difference.scenarios {
            let of = self.0.entry(name.clone()).or_default();
            let kernels = of.verdicts.entry(difference.verdict).or_default();
            kernels.extend(difference.kernels.iter().cloned());
            of.steps.insert(format!("{} -> {}", step.from, step.to));
            of.said.extend(said.iter().cloned());
        }
    }

    fn write(&self, out: &mut String, matrix: &Matrix, color: bool) {
        if self.0.is_empty() {
            return;
        }
        out.push_str("\nno pass, for what differs below:\n");
        for (name, of) in &self.0 {
            let steps: Vec<&str> = of.steps.iter().map(String::as_str).collect();
            let mut verdicts = Vec::new();
            for (verdict, kernels) in &of.verdicts {
                let (start, end) = colors(*verdict, color);
                let all = matrix.columns.iter().map(|column| &column.kernel);
                let all: Vec<&str> = all
                    .filter(|it| kernels.contains(*it))
                    .map(String::as_str)
                    .collect();
                let word = words(*verdict);
                verdicts.push(format!("{start}{word}{end} on {}", all.join(", ")));
            }
            let _always_fits = writeln!(
                out,
                "    {}: {} (see {})",
                shown(name),
                verdicts.join("; "),
                steps.join(", ")
            );
            lines(out, of.said.iter().map(String::as_str), color);
        }
    }
}

/// Whether the reason is a failure of the kernel's guest.
fn is_untold(difference: &Difference, report: &MatrixReport<'_>) -> bool {
    let mut kernels = difference.kernels.iter();
    kernels.all(|kernel| {
        let mut names = difference.scenarios.iter();
        names.all(|name| report.is_untold(kernel, name))
    })
}

/// Returns the step at which these scenarios came to this result or left it, if it explains each of
/// them: its evidence is not shown twice.
fn explaining<'a>(difference: &Difference, steps: &'a [Step]) -> Option<&'a Step> {
    let holds = |kernel: &String| difference.kernels.contains(kernel);
    let mut crossing = steps
        .iter()
        .filter(|step| holds(&step.from) != holds(&step.to));
    crossing.find(|step| {
        let changes = real(step).filter(|change| !is_of_verdict(change));
        let told: BTreeSet<&str> = changes.flat_map(scenarios).collect();
        let mut names = difference.scenarios.iter();
        names.all(|name| told.contains(name.as_str()))
    })
}

/// Whether the step tells all of it: that a scenario was skipped, and what it lacked.
fn is_told(difference: &Difference, step: &Step) -> bool {
    let changes = step.changes.iter();
    let skipped = changes.filter(|change| change.within == Within::Skipped);
    let told: BTreeSet<&str> = skipped.flat_map(scenarios).collect();
    let mut names = difference.scenarios.iter();
    difference.verdict == Verdict::Skipped
        && difference.notes.is_empty()
        && names.all(|name| told.contains(name.as_str()))
}

fn head(out: &mut String, difference: &Difference, color: bool) {
    let (start, end) = colors(difference.verdict, color);
    let kernels = difference.kernels.join(", ");
    let scenarios: Vec<_> = difference.scenarios.iter().map(|it| shown(it)).collect();
    let scenarios = scenarios.join("\n    ");
    let _always_fits = writeln!(
        out,
        "\n{start}{}{end} on {kernels}{}:\n    {scenarios}",
        words(difference.verdict),
        elsewhere(difference)
    );
}

fn lines<'a>(out: &mut String, lines: impl Iterator<Item = &'a str>, color: bool) {
    for line in lines.map(shown) {
        let (start, end) = if color { diff_color(&line) } else { ("", "") };
        let _always_fits = writeln!(out, "        {start}{line}{end}");
    }
}

fn colors(verdict: Verdict, color: bool) -> (&'static str, &'static str) {
    if color {
        (verdict_color(verdict), "\u{1b}[0m")
    } else {
        ("", "")
    }
}

fn elsewhere(difference: &Difference) -> String {
    let others = difference.elsewhere.iter();
    let shown =
        others.map(|(verdict, kernels)| format!("{} on {}", words(*verdict), kernels.join(", ")));
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() {
        String::new()
    } else {
        format!(" ({})", shown.join("; "))
    }
}

fn table(out: &mut String, matrix: &Matrix, color: bool) {
    const HEAD: &str = "scenario";
    let longest = matrix
        .scenarios
        .iter()
        .map(|name| shown(name).chars().count());
    let first = longest.max().unwrap_or(0).max(HEAD.len());
    let mut widths: Vec<usize> = matrix
        .columns
        .iter()
        .map(|column| column.kernel.chars().count())
        .collect();
    for name in &matrix.scenarios {
        for (width, (column, cell)) in widths.iter_mut().zip(matrix.row(name)) {
            *width = in_cell(column, name, cell).len().max(*width);
        }
    }
    let mut line = |name: &str, cells: Vec<(String, (&str, &str))>| {
        let mut text = format!("{name:first$}");
        let last = cells.len().saturating_sub(1);
        for (place, ((cell, (start, end)), width)) in cells.iter().zip(&widths).enumerate() {
            // No blanks at the end of a line.
            let width = if place == last { 0 } else { *width };
            let pad = width.saturating_sub(cell.chars().count());
            let _always_fits = write!(text, "  {start}{cell}{end}{:pad$}", "");
        }
        out.push_str(&text);
        out.push('\n');
    };
    let kernels = matrix.columns.iter();
    line(
        HEAD,
        kernels
            .map(|column| (column.kernel.clone(), ("", "")))
            .collect(),
    );
    for name in &matrix.scenarios {
        let cells = matrix.row(name).map(|(column, cell)| {
            let colors = colors(cell.verdict(), color);
            (in_cell(column, name, cell), colors)
        });
        line(&shown(name), cells.collect());
    }
}
