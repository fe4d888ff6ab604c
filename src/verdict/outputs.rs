//! Judges and tells what a workload wrote to its standard streams.

use super::{About, Finding, Known, Run};
use crate::plan::Plan;
use crate::scenario::ExpectedOutput;
use perf_live::sandbox::Captured;

/// What a stream is about, its name, what is expected of it and what was written to it.
pub(super) type Stream<'a> = (
    About,
    &'a str,
    &'a Option<ExpectedOutput>,
    &'a Known<Captured>,
);

pub(super) fn streams<'a>(plan: &'a Plan, run: &'a Run) -> [Stream<'a>; 2] {
    let (stdout, stderr) = (&plan.expect.stdout, &plan.expect.stderr);
    [
        (About::Stdout, "standard output", stdout, &run.stdout),
        (About::Stderr, "standard error", stderr, &run.stderr),
    ]
}

/// Adds what is wrong with them, and what is not known.
pub(super) fn judge(
    streams: [Stream<'_>; 2],
    findings: &mut Vec<Finding>,
    unknown: &mut Vec<Finding>,
) {
    for (about, name, expected, got) in streams {
        match (expected, got) {
            (None, _) => {}
            (Some(expected), Known::Yes(got)) if got.dropped > 0 => {
                match expected.accepts_beginning(&got.bytes) {
                    Some(true) => {}
                    Some(false) => findings.push(Finding::missed(about, too_long(name, got))),
                    None => unknown.push(Finding::unknown(about, too_long(name, got))),
                }
            }
            (Some(expected), Known::Yes(got)) => {
                findings.extend(output(about, name, expected, got));
            }
            // A reason that holds for several findings is given once.
            (Some(_), Known::No(why)) if unknown.iter().any(|it| it.text == *why) => {}
            (Some(_), Known::No(why)) => unknown.push(Finding::unknown(about, why)),
        }
    }
}

/// Returns a remark on the end of what a workload wrote, unless that is judged by itself.
pub(super) fn said((about, name, expected, got): &Stream<'_>) -> Option<Finding> {
    let got = got.yes().filter(|_| expected.is_none())?;
    let said = String::from_utf8_lossy(&got.bytes);
    let text = || quoted(name, excerpt(&said).trim_end_matches('\n'));
    (!said.trim().is_empty()).then(|| Finding::remark(about.clone(), text()))
}

fn too_long(name: &str, got: &Captured) -> String {
    let (kept, more) = (got.bytes.len(), got.dropped);
    format!("of {name} the first {kept} bytes are kept, and there were {more} more")
}

/// Returns what is wrong with an output.
fn output(about: About, name: &str, expected: &ExpectedOutput, got: &Captured) -> Option<Finding> {
    (!expected.accepts(&got.bytes)).then(|| {
        let wanted = match expected {
            ExpectedOutput::Exact(text) => format!("{:?}", excerpt(text)),
            ExpectedOutput::Contains(text) => {
                format!("something that contains {:?}", excerpt(text))
            }
            ExpectedOutput::Matches(regex) => format!("something that matches /{regex}/"),
        };
        let said = String::from_utf8_lossy(&got.bytes);
        let got = format!("{:?}", excerpt(&said));
        let text = format!("expected {name} to be {wanted}, got {got}");
        Finding::missed(about, text).but(wanted, got)
    })
}

/// Returns a workload's output; if it has several lines, each is marked as the workload's.
fn quoted(name: &str, said: &str) -> String {
    match said.contains(['\n', '\r']) {
        false => format!("{name}: {said}"),
        true => {
            let lines = said.split('\n').map(|line| format!("\n  | {line}"));
            format!("{name}:{}", lines.collect::<String>())
        }
    }
}

/// Returns the start of a text, as much as fits into a report.
pub(super) fn excerpt(text: &str) -> String {
    const ROOM: usize = 400;
    match text.char_indices().nth(ROOM) {
        None => text.to_owned(),
        Some((end, _)) => format!(
            "{}... ({} bytes)",
            text.get(..end).unwrap_or_default(),
            text.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use regex::bytes::Regex;

    fn kinds(expected: ExpectedOutput) -> Vec<Kind> {
        let got = Known::Yes(Captured {
            bytes: b"abc".to_vec(),
            dropped: 2,
        });
        let expected = Some(expected);
        let (mut findings, mut unknown) = (Vec::new(), Vec::new());
        let stdout = || (About::Stdout, "standard output", &expected, &got);
        judge(
            [stdout(), (About::Stderr, "", &None, &got)],
            &mut findings,
            &mut unknown,
        );
        findings.append(&mut unknown);
        findings.into_iter().map(|it| it.kind).collect()
    }

    #[test]
    fn an_output_that_differs_by_its_last_line_feed_is_shown_with_it() {
        let got = Captured {
            bytes: b"done\n".to_vec(),
            dropped: 0,
        };
        let expected = ExpectedOutput::Exact("done".to_owned());
        let found = output(About::Stdout, "standard output", &expected, &got);
        let text = found.map(|it| it.text);
        let said = r#"expected standard output to be "done", got "done\n""#;
        assert_eq!(text.as_deref(), Some(said));
    }

    #[test]
    fn what_the_kept_part_of_an_output_does_not_decide_is_not_known() {
        let exact = |text: &str| kinds(ExpectedOutput::Exact(text.to_owned()));
        let contains = |text: &str| kinds(ExpectedOutput::Contains(text.to_owned()));
        assert_eq!(exact("abc"), [Kind::Missed]);
        assert_eq!(exact("abd--"), [Kind::Missed]);
        assert_eq!(exact("abcde"), [Kind::Unknown]);
        assert_eq!(contains("b"), []);
        assert_eq!(contains("d"), [Kind::Unknown]);
        let regex = Regex::new("^a").expect("a regular expression");
        assert_eq!(kinds(ExpectedOutput::Matches(regex)), [Kind::Unknown]);
    }
}
