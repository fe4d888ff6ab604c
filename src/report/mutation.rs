//! Reports on mutants, as text and as JSON lines.

use super::json::object_line;
use crate::mutate::{Mutant, Operator};
use crate::run::{MutationReport, Standing, Survey};
use crate::verdict::{Verdict, joined};
use perf_records::units::shown;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many kinds of survivors the text shows; JSON has all of them.
const MOST_KINDS: usize = 20;

/// Returns the word for a scenario: its standing, or the verdict on a run that has no mutants.
fn word(report: &MutationReport) -> &'static str {
    match &report.result {
        Ok(survey) => survey.standing().word(),
        Err((verdict, _)) => verdict.word(),
    }
}

/// Appends a scenario's lines: its standing, its name, and how many mutants failed; then the
/// survivors, by kind with an example of each. Coloured with ANSI sequences on request.
pub fn mutation_human(out: &mut String, report: &MutationReport, color: bool) {
    let paint = |style: &'static str| if color { style } else { "" };
    let style = match &report.result {
        Ok(survey) if survey.standing() == Standing::Tight => "\u{1b}[32m",
        Ok(survey) if survey.standing() == Standing::Lenient => "\u{1b}[33m",
        Err((Verdict::Skipped, _)) => "\u{1b}[33m",
        _ => "\u{1b}[1;31m",
    };
    let (start, end) = (paint(style), paint("\u{1b}[0m"));
    let (word, name) = (word(report).replace('_', " "), shown(&report.name));
    let _always_fits = write!(out, "{start}{word:>10}{end}  {name}");
    match &report.result {
        Err((Verdict::Skipped, findings)) => {
            let _always_fits = writeln!(out, ": {}", shown(&joined(findings, "; ")));
        }
        Err((_, findings)) => {
            out.push('\n');
            for line in findings.iter().flat_map(|finding| finding.text.lines()) {
                indented(out, 12, line);
            }
        }
        Ok(survey) => {
            rates(out, survey);
            remarks(out, survey);
            kinds(out, survey, &paint);
        }
    }
}

/// `  (412 mutants: 97.5 % killed, 61.2 % by expectations alone)`
fn rates(out: &mut String, survey: &Survey) {
    let n_mutants = survey.n_mutants;
    let plural = if n_mutants == 1 { "" } else { "s" };
    let killed = percent(survey.killed(), n_mutants);
    let alone = percent(survey.by_expectations, n_mutants);
    let _always_fits = match n_mutants {
        0 if survey.untold > 0 => writeln!(
            out,
            "  (no mutants: the expectations tell of no event that came)"
        ),
        0 => writeln!(out, "  (no mutants)"),
        _ => writeln!(
            out,
            "  ({n_mutants} mutant{plural}: {killed} % killed, {alone} % by expectations alone)"
        ),
    };
}

fn remarks(out: &mut String, survey: &Survey) {
    if survey.untried > 0 {
        let all = survey.n_mutants.saturating_add(survey.untried);
        indented(out, 12, &format!("a sample: there are up to {all} mutants"));
    }
    if survey.untold > 0 {
        let untold = survey.untold;
        let plural = if untold == 1 { "" } else { "s" };
        let line =
            format!("{untold} change{plural} of what no expectation tells of left out: --all");
        indented(out, 12, &line);
    }
    match (survey.standing(), &survey.lenient) {
        (Standing::Needless, _) => indented(
            out,
            12,
            "enough mutants are killed, so `lenient` has nothing to excuse: take it out",
        ),
        (Standing::Lenient, Some(reason)) => indented(out, 12, &format!("lenient: {reason}")),
        _ => {}
    }
}

/// Whether a crash could cost data if the program did so: a sync or a name is left out, fails, or
/// comes at another time.
fn costs_data(mutant: &Mutant) -> bool {
    let event = mutant.event.as_str();
    let starts = [
        "rename",
        "link",
        "unlink",
        "fsync",
        "fdatasync",
        "sync",
        "msync",
    ];
    let lasts = starts.iter().any(|start| event.starts_with(start));
    lasts
        && match mutant.operator {
            Operator::Drop
            | Operator::DropAll
            | Operator::Swap
            | Operator::Exchange
            | Operator::Delay => true,
            Operator::Edit => mutant.field.as_deref() == Some("returns"),
            Operator::DropProcess | Operator::Repeat | Operator::Reassign | Operator::Insert => {
                false
            }
        }
}

