//! Writes JUnit XML, which CI systems read.

use super::xml;
use crate::matching::ByTest;
use crate::run::ScenarioReport;
use crate::verdict::{self, About, Finding, Verdict, joined};
use perf_records::units::{shown, shown_lines, shown_path};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// A list of cases.
pub(super) struct Suite {
    pub(super) name: String,
    pub(super) time: Duration,
    pub(super) properties: Vec<(&'static str, String)>,
    pub(super) cases: Vec<Case>,
    pub(super) system_err: String,
}

/// A case: a scenario, here or on a kernel.
pub(super) struct Case {
    pub(super) name: String,
    /// Tells cases of the same name apart.
    pub(super) class: String,
    /// The scenario's file, and the line that the first located finding is about.
    pub(super) place: Option<(String, usize)>,
    pub(super) time: Option<Duration>,
    pub(super) properties: Vec<(&'static str, String)>,
    pub(super) verdict: Verdict,
    pub(super) findings: Vec<Finding>,
    pub(super) system_out: String,
}

/// Appends the whole suite as one XML document. A scenario that could not be run is an error, one
/// that did not pass is a failure, and a skip is a skip.
pub fn junit(out: &mut String, reports: &[ScenarioReport]) {
    let suite = Suite {
        name: "scenarios".to_owned(),
        time: reports.iter().map(|report| report.duration).sum(),
        properties: Vec::new(),
        cases: reports.iter().flat_map(cases).collect(),
        system_err: String::new(),
    };
    document(out, "harness", &[suite]);
}

/// The case of a scenario or a command, and one for each test of its suite that did what its rules
/// do not allow, or are not known to.
fn cases(report: &ScenarioReport) -> Vec<Case> {
    let mut of_test: BTreeMap<&str, Vec<Finding>> = BTreeMap::new();
    for finding in &report.findings {
        for by in &finding.detail.tests {
            let own = of_test.entry(&by.test).or_default();
            own.push(done_by(by, finding));
        }
    }
    let tests = of_test.into_iter().map(|(test, findings)| Case {
        name: shown(test).into_owned(),
        class: shown(&report.name).into_owned(),
        place: Some((shown_path(&report.file), line(&findings))),
        time: None,
        properties: Vec::new(),
        verdict: match findings.iter().any(|it| it.kind == verdict::Kind::Missed) {
            true => Verdict::Fail,
            false => Verdict::Incomplete,
        },
        findings,
        system_out: String::new(),
    });
    std::iter::once(case(report)).chain(tests).collect()
}

/// What a finding says of one test.
fn done_by(by: &ByTest, finding: &Finding) -> Finding {
    let key = match &finding.about {
        About::Confined(key) => key,
        _ => "confined",
    };
    let says = match finding.kind {
        verdict::Kind::Missed => "does not allow",
        _ => "is not known to allow",
    };
    let did: Vec<String> = by.did.iter().map(|it| format!("`{it}`")).collect();
    let did = match did.is_empty() {
        true => "what has no name".to_owned(),
        false => did.join(", "),
    };
    Finding {
        text: format!("`{key}` {says} {did}"),
        ..finding.clone()
    }
}

fn case(report: &ScenarioReport) -> Case {
    let mut properties = vec![
        ("verdict", report.verdict.word().to_owned()),
        ("events", report.events.to_string()),
        ("lost", report.lost.to_string()),
        ("kernel", report.kernel.clone()),
    ];
    let notes = report.notes.iter();
    properties.extend(notes.map(|note| ("note", shown(note).into_owned())));
    let files = [("kept", &report.kept), ("dump", &report.dumped)];
    let files = files
        .into_iter()
        .filter_map(|(name, path)| Some((name, path.as_ref()?)));
    properties.extend(files.map(|(name, path)| (name, shown_path(path))));
    Case {
        name: shown(&report.name).into_owned(),
        class: "scenarios".to_owned(),
        place: Some((shown_path(&report.file), line(&report.findings))),
        time: Some(report.duration),
        properties,
        verdict: report.verdict,
        findings: report.findings.clone(),
        system_out: String::new(),
    }
}

/// Returns the line of the first finding that has one; for a scenario without, its first line.
pub(super) fn line(findings: &[Finding]) -> usize {
    let mut lines = findings.iter().filter_map(|finding| finding.detail.line);
    lines.next().unwrap_or(1)
}

/// Appends the document.
pub(super) fn document(out: &mut String, name: &str, suites: &[Suite]) {
    out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    xml::attribute(out, "name", name);
    let all = suites.iter().flat_map(|suite| &suite.cases);
    counts(out, all, suites.iter().map(|suite| suite.time).sum());
    out.push_str(">\n");
    for suite in suites {
        out.push_str("<testsuite");
        xml::attribute(out, "name", &suite.name);
        counts(out, suite.cases.iter(), suite.time);
        out.push_str(">\n");
        properties(out, &suite.properties);
        suite.cases.iter().for_each(|case| write_case(out, case));
        if !suite.system_err.is_empty() {
            xml::element(out, "system-err", &[], &suite.system_err);
        }
        out.push_str("</testsuite>\n");
    }
    out.push_str("</testsuites>\n");
}

/// What a verdict is in JUnit.
#[derive(PartialEq, Eq)]
enum Kind {
    Success,
    Skipped,
    Error,
    Failure,
}

impl Kind {
    fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Success,
            Verdict::Skipped => Self::Skipped,
            Verdict::Broken => Self::Error,
            _ => Self::Failure,
        }
    }
}

