//! The same scenarios on several kernels: a table, and every difference once.

use super::json::string;
use crate::matrix::{Difference, Matrix};
use crate::verdict::Verdict;
use std::fmt::Write;

/// Appends the table of scenarios by kernels, then every difference, then what kept kernels from being told of.
pub fn matrix_human(out: &mut String, matrix: &Matrix) {
    table(out, matrix);
    for difference in matrix.differences() {
        out.push('\n');
        let kernels = difference.kernels.join(", ");
        let scenarios = difference.scenarios.join("\n    ");
        let _always_fits = writeln!(
            out,
            "{} on {kernels}{}:\n    {scenarios}",
            words(difference.verdict),
            elsewhere(&difference)
        );
        let reasons = difference.reasons.iter().flat_map(|reason| reason.lines());
        for line in reasons {
            let _always_fits = writeln!(out, "        {line}");
        }
        for note in &difference.notes {
            let _always_fits = writeln!(out, "        note: {note}");
        }
    }
    for column in &matrix.columns {
        if let Some(trouble) = &column.trouble {
            let _always_fits = writeln!(out, "\n{}: {trouble}", column.kernel);
        }
    }
}

fn words(verdict: Verdict) -> String {
    verdict.word().replace('_', " ")
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

fn table(out: &mut String, matrix: &Matrix) {
    const HEAD: &str = "scenario";
    let longest = matrix.scenarios.iter().map(|name| name.chars().count());
    let first = longest.max().unwrap_or(0).max(HEAD.len());
    let widths: Vec<usize> = matrix
        .columns
        .iter()
        .map(|column| {
            let words = matrix.scenarios.iter().flat_map(|name| {
                let own = matrix
                    .row(name)
                    .filter(|(of, _)| of.kernel == column.kernel);
                own.map(|(_, cell)| words(cell.verdict()).len())
            });
            words.max().unwrap_or(0).max(column.kernel.chars().count())
        })
        .collect();
    let mut line = |name: &str, cells: Vec<String>| {
        let mut text = format!("{name:first$}");
        for (cell, width) in cells.iter().zip(&widths) {
            let _always_fits = write!(text, "  {cell:width$}");
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(
        HEAD,
        matrix
            .columns
            .iter()
            .map(|column| column.kernel.clone())
            .collect(),
    );
    for name in &matrix.scenarios {
        line(
            name,
            matrix
                .row(name)
                .map(|(_, cell)| words(cell.verdict()))
                .collect(),
        );
    }
}

/// Appends an object for each scenario on each kernel, one for each difference, and at the end one for each kernel, each with a line feed.
pub fn matrix_json(out: &mut String, matrix: &Matrix) {
    for name in &matrix.scenarios {
        for (column, cell) in matrix.row(name) {
            out.push_str("{\"type\":\"cell\",\"scenario\":");
            string(out, name);
            out.push_str(",\"kernel\":");
            string(out, &column.kernel);
            let _always_fits = write!(out, ",\"verdict\":\"{}\"", cell.verdict());
            list(out, "reasons", &cell.reasons);
            list(out, "notes", &cell.notes);
            out.push_str("}\n");
        }
    }
    for difference in matrix.differences() {
        let _always_fits = write!(
            out,
            "{{\"type\":\"difference\",\"verdict\":\"{}\"",
            difference.verdict
        );
        list(out, "kernels", &difference.kernels);
        list(out, "scenarios", &difference.scenarios);
        list(out, "reasons", &difference.reasons);
        list(out, "notes", &difference.notes);
        out.push_str("}\n");
    }
    for column in &matrix.columns {
        out.push_str("{\"type\":\"kernel\",\"name\":");
        string(out, &column.kernel);
        out.push_str(",\"release\":");
        string(out, &column.release);
        let _always_fits = write!(
            out,
            ",\"duration_ms\":{},\"trouble\":",
            column.took.as_millis()
        );
        match &column.trouble {
            Some(trouble) => string(out, trouble),
            None => out.push_str("null"),
        }
        out.push_str("}\n");
    }
}

fn list(out: &mut String, name: &str, texts: &[String]) {
    let _always_fits = write!(out, ",\"{name}\":[");
    for (place, text) in texts.iter().enumerate() {
        out.push_str(if place > 0 { "," } else { "" });
        string(out, text);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Column;

    fn matrix() -> Matrix {
        let column = |kernel: &str, verdict: &str, reason: &str| {
            let mut column = Column::of(kernel);
            for line in [
                format!(
                    "{{\"type\":\"scenario\",\"name\":\"fs/mv\",\"verdict\":\"{verdict}\",\"reasons\":[{reason}],\"kernel\":\"r\"}}"
                ),
                "{\"type\":\"scenario\",\"name\":\"a\",\"verdict\":\"pass\"}".to_owned(),
            ] {
                assert!(column.line(&line), "{line}");
            }
            column
        };
        let mut old = column("5.10", "unexpected_pass", "\"one\\ntwo\"");
        old.trouble = Some("it broke".to_owned());
        Matrix::new(vec![old, column("7.2", "pass", "")], [])
    }

    #[test]
    fn the_table_comes_first_then_each_difference_then_trouble() {
        let mut text = String::new();
        matrix_human(&mut text, &matrix());
        assert_eq!(
            text,
            "\
scenario  5.10             7.2
a         pass             pass
fs/mv     unexpected pass  pass

unexpected pass on 5.10 (pass on 7.2):
    fs/mv
        one
        two

5.10: it broke
"
        );
    }

    #[test]
    fn each_line_is_an_object() {
        let mut text = String::new();
        matrix_json(&mut text, &matrix());
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let kinds: Vec<&str> = lines
            .iter()
            .map(|line| line["type"].as_str().unwrap())
            .collect();
        assert_eq!(
            kinds,
            [
                "cell",
                "cell",
                "cell",
                "cell",
                "difference",
                "kernel",
                "kernel"
            ]
        );
        assert_eq!(lines[4]["reasons"][0], "one\ntwo");
        assert_eq!(lines[5]["trouble"], "it broke");
    }
}