/// Groups the survivors by operator, event and field, each with its first survivor as an example:
/// first those that cost data, then the largest groups.
fn kinds(out: &mut String, survey: &Survey, paint: &dyn Fn(&'static str) -> &'static str) {
    let mut kinds: BTreeMap<_, Vec<&Mutant>> = BTreeMap::new();
    for survivor in &survey.survivors {
        let key = (survivor.operator, &survivor.event, &survivor.field);
        kinds.entry(key).or_default().push(survivor);
    }
    let mut kinds: Vec<Vec<&Mutant>> = kinds.into_values().collect();
    kinds.sort_by_key(|kind| {
        let costs_data = kind.first().is_some_and(|first| costs_data(first));
        (!costs_data, std::cmp::Reverse(kind.len()))
    });
    let n_more = kinds.len().saturating_sub(MOST_KINDS);
    for kind in kinds.iter().take(MOST_KINDS) {
        let Some(first) = kind.first() else { continue };
        let field = first.field.as_ref().map(|field| format!(" {field}"));
        let field = field.unwrap_or_default();
        let Mutant {
            operator, event, ..
        } = first;
        indented(
            out,
            12,
            &format!("lets through {}: {operator} {event}{field}", kind.len()),
        );
        for (mark, line) in change(first) {
            let style = match mark {
                '-' => "\u{1b}[31m",
                '+' => "\u{1b}[32m",
                _ => "",
            };
            let (start, end) = (
                paint(style),
                if style.is_empty() {
                    ""
                } else {
                    paint("\u{1b}[0m")
                },
            );
            let line = shown(&line);
            let _always_fits = writeln!(out, "{:14}{start}{mark} {}  {line}{end}", "", first.task);
        }
    }
    if n_more > 0 {
        indented(
            out,
            12,
            &format!("and {n_more} kinds more: --format json has each of them"),
        );
    }
}

/// Returns the change as lines of a diff.
fn change(survivor: &Mutant) -> Vec<(char, String)> {
    let line = || survivor.line.clone();
    let now = || survivor.now.clone().unwrap_or_default();
    match survivor.operator.word() {
        "drop_process" => Vec::new(),
        "drop" | "drop_all" => vec![('-', line())],
        "repeat" => vec![(' ', line()), ('+', line())],
        "insert" if survivor.line.is_empty() => vec![('+', now())],
        "insert" => vec![(' ', line()), ('+', now())],
        "swap" | "exchange" => vec![('-', line()), (' ', now()), ('+', line())],
        "delay" => vec![('-', line()), (' ', "...".to_owned()), ('+', line())],
        "reassign" => vec![('-', line()), ('+', format!("by {}", now()))],
        _ => vec![('-', line()), ('+', now())],
    }
}

fn indented(out: &mut String, by: usize, line: &str) {
    let _always_fits = writeln!(out, "{:by$}{}", "", shown(line));
}

/// Writes it with one digit after the point, and never rounds up: 100 means all.
fn percent(part: usize, whole: usize) -> String {
    let tenths = part.saturating_mul(1000).checked_div(whole).unwrap_or(1000);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Appends a scenario as a JSON object and a line feed.
pub fn mutation_json(out: &mut String, report: &MutationReport) {
    object_line(out, "mutation", |line| {
        line.put("name", &report.name);
        line.put("file", report.file.to_string_lossy());
        line.put("result", word(report));
        line.put("duration_ms", report.duration.as_millis());
        let survey = match &report.result {
            Ok(survey) => survey,
            Err((_, findings)) => {
                let texts: Vec<&str> = findings.iter().map(AsRef::as_ref).collect();
                return line.put("reasons", texts);
            }
        };
        line.put("mutants", survey.n_mutants);
        line.put("untried", survey.untried);
        line.put("untold", survey.untold);
        line.put("killed", survey.killed());
        line.put("by_expectations", survey.by_expectations);
        line.put("lenient", &survey.lenient);
        line.list("survivors", &survey.survivors, |object, survivor| {
            object.put("operator", survivor.operator.word());
            object.put("event", &survivor.event);
            object.put("field", &survivor.field);
            object.put("task", survivor.task.to_string());
            object.put("line", &survivor.line);
            object.put("now", &survivor.now);
        });
    });
}

/// Returns how often each standing occurred, and each verdict on a run without mutants.
fn tally(reports: &[MutationReport]) -> impl Iterator<Item = (&'static str, usize)> {
    let standings = Standing::ALL.into_iter().map(Standing::word);
    let verdicts = Verdict::ALL
        .into_iter()
        .filter(|verdict| *verdict != Verdict::Pass);
    let words = standings.chain(verdicts.map(Verdict::word));
    words.map(|wanted| {
        let count = reports
            .iter()
            .filter(|report| word(report) == wanted)
            .count();
        (wanted, count)
    })
}

/// Appends the last line: `24 scenarios: 23 tight, 1 lenient`.
pub fn mutations_human(out: &mut String, reports: &[MutationReport]) {
    let counts = tally(reports).filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(word, count)| format!("{count} {}", word.replace('_', " ")))
        .collect();
    let plural = if reports.len() == 1 { "" } else { "s" };
    let _always_fits = writeln!(
        out,
        "{} scenario{plural}: {}",
        reports.len(),
        counts.join(", ")
    );
}

/// Appends the last line as JSON.
pub fn mutations_json(out: &mut String, reports: &[MutationReport]) {
    object_line(out, "summary", |line| {
        for (word, count) in tally(reports) {
            line.put(word, count);
        }
    });
}

#[cfg(test)]
mod tests;
