//! Runs the recovery on each state.

use super::folder::{Before, Found, compare, differences};
use super::looking::room;
use super::recovery::{ACKNOWLEDGED, ENDED, Recovery, Tried};
use super::witness::Witnessed;
use crate::crash::{Built, Ended, Kept, Lost, Part, Pieces, Tree, build};
use crate::plan::{CrashPlan, Plan};
use crate::run::scenario::NoRun;
use crate::run::{Bench, Control};
use crate::scenario::Promises;
use crate::verdict::{self, About, Crashed, Failure, Finding, Idle, Known, Run, Verdict};
use perf_live::sandbox::{Left, Room};
use std::collections::BTreeSet;

/// Makes the log of a run that has ended, and holds it against what the run left and wrote.
pub(in crate::run) fn conclude(
    plan: &Plan,
    run: &mut Run<()>,
    left: impl FnOnce(Room) -> Known<Left>,
    (before, witnessed, ended): (Before, Witnessed, Vec<Ended>),
) {
    let Some(crash) = &plan.crash else {
        return;
    };
    let built = match build(before.tree, before.inodes, witnessed.seen, ended) {
        Ok(built) => built,
        Err(error) => {
            run.crash = Known::No(format!("the log of what the run changed is wrong: {error}"));
            return;
        }
    };
    let mut built = built;
    built.unknown.extend(witnessed.unknown);
    if built.in_parts && crash.model.orders_pages() {
        let name = &crash.model.name;
        let why = format!(
            "stores into a mapped file were looked for in front of writes in their own pages \
             alone, and `{name}` has an order between pages: make the recording with it"
        );
        built.unknown.push(why);
    }
    for name in [ACKNOWLEDGED, ENDED] {
        if built.log.ever_has(name.as_bytes()) {
            let why = format!("the run has a file `{name}`, which says what was promised");
            built.unknown.push(why);
        }
    }
    if built.unknown.is_empty() {
        let compared = match left(room(&built.last)) {
            Known::Yes(left) => {
                let found = Found {
                    left: &left,
                    labels: &witnessed.labels,
                    owners: witnessed.owners.as_ref(),
                };
                compare(&built.last, found, &crash.watch)
            }
            Known::No(why) => Err(why),
        };
        if let Err(why) = compared {
            let why = format!("the log does not end in the folder that the run left: {why}");
            built.unknown.push(why);
        }
        let doubt = doubt(&crash.acknowledged, &built, run, &witnessed.promises);
        built.unknown.extend(doubt);
    }
    run.findings.extend(
        witnessed
            .remarks
            .into_iter()
            .map(|text| Finding::remark(About::Crash, text)),
    );
    run.changes = Some(Box::new(built));
}

/// Why it is not known what the run promised.
fn doubt<T>(
    acknowledged: &Promises,
    built: &Built,
    run: &Run<T>,
    looked_for: &str,
) -> Option<String> {
    let word = acknowledged.word();
    let mut promised = built.promises.iter().flatten();
    let stream = match acknowledged {
        Promises::Stdout => &run.stdout,
        Promises::Stderr => &run.stderr,
        // A recording of a run whose promises were looked for elsewhere.
        _ if looked_for != word => {
            return Some(format!("it was not looked for promises by {word}"));
        }
        // Most likely it has another name: no state would be held to anything.
        _ if promised.next().is_none() => {
            return Some(format!(
                "no promise was made by {word}: nothing was sent there"
            ));
        }
        _ => return None,
    };
    let captured = stream.yes();
    let is_all = captured.is_some_and(|it| it.dropped == 0 && promised.eq(it.bytes.iter()));
    (!is_all).then(|| format!("not all that was written to {word} was seen while it was written"))
}

/// What a recording keeps of what was seen.
pub(in crate::run) fn keep(before: &Before, witnessed: &Witnessed) -> Kept {
    let mut kept = Kept::new(&before.tree, &before.inodes, &witnessed.seen);
    kept.remarks.clone_from(&witnessed.remarks);
    kept.unknown.clone_from(&witnessed.unknown);
    kept.promises.clone_from(&witnessed.promises);
    kept.leave(&witnessed.labels);
    kept.owned(witnessed.owners.as_ref());
    kept
}

/// What was seen, from a recording.
pub(in crate::run) fn kept(kept: &Kept) -> (Before, Witnessed) {
    let before = Before {
        tree: kept.tree(),
        inodes: kept.inodes(),
        devices: BTreeSet::new(),
    };
    let witnessed = Witnessed {
        seen: kept.seen.clone(),
        remarks: kept.remarks.clone(),
        unknown: kept.unknown.clone(),
        promises: kept.promises.clone(),
        labels: kept.left(),
        owners: kept.owners(),
    };
    (before, witnessed)
}

