//! One scenario, once.

use super::baseline;
use super::once::once;
use super::{Bench, Control, Extras, Item, RunError};
use crate::matching::SPAN;
use crate::plan::Plan;
use crate::snapshot::{self, Provenance, Stored};
use crate::verdict::{self, About, Finding, Judgement, Known, Run, Verdict, counts};
use perf_live::errors::chain;
use perf_live::sandbox::{LaunchError, WorkDir};
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
    pub run: Option<Box<Run>>,
}

/// Why there is no run to judge.
#[derive(Debug)]
pub(super) enum NoRun {
    /// What the scenario comes to without one.
    Outcome(Box<Outcome>),
    /// The harness could not do its work.
    Error(RunError),
}

impl<E: Into<RunError>> From<E> for NoRun {
    /// A workload that could not be executed did not fail its expectations: it is reported as just
    /// that.
    fn from(error: E) -> Self {
        match error.into() {
            RunError::Launch(LaunchError::NotExecuted(error)) => {
                let hint = error.hint().map(|hint| format!(" (hint: {hint})"));
                let text = format!("{}{}", chain(&error), hint.unwrap_or_default());
                Finding::missed(About::Exit, text).into()
            }
            error => Self::Error(error),
        }
    }
}

impl From<Finding> for NoRun {
    fn from(finding: Finding) -> Self {
        Self::Outcome(Box::new(Outcome::without_run(Judgement::of(finding))))
    }
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
    let ran = live(bench, plan, subject.file, control, extras, dir);
    judged(plan, subject.stored, ran)
}

/// Runs a planned scenario, and before it its baseline.
fn live(
    bench: &Bench<'_>,
    plan: &Plan,
    file: &Path,
    control: &mut dyn Control,
    extras: Extras<'_>,
    dir: &WorkDir,
) -> Result<Run, NoRun> {
    let base = match &plan.baseline {
        None => None,
        Some(baseline) => Some(baseline::run(
            bench,
            &baseline.plan,
            file,
            control,
            extras.save,
        )?),
    };
    let (mut run, _) = once(bench, plan, control, extras, dir)?;
    if let Some(base) = base {
        run.base = Known::Yes(base);
    }
    Ok(run)
}

/// Judges a run, if there is one.
pub(super) fn judged(
    plan: &Plan,
    stored: &Stored,
    ran: Result<Run, NoRun>,
) -> Result<Outcome, RunError> {
    match ran {
        Ok(run) => {
            let outcome = judge(plan, Some(stored), &run);
            let run = plan.keeps_all.then(|| Box::new(run));
            Ok(Outcome { run, ..outcome })
        }
        Err(NoRun::Outcome(outcome)) => Ok(*outcome),
        Err(NoRun::Error(error)) => Err(error),
    }
}

/// Judges a run; with the snapshot that is handed over.
pub(super) fn judge(plan: &Plan, stored: Option<&Stored>, run: &Run) -> Outcome {
    let trace = &run.trace;
    let mut judgement = verdict::judge(plan, run);
    // A known failure is judged by its expectations alone: there is no right trace of it.
    let is_judged = matches!(judgement.verdict(), Verdict::Pass | Verdict::Fail);
    let is_whole = is_judged && !run.is_cut_short();
    let mut is_trace = is_whole && plan.view.is_some() && plan.expect_failure.is_none();
    if is_trace && trace.unread > 0 {
        is_trace = false;
        let text = format!(
            "the trace says {} times `{UNREAD}` of the workload's memory, so it cannot be compared",
            trace.unread
        );
        judgement.add([Finding::unknown(About::Snapshot, text)]);
    }
    if is_trace && shows_overwritten(plan, run) {
        is_trace = false;
        let overwritten = verdict::overwritten(&run.account).unwrap_or_default();
        let text = format!("the trace cannot be compared: {overwritten}");
        judgement.add([Finding::unknown(About::Snapshot, text)]);
    }
    let text = trace.text();
    let shown = is_whole.then(|| shown(plan, run, &text)).flatten();
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
    Outcome {
        only_snapshot,
        events: n_events(&counts(plan, trace)),
        text: is_trace.then_some(text),
        shown,
        snapshot,
        ..Outcome::of(run, verdict::with_known_failure(plan, judgement))
    }
}

/// The text by which kernels are compared; none where parts of it are not known.
fn shown(plan: &Plan, run: &Run, text: &str) -> Option<String> {
    if plan.view.is_some() {
        let is_known = run.trace.unread == 0 && !shows_overwritten(plan, run);
        return is_known.then(|| text.to_owned());
    }
    let is_known = plan.events.overwritten(&run.account).is_empty();
    is_known.then(|| run.trace.names().text())
}

/// Whether the snapshot would show events that records were overwritten of.
fn shows_overwritten(plan: &Plan, run: &Run) -> bool {
    let overwritten = plan.events.overwritten(&run.account);
    if overwritten.is_empty() {
        return false;
    }
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

fn compare(stored: &Stored, text: &str) -> SnapshotOutcome {
    match &stored.text {
        Some(stored) if snapshot::matches(stored, text) => SnapshotOutcome::Same,
        _ => SnapshotOutcome::Differs {
            file: stored.file.clone(),
            stored: stored.text.clone(),
        },
    }
}

impl Outcome {
    /// Of a run whose trace is not looked at.
    pub(super) fn of(run: &Run, judgement: Judgement) -> Self {
        Self {
            interrupted: run.interrupted,
            lost: run.account.lost(),
            remarks: run.account.remarks(),
            usage: run.usage,
            struck: run.struck(),
            ..Self::without_run(judgement)
        }
    }

    /// Where there is no run to judge.
    fn without_run(judgement: Judgement) -> Self {
        Self {
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
