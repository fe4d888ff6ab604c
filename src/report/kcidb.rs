//! Writes results as KCIDB, the database of the kernel's CI systems, takes them.
//!
//! # References
//! `kcidb_io/schema/v05_00.py` of kcidb-io 141. Later minor versions take the same.

use super::MatrixReport;
use super::json::Object;
use super::junit::line;
use crate::run::ScenarioReport;
use crate::verdict::{Finding, Kind, Verdict};
use perf_records::units::{shown, shown_lines, shown_path};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Who submits results, and how they are told from those of other runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// The name of the CI system: letters of the English alphabet in lower case, digits and `_`.
    pub origin: String,
    /// What no other run of this CI system is called.
    pub run: String,
    /// The build that was tested, by the id that who built it has submitted, for each kernel of a
    /// matrix by its name; for a run on one kernel by the empty name. For a kernel without one a
    /// build is submitted of which only the kernel's release is known.
    pub builds: BTreeMap<String, String>,
}

/// A test as KCIDB has it: a scenario on a kernel.
struct Test<'a> {
    scenario: &'a str,
    /// The kernel by the name that builds go by, and its release.
    kernel: &'a str,
    release: &'a str,
    verdict: Verdict,
    findings: &'a [Finding],
    notes: &'a [String],
    place: Option<(String, usize)>,
    time: Option<Duration>,
    /// Events, and how many records were lost.
    account: Option<(u64, u64)>,
}

/// Appends one object with all scenarios of a run, and the build that they were run on.
pub fn kcidb(out: &mut String, reports: &[ScenarioReport], by: &Submission) {
    let given = by.builds.contains_key("");
    let tests = reports.iter().map(|report| Test {
        scenario: &report.name,
        kernel: if given { "" } else { &report.kernel },
        release: &report.kernel,
        verdict: report.verdict,
        findings: &report.findings,
        notes: &report.notes,
        place: Some((shown_path(&report.file), line(&report.findings))),
        time: Some(report.duration),
        account: Some((report.events, report.lost)),
    });
    write(out, &tests.collect::<Vec<_>>(), by);
}

/// Does so for each kernel of a matrix.
pub(super) fn of_matrix(out: &mut String, report: &MatrixReport<'_>, by: &Submission) {
    let matrix = report.matrix;
    let of_row = |name| matrix.row(name).map(move |cell| (name, cell));
    let cells = matrix
        .scenarios
        .iter()
        .flat_map(|name| of_row(name.as_str()));
    let tests = cells.map(|(scenario, (column, cell))| Test {
        scenario,
        kernel: &column.kernel,
        release: &column.release,
        verdict: cell.verdict(),
        findings: &cell.findings,
        notes: &cell.notes,
        place: column.place(scenario),
        time: column.time(scenario),
        account: None,
    });
    write(out, &tests.collect::<Vec<_>>(), by);
}

