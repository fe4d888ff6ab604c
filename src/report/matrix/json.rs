//! A line for each fact.

use super::super::json::{string, strings};
use super::MatrixReport;
use crate::matrix::{Matrix, Step};
use std::fmt::Write;

pub(super) fn write(out: &mut String, report: &MatrixReport<'_>) {
    let matrix = report.matrix;
    cells(out, matrix);
    for difference in matrix.differences() {
        let _always_fits = write!(
            out,
            "{{\"type\":\"difference\",\"verdict\":\"{}\"",
            difference.verdict
        );
        list(out, "kernels", &difference.kernels);
        list(out, "scenarios", &difference.scenarios);
        list(out, "reasons", &difference.findings);
        list(out, "notes", &difference.notes);
        out.push_str("}\n");
    }
    for step in &report.steps {
        changes(out, step);
    }
    kernels(out, matrix);
}

fn cells(out: &mut String, matrix: &Matrix) {
    for name in &matrix.scenarios {
        for (column, cell) in matrix.row(name) {
            out.push_str("{\"type\":\"cell\"");
            member(out, "scenario", name);
            member(out, "kernel", &column.kernel);
            let _always_fits = write!(out, ",\"verdict\":\"{}\"", cell.verdict());
            list(out, "reasons", &cell.findings);
            list(out, "notes", &cell.notes);
            out.push_str("}\n");
        }
    }
}

fn changes(out: &mut String, step: &Step) {
    for change in &step.changes {
        out.push_str("{\"type\":\"change\"");
        member(out, "from", &step.from);
        member(out, "to", &step.to);
        member(out, "class", change.class.word());
        member(out, "what", &change.what);
        out.push_str(",\"scenarios\":[");
        for (place, seen) in change.seen.iter().enumerate() {
            out.push_str(if place > 0 {
                ",{\"name\":"
            } else {
                "{\"name\":"
            });
            string(out, &seen.scenario);
            let (before, after) = seen.verdicts;
            let _always_fits = write!(out, ",\"verdicts\":[\"{before}\",\"{after}\"]");
            list(out, "evidence", &seen.evidence);
            out.push('}');
        }
        out.push_str("]}\n");
    }
}

fn kernels(out: &mut String, matrix: &Matrix) {
    for column in &matrix.columns {
        out.push_str("{\"type\":\"kernel\"");
        member(out, "name", &column.kernel);
        member(out, "release", &column.release);
        let took = column.took.as_millis();
        let _always_fits = write!(out, ",\"duration_ms\":{took},\"trouble\":");
        match &column.trouble {
            Some(trouble) => string(out, trouble),
            None => out.push_str("null"),
        }
        out.push_str("}\n");
    }
}

fn member(out: &mut String, name: &str, text: &str) {
    let _always_fits = write!(out, ",\"{name}\":");
    string(out, text);
}

fn list(out: &mut String, name: &str, texts: &[impl AsRef<str>]) {
    let _always_fits = write!(out, ",\"{name}\":[");
    strings(out, texts);
    out.push(']');
}
