//! Writes JUnit XML: a suite for each kernel, a case for each scenario.

use super::super::junit::status;
use super::{Found, MatrixReport};
use perf_records::units::{shown, shown_lines};
use quick_junit::{Report, SerializeError, TestCase, TestSuite};

pub(super) fn write(report: &MatrixReport<'_>) -> Result<String, SerializeError> {
    let found = report.by_scenario();
    let mut document = Report::new("harness matrix");
    for column in &report.matrix.columns {
        let mut suite = TestSuite::new(column.kernel.as_str());
        suite.set_time(column.took);
        suite.add_property(("release", column.release.as_str()));
        if let Some(trouble) = &column.trouble {
            suite.set_system_err(shown_lines(trouble).collect::<Vec<_>>().join("\n"));
        }
        for scenario in &report.matrix.scenarios {
            let mut cells = report.matrix.row(scenario);
            let Some((_, cell)) = cells.find(|(of, _)| of.kernel == column.kernel) else {
                continue;
            };
            let status = status(cell.verdict(), &cell.findings);
            let mut case = TestCase::new(shown(scenario).as_ref(), status);
            // The class name tells cases of the same name apart.
            case.set_classname(column.kernel.as_str());
            for note in &cell.notes {
                case.add_property(("note", shown(note).as_ref()));
            }
            let found = found.get(scenario.as_str()).map_or(&[][..], Vec::as_slice);
            let changes: Vec<&Found<'_>> = found
                .iter()
                .filter(|found| found.step.to == column.kernel)
                .collect();
            if !changes.is_empty() {
                let texts: Vec<String> = changes.into_iter().map(text).collect();
                case.set_system_out(texts.join("\n"));
            }
            suite.add_test_case(case);
        }
        document.add_test_suite(suite);
    }
    document.to_string()
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