fn write(out: &mut String, tests: &[Test<'_>], by: &Submission) {
    let id = |rest: &str| format!("{}:{}", by.origin, shown(rest));
    // What is not known of a build is left away.
    let own: BTreeMap<&str, &str> = tests
        .iter()
        .filter(|test| !by.builds.contains_key(test.kernel))
        .map(|test| (test.kernel, test.release))
        .collect();
    let of_kernel = |kernel: &str| id(&format!("{}:{kernel}", by.run));
    let comment = |kernel: &str, release: &str| match release {
        "" => format!("kernel {kernel}"),
        release => format!("Linux {release}"),
    };
    let paths = Paths::of(tests);
    Object::write(out, |all| {
        all.object("version", |version| {
            version.put("major", 5);
            version.put("minor", 0);
        });
        all.list("checkouts", &own, |object, (kernel, release)| {
            object.put("id", of_kernel(kernel));
            object.put("origin", &by.origin);
            object.put("comment", shown(&comment(kernel, release)));
        });
        all.list("builds", &own, |object, (kernel, release)| {
            object.put("id", of_kernel(kernel));
            object.put("origin", &by.origin);
            object.put("checkout_id", of_kernel(kernel));
            object.put("comment", shown(&comment(kernel, release)));
        });
        all.list("tests", tests, |object, test| {
            let kernel = test.kernel;
            let build = by.builds.get(kernel).cloned();
            let build = build.unwrap_or_else(|| of_kernel(kernel));
            object.put("id", id(&format!("{}:{kernel}:{}", by.run, test.scenario)));
            object.put("origin", &by.origin);
            object.put("build_id", build);
            object.put("path", paths.path(test.scenario));
            object.put("status", status(test.verdict, test.findings));
            object.put("comment", shown(test.scenario));
            object.put_some("duration", test.time.map(|time| time.as_secs_f64()));
            let why = excerpt(test);
            object.put_some("log_excerpt", (!why.is_empty()).then_some(why));
            object.object("environment", |object| {
                object.put("comment", shown(&comment(kernel, test.release)));
            });
            object.object("misc", |object| {
                object.put("verdict", test.verdict.word());
                object.put_some("file", test.place.as_ref().map(|(file, _)| file));
                object.put_some("line", test.place.as_ref().map(|(_, line)| line));
                object.put_some("events", test.account.map(|(events, _)| events));
                object.put_some("lost", test.account.map(|(_, lost)| lost));
            });
        });
    });
    out.push('\n');
}

/// Returns what a verdict is in KCIDB. PASS is said of a pass alone, and FAIL of what is certain of
/// the tested code; a failure that is known is one too, as issues there are matched by it.
fn status(verdict: Verdict, findings: &[Finding]) -> &'static str {
    let has = |kind| findings.iter().any(|finding| finding.kind == kind);
    match verdict {
        Verdict::Pass if has(Kind::KnownFailure) => "FAIL",
        Verdict::Pass => "PASS",
        // It was not run, and may not be skipped.
        Verdict::Fail if has(Kind::Unmet) => "MISS",
        // It never came to what was to be tested.
        Verdict::Fail if has(Kind::Unreached) && !has(Kind::Missed) => "ERROR",
        Verdict::Fail | Verdict::Timeout | Verdict::Leak => "FAIL",
        // It ran, and nothing follows; or what it says of the code is out of date.
        Verdict::Incomplete | Verdict::UnexpectedPass => "ERROR",
        Verdict::Broken => "MISS",
        Verdict::Skipped => "SKIP",
    }
}

/// The most characters of `log_excerpt`.
const EXCERPT: usize = 16384;

fn excerpt(test: &Test<'_>) -> String {
    let findings = test.findings.iter().map(|finding| finding.text.as_str());
    let notes = test.notes.iter().map(|note| format!("note: {note}"));
    let texts = findings.map(str::to_owned).chain(notes);
    let lines = texts.flat_map(|text| {
        shown_lines(&text)
            .map(std::borrow::Cow::into_owned)
            .collect::<Vec<_>>()
    });
    let lines: Vec<String> = lines.collect();
    lines.join("\n").chars().take(EXCERPT).collect()
}

/// Paths in the tree of tests, each of one scenario alone.
struct Paths<'a> {
    /// The scenarios whose names become the same path.
    alike: BTreeSet<&'a str>,
}

