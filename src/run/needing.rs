//! What a run needed of the kernel, and what a policy refused of it.

use super::{Bench, programs};
use crate::plan::{EventsPlan, Plan};
use crate::policy::landlock::{Programs, Touching, refusals};
use crate::policy::{Needs, PolicyFile, Refusal, told};
use crate::verdict::{About, Finding, Kind, Known, Run};
use perf_live::gate::{AllowedCalls, Denial, Ruled};
use perf_live::sandbox::World;
use std::path::Path;
use syscall_model::Observation;

/// A policy that workloads run under.
#[derive(Clone, Debug)]
pub struct Enforced {
    /// The policy.
    pub policy: PolicyFile,
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
        let PolicyFile::Calls(policy) = &self.policy else {
            return None;
        };
        let denial = match self.action {
            Action::Error => Denial::Error(policy.errno),
            Action::Kill => Denial::Kill,
            Action::Tell => return None,
        };
        Some((policy.allowed(), denial))
    }

    /// What it refuses of a run, or why that is not known.
    fn refusals(&self, needs: &Needs) -> Result<Vec<Refusal>, String> {
        match &self.policy {
            PolicyFile::Calls(policy) => Ok(told(policy, needs)),
            PolicyFile::Rules(rules) => match &needs.touched {
                Some(touched) => refusals(rules, touched),
                None => Err("the files that calls reached were not followed".to_owned()),
            },
        }
    }

    /// What is found of a call that it refuses.
    fn found(&self, refusal: &Refusal) -> Finding {
        let Refusal { call, lines, .. } = refusal;
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        let place = format!("{}:{}", self.file, lines.join(", "));
        if refusal.is_unsure {
            let text = format!(
                "{call} was refused, and whether by the policy ({place}), by a filter of the workload's own or for lack of a right is not known"
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

/// The rules that a workload is kept to that works in this folder; `None` for none.
pub(super) fn ruled(bench: &Bench<'_>, plan: &Plan, directory: &Path) -> Option<Ruled> {
    let enforced = bench.enforced.as_ref().filter(|_| plan.events.every)?;
    match (&enforced.policy, enforced.action) {
        (PolicyFile::Rules(rules), Action::Error | Action::Kill) => Some(rules.ruled(directory)),
        _ => None,
    }
}

/// What a run needs of the kernel, while it goes on.
#[derive(Debug, Default)]
pub(super) struct Needing {
    needs: Needs,
    /// What it does to files, ports and others, where files are followed besides.
    touching: Option<Touching>,
}

impl Needing {
    /// `None` where not every call is recorded for that.
    pub(super) fn of(events: &EventsPlan) -> Option<Self> {
        events.every.then(|| Self {
            touching: events.watched.names.then(Touching::default),
            ..Self::default()
        })
    }

    /// Notes what an observation tells.
    pub(super) fn note(&mut self, observation: &Observation) {
        self.needs.note(observation);
        if let Some(touching) = &mut self.touching {
            touching.note(observation);
        }
    }

    /// Adds to a run what it needed, or why that is not known: what is missing of its records may
    /// be a call.
    pub(super) fn conclude(self, plan: &Plan, run: &mut Run<()>) {
        let mut needs = self.needs;
        let (directory, main) = (run.directory.as_deref(), run.main_pid);
        needs.touched = self
            .touching
            .map(|touching| touching.finish(directory, main, &run.programs));
        run.needs = known(needs, plan, run);
    }
}

/// What was executed beside programs in a run that is over, in these folders.
pub(super) fn programs(
    needing: &Option<Needing>,
    world: &World,
    folders: (&Path, &Path),
) -> Programs {
    let touching = needing
        .as_ref()
        .and_then(|needing| needing.touching.as_ref());
    let programs = touching.map(Touching::programs).unwrap_or_default();
    programs::beside(&programs, world, folders)
}

fn known(needs: Needs, plan: &Plan, run: &Run<()>) -> Known<Needs> {
    let is_complete = run.account.is_complete();
    if plan.expect_failure.is_some() {
        let why = "it is known to fail, and what it does when it passes is not";
        Known::No(why.to_owned())
    } else if plan.events.overwrites() {
        let why = "its ring keeps the last records alone: write `ring: { mode: stream }`";
        Known::No(why.to_owned())
    } else if is_complete {
        Known::Yes(needs)
    } else {
        Known::No("the record of its calls is not complete".to_owned())
    }
}

/// Adds to a run what the policy refuses of it.
pub(super) fn judge(bench: &Bench<'_>, plan: &Plan, run: &mut Run) {
    let Some(enforced) = bench.enforced.as_ref().filter(|_| plan.events.every) else {
        return;
    };
    let refusals = match &run.needs {
        Known::Yes(needs) => enforced.refusals(needs),
        Known::No(why) => Err(why.clone()),
    };
    let findings: Vec<Finding> = match refusals {
        Ok(refusals) => refusals.iter().map(|it| enforced.found(it)).collect(),
        Err(why) => {
            let text = format!("what the policy refuses is not known: {why}");
            // Nothing follows from what else was found: a run that fails as it is known to fail
            // may have failed by the policy.
            vec![Finding::new(Kind::Lost, About::Run, text)]
        }
    };
    run.findings.extend(findings);
}
