//! Writes JUnit XML, which CI systems read.

use crate::run::ScenarioReport;
use crate::verdict::{Finding, Verdict, joined};
use perf_records::units::{shown, shown_lines, shown_path};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Writes the whole suite as one XML document. A scenario that could not be run is an error, one
/// that did not pass is a failure, and a skip is a skip.
///
/// # Errors
/// What `quick-junit` cannot serialise.
pub fn junit(reports: &[ScenarioReport]) -> Result<String, quick_junit::SerializeError> {
    let mut suite = TestSuite::new("scenarios");
    for report in reports {
        let mut case = TestCase::new(
            shown(&report.name).as_ref(),
            status(report.verdict, &report.findings),
        );
        case.set_time(report.duration);
        case.add_property(("events", report.events.to_string().as_str()));
        case.add_property(("lost", report.lost.to_string().as_str()));
        case.add_property(("kernel", report.kernel.as_str()));
        for note in &report.notes {
            case.add_property(("note", shown(note).as_ref()));
        }
        if let Some(path) = &report.kept {
            case.add_property(("kept", shown_path(path).as_str()));
        }
        if let Some(path) = &report.dumped {
            case.add_property(("dump", shown_path(path).as_str()));
        }
        suite.add_test_case(case);
    }
    let mut document = Report::new("harness");
    document.add_test_suite(suite);
    document.to_string()
}

/// Returns the element for a verdict.
pub(super) fn status(verdict: Verdict, findings: &[Finding]) -> TestCaseStatus {
    let kind = match verdict {
        Verdict::Pass => return TestCaseStatus::success(),
        Verdict::Skipped => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(shown(&joined(findings, "; ")).as_ref());
            return status;
        }
        Verdict::Broken => NonSuccessKind::Error,
        _ => NonSuccessKind::Failure,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(verdict.word());
    let first = findings
        .first()
        .and_then(|finding| shown_lines(&finding.text).next());
    status.set_message(first.unwrap_or_default().as_ref());
    let lines: Vec<_> = findings
        .iter()
        .flat_map(|finding| shown_lines(&finding.text))
        .collect();
    status.set_description(lines.join("\n"));
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_verdict_has_its_element() {
        let report = |name: &str, verdict| ScenarioReport {
            usage: perf_live::units::Usage::default(),
            struck: Vec::new(),
            name: name.to_owned(),
            file: name.into(),
            row: String::new(),
            verdict,
            duration: std::time::Duration::from_millis(5),
            findings: vec![Finding::broken("why <not>")],
            notes: Vec::new(),
            events: 1,
            lost: 0,
            kernel: "6.1".to_owned(),
            kept: None,
            dumped: None,
            only_snapshot: false,
            trace: None,
        };
        let verdicts = [
            Verdict::Pass,
            Verdict::Fail,
            Verdict::Incomplete,
            Verdict::Skipped,
            Verdict::Broken,
        ];
        let reports: Vec<_> = verdicts
            .iter()
            .map(|verdict| report(verdict.word(), *verdict))
            .collect();
        let xml = junit(&reports).unwrap();
        assert!(
            xml.contains("tests=\"5\" skipped=\"1\" errors=\"1\" failures=\"2\"")
                || xml.contains("failures=\"2\""),
            "{xml}"
        );
        assert!(
            xml.contains("<skipped message=\"why &lt;not>\"")
                || xml.contains("<skipped message=\"why &lt;not&gt;\""),
            "{xml}"
        );
        assert!(
            xml.contains("<failure message=\"why") && xml.contains("type=\"incomplete\""),
            "{xml}"
        );
        assert!(xml.contains("<error message=\"why"), "{xml}");
    }
}