impl<'a> Paths<'a> {
    fn of(tests: &[Test<'a>]) -> Self {
        let mut names: BTreeMap<String, BTreeSet<&'a str>> = BTreeMap::new();
        for test in tests {
            names
                .entry(plain(test.scenario))
                .or_default()
                .insert(test.scenario);
        }
        let alike = names.into_values().filter(|names| names.len() > 1);
        Self {
            alike: alike.flatten().collect(),
        }
    }

    fn path(&self, scenario: &str) -> String {
        let plain = plain(scenario);
        if !self.alike.contains(scenario) {
            return plain;
        }
        // FNV-1a: it is to be the same in every run, and is no secret.
        let mixed = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let sum = scenario.bytes().fold(0xcbf2_9ce4_8422_2325, mixed);
        format!("{plain}_{sum:016x}")
    }
}

/// `harness.a.b` for `a/b`: letters and digits of ASCII, `_` and `-` are taken as they are.
fn plain(scenario: &str) -> String {
    let part = |part: &str| -> String {
        let plain = |c: char| match c {
            '-' => '-',
            c if c.is_ascii_alphanumeric() => c,
            _ => '_',
        };
        match part {
            "" => "_".to_owned(),
            part => part.chars().map(plain).collect(),
        }
    };
    let parts: Vec<String> = scenario.split('/').map(part).collect();
    format!("harness.{}", parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::suite::tests::report;
    use crate::verdict::About;
    use serde_json::Value;

    fn written(reports: &[ScenarioReport], builds: &[(&str, &str)]) -> Value {
        let builds = builds
            .iter()
            .map(|(kernel, id)| ((*kernel).to_owned(), (*id).to_owned()));
        let by = Submission {
            origin: "us".to_owned(),
            run: "7/1".to_owned(),
            builds: builds.collect(),
        };
        let mut out = String::new();
        kcidb(&mut out, reports, &by);
        serde_json::from_str(&out).unwrap()
    }

    #[test]
    fn only_a_pass_is_pass_and_what_is_not_known_is_never_fail() {
        let missed = [Finding::missed(About::Exit, "why")];
        let statuses = Verdict::ALL.map(|verdict| match verdict {
            Verdict::Pass => status(verdict, &[]),
            verdict => status(verdict, &missed),
        });
        assert_eq!(
            statuses,
            [
                "PASS", "FAIL", "ERROR", "FAIL", "FAIL", "SKIP", "MISS", "ERROR"
            ]
        );
        let known = [Finding::new(
            Kind::KnownFailure,
            About::Run,
            "fails as known",
        )];
        assert_eq!(status(Verdict::Pass, &known), "FAIL");
        let unmet = [Finding::new(Kind::Unmet, About::Machine, "no command")];
        assert_eq!(status(Verdict::Fail, &unmet), "MISS");
        let never_fired = [Finding::unreached(About::Events, "never fired")];
        assert_eq!(status(Verdict::Fail, &never_fired), "ERROR");
    }

    #[test]
    fn two_scenarios_never_share_a_path_or_an_id() {
        let named = |name: &str| ScenarioReport {
            name: name.to_owned(),
            ..report()
        };
        let all = written(&["a/b_c", "a/b c", "a/d", "a//e", "é"].map(named), &[]);
        let of = |key: &str| -> BTreeSet<String> {
            let tests = all["tests"].as_array().unwrap().iter();
            tests
                .map(|test| test[key].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!((of("path").len(), of("id").len()), (5, 5));
        assert!(of("path").contains("harness.a.d"));
        assert!(of("path").contains("harness.a._.e"));
        assert!(of("path").contains("harness._"));
    }

    #[test]
    fn a_build_that_somebody_else_submitted_is_named_and_none_is_made_up() {
        let own = written(&[report()], &[]);
        assert_eq!(own["builds"][0]["id"], "us:7/1:6.18.44");
        assert_eq!(own["builds"][0]["checkout_id"], own["checkouts"][0]["id"]);
        assert_eq!(own["tests"][0]["build_id"], own["builds"][0]["id"]);
        let given = written(&[report()], &[("", "maestro:1f")]);
        assert_eq!(given["builds"], serde_json::json!([]));
        assert_eq!(given["checkouts"], serde_json::json!([]));
        assert_eq!(given["tests"][0]["build_id"], "maestro:1f");
    }

    #[test]
    fn a_long_reason_is_cut_to_what_the_schema_takes() {
        let long = ScenarioReport {
            findings: vec![Finding::missed(About::Stdout, "é\0".repeat(20_000))],
            ..report()
        };
        let all = written(&[long], &[]);
        let excerpt = all["tests"][0]["log_excerpt"].as_str().unwrap();
        assert_eq!(excerpt.chars().count(), EXCERPT);
        assert!(!excerpt.contains('\0'), "{excerpt}");
    }
}
