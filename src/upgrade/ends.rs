//! What runs failed by, apart from their traces: how the workload ended, what it wrote and left.

use super::classify::Told;
use super::settings::Ends;
use super::{Answer, Class, Difference, Within};
use crate::verdict::{About, Finding, Kind};
use std::collections::BTreeSet;

/// Returns the failures of a run that no line of its trace shows. A counter is left out, as its
/// value is another in each run.
fn told(answer: &Answer) -> impl Iterator<Item = &Finding> {
    answer
        .findings
        .iter()
        .filter(|it| is_failure(it) && !is_of_trace(it))
}

fn is_failure(finding: &Finding) -> bool {
    matches!(
        finding.kind,
        Kind::Missed | Kind::Unreached | Kind::TooLong | Kind::Outlived
    )
}

fn is_of_trace(finding: &Finding) -> bool {
    match finding.about {
        About::Events
        | About::Section(_)
        | About::Confined(_)
        | About::Counter(_)
        | About::Snapshot
        | About::NoSnapshot
        | About::Baseline => true,
        About::Run
        | About::Program
        | About::Exit
        | About::Stdout
        | About::Stderr
        | About::Limit(_)
        | About::Processes
        | About::File(_)
        | About::Crash
        | About::Kernel
        | About::Architecture
        | About::Machine => false,
    }
}

/// What came instead of what was expected; in words where it is known in no other way.
fn came(finding: &Finding) -> &str {
    finding.detail.got.as_ref().unwrap_or(&finding.text)
}

/// Whether two runs failed by the same, apart from their traces.
pub(super) fn are_alike(one: &Answer, other: &Answer) -> bool {
    let said = |answer| -> Vec<(&About, &str)> {
        let failures = told(answer);
        failures.map(|it| (&it.about, came(it))).collect()
    };
    said(one) == said(other)
}

/// Returns the differences between what two runs of the same verdict failed by.
pub(super) fn compare(facts: &Told<'_>, before: &Answer, after: &Answer) -> Vec<Difference> {
    let all: BTreeSet<&About> = told(before)
        .chain(told(after))
        .map(|it| &it.about)
        .collect();
    let [old_release, new_release] = facts.releases();
    let mut found = Vec::new();
    for about in all {
        let of = |answer| -> Vec<&Finding> {
            let said = told(answer);
            said.filter(|it| it.about == *about).collect()
        };
        let (old, new) = (of(before), of(after));
        let values =
            |of: &[&Finding]| -> Vec<String> { of.iter().map(|it| came(it).to_owned()).collect() };
        if values(&old) == values(&new) {
            continue;
        }
        let first = |of: &[&Finding]| {
            let line = of.first().and_then(|it| it.text.lines().next());
            line.unwrap_or_default().to_owned()
        };
        let what = match (&*old, &*new, about) {
            ([old], [new], About::Exit) => {
                format!("it ends otherwise: {} instead of {}", came(new), came(old))
            }
            (_, [], _) => format!("on {old_release} alone: {}", first(&old)),
            ([], _, _) => format!("on {new_release} alone: {}", first(&new)),
            (_, _, About::Stdout) => "standard output is another".to_owned(),
            (_, _, About::Stderr) => "standard error is another".to_owned(),
            (_, _, About::File(path)) => format!("`{path}` is left otherwise"),
            _ => format!("it fails otherwise: {}", first(&new)),
        };
        let said = |sign: char, of: &[&Finding]| -> Vec<String> {
            let lines = of.iter().flat_map(|it| it.text.lines());
            lines.map(|line| format!("{sign} {line}")).collect()
        };
        let (old, new) = (said('-', &old), said('+', &new));
        let texts = [&old, &new].map(|lines| lines.join("\n"));
        let texts = (Some(texts[0].as_str()), Some(texts[1].as_str()));
        let blamed = facts.blamed(Ends {
            call: "",
            texts,
            results: texts,
        });
        let class = match blamed.is_empty() {
            true => Class::Behaviour,
            false => Class::Environment,
        };
        found.push(Difference {
            class,
            within: Within::Verdicts,
            what: what.into(),
            evidence: [old, new, blamed].concat(),
        });
    }
    found
}

/// A way to fail: the verdict, and each failure by what it is about, with the event and the step
/// of an expectation, and what came at the end and was written.
type Way<'a> = (&'a str, Vec<Failure<'a>>);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Failure<'a> {
    kind: Kind,
    about: &'a About,
    at: [Option<&'a str>; 2],
    came: Option<&'a str>,
}

/// Whether the runs of one list failed otherwise than those of another: none in a way in which one
/// of the other list did. What was written counts where it is the same in all runs of each list.
#[must_use]
pub fn fail_otherwise(ours: &[Answer], theirs: &[Answer]) -> bool {
    let ways = |has_outputs: bool| [ours, theirs].map(|answers| ways(answers, has_outputs));
    let [one, other] = ways(true);
    let [one, other] = match one.len() == 1 && other.len() == 1 {
        true => [one, other],
        false => ways(false),
    };
    !one.is_empty() && !other.is_empty() && one.is_disjoint(&other)
}

fn ways(answers: &[Answer], has_outputs: bool) -> BTreeSet<Way<'_>> {
    let failed = answers
        .iter()
        .filter(|it| it.findings.iter().any(is_failure));
    failed.map(|answer| of(answer, has_outputs)).collect()
}

fn of(answer: &Answer, has_outputs: bool) -> Way<'_> {
    let failures = answer.findings.iter().filter(|it| is_failure(it));
    let failures = failures.map(|finding| Failure::of(finding, has_outputs));
    (&answer.verdict, failures.collect())
}

impl<'a> Failure<'a> {
    fn of(finding: &'a Finding, has_outputs: bool) -> Self {
        let detail = &finding.detail;
        let has_value = match finding.about {
            About::Exit => true,
            About::Stdout | About::Stderr => has_outputs,
            _ => false,
        };
        Self {
            kind: finding.kind,
            about: &finding.about,
            at: [detail.step.as_deref(), detail.event.as_deref()],
            came: detail.got.as_deref().filter(|_| has_value),
        }
    }
}
