//! One scenario, once.

use super::baseline;
use super::once::{once, record};
use super::{Bench, Control, Extras, Item, RunError};
use crate::matching::{SPAN, add_spans};
use crate::plan::Plan;
use crate::snapshot::{self, Provenance, Stored};
use crate::trace::{Normalised, Trace, View};
use crate::verdict::{self, About, Ended, Finding, Judgement, Verdict};
use perf_live::errors::chain;
use perf_live::sandbox::{LaunchError, Left, NotExecuted, WorkDir};
use perf_live::units::{Limit, Usage};
use perf_records::units::shown_path;
use std::collections::BTreeMap;
use std::path::Path;
use syscall_model::UNREAD;

/// What came of one run.
#[derive(Debug)]
pub struct Outcome {
    /// The verdict, the snapshot's included.
    pub verdict: Verdict,
    /// What was found, in the order in which a person is told of it.
    pub findings: Vec<Finding>,
    /// Whether it was ended because the harness was asked to end: nothing was judged.
    pub interrupted: bool,
    /// How many calls and events the trace holds.
    pub events: u64,
    /// How many records are missing.
    pub lost: u64,
    /// What is to be known of it, however it ended.
    pub remarks: Vec<String>,
    /// What the workload used.
    pub usage: Usage,
    /// The limits that it ran into.
    pub struck: Vec<Limit>,
    /// The trace's text, where there is a snapshot to it.
    pub text: Option<String>,
    /// What kernels are compared by, of a run that came to its end: the text that a snapshot shows
    /// or would show; of a scenario without one only which calls and events there were.
    pub shown: Option<String>,
    /// What came of the comparison with the stored one.
    pub snapshot: SnapshotOutcome,
    /// Whether that is all that speaks against it.
    pub only_snapshot: bool,
    /// The run itself, where every event of it was kept ([`Plan::keeps_all`]).
    pub run: Option<Box<Ran>>,
}

/// A run, to be judged again.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// What it did.
    pub trace: Normalised,
    /// What the run did that it is compared with.
    pub base: Option<Normalised>,
}

/// What came of the comparison of a trace with its snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotOutcome {
    /// There is none, or the run gives no trace to compare.
    NotCompared,
    /// Equal.
    Same,
    /// Different, or nothing is stored; what is stored, and in which file.
    Differs {
        /// The file that it was compared with.
        file: std::path::PathBuf,
        /// Its text; `None` where there is no such file.
        stored: Option<String>,
    },
}

/// The scenario that a plan was made of, as far as a run and its judgement take it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its file; `files` with `from` are relative to it.
    pub file: &'a Path,
    /// Its snapshot, as it was before any run of it.
    pub stored: &'a Stored,
}

/// The snapshot that runs of a plan are compared with; where there is none to be, no file is looked
/// at.
pub(super) fn stored(bench: &Bench<'_>, plan: &Plan, item: &Item) -> Result<Stored, RunError> {
    match plan.view {
        Some(_) => Ok(item.place().stored(&bench.release)?),
        None => Ok(Stored::default()),
    }
}

/// Runs a planned scenario in the directory that was laid out for it, and judges it; before it, its
/// baseline. Nothing is written.
///
/// # Errors
/// [`RunError`], where the harness could not do its work; the workload is dead by then.
pub fn attempt(
    bench: &Bench<'_>,
    plan: &Plan,
    subject: Subject<'_>,
    control: &mut dyn Control,
    extras: Extras<'_>,
    dir: &WorkDir,
) -> Result<Outcome, RunError> {
    let Subject { file, stored } = subject;
    let base = match &plan.baseline {
        None => None,
        Some(baseline) => match baseline::run(bench, &baseline.plan, file, control, extras.save)? {
            Ok(trace) => Some((trace, baseline.delta.as_slice())),
            Err(outcome) => return Ok(*outcome),
        },
    };
    let (ended, trace, mut findings) = match once(bench, plan, control, extras, dir) {
        Err(RunError::Launch(LaunchError::NotExecuted(error))) => return Ok(not_executed(&error)),
        ran => ran?,
    };
    findings.extend(left(plan, dir));
    if let Some((base, delta)) = &base {
        findings.extend(baseline::compare(base, delta, &trace));
    }
    let outcome = judge(plan, Some(stored), &ended, &trace, findings);
    let base = base.map(|(trace, _)| trace);
    let run = plan.keeps_all.then(|| Box::new(Ran { ended, trace, base }));
    Ok(Outcome { run, ..outcome })
}

