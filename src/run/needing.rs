//! What a run needed of the kernel, and what a policy refused of it.

use super::Bench;
use crate::plan::Plan;
use crate::policy::{Needs, Policy, Refusal, told};
use crate::verdict::{About, Finding, Kind, Known, Run};
use perf_live::gate::{AllowedCalls, Denial};

/// A policy that workloads run under.
#[derive(Clone, Debug)]
pub struct Enforced {
    /// The policy.
    pub policy: Policy,
    /// The name of its file, for reports.
    pub file: String,
    /// What becomes of a call that it refuses.
    pub action: Action,
}

/// What becomes of a call that a policy refuses. In each case its scenario fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It fails with the policy's error.
    Error,
    /// It is made, and told.
    Tell,
    /// Its process is killed.
    Kill,
}

impl Enforced {
    /// What the kernel is to let pass; `None` for all.
    fn allowed(&self) -> Option<(AllowedCalls, Denial)> {
        let denial = match self.action {
            Action::Error => Denial::Error(self.policy.errno),
            Action::Kill => Denial::Kill,
            Action::Tell => return None,
        };
        Some((self.policy.allowed(), denial))
    }

    /// What is found of a call that it refuses.
    fn found(&self, refusal: &Refusal) -> Finding {
        let Refusal { call, lines, .. } = refusal;
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        let place = format!("{}:{}", self.file, lines.join(", "));
        if refusal.is_unsure {
            let text = format!(
                "{call} was refused, and whether by the policy ({place}) or by a filter of the workload's own is not known"
            );
            return Finding::unknown(About::Run, text);
        }
        let why = match refusal.by_word {
            true => "allows it with other arguments only",
            false => "has no rule for it",
        };
        Finding::missed(
            About::Run,
            format!("the policy refuses {call}: {place} {why}"),
        )
    }
}

/// What the kernel is to let pass of a workload; `None` for all. Baselines and recoveries are not
/// what a policy is for.
pub(super) fn allowed(bench: &Bench<'_>, plan: &Plan) -> Option<(AllowedCalls, Denial)> {
    let enforced = bench.enforced.as_ref().filter(|_| plan.events.every);
    enforced.and_then(Enforced::allowed)
}

/// Adds to a run what it needed, or why that is not known: what is missing of its records may be a
/// call.
pub(super) fn conclude(needs: Needs, plan: &Plan, run: &mut Run<()>) {
    let is_complete = run.account.is_complete();
    run.needs = if plan.expect_failure.is_some() {
        let why = "it is known to fail, and what it does when it passes is not";
        Known::No(why.to_owned())
    } else if plan.events.overwrites() {
        let why = "its ring keeps the last records alone: write `ring: { mode: stream }`";
        Known::No(why.to_owned())
    } else if is_complete {
        Known::Yes(needs)
    } else {
        Known::No("the record of its calls is not complete".to_owned())
    };
}

/// Adds to a run what the policy refuses of it.
pub(super) fn judge(bench: &Bench<'_>, plan: &Plan, run: &mut Run) {
    let Some(enforced) = bench.enforced.as_ref().filter(|_| plan.events.every) else {
        return;
    };
    let findings: Vec<Finding> = match &run.needs {
        Known::Yes(needs) => {
            let refusals = told(&enforced.policy, needs);
            refusals.iter().map(|it| enforced.found(it)).collect()
        }
        Known::No(why) => {
            let text = format!("what the policy refuses is not known: {why}");
            // Nothing follows from what else was found: a run that fails as it is known to fail
            // may have failed by the policy.
            vec![Finding::new(Kind::Lost, About::Run, text)]
        }
    };
    run.findings.extend(findings);
}
