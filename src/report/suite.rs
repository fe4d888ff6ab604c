//! Writes verdicts, as text and as JSON lines.

use super::json::{Object, object_line};
use crate::run::{Item, ScenarioReport};
use crate::verdict::{Finding, Verdict, joined};
use perf_live::units::Usage;
use perf_records::units::{count_of, shown, shown_lines, shown_path};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Appends a scenario's lines: the verdict, its name, what it took; then its reasons, indented.
/// Coloured with ANSI sequences on request.
pub fn human(out: &mut String, report: &ScenarioReport, color: bool) {
    let (start, end) = if color {
        (verdict_color(report.verdict), "\u{1b}[0m")
    } else {
        ("", "")
    };
    let word = report.verdict.word().replace('_', " ");
    let name = shown(&report.name);
    let _always_fits = write!(out, "{start}{word:>10}{end}  {name}");
    let milliseconds = report.duration.as_secs_f64() * 1e3;
    let _always_fits = match report.verdict {
        Verdict::Skipped => writeln!(out, ": {}", shown(&joined(&report.findings, "; "))),
        // Rules may be about what is not shown.
        _ if report.is_command && report.events == 0 => writeln!(out, "  ({milliseconds:.0} ms)"),
        _ => {
            let events = count_of(report.events, "event");
            writeln!(out, "  ({milliseconds:.0} ms, {events})")
        }
    };
    if report.verdict != Verdict::Skipped {
        let usage = report.usage.to_string();
        if !report.struck.is_empty() && !usage.is_empty() {
            let _always_fits = writeln!(out, "            used: {usage}");
        }
        let findings = report.findings.iter();
        for line in findings.flat_map(|finding| shown_lines(&finding.text)) {
            let (start, end) = if color { diff_color(&line) } else { ("", "") };
            let _always_fits = writeln!(out, "            {start}{line}{end}");
        }
    }
    for note in &report.notes {
        let _always_fits = writeln!(out, "            note: {}", shown(note));
    }
    if let Some(path) = &report.kept {
        let _always_fits = writeln!(out, "            kept in {}", shown_path(path));
    }
    if let Some(path) = &report.dumped {
        let text = text_of(path);
        let (text, path) = (shown_path(&text), shown_path(path));
        let _always_fits = writeln!(out, "            its end: {text}, {path}");
    }
}

/// Returns the path of the text beside a dump: `x.txt` beside `x.perf.data`.
#[must_use]
pub fn text_of(dump: &Path) -> PathBuf {
    dump.with_extension("").with_extension("txt")
}

pub(super) fn verdict_color(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "\u{1b}[32m",
        Verdict::Skipped => "\u{1b}[33m",
        _ => "\u{1b}[1;31m",
    }
}

pub(super) fn diff_color(line: &str) -> (&'static str, &'static str) {
    match line.as_bytes() {
        [b'+', ..] => ("\u{1b}[32m", "\u{1b}[0m"),
        [b'-', ..] => ("\u{1b}[31m", "\u{1b}[0m"),
        [b'~', ..] => ("\u{1b}[33m", "\u{1b}[0m"),
        [b'@', b'@', ..] => ("\u{1b}[36m", "\u{1b}[0m"),
        _ => ("", ""),
    }
}

/// Appends a scenario as a JSON object and a line feed.
pub fn scenario_json(out: &mut String, report: &ScenarioReport) {
    let texts = |findings: &[Finding]| {
        findings
            .iter()
            .map(|it| it.text.clone())
            .collect::<Vec<_>>()
    };
    object_line(out, "scenario", |line| {
        line.put("name", &report.name);
        line.put("file", report.file.to_string_lossy());
        line.put("verdict", report.verdict.word());
        line.put("duration_ms", report.duration.as_millis());
        line.put("reasons", texts(&report.findings));
        line.put("findings", &report.findings);
        line.put("events", report.events);
        line.put("lost", report.lost);
        line.put("kernel", &report.kernel);
        line.object("usage", |object| usage_json(object, &report.usage));
        let struck = report.struck.iter().map(ToString::to_string);
        line.put("struck", struck.collect::<Vec<_>>());
        line.put_some("faults", report.faults.as_ref());
        line.put_some("notes", (!report.notes.is_empty()).then_some(&report.notes));
        if let Some(trace) = &report.trace {
            line.put("trace", trace);
            line.put("only_snapshot", report.only_snapshot);
        }
        line.put_some("kept", report.kept.as_deref().map(Path::to_string_lossy));
        if let Some(path) = &report.dumped {
            line.put("dump", path.to_string_lossy());
            line.put("dump_text", text_of(path).to_string_lossy());
        }
    });
}

