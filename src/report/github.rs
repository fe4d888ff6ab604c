//! Writes results for GitHub: annotations at lines of scenarios, and the summary of a step.

use super::junit::line;
use crate::run::ScenarioReport;
use crate::verdict::{Verdict, joined};
use perf_records::units::{shown, shown_lines};
use std::fmt::Write;
use std::path::Path;

/// Appends a workflow command for each scenario that is no pass: an error, and for a skip a notice.
/// `folder` is where this process is, below the folder of the repository.
pub fn github(out: &mut String, reports: &[ScenarioReport], folder: &Path) {
    for report in reports {
        let command = match report.verdict {
            Verdict::Pass => continue,
            Verdict::Skipped => "notice",
            _ => "error",
        };
        let word = report.verdict.word().replace('_', " ");
        let file = folder.join(&report.file);
        let _always_fits = write!(
            out,
            "::{command} file={}",
            property(&shown(&file.to_string_lossy()))
        );
        let _always_fits = write!(out, ",line={}", line(&report.findings));
        let located = report.findings.iter().find_map(|it| it.detail.column);
        if let Some(column) = located {
            let _always_fits = write!(out, ",col={column}");
        }
        let title = format!("{}: {word}", shown(&report.name));
        let lines = report.findings.iter();
        let lines = lines.flat_map(|finding| shown_lines(&finding.text));
        let lines: Vec<_> = lines.collect();
        let _always_fits = writeln!(
            out,
            ",title={}::{}",
            property(&title),
            data(&lines.join("\n"))
        );
    }
}

/// Escapes the message of a command, which ends with its line.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// How much of a summary is written, in bytes: GitHub refuses one of more than 1 MiB a step.
const MOST: usize = 900 << 10;

/// Appends the results in Markdown: how many of each verdict, the scenarios that are no pass with
/// their reasons folded, and all verdicts in a table.
pub fn markdown(out: &mut String, reports: &[ScenarioReport]) {
    let start = out.len();
    let _always_fits = writeln!(out, "## {}\n", super::suite::counted(reports));
    let (good, bad): (Vec<_>, Vec<_>) = reports
        .iter()
        .partition(|it| matches!(it.verdict, Verdict::Pass | Verdict::Skipped));
    let mut left_out = 0_usize;
    for report in bad {
        let mut text = String::new();
        failure(&mut text, report);
        match out.len().saturating_sub(start).saturating_add(text.len()) < MOST {
            true => out.push_str(&text),
            false => left_out = left_out.saturating_add(1),
        }
    }
    if !good.is_empty() {
        out.push_str("| verdict | scenario | time | |\n|---|---|--:|---|\n");
    }
    for report in good {
        let why = match report.verdict {
            Verdict::Skipped => joined(&report.findings, "; "),
            _ => report.notes.join("; "),
        };
        let row = format!(
            "| {} | {} | {} ms | {} |\n",
            report.verdict,
            cell(&report.name),
            report.duration.as_millis(),
            cell(&why)
        );
        match out.len().saturating_sub(start).saturating_add(row.len()) < MOST {
            true => out.push_str(&row),
            false => left_out = left_out.saturating_add(1),
        }
    }
    if left_out > 0 {
        let _always_fits = writeln!(out, "\n{left_out} more have no room here.");
    }
    out.push('\n');
}

fn failure(out: &mut String, report: &ScenarioReport) {
    let word = report.verdict.word().replace('_', " ");
    let place = format!("{}:{}", report.file.display(), line(&report.findings));
    let _always_fits = write!(
        out,
        "<details><summary><b>{word}</b> {} <code>{}</code></summary>\n\n<pre>\n",
        html(&report.name),
        html(&place)
    );
    let findings = report.findings.iter();
    for line in findings.flat_map(|finding| shown_lines(&finding.text)) {
        // An empty line would end the element, and what follows would be Markdown.
        match line.trim().is_empty() {
            true => out.push_str("&nbsp;"),
            false => out.push_str(&html(&line)),
        }
        out.push('\n');
    }
    out.push_str("</pre>\n\n</details>\n\n");
}

/// Returns text that no Markdown and no HTML is in.
fn html(text: &str) -> String {
    let mut escaped = String::new();
    super::xml::text(&mut escaped, &shown(text));
    escaped
}

/// Returns a text for a cell of a table.
fn cell(text: &str) -> String {
    let mut escaped = String::new();
    for c in html(text).chars() {
        if matches!(c, '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~') {
            let _always_fits = write!(escaped, "&#{};", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::suite::tests::report;
    use crate::verdict::{About, Finding};

    fn failed() -> ScenarioReport {
        let mut finding = Finding::missed(About::Stdout, "100 %\n::error::forged\n\n# x");
        (finding.detail.line, finding.detail.column) = (Some(7), Some(3));
        ScenarioReport {
            name: "a,b: [x]".to_owned(),
            findings: vec![Finding::remark(About::Run, "first"), finding],
            ..report()
        }
    }

    #[test]
    fn an_annotation_is_one_command_at_the_line_of_the_scenario() {
        let skipped = ScenarioReport {
            verdict: Verdict::Skipped,
            ..report()
        };
        let passed = ScenarioReport {
            verdict: Verdict::Pass,
            ..report()
        };
        let mut out = String::new();
        github(&mut out, &[failed(), skipped, passed], Path::new("sub"));
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(
            lines[0],
            "::error file=sub/scenarios/mv.yaml,line=7,col=3,title=a%2Cb%3A [x]%3A fail::\
             first%0A100 %25%0A\\u{3a}:error::forged%0A%0A# x"
        );
        assert!(
            lines[1]
                .starts_with("::notice file=sub/scenarios/mv.yaml,line=1,title=mv%3A skipped::")
        );
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn in_a_summary_nothing_of_a_result_is_markup() {
        let passed = ScenarioReport {
            name: "a|b*<i>*".to_owned(),
            verdict: Verdict::Pass,
            ..report()
        };
        let mut out = String::new();
        markdown(&mut out, &[failed(), passed]);
        assert!(out.starts_with("## 2 scenarios: 1 pass, 1 fail\n"), "{out}");
        let pre = "<pre>\nfirst\n100 %\n\\u{3a}:error::forged\n&nbsp;\n# x\n</pre>";
        assert!(out.contains(pre), "{out}");
        assert!(
            out.contains("| pass | a&#124;b&#42;&lt;i&gt;&#42; | 7 ms |"),
            "{out}"
        );
        assert!(out.contains("<code>scenarios/mv.yaml:7</code>"), "{out}");
    }

    #[test]
    fn a_summary_stays_below_what_github_takes() {
        let long = ScenarioReport {
            findings: vec![Finding::missed(About::Run, "x".repeat(100_000))],
            ..report()
        };
        let mut out = String::new();
        markdown(&mut out, &vec![long; 20]);
        assert!(out.len() < 1 << 20, "{}", out.len());
        assert!(
            out.contains("\n11 more have no room here.\n"),
            "{}",
            out.len()
        );
    }
}
