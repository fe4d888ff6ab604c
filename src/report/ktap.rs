//! Writes KTAP version 1, the kernel's form of TAP.
//!
//! # References
//! Documentation/dev-tools/ktap.rst, v6.18.

use crate::run::ScenarioReport;
use crate::verdict::{Verdict, joined};
use perf_records::units::{shown, shown_lines};
use std::fmt::Write;

/// Appends the version, the plan, and for each scenario its reasons as diagnostic lines and its
/// result. A skip has the directive SKIP, a timeout TIMEOUT; what says nothing of the workload
/// (incomplete, broken) is not ok, with the directive ERROR.
pub fn ktap(out: &mut String, reports: &[ScenarioReport]) {
    let _always_fits = writeln!(out, "KTAP version 1\n1..{}", reports.len());
    for (place, report) in reports.iter().enumerate() {
        if report.verdict != Verdict::Skipped {
            let findings = report.findings.iter();
            for line in findings.flat_map(|finding| shown_lines(&finding.text)) {
                let _always_fits = writeln!(out, "# {line}");
            }
        }
        for note in &report.notes {
            let _always_fits = writeln!(out, "# note: {}", shown(note));
        }
        let result = match report.verdict {
            Verdict::Pass | Verdict::Skipped => "ok",
            _ => "not ok",
        };
        // A description ends at the first number sign.
        let name = shown(&report.name).replace('#', "_");
        let _always_fits = write!(out, "{result} {} {name}", place.saturating_add(1));
        let _always_fits = match report.verdict {
            Verdict::Pass | Verdict::Fail => writeln!(out),
            Verdict::Skipped => {
                let why = joined(&report.findings, "; ");
                writeln!(out, " # SKIP {}", shown(&why))
            }
            Verdict::Timeout => writeln!(out, " # TIMEOUT"),
            Verdict::Incomplete | Verdict::Broken => writeln!(out, " # ERROR {}", report.verdict),
            Verdict::Leak | Verdict::UnexpectedPass => writeln!(out, " # {}", report.verdict),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::suite::tests::report;
    use crate::verdict::{About, Finding};

    #[test]
    fn each_verdict_has_its_result_and_directive() {
        let reports = Verdict::ALL.map(|verdict| ScenarioReport {
            name: format!("a[x=#1] {verdict}"),
            verdict,
            findings: match verdict {
                Verdict::Pass => Vec::new(),
                _ => vec![Finding::missed(About::Exit, "why\nnot ok 1 forged")],
            },
            ..report()
        });
        let mut out = String::new();
        ktap(&mut out, &reports);
        let (head, rest) = out.split_at(out.find("ok 1").unwrap_or(0));
        assert_eq!(head, "KTAP version 1\n1..8\n");
        let why = "# why\n# not ok 1 forged\n";
        assert_eq!(
            rest,
            format!(
                "ok 1 a[x=_1] pass\n{why}not ok 2 a[x=_1] fail\n\
                 {why}not ok 3 a[x=_1] incomplete # ERROR incomplete\n\
                 {why}not ok 4 a[x=_1] timeout # TIMEOUT\n{why}not ok 5 a[x=_1] leak # leak\n\
                 ok 6 a[x=_1] skipped # SKIP why\\nnot ok 1 forged\n\
                 {why}not ok 7 a[x=_1] broken # ERROR broken\n\
                 {why}not ok 8 a[x=_1] unexpected_pass # unexpected_pass\n"
            )
        );
    }
}