/// Writes what a run used: microseconds, bytes and numbers; null if this machine does not tell.
fn usage_json(object: &mut Object<'_>, usage: &Usage) {
    object.put("cpu_us", usage.cpu.map(|time| time.as_micros()));
    object.put("memory_peak", usage.memory_peak);
    object.put("largest_process", usage.largest_process);
    object.put("processes_peak", usage.processes_peak);
    object.put("context_switches", usage.context_switches);
}

/// Appends the line before all others if traces are wanted: the kernel's release, architecture and
/// settings.
pub fn machine_json(
    out: &mut String,
    (release, arch): (&str, &str),
    settings: &BTreeMap<String, String>,
) {
    object_line(out, "machine", |line| {
        line.put("release", release);
        line.put("arch", arch);
        line.put("settings", settings);
    });
}

/// Appends a line for the version of the program, and one for each scenario: its name and its file.
pub fn list_json(out: &mut String, version: &str, items: &[Item]) {
    object_line(out, "list", |line| line.put("version", version));
    for item in items {
        object_line(out, "item", |line| {
            line.put("name", &item.name);
            line.put("file", item.file.to_string_lossy());
        });
    }
}

/// `24 scenarios: 23 pass, 1 fail`.
#[must_use]
pub fn counted(reports: &[ScenarioReport]) -> String {
    let counts = Verdict::ALL.iter().filter_map(|word| {
        let all = reports.iter().map(|report| report.verdict);
        let count = all.filter(|verdict| verdict == word).count();
        (count > 0).then(|| format!("{count} {}", word.word().replace('_', " ")))
    });
    let counts: Vec<String> = counts.collect();
    let colon = if reports.is_empty() { "" } else { ": " };
    let what = match reports {
        [report, ..] if report.is_command => "command",
        _ => "scenario",
    };
    let all = count_of(reports.len() as u64, what);
    format!("{all}{colon}{}", counts.join(", "))
}

