//! Runs one scenario once, and judges the run.

use super::baseline;
use super::once::once;
use super::{Bench, Control, Extras, Item, RunError};
use crate::matching::SPAN;
use crate::plan::Plan;
use crate::policy::Needs;
use crate::snapshot::{self, Provenance, Stored};
use crate::trace::Normalised;
use crate::verdict::{self, About, FaultTold, Finding, Judgement, Kind, Known, Run};
use crate::verdict::{Verdict, counts};
use perf_live::errors::chain;
use perf_live::sandbox::{LaunchError, WorkDir};
use perf_live::units::{Limit, Usage};
use perf_records::units::shown_path;
use std::collections::BTreeMap;
use std::path::Path;
use syscall_model::UNREAD;

/// The outcome of one run.
#[derive(Debug)]
pub struct Outcome {
    /// The verdict, which takes the snapshot into account.
    pub verdict: Verdict,
    /// The findings, in the order in which they are shown.
    pub findings: Vec<Finding>,
    /// Whether the run ended because the harness was asked to end; nothing was judged then.
    pub interrupted: bool,
    /// How many calls and events the trace holds.
    pub events: u64,
    /// How many records are missing.
    pub lost: u64,
    /// Remarks that hold for any verdict.
    pub remarks: Vec<String>,
    /// What the workload used.
    pub usage: Usage,
    /// The limits that it ran into.
    pub struck: Vec<Limit>,
    /// What became of its faults; `None` without faults or without a run.
    pub faults: Option<Vec<FaultTold>>,
    /// The trace's text, if the scenario has a snapshot.
    pub text: Option<String>,
    /// What kernels are compared by, if the run came to its end: the text that a snapshot shows or
    /// would show. For a scenario without a snapshot, only which calls and events there were.
    pub shown: Option<String>,
    /// The whole trace of a scenario without a snapshot, if the run came to its end; the names of
    /// its calls alone where the plan keeps no more.
    pub whole: Option<String>,
    /// The result of the comparison with the stored snapshot.
    pub snapshot: SnapshotOutcome,
    /// Whether the run fails by its snapshot alone.
    pub only_snapshot: bool,
    /// What the run needed of the kernel, where every call was recorded.
    pub needs: Known<Needs>,
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
    /// A command that could not be executed does not fail the expectations: the error itself is
    /// reported.
    fn from(error: E) -> Self {
        match error.into() {
            RunError::Launch(LaunchError::NotExecuted(error)) => {
                let hint = error.hint().map(|hint| format!(" (hint: {hint})"));
                let text = format!("{}{}", chain(&error), hint.unwrap_or_default());
                Finding::missed(About::Program, text).into()
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

/// The result of the comparison of a trace with its snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotOutcome {
    /// The scenario has no snapshot, or the run has no trace to compare.
    NotCompared,
    /// Equal.
    Same,
    /// The trace differs from the stored one, or none is stored.
    Differs {
        /// The file that it was compared with.
        file: std::path::PathBuf,
        /// Its text; `None` where there is no such file.
        stored: Option<String>,
    },
}

/// The scenario behind a plan, as far as running and judging need it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its file; `files` with `from` are relative to it.
    pub file: &'a Path,
    /// Its snapshot, as it was before any run of it.
    pub stored: &'a Stored,
}

/// Reads the snapshot that runs of a plan are compared with; reads no file if the plan has none.
pub(super) fn stored(bench: &Bench<'_>, plan: &Plan, item: &Item) -> Result<Stored, RunError> {
    match plan.view {
        Some(_) => Ok(item.place().stored(bench.kernel())?),
        None => Ok(Stored::default()),
    }
}

/// Runs a planned scenario in the directory that was laid out for it, after its baseline, and
/// judges it. Writes nothing.
///
/// # Errors
/// [`RunError`], if the harness could not do its work; the workload is dead by then.
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
    if let Some(plan) = &plan.crash {
        super::crash::explore(bench, plan, &mut run, control)?;
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

/// What the text of a trace does not know, for which it cannot be compared.
fn unknown_of(trace: &Normalised) -> Vec<Finding> {
    let unread = (trace.unread > 0).then(|| {
        format!(
            "the trace says {} times `{UNREAD}` of the workload's memory, so it cannot be compared",
            trace.unread
        )
    });
    let unled = trace.unled.iter().map(|(why, n)| {
        format!("the trace says {n} times `-> ?` of a path, so it cannot be compared: {why}")
    });
    let said = unread.into_iter().chain(unled);
    said.map(|text| Finding::unknown(About::Snapshot, text))
        .collect()
}

/// Judges a run, and compares its trace with the snapshot if one is given.
pub(super) fn judge(plan: &Plan, stored: Option<&Stored>, run: &Run) -> Outcome {
    let trace = &run.trace;
    let mut judgement = verdict::judge(plan, run);
    // With `expect_failure`, only the expectations are judged: there is no right trace of a
    // failure.
    let is_judged = matches!(judgement.verdict(), Verdict::Pass | Verdict::Fail);
    let is_whole = is_judged && !run.is_cut_short();
    let mut is_trace = is_whole && plan.view.is_some() && plan.expect_failure.is_none();
    if is_trace && !trace.is_known() {
        is_trace = false;
        judgement.add(unknown_of(trace));
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
    let mut findings = judgement.findings.iter();
    let is_else = |finding: &Finding| {
        let is_it = matches!(finding.about, About::Snapshot | About::NoSnapshot);
        finding.kind != Kind::Remark && !is_it
    };
    let only_snapshot = is_different && !findings.any(is_else);
    let (text, whole) = match is_trace {
        true => (Some(text), None),
        // Calls whose order nothing asks for are counted and not kept.
        false if is_whole && plan.view.is_none() => match plan.keeps_order() {
            true => (None, Some(text)),
            false => (None, Some(trace.names().text())),
        },
        false => (None, None),
    };
    Outcome {
        only_snapshot,
        events: n_events(&counts(plan, trace)),
        text,
        whole,
        shown,
        snapshot,
        faults: verdict::told(plan, run),
        ..Outcome::of(run, verdict::with_known_failure(plan, judgement))
    }
}

/// Returns the text by which kernels are compared; `None` if parts of it are not known.
fn shown(plan: &Plan, run: &Run, text: &str) -> Option<String> {
    if plan.view.is_some() {
        let is_known = run.trace.is_known() && !shows_overwritten(plan, run);
        return is_known.then(|| text.to_owned());
    }
    let is_known = plan.events.overwritten(&run.account).is_empty();
    is_known.then(|| run.trace.names().text())
}

/// Whether the snapshot would show an event that has overwritten records.
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

/// Returns how many calls and events these are, without the spans made of them.
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
    /// Makes the outcome of a run whose trace is not compared.
    pub(super) fn of(run: &Run, judgement: Judgement) -> Self {
        Self {
            interrupted: run.interrupted,
            lost: run.account.lost(),
            remarks: run.account.remarks(),
            usage: run.usage,
            struck: run.struck(),
            needs: run.needs.clone(),
            ..Self::without_run(judgement)
        }
    }

    /// Makes the outcome of a scenario that has no run to judge.
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
            faults: None,
            text: None,
            shown: None,
            whole: None,
            snapshot: SnapshotOutcome::NotCompared,
            only_snapshot: false,
            needs: Known::No("there was no run".to_owned()),
            run: None,
        }
    }
}

/// Returns what is stored beside the text of this scenario's snapshot.
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