/// Runs the recovery on the states of a run, one after the other.
///
/// # Errors
/// [`NoRun`]: the harness could not do its work.
pub(in crate::run) fn explore(
    bench: &Bench<'_>,
    plan: &CrashPlan,
    run: &mut Run,
    control: &mut dyn Control,
) -> Result<(), NoRun> {
    let Some(built) = run.changes.as_deref() else {
        return Ok(());
    };
    if run.interrupted || run.has_timed_out() || !run.account.is_complete() {
        run.crash = Known::No("the run did not come to its end".to_owned());
        return Ok(());
    }
    let mut crashed = Crashed {
        model: plan.model.name.clone(),
        unknown: built.unknown.clone(),
        seed: plan.seed,
        since: plan.since.clone(),
        ..Crashed::default()
    };
    let pieces = match crashed.unknown.is_empty() {
        true => cut(built, plan)
            .map_err(|idle| crashed.idle = Some(idle))
            .ok(),
        false => None,
    };
    if let Some(pieces) = pieces {
        let explored = pieces.explore(plan.states, plan.seed);
        crashed.of_about = explored.coverage().below_log2();
        let recovery = Recovery::new(bench, plan, built)?;
        for state in explored {
            let tree = pieces.tree(&state);
            let tried = recovery.of(state, &tree, control)?;
            if tried.interrupted {
                run.interrupted = true;
                return Ok(());
            }
            let told = told(built, &tried, &tree);
            crashed.count(tried, &told);
        }
        if recovery.look(&mut crashed, control)? {
            run.interrupted = true;
            return Ok(());
        }
    }
    if crashed.tried == 0 && crashed.unknown.is_empty() && crashed.idle.is_none() {
        crashed.unknown.push("no state was tried".to_owned());
    }
    run.crash = Known::Yes(crashed);
    Ok(())
}

/// Cuts the log of a run, from where the power cuts begin.
///
/// # Errors
/// [`Idle`]: no power cut can take anything.
pub(in crate::run) fn cut(built: &Built, plan: &CrashPlan) -> Result<Pieces, Idle> {
    if !built.log.changes() {
        return Err(Idle::Unchanged);
    }
    let mut pieces = Pieces::new(&built.log, &plan.model);
    if let Some(text) = &plan.since {
        let unmarked = || Idle::Unmarked(text.clone());
        pieces.begin_behind(built.promised(text.as_bytes()).ok_or_else(unmarked)?);
        if pieces.are_settled() {
            return Err(Idle::Settled(text.clone()));
        }
    }
    Ok(pieces)
}

impl Crashed {
    /// Adds what became of a state.
    pub(in crate::run) fn count(&mut self, tried: Tried, told: &Failure) {
        self.tried += 1;
        match told.verdict {
            Verdict::Pass => return,
            Verdict::Fail => {
                let mut findings = tried.judgement.findings.iter();
                let is_unexecuted = findings.any(|it| it.about == About::Program);
                self.unexecuted += usize::from(is_unexecuted);
                self.failed += 1;
            }
            Verdict::Timeout | Verdict::Leak => {
                self.killed += 1;
                self.failed += 1;
            }
            verdict => {
                let said = verdict::joined(&tried.judgement.findings, "; ");
                let number = tried.state.number;
                self.unknown
                    .push(format!("state {number}: the recovery is {verdict}: {said}"));
                return;
            }
        }
        let weight = |it: &Failure| (it.lost.len(), it.state);
        let worst = self.worst.as_ref();
        if worst.is_none_or(|worst| weight(told) < weight(worst)) {
            self.worst = Some(told.clone());
        }
    }
}

/// What became of a state, for reports.
pub(in crate::run) fn told(built: &Built, tried: &Tried, tree: &Tree) -> Failure {
    let state = &tried.state;
    let call = |step: usize| built.calls.get(step).cloned().unwrap_or_default();
    let lost = |lost: &Lost| match &lost.part {
        Part::Whole => call(lost.step),
        Part::Bytes(range) => {
            format!(
                "{}: bytes {} to {}",
                call(lost.step),
                range.start,
                range.end
            )
        }
        Part::Size(above) => format!("{}: the size {above}", call(lost.step)),
        Part::Name(at) => format!("{}: {at}", call(lost.step)),
    };
    let from = |step: usize| built.from.get(step).cloned().flatten();
    let last = state.moment.checked_sub(1);
    Failure {
        state: state.number,
        moment: state.moment,
        behind: last.map(call),
        behind_from: last.and_then(from),
        lost: state.lost.iter().map(lost).collect(),
        lost_from: state.lost.iter().map(|lost| from(lost.step)).collect(),
        steps: state.lost.iter().map(|lost| lost.step).collect(),
        folder: differences(tree, &built.log.after(state.moment)),
        verdict: tried.judgement.verdict(),
        findings: tried.judgement.findings.clone(),
    }
}
