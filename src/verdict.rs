//! Judges a run: compares what happened with what was expected, and finds the word for it.

mod counters;
mod crash;
mod delta;
mod dying;
mod events;
mod faults;
mod files;
mod finding;
mod handed;
mod injected;
mod known;
mod limits;
mod missing;
mod nameless;
mod outputs;
mod run;
mod sections;
mod sign;

pub use crash::{Crashed, Failure, Idle};
pub use faults::{DoneTo, FaultOutcome, FaultTold, Faults, Looked, MOST_TOLD, told};
pub use files::reads_content;
pub use finding::{About, Detail, Finding, Judgement, Kind, PowerCut, joined};
pub use injected::Words;
pub use known::Known;
pub use missing::overwritten;
use missing::{has_overwritten, missing};
pub use run::Run;
pub use sections::{asks_for, stretches};
pub use sign::Sign;

use crate::matching::{Tests, of_test};
use crate::plan::{Delta, Plan};
use crate::trace::Normalised;
use perf_live::events::Account;
use perf_live::units::{ExitKind, Survivor};
use std::collections::BTreeMap;
use std::fmt;

/// The verdict on a scenario; each has its own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// All expectations met, on a complete trace.
    Pass,
    /// An expectation was not met.
    Fail,
    /// Records are missing: nothing can be concluded.
    Incomplete,
    /// The workload had to be ended.
    Timeout,
    /// A process outlived the workload, where the scenario forbids it.
    Leak,
    /// A requirement is not met on this machine.
    Skipped,
    /// The harness could not do its work.
    Broken,
    /// The run was known to fail, and passed.
    UnexpectedPass,
}

impl Verdict {
    /// All of them, in the order of a summary.
    pub const ALL: [Self; 8] = [
        Self::Pass,
        Self::Fail,
        Self::Incomplete,
        Self::Timeout,
        Self::Leak,
        Self::Skipped,
        Self::Broken,
        Self::UnexpectedPass,
    ];

    /// What it is where nothing may be skipped.
    #[must_use]
    pub fn required(self) -> Self {
        match self {
            Self::Skipped => Self::Fail,
            other => other,
        }
    }

