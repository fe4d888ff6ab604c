//! Writes JUnit XML: a suite for each kernel, a case for each scenario.

use super::super::junit::{Case, Suite, document};
use super::{Found, MatrixReport};
use perf_records::units::{shown, shown_lines};

pub(super) fn write(out: &mut String, report: &MatrixReport<'_>) {
    let found = report.by_scenario();
    let suites = report.matrix.columns.iter().map(|column| {
        let trouble = column.trouble.as_ref().map(ToString::to_string);
        let trouble = trouble.unwrap_or_default();
        let mut cases = Vec::new();
        for scenario in &report.matrix.scenarios {
            let mut cells = report.matrix.row(scenario);
            let Some((_, cell)) = cells.find(|(of, _)| of.kernel == column.kernel) else {
                continue;
            };
            let notes = cell.notes.iter();
            let found = found.get(scenario.as_str()).map_or(&[][..], Vec::as_slice);
            let changes = found
                .iter()
                .filter(|found| found.step.to == column.kernel)
                .map(text)
                .collect::<Vec<String>>();
            cases.push(Case {
                name: shown(scenario).into_owned(),
                class: column.kernel.clone(),
                place: column.place(scenario),
                time: column.time(scenario),
                properties: notes
                    .map(|note| ("note", shown(note).into_owned()))
                    .collect(),
                verdict: cell.verdict(),
                findings: cell.findings.clone(),
                system_out: changes.join("\n"),
            });
        }
        Suite {
            name: column.kernel.clone(),
            time: column.took,
            properties: vec![("release", column.release.clone())],
            cases,
            system_err: shown_lines(&trouble).collect::<Vec<_>>().join("\n"),
        }
    });
    document(out, "harness matrix", &suites.collect::<Vec<_>>());
}

fn text(found: &Found<'_>) -> String {
    let mut lines = vec![format!(
        "unlike {}: {}: {}",
        found.step.from,
        found.change.class.word(),
        shown(&found.change.what)
    )];
    lines.extend(
        found
            .seen
            .evidence
            .iter()
            .map(|line| format!("  {}", shown(line))),
    );
    lines.join("\n")
}