/// Appends the last line of a suite: how often each verdict was given.
pub fn suite_json(out: &mut String, verdicts: &[Verdict]) {
    object_line(out, "summary", |line| {
        for verdict in Verdict::ALL {
            let count = verdicts.iter().filter(|given| **given == verdict).count();
            line.put(verdict.word(), count);
        }
    });
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::verdict::About;

    pub(in crate::report) fn report() -> ScenarioReport {
        ScenarioReport {
            needs: None,
            usage: Usage {
                cpu: Some(std::time::Duration::from_micros(2500)),
                memory_peak: Some(3 << 20),
                ..Usage::default()
            },
            struck: Vec::new(),
            faults: None,
            name: "mv".to_owned(),
            file: "scenarios/mv.yaml".into(),
            row: String::new(),
            verdict: Verdict::Fail,
            duration: std::time::Duration::from_millis(7),
            findings: vec![Finding::missed(About::Stdout, "expected \"a\"\nand more")],
            notes: Vec::new(),
            events: 812,
            lost: 0,
            kernel: "6.18.44".to_owned(),
            kept: None,
            dumped: None,
            only_snapshot: false,
            is_command: false,
            trace: None,
            whole: None,
        }
    }

    #[test]
    fn a_scenario_is_one_json_line_with_the_agreed_members() {
        let mut out = String::new();
        scenario_json(&mut out, &report());
        assert_eq!(
            out,
            "{\"type\":\"scenario\",\"name\":\"mv\",\"file\":\"scenarios/mv.yaml\",\"verdict\":\"fail\",\"duration_ms\":7,\
             \"reasons\":[\"expected \\\"a\\\"\\nand more\"],\
             \"findings\":[{\"kind\":\"missed\",\"about\":\"stdout\",\"text\":\"expected \\\"a\\\"\\nand more\"}],\"events\":812,\"lost\":0,\"kernel\":\"6.18.44\",\"usage\":{\"cpu_us\":2500,\"memory_peak\":3145728,\
             \"largest_process\":null,\"processes_peak\":null,\"context_switches\":null},\"struck\":[]}\n"
        );
    }

    #[test]
    fn the_machine_and_the_traces_are_there_for_who_compares_kernels() {
        let settings = [("fs.protected_symlinks", "1"), ("Seccomp", "0")];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let traced = ScenarioReport {
            trace: Some("P1 mv\n  rename(\"a\") = 0\n".to_owned()),
            ..report()
        };
        let mut out = String::new();
        machine_json(&mut out, ("6.1.0", "arm64"), &BTreeMap::from(settings));
        scenario_json(&mut out, &traced);
        let mut column = crate::matrix::Column::of("6.1");
        let ends: Vec<bool> = out.lines().map(|line| column.line(line)).collect();
        assert_eq!(ends, [false, true]);
        assert_eq!(column.facts.release, "6.1.0");
        assert_eq!(column.facts.arch, "arm64");
        assert_eq!(column.facts.settings["fs.protected_symlinks"], "1");
        assert_eq!(
            column.answers("mv")[0].trace,
            "P1 mv\n  rename(\"a\") = 0\n"
        );
    }

    #[test]
    fn a_directory_that_was_kept_is_named() {
        let kept = ScenarioReport {
            kept: Some("/tmp/it".into()),
            ..report()
        };
        let (mut text, mut json) = (String::new(), String::new());
        human(&mut text, &kept, false);
        scenario_json(&mut json, &kept);
        assert!(text.ends_with("\n            kept in /tmp/it\n"), "{text}");
        assert!(json.ends_with(",\"kept\":\"/tmp/it\"}\n"), "{json}");
    }

    #[test]
    fn the_summary_has_every_verdict() {
        let mut out = String::new();
        suite_json(&mut out, &[Verdict::Pass, Verdict::Fail, Verdict::Pass]);
        assert_eq!(
            out,
            "{\"type\":\"summary\",\"pass\":2,\"fail\":1,\"incomplete\":0,\"timeout\":0,\"leak\":0,\"skipped\":0,\
             \"broken\":0,\"unexpected_pass\":0}\n"
        );
    }

    #[test]
    fn lines_of_an_explanation_have_the_colour_of_what_they_say() {
        let explained = ScenarioReport {
            findings: vec![Finding::missed(
                About::Events,
                "why\n+ met\n- not\n~ near\n@@ where @@\n  else",
            )],
            ..report()
        };
        let (mut colored, mut plain) = (String::new(), String::new());
        human(&mut colored, &explained, true);
        human(&mut plain, &explained, false);
        let lines: Vec<&str> = colored.lines().skip(1).map(str::trim_start).collect();
        assert_eq!(
            lines,
            [
                "why",
                "\u{1b}[32m+ met\u{1b}[0m",
                "\u{1b}[31m- not\u{1b}[0m",
                "\u{1b}[33m~ near\u{1b}[0m",
                "\u{1b}[36m@@ where @@\u{1b}[0m",
                "else",
            ]
        );
        assert!(!plain.contains('\u{1b}'), "{plain}");
    }

    #[test]
    fn what_was_not_judged_is_noted_for_people_and_programs() {
        let noted = ScenarioReport {
            verdict: Verdict::Pass,
            findings: Vec::new(),
            notes: vec!["runs without tracepoint `a:b`".to_owned()],
            ..report()
        };
        let mut out = String::new();
        human(&mut out, &noted, false);
        assert!(
            out.ends_with("\n            note: runs without tracepoint `a:b`\n"),
            "{out}"
        );
        out.clear();
        scenario_json(&mut out, &noted);
        assert!(
            out.contains("\"notes\":[\"runs without tracepoint `a:b`\"]"),
            "{out}"
        );
        let mut xml = String::new();
        crate::report::junit(&mut xml, &[noted]);
        let property = "<property name=\"note\" value=\"runs without tracepoint `a:b`\"/>";
        assert!(xml.contains(property), "{xml}");
    }

    #[test]
    fn a_person_reads_the_reasons_below_the_verdict() {
        let mut out = String::new();
        human(&mut out, &report(), false);
        assert_eq!(
            out,
            "      fail  mv  (7 ms, 812 events)\n            expected \"a\"\n            and more\n"
        );
        let struck = ScenarioReport {
            struck: vec![perf_live::units::Limit::Memory],
            ..report()
        };
        let mut out = String::new();
        human(&mut out, &struck, false);
        assert!(
            out.contains("\n            used: 2.50ms of CPU, 3 MiB of memory\n"),
            "{out}"
        );
    }
}
