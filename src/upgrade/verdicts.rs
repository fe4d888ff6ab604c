//! Finds differences of verdicts that no line of a trace explains.

use super::classify::Told;
use super::settings::Ends;
use super::{Answer, Class, Difference, Within};
use crate::verdict::{About, joined};

/// Returns the difference if only one kernel ran the scenario.
pub(super) fn unmet(before: &Answer, after: &Answer) -> Option<Difference> {
    let (sign, skipped) = match (&*before.verdict, &*after.verdict) {
        ("skipped", "skipped") => return None,
        ("skipped", _) => ('-', before),
        (_, "skipped") => ('+', after),
        _ => return None,
    };
    let is_about = |about| skipped.findings.iter().any(|it| it.about == about);
    let class = match (
        is_about(About::Kernel),
        is_about(About::Architecture),
        is_about(About::Machine),
    ) {
        (true, ..) => Class::Absent,
        (false, true, false) => Class::Architecture,
        _ => Class::Environment,
    };
    let findings = skipped.findings.iter();
    Some(Difference {
        class,
        within: Within::Skipped,
        what: joined(&skipped.findings, "; ").into(),
        evidence: findings
            .map(|finding| format!("{sign} {finding}"))
            .collect(),
    })
}

/// Returns the difference of verdicts that the traces do not explain. If all of several runs agree,
/// the guest's slowness is not the reason.
pub(super) fn of_verdict(
    told: &Told<'_>,
    before: &Answer,
    after: &Answer,
    is_steady: bool,
) -> Difference {
    let is_cut_short = |answer: &Answer| match &*answer.verdict {
        "timeout" => !is_steady,
        "incomplete" | "broken" => true,
        _ => false,
    };
    let [old, new] = [before, after].map(|answer| joined(&answer.findings, "\n"));
    let texts = (Some(&*old), Some(&*new));
    let blamed = told.blamed(Ends {
        call: "",
        texts,
        results: texts,
    });
    let class = if is_cut_short(before) || is_cut_short(after) || !blamed.is_empty() {
        Class::Environment
    } else {
        Class::Behaviour
    };
    let said = |sign: char, answer: &Answer| {
        let mut lines = vec![format!("{sign} {}", answer.verdict)];
        let said = answer.findings.iter();
        let said = said.flat_map(|finding| finding.text.lines());
        lines.extend(said.map(|line| format!("{sign}   {line}")));
        lines
    };
    let mut evidence = said('-', before);
    evidence.extend(said('+', after));
    evidence.extend(blamed);
    let worse = if after.verdict == "pass" {
        before
    } else {
        after
    };
    let reason = worse.findings.first();
    let reason = reason.and_then(|finding| finding.text.lines().next());
    let reason = reason.map(|reason| format!(": {reason}"));
    Difference {
        class,
        within: Within::Verdicts,
        what: format!(
            "{} instead of {}{}",
            after.verdict,
            before.verdict,
            reason.unwrap_or_default()
        )
        .into(),
        evidence,
    }
}