/// Runs a planned scenario as [`attempt`] does, and judges it but for its snapshot; with its trace
/// as it is, and the view that the plan has of it.
pub(super) fn trial(
    bench: &Bench<'_>,
    plan: &Plan,
    control: &mut dyn Control,
    dir: &WorkDir,
) -> Result<(Outcome, Trace, View), RunError> {
    match record(bench, plan, control, Extras::default(), dir) {
        Err(RunError::Launch(LaunchError::NotExecuted(error))) => {
            Ok((not_executed(&error), Trace::default(), View::default()))
        }
        ran => {
            let (ended, trace, view, mut findings) = ran?;
            findings.extend(left(plan, dir));
            let mut normalised = trace.normalise(&view, &bench.signatures);
            add_spans(&plan.spans, &mut normalised);
            let outcome = judge(plan, None, &ended, &normalised, findings);
            Ok((outcome, trace, view))
        }
    }
}

/// Judges a run; with the snapshot that is handed over.
pub(super) fn judge(
    plan: &Plan,
    stored: Option<&Stored>,
    ended: &Ended,
    trace: &Normalised,
    findings: Vec<Finding>,
) -> Outcome {
    let counts = counts(plan, trace);
    let mut judgement = verdict::judge(plan, ended, &counts, &trace.in_order());
    judgement.add(findings);
    if ended.interrupted {
        judgement = Judgement::of(Finding::broken("interrupted"));
    }
    // A known failure is judged by its expectations alone: there is no right trace of it.
    let is_judged = matches!(judgement.verdict(), Verdict::Pass | Verdict::Fail);
    let is_whole = is_judged && !ended.is_cut_short();
    let mut is_trace = is_whole && plan.view.is_some() && plan.expect_failure.is_none();
    if is_trace && trace.unread > 0 {
        is_trace = false;
        let text = format!(
            "the trace says {} times `{UNREAD}` of the workload's memory, so it cannot be compared",
            trace.unread
        );
        judgement.add([Finding::unknown(About::Snapshot, text)]);
    }
    if is_trace && shows_overwritten(plan, ended) {
        is_trace = false;
        let overwritten = verdict::overwritten(&ended.account).unwrap_or_default();
        let text = format!("the trace cannot be compared: {overwritten}");
        judgement.add([Finding::unknown(About::Snapshot, text)]);
    }
    let text = trace.text();
    let shown = is_whole.then(|| shown(plan, ended, trace, &text)).flatten();
    let snapshot = match stored.filter(|_| is_trace) {
        Some(stored) => compare(stored, &text),
        None => SnapshotOutcome::NotCompared,
    };
    if let SnapshotOutcome::Differs { file, stored } = &snapshot {
        let (about, text) = match stored {
            Some(stored) => (
                About::Snapshot,
                format!(
                    "the trace differs from `{}`:\n{}",
                    shown_path(file),
                    snapshot::diff(stored, &text).trim_end()
                ),
            ),
            None => {
                let text = format!("there is no snapshot `{}` yet", shown_path(file));
                (About::NoSnapshot, text)
            }
        };
        judgement.add([Finding::missed(about, text)]);
    }
    let is_different = matches!(snapshot, SnapshotOutcome::Differs { .. });
    let only_snapshot = is_different && judgement.findings.len() == 1;
    let judgement = verdict::with_known_failure(plan, judgement);
    Outcome {
        only_snapshot,
        verdict: judgement.verdict(),
        findings: judgement.findings,
        interrupted: ended.interrupted,
        events: n_events(&counts),
        lost: ended.account.lost(),
        remarks: ended.account.remarks(),
        usage: ended.usage,
        struck: ended.struck(),
        text: is_trace.then_some(text),
        shown,
        snapshot,
        run: None,
    }
}