fn counts<'c>(out: &mut String, cases: impl Iterator<Item = &'c Case> + Clone, time: Duration) {
    let count = |wanted: Kind| {
        let of_kind = cases
            .clone()
            .filter(|case| Kind::of(case.verdict) == wanted);
        of_kind.count()
    };
    let _always_fits = write!(
        out,
        " tests=\"{}\" skipped=\"{}\" errors=\"{}\" failures=\"{}\" time=\"{}\"",
        cases.clone().count(),
        count(Kind::Skipped),
        count(Kind::Error),
        count(Kind::Failure),
        seconds(time)
    );
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

fn properties(out: &mut String, all: &[(&str, String)]) {
    if all.is_empty() {
        return;
    }
    out.push_str("<properties>\n");
    for (name, value) in all {
        xml::element(out, "property", &[("name", name), ("value", value)], "");
    }
    out.push_str("</properties>\n");
}

fn write_case(out: &mut String, case: &Case) {
    out.push_str("<testcase");
    xml::attribute(out, "name", &case.name);
    xml::attribute(out, "classname", &case.class);
    if let Some((file, line)) = &case.place {
        xml::attribute(out, "file", file);
        let _always_fits = write!(out, " line=\"{line}\"");
    }
    if let Some(time) = case.time {
        xml::attribute(out, "time", &seconds(time));
    }
    out.push_str(">\n");
    properties(out, &case.properties);
    let word = case.verdict.word();
    let first = case
        .findings
        .first()
        .and_then(|finding| shown_lines(&finding.text).next());
    let first = first.unwrap_or_default();
    let lines = || {
        let findings = case.findings.iter();
        let lines = findings.flat_map(|finding| shown_lines(&finding.text));
        lines.collect::<Vec<_>>().join("\n")
    };
    let failed = [("message", &*first), ("type", word)];
    match Kind::of(case.verdict) {
        Kind::Success => {}
        Kind::Skipped => {
            let all = joined(&case.findings, "; ");
            xml::element(out, "skipped", &[("message", &shown(&all))], "");
        }
        Kind::Error => xml::element(out, "error", &failed, &lines()),
        Kind::Failure => xml::element(out, "failure", &failed, &lines()),
    }
    if !case.system_out.is_empty() {
        xml::element(out, "system-out", &[], &case.system_out);
    }
    out.push_str("</testcase>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::suite::tests::report;
    use crate::verdict::About;

    #[test]
    fn each_kind_of_verdict_has_its_element_and_each_case_its_place() {
        let verdicts = [
            Verdict::Pass,
            Verdict::Fail,
            Verdict::Incomplete,
            Verdict::Skipped,
            Verdict::Broken,
        ];
        let reports = verdicts.map(|verdict| ScenarioReport {
            name: verdict.word().to_owned(),
            verdict,
            findings: vec![Finding::missed(About::Exit, "why <not>")],
            ..report()
        });
        let mut xml = String::new();
        junit(&mut xml, &reports);
        for part in [
            "<testsuites name=\"harness\" tests=\"5\" skipped=\"1\" errors=\"1\" failures=\"2\" time=\"0.035\">",
            "<skipped message=\"why &lt;not&gt;\"/>",
            "<failure message=\"why &lt;not&gt;\" type=\"incomplete\">why &lt;not&gt;</failure>",
            "<error message=\"why &lt;not&gt;\" type=\"broken\">",
            "<testcase name=\"pass\" classname=\"scenarios\" file=\"scenarios/mv.yaml\" line=\"1\" time=\"0.007\">",
        ] {
            assert!(xml.contains(part), "{part}\n{xml}");
        }
    }

    #[test]
    fn each_test_that_broke_a_rule_has_a_case_with_what_it_did() {
        let by = |test: &str, did: &[&str]| ByTest {
            test: test.to_owned(),
            did: did.iter().map(|it| (*it).to_owned()).collect(),
        };
        let finding = |kind, key: &str, tests| {
            let about = About::Confined(key.to_owned());
            let mut finding = Finding::new(kind, about, "words for people");
            (finding.detail.line, finding.detail.tests) = (Some(4), tests);
            finding
        };
        let both = vec![by("a::saves", &["<y>", "x"]), by("b", &[])];
        let reports = [ScenarioReport {
            name: "rules".to_owned(),
            verdict: Verdict::Fail,
            findings: vec![
                finding(verdict::Kind::Missed, "writes", both),
                finding(
                    verdict::Kind::Unknown,
                    "network",
                    vec![by("b", &["[::1]:9"])],
                ),
                finding(verdict::Kind::Unknown, "reads", vec![by("c", &["/x"])]),
            ],
            ..report()
        }];
        let mut xml = String::new();
        junit(&mut xml, &reports);
        for part in [
            "<testsuites name=\"harness\" tests=\"4\" skipped=\"0\" errors=\"0\" failures=\"4\"",
            "<testcase name=\"rules\" classname=\"scenarios\"",
            "<testcase name=\"a::saves\" classname=\"rules\" file=\"scenarios/mv.yaml\" line=\"4\">\n\
             <failure message=\"`writes` does not allow `&lt;y&gt;`, `x`\" type=\"fail\">",
            "<failure message=\"`writes` does not allow what has no name\" type=\"fail\">`writes` \
             does not allow what has no name\n`network` is not known to allow `[::1]:9`</failure>",
            "<failure message=\"`reads` is not known to allow `/x`\" type=\"incomplete\">",
        ] {
            assert!(xml.contains(part), "{part}\n{xml}");
        }
    }

    #[test]
    fn the_line_is_that_of_the_first_finding_that_has_one() {
        let mut second = Finding::missed(About::Exit, "b");
        second.detail.line = Some(7);
        let findings = [Finding::missed(About::Run, "a"), second];
        assert_eq!((line(&findings), line(&findings[..1])), (7, 1));
    }
}