    /// Its word in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Incomplete => "incomplete",
            Self::Timeout => "timeout",
            Self::Leak => "leak",
            Self::Skipped => "skipped",
            Self::Broken => "broken",
            Self::UnexpectedPass => "unexpected_pass",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Judges a run by everything but its snapshot.
///
/// If the workload had to be killed for its time, on the wall or on CPUs, or if records were lost,
/// nothing else is judged. If a process outlived the main one and was killed, how the main one
/// ended and what all of them did until then is judged beside that. Reaching a limit is a failure,
/// unless the scenario expects it. Where it is not known to which calls a fault was done, nothing
/// is a certain failure. Then the workload's end is judged only if the author wrote that down; what
/// the workload did until then is judged as ever.
#[must_use]
pub fn judge(plan: &Plan, run: &Run) -> Judgement {
    if run.interrupted {
        let finding = Finding::new(Kind::Interrupted, About::Run, "interrupted");
        return Judgement::of(finding);
    }
    let plan = &*nameless::meant(plan, &run.trace);
    let mut judgement = by_its_end(plan, run);
    judgement.add(besides(plan, run));
    if faults::are_in_doubt(plan, run) {
        // The run may be another than the scenario describes.
        for finding in &mut judgement.findings {
            if matches!(finding.kind, Kind::Missed | Kind::Unreached) {
                finding.kind = Kind::Unknown;
            }
        }
    }
    judgement
}

/// Returns how often each call and event occurred that the author asked for.
#[must_use]
pub fn counts(plan: &Plan, trace: &Normalised) -> BTreeMap<String, u64> {
    let mut counts = trace.counts();
    counts.retain(|name, _| !plan.marks.hidden.contains(name));
    counts
}

/// Returns what was found while the run was read, on the files that it left, and against its
/// baseline.
fn besides(plan: &Plan, run: &Run) -> Vec<Finding> {
    let mut findings = run.findings.clone();
    if run.left_alone {
        let why = "what the main process left behind lived on, and was not followed any more";
        findings.push(Finding::unknown(About::Processes, why));
    }
    if has_overwritten(&run.account) {
        // A mark that was not found may have been in missing records.
        for finding in &mut findings {
            finding.kind = Kind::Unknown;
        }
    }
    findings.extend(faults::judge(plan, run));
    findings.extend(crash::judge(plan, run));
    let expected = &plan.expect.files_after;
    if !expected.is_empty() {
        findings.extend(files::after(expected, &run.left));
    }
    if let Some(baseline) = &plan.baseline {
        let unknown = |why: &str| vec![Finding::unknown(About::Baseline, why)];
        findings.extend(match &run.base {
            Known::No(why) => unknown(why),
            Known::Yes(_) if misses_any(plan, &baseline.delta, &run.account) => {
                unknown("what is not recorded whole is compared with no baseline")
            }
            Known::Yes(base) => {
                let (delta, both) = (&baseline.delta, (base, &run.trace));
                let mut found = delta::compare(delta, both.0, both.1);
                found.extend(handed::differing(plan, delta, both));
                found
            }
        });
    }
    findings
}

/// Whether any deed may be missing where a run is compared with its baseline.
fn misses_any(plan: &Plan, delta: &[Delta], account: &Account) -> bool {
    let copied = plan.events.copied(account);
    let is_of = |delta: &Delta| !delta.step.names.is_disjoint(&copied);
    !plan.events.overwritten(account).is_empty() || delta.iter().any(is_of)
}

/// Judges its limits, its records, its end, its outputs, its events and its counters.
fn by_its_end(plan: &Plan, run: &Run) -> Judgement {
    let missing = missing(&run.account);
    let mut findings = limits::unexpected(plan, run);
    let found = run.survivors.yes().map_or(&[][..], Vec::as_slice);
    if findings.iter().any(|finding| finding.kind == Kind::TooLong) {
        let alive = survivors(
            found,
            Kind::Remark,
            "was still alive",
            &started_in(plan, run),
        );
        let blocked = faults::blocked(plan, run);
        let findings = [findings, alive, blocked, missing].concat();
        return Judgement { findings };
    }
    // Processes that live at an expected timeout have outlived no main process.
    let outlived = match run.has_timed_out() {
        true => Vec::new(),
        false => {
            let did = "outlived the main process";
            survivors(found, Kind::Outlived, did, &started_in(plan, run))
        }
    };
    if !missing.is_empty() || !outlived.is_empty() {
        let findings = match missing.is_empty() {
            true => [outlived, findings].concat(),
            false => [missing, findings, outlived].concat(),
        };
        let mut judgement = Judgement { findings };
        judgement.add(beside_survivors(plan, run));
        return judgement;
    }
    let limit = limits::missed(plan, run);
    let (mut unknown, missed): (Vec<Finding>, Vec<Finding>) = limit
        .into_iter()
        .partition(|finding| finding.kind == Kind::Unknown);
    findings.extend(missed);
    // A limit that was reached, or may have been, explains an end.
    let reached = |limit| limits::reached(run, limit) || !unknown.is_empty();
    let is_expected = plan.expect.limit.is_some_and(reached);
    let is_explained = is_expected || run.is_cut_short();
    if let (Some(why), true) = (run.survivors.no(), plan.forbids_survivors()) {
        unknown.push(Finding::unknown(About::Processes, why));
    }
    let expect = &plan.expect;
    let wanted = expect.exit.unwrap_or(ExitKind::Code(0));
    let is_asked = expect.exit.is_some() || !is_explained;
    let streams = outputs::streams(plan, run);
    match &run.exit {
        Known::Yes(exit) if is_asked && *exit != wanted => {
            findings.push(other_exit(*exit, wanted));
            findings.extend(streams.iter().rev().filter_map(outputs::said));
        }
        Known::No(why) if is_asked => unknown.push(Finding::unknown(About::Exit, why)),
        _ => {}
    }
    outputs::judge(streams, &mut findings, &mut unknown);
    findings.extend(unknown);
    findings.extend(events::judge(plan, run));
    findings.extend(counters::judge(plan, run));
    if !findings.is_empty() {
        findings.extend(limits::unknown(plan, run));
    }
    Judgement { findings }
}

/// What is judged of a run whose main process ended before others did.
fn beside_survivors(plan: &Plan, run: &Run) -> Vec<Finding> {
    let mut findings = Vec::new();
    let wanted = plan.expect.exit;
    let is_asked = wanted.is_some() || plan.expect.limit.is_none() && !run.is_cut_short();
    let wanted = wanted.unwrap_or(ExitKind::Code(0));
    if let Known::Yes(exit) = &run.exit
        && is_asked
        && *exit != wanted
    {
        findings.push(other_exit(*exit, wanted));
    }
    findings.extend(events::judge(plan, run));
    findings
}

/// That the main process ended otherwise than it should.
fn other_exit(exit: ExitKind, wanted: ExitKind) -> Finding {
    let text = format!("expected {wanted}, got {exit}");
    Finding::missed(About::Exit, text).but(wanted.to_string(), exit.to_string())
}

/// The test that a survivor was started in, in words, where tests are looked for.
fn started_in(plan: &Plan, run: &Run) -> impl Fn(&Survivor) -> Option<String> {
    let confinement = plan.confinement.as_ref().filter(|it| it.finds_tests);
    let has_any = run.survivors.yes().is_some_and(|found| !found.is_empty());
    let tests = confinement.filter(|_| has_any).map(|confinement| {
        let deeds = run.trace.in_order();
        Tests::of(&confinement.blaming, &run.trace, &deeds)
    });
    move |survivor| {
        let by = tests.as_ref()?.blame_process(survivor.process?);
        Some(of_test(&by)?.trim_start().to_owned())
    }
}

/// Returns a finding for each process, and one for all beyond the limit.
fn survivors(
    survivors: &[Survivor],
    kind: Kind,
    did: &str,
    started_in: &dyn Fn(&Survivor) -> Option<String>,
) -> Vec<Finding> {
    const MOST: usize = 10;
    let named = survivors.iter().take(MOST).map(|survivor| {
        let mut text = match survivor.pid {
            0 => "a process".to_owned(),
            pid => format!("process {pid}"),
        };
        text += &format!(" (`{}`)", command(&survivor.command));
        if let Some((pid, words)) = &survivor.parent {
            text += match pid {
                0 => ", started by".to_owned(),
                pid => format!(", started by {pid}"),
            }
            .as_str();
            text += &match (pid, command(words)) {
                (0, command) => format!(" `{command}`"),
                (_, command) => format!(" (`{command}`)"),
            };
            text += ",";
        }
        let test = started_in(survivor).map(|test| format!(", started {test}"));
        format!("{text} {did}{}", test.unwrap_or_default())
    });
    let more = survivors.len().saturating_sub(MOST);
    let all = named.chain((more > 0).then(|| format!("and {more} more {did}")));
    all.map(|text| Finding::new(kind, About::Processes, text))
        .collect()
}

/// Returns a command line on one line: its words as they are, unless they hold line feeds or are no
/// text.
fn command(words: &[String]) -> String {
    const ROOM: usize = 80;
    let text = words.join(" ");
    let mut shown: String = text.chars().take(ROOM).collect();
    shown = perf_records::units::shown(&shown).into_owned();
    if text.chars().nth(ROOM).is_some() {
        shown += "...";
    }
    shown
}

/// Judges a scenario that is known to fail: it passes by failing, and only then. A run that never
/// came to what it was to test has not shown that failure, whatever else failed.
#[must_use]
pub fn with_known_failure(plan: &Plan, mut judgement: Judgement) -> Judgement {
    match (&plan.expect_failure, judgement.verdict()) {
        (Some(known), Verdict::Pass) => {
            let text = format!("it was known to fail ({known}), and passed");
            Judgement::of(Finding::new(Kind::UnexpectedPass, About::Run, text))
        }
        (Some(known), Verdict::Fail) if judgement.has(Kind::Unreached) => {
            let text = format!(
                "it is known to fail ({known}), and that was not seen: the run never came to what \
                 it was to test"
            );
            let remark = Finding::remark(About::Run, text);
            judgement.findings.insert(0, remark);
            judgement
        }
        (Some(known), Verdict::Fail) => {
            let text = format!("fails as known: {known}");
            let known = Finding::new(Kind::KnownFailure, About::Run, text);
            judgement.findings.insert(0, known);
            judgement
        }
        _ => judgement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn said(pid: i32, of: &str, parent: Option<(i32, &str)>) -> String {
        let survivor = Survivor {
            pid,
            command: words(of),
            parent: parent.map(|(pid, of)| (pid, words(of))),
            process: None,
        };
        joined(
            &survivors(&[survivor], Kind::Remark, "lived", &|_| None),
            "",
        )
    }

    #[test]
    fn a_survivor_is_named_as_far_as_it_is_known() {
        assert_eq!(
            said(7, "sleep 100", Some((5, "sh -c x"))),
            "process 7 (`sleep 100`), started by 5 (`sh -c x`), lived"
        );
        assert_eq!(said(7, "[sleep]", None), "process 7 (`[sleep]`) lived");
        assert_eq!(
            said(0, "a", Some((0, "b"))),
            "a process (`a`), started by `b`, lived"
        );
    }

    #[test]
    fn a_command_line_is_one_line_and_has_an_end() {
        assert_eq!(
            said(1, "a\nb\u{1b}[1m \u{e9}", None),
            "process 1 (`a\\nb\\u{1b}[1m \u{e9}`) lived"
        );
        let long = said(1, &"x".repeat(81), None);
        assert_eq!(long, format!("process 1 (`{}...`) lived", "x".repeat(80)));
    }

    #[test]
    fn ten_survivors_are_named_and_the_others_counted() {
        let all = vec![
            Survivor {
                pid: 1,
                command: words("a"),
                parent: None,
                process: None
            };
            13
        ];
        let reasons = survivors(&all, Kind::Remark, "lived", &|_| None);
        assert_eq!(reasons.len(), 11);
        assert_eq!(reasons.last().map(AsRef::as_ref), Some("and 3 more lived"));
        assert_eq!(
            survivors(&all[..10], Kind::Remark, "lived", &|_| None).len(),
            10
        );
        assert_eq!(survivors(&[], Kind::Remark, "lived", &|_| None), []);
    }
}