/// The text by which kernels are compared; none where parts of it are not known.
fn shown(plan: &Plan, ended: &Ended, trace: &Normalised, text: &str) -> Option<String> {
    if plan.view.is_some() {
        let is_known = trace.unread == 0 && !shows_overwritten(plan, ended);
        return is_known.then(|| text.to_owned());
    }
    let is_known = plan.events.overwritten(&ended.account).is_empty();
    is_known.then(|| trace.names().text())
}

/// Whether the snapshot would show events that records were overwritten of.
fn shows_overwritten(plan: &Plan, ended: &Ended) -> bool {
    let overwritten = plan.events.overwritten(&ended.account);
    let names = plan.events.names();
    let mut shown = overwritten.intersection(&names);
    let mut spans = plan.spans.iter().filter(|rule| rule.takes(&overwritten));
    let view = plan.view.as_ref();
    view.is_some_and(|view| {
        shown.any(|name| view.shows(name)) || spans.any(|rule| view.shows(&rule.name))
    })
}

/// How many these are, without the spans that they make.
fn n_events(counts: &BTreeMap<String, u64>) -> u64 {
    let events = counts.iter().filter(|(name, _)| !name.starts_with(SPAN));
    events.map(|(_, count)| count).sum()
}

/// How often each call and event occurred that the author asked for.
pub(super) fn counts(plan: &Plan, trace: &Normalised) -> BTreeMap<String, u64> {
    let mut counts = trace.counts();
    counts.retain(|name, _| !plan.marks.hidden.contains(name));
    counts
}

/// What is found in the directory, where the scenario asks.
fn left(plan: &Plan, dir: &WorkDir) -> Vec<Finding> {
    let expected = &plan.expect.files_after;
    if expected.is_empty() {
        return Vec::new();
    }
    let left = Left::below(dir.path(), &|path| verdict::reads_content(expected, path));
    verdict::files_after(expected, &left)
}

fn compare(stored: &Stored, text: &str) -> SnapshotOutcome {
    match &stored.text {
        Some(stored) if snapshot::matches(stored, text) => SnapshotOutcome::Same,
        _ => SnapshotOutcome::Differs {
            file: stored.file.clone(),
            stored: stored.text.clone(),
        },
    }
}

/// A workload that could not be executed did not fail its expectations: it is reported as just
/// that.
pub(super) fn not_executed(error: &NotExecuted) -> Outcome {
    let hint = error
        .hint()
        .map(|hint| format!(" (hint: {hint})"))
        .unwrap_or_default();
    let text = format!("{}{hint}", chain(error));
    not_judged(Finding::missed(About::Exit, text))
}

/// What is said where there is no run to judge.
pub(super) fn not_judged(finding: Finding) -> Outcome {
    let judgement = Judgement::of(finding);
    Outcome {
        verdict: judgement.verdict(),
        findings: judgement.findings,
        interrupted: false,
        events: 0,
        lost: 0,
        remarks: Vec::new(),
        usage: Usage::default(),
        struck: Vec::new(),
        text: None,
        shown: None,
        snapshot: SnapshotOutcome::NotCompared,
        only_snapshot: false,
        run: None,
    }
}

/// What travels with a snapshot of this scenario.
pub(super) fn provenance<'a>(
    bench: &'a Bench<'_>,
    file: &'a Path,
    description: &'a str,
) -> Provenance<'a> {
    Provenance {
        scenario: file,
        description,
        kernel: &bench.release,
    }
}
