//! Writes a line of JSON for each fact.

use super::super::json::object_line;
use super::MatrixReport;
use crate::matrix::{Matrix, Step};
use crate::verdict::Finding;

pub(super) fn write(out: &mut String, report: &MatrixReport<'_>) {
    let matrix = report.matrix;
    cells(out, matrix);
    for difference in matrix.differences() {
        object_line(out, "difference", |line| {
            line.put("verdict", difference.verdict.word());
            line.put("kernels", &difference.kernels);
            line.put("scenarios", &difference.scenarios);
            line.put("reasons", texts(&difference.findings));
            line.put("notes", &difference.notes);
        });
    }
    for step in &report.steps {
        changes(out, step);
    }
    kernels(out, matrix);
}

fn texts(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(AsRef::as_ref).collect()
}

fn cells(out: &mut String, matrix: &Matrix) {
    for name in &matrix.scenarios {
        for (column, cell) in matrix.row(name) {
            object_line(out, "cell", |line| {
                line.put("scenario", name);
                line.put("kernel", &column.kernel);
                line.put("verdict", cell.verdict().word());
                let all = cell.verdicts().iter().map(|verdict| verdict.word());
                line.put("verdicts", all.collect::<Vec<&str>>());
                line.put("reasons", texts(&cell.findings));
                line.put("notes", &cell.notes);
            });
        }
    }
}

fn changes(out: &mut String, step: &Step) {
    for change in &step.changes {
        object_line(out, "change", |line| {
            line.put("from", &step.from);
            line.put("to", &step.to);
            line.put("class", change.class.word());
            line.put("what", &change.what);
            line.list("scenarios", &change.seen, |object, seen| {
                let (before, after) = seen.verdicts;
                object.put("name", &seen.scenario);
                object.put("verdicts", [before.word(), after.word()]);
                object.put("evidence", &seen.evidence);
            });
        });
    }
}

fn kernels(out: &mut String, matrix: &Matrix) {
    for column in &matrix.columns {
        object_line(out, "kernel", |line| {
            line.put("name", &column.kernel);
            line.put("release", &column.release);
            line.put("duration_ms", column.took.as_millis());
            line.put("trouble", column.trouble.as_ref().map(ToString::to_string));
            line.put("interrupted", column.interrupted);
        });
    }
}
