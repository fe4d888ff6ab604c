//! Runs a scenario many times, under conditions that bring out what varies.

use super::load::{Load, Pinned};
use crate::calibrate::{self, Calibration, Condition, Evidence, Unpinned, Unsettled};
use crate::plan::Plan;
use crate::run::once::once;
use crate::run::overwritten::OVERWRITTEN;
use crate::run::scenario::{NoRun, judge};
use crate::run::{Bench, Control, Extras, RunError, Suite, lay_out};
use crate::trace::{By, Level, Normalised, Trace, View};
use crate::verdict::{Finding, Verdict, joined};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::thread::Builder;
use std::time::{Duration, Instant};
use syscall_model::select::Selection;

/// How a scenario is calibrated.
#[derive(Clone, Debug)]
pub struct Calibrating {
    /// How many complete runs each row of its matrix gets.
    pub n_runs: u32,
    /// For how long new runs are begun, over all rows, once each condition had some. `None`: until
    /// there are `n_runs`.
    pub patience: Option<Duration>,
    /// The conditions, taken in turns.
    pub conditions: Vec<Condition>,
}

impl Calibrating {
    /// Makes `n_runs` runs, however long they take.
    #[must_use]
    pub fn exactly(n_runs: u32) -> Self {
        Self {
            n_runs,
            patience: None,
            ..Self::default()
        }
    }
}

impl Default for Calibrating {
    fn default() -> Self {
        Self {
            // A difference in one run of 100 is missed by most calibrations of 20 runs.
            n_runs: 300,
            patience: Some(Duration::from_secs(60)),
            conditions: Condition::ALL.to_vec(),
        }
    }
}

/// Why a scenario was not calibrated.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// Its requirements are not met here.
    #[error("it would be skipped: {}", joined(.0, "; "))]
    Unmet(Vec<Finding>),
    /// It expects a failure, so there is no right trace of it.
    #[error("it is known to fail ({0}), so there is no right trace of it")]
    KnownFailure(String),
    /// Its rings are overwritten, so each trace begins at another place.
    #[error("{OVERWRITTEN}")]
    Overwritten,
    /// A run failed, apart from its trace.
    #[error("{verdict} in a run {condition}: {}", joined(.findings, "\n"))]
    Failed {
        /// The word of its verdict.
        verdict: &'static str,
        /// The condition that it ran under.
        condition: Condition,
        /// The findings on it.
        findings: Vec<Finding>,
    },
    /// Too many runs were incomplete.
    #[error("{n} of {all} runs were incomplete: {}", joined(.findings, "\n"))]
    Incomplete {
        /// How many were incomplete.
        n: u32,
        /// How many were made.
        all: u32,
        /// The findings on the last of them.
        findings: Vec<Finding>,
    },
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
    /// The harness could not do its work.
    #[error(transparent)]
    Run(RunError),
    /// No view gives all runs the same text.
    #[error("no level holds")]
    Unsettled(#[from] Unsettled),
}

impl From<RunError> for CalibrateError {
    fn from(error: RunError) -> Self {
        match error.unmet() {
            Some(lack) => Self::Unmet(vec![lack]),
            None => Self::Run(error),
        }
    }
}

// How many runs one condition gets before the next has its turn: other load on the machine comes
// and goes.
const BATCH: u32 = 4;

impl Suite<'_> {
    /// Runs the scenarios of this suite, which are the rows of one file, many times, and finds how
    /// strict their snapshots can be. `progress` gets the number of runs done, and the number of
    /// all. Writes nothing.
    ///
    /// # Errors
    /// [`CalibrateError`].
    pub fn calibrate<'c>(
        &self,
        calibrating: &Calibrating,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
        progress: &(dyn Fn(u32, u32) + Sync),
    ) -> Result<Calibration, CalibrateError> {
        let plans = self.plans().map_err(CalibrateError::Unmet)?;
        let n_plans = u32::try_from(plans.len()).unwrap_or(u32::MAX);
        let total = calibrating.n_runs.saturating_mul(n_plans);
        let mut all = Evidence::default();
        let mut strictest = View::default();
        let mut spans = Vec::new();
        let (mut done, mut unpinned) = (0, None);
        for (row, file, plan) in plans {
            if let Some(reason) = &plan.expect_failure {
                return Err(CalibrateError::KnownFailure(reason.clone()));
            }
            if plan.events.overwrites() {
                return Err(CalibrateError::Overwritten);
            }
            let mut runs = Runs {
                bench: self.bench,
                plan: strictest_of(plan),
                file,
                control,
                n_incomplete: 0,
            };
            let mut turns = turns(calibrating);
            let mut may_pin = tells_cpus(plan);
            let began = Instant::now();
            let patience = calibrating.patience.map(|all| all / n_plans.max(1));
            let mut begun = BTreeSet::new();
            while let Some(mut turn) = turns.pop() {
                let is_late = patience.is_some_and(|patience| began.elapsed() > patience);
                if !begun.insert(turn.condition) && is_late {
                    continue;
                }
                if turn.condition == Condition::OneCpu && !may_pin {
                    turn.condition = Condition::Quiet;
                    unpinned = Some(match tells_cpus(plan) {
                        true => Unpinned::Asks,
                        false => Unpinned::Unrecorded,
                    });
                }
                for result in runs.take(turn) {
                    let Some((trace, seen)) = runs.judge(turn.condition, result, total)? else {
                        turns.push(Turn { n_runs: 1, ..turn });
                        continue;
                    };
                    may_pin &= !trace.has(ASKS_FOR_CPUS);
                    if turn.condition == Condition::OneCpu && !may_pin {
                        turns.push(Turn { n_runs: 1, ..turn });
                        continue;
                    }
                    spans.clone_from(&plan.spans);
                    let trace = (trace, seen.view.stretch);
                    all.add(&row, turn.condition, trace, seen.text());
                    strictest = seen.view;
                    done += 1;
                    progress(done, total);
                }
            }
        }
        let calibration = calibrate::calibrate(&all, &strictest, &self.bench.signatures, &spans)?;
        Ok(Calibration {
            unpinned,
            ..calibration
        })
    }
}

// The call by which a program learns on how many CPUs it may run. On one CPU it may then do
// something else in every run, and not by chance.
const ASKS_FOR_CPUS: &str = "sched_getaffinity";

/// Whether a run's records would show a call that asks for the CPUs.
fn tells_cpus(plan: &Plan) -> bool {
    let mut recorded = plan.events.selection.iter().flat_map(Selection::names);
    recorded.any(|name| name == ASKS_FOR_CPUS)
}

/// Returns the plan with a view of the order of all that the author wants to see.
fn strictest_of(plan: &Plan) -> Plan {
    let view = plan.view.clone().unwrap_or_default();
    Plan {
        view: Some(View {
            level: Level::Sequence,
            levels: Vec::new(),
            by: By::Process,
            ..view
        }),
        // Only the scenario's own trace is compared.
        baseline: None,
        ..plan.clone()
    }
}

/// Several runs of one condition.
#[derive(Clone, Copy, Debug)]
struct Turn {
    condition: Condition,
    n_runs: u32,
}

/// Returns the turns, the last one first.
fn turns(calibrating: &Calibrating) -> Vec<Turn> {
    let n_conditions = u32::try_from(calibrating.conditions.len()).unwrap_or(u32::MAX);
    let mut left: Vec<Turn> = calibrating
        .conditions
        .iter()
        .zip(0..)
        .map(|(condition, place)| Turn {
            condition: *condition,
            n_runs: (calibrating.n_runs + n_conditions - 1 - place) / n_conditions,
        })
        .collect();
    let mut turns = Vec::new();
    while left.iter().any(|turn| turn.n_runs > 0) {
        for turn in &mut left {
            let n_runs = turn.n_runs.min(BATCH);
            turn.n_runs -= n_runs;
            if n_runs > 0 {
                turns.push(Turn { n_runs, ..*turn });
            }
        }
    }
    turns.reverse();
    turns
}

/// A run that passed: its trace as collected, and as the strictest view shows it.
type Attempted = Result<(Trace, Normalised), NoRun>;

/// The runs of one row.
struct Runs<'a, 'c> {
    bench: &'a Bench<'a>,
    plan: Plan,
    file: &'a Path,
    control: &'a (dyn Fn() -> Box<dyn Control + 'c> + Sync),
    n_incomplete: u32,
}

impl Runs<'_, '_> {
    fn take(&self, turn: Turn) -> Vec<Attempted> {
        let _load = Load::start(turn.condition, &self.bench.cpus);
        if turn.condition != Condition::Crowd {
            let cpu = self.bench.cpus.first().copied();
            let _pinned = Pinned::to(cpu.filter(|_| turn.condition == Condition::OneCpu));
            return (0..turn.n_runs).map(|_| self.one()).collect();
        }
        let results = Mutex::new(Vec::new());
        let add = |result| results.lock().map(|mut results| results.push(result)).ok();
        std::thread::scope(|scope| {
            for _ in 0..turn.n_runs {
                let started = Builder::new().spawn_scoped(scope, || add(self.one()));
                // Fewer of them are no crowd.
                if let Err(error) = started {
                    add(Err(NoRun::Error(RunError::Beside(error))));
                }
            }
        });
        results.into_inner().unwrap_or_default()
    }

    fn one(&self) -> Attempted {
        let dir = lay_out(self.bench, &self.plan, self.file)?;
        let mut control = (self.control)();
        let extras = Extras::default();
        let (run, trace) = once(self.bench, &self.plan, &mut *control, extras, &dir)?;
        // What a power cut leaves is no part of the trace.
        let judged = Plan {
            crash: None,
            ..self.plan.clone()
        };
        let outcome = judge(&judged, None, &run);
        match outcome.verdict {
            Verdict::Pass => Ok((trace, run.trace)),
            _ => Err(NoRun::Outcome(Box::new(outcome))),
        }
    }

    /// Takes the trace of a run that passed; an incomplete run is counted, and another takes its
    /// place.
    fn judge(
        &mut self,
        condition: Condition,
        attempted: Attempted,
        all: u32,
    ) -> Result<Option<(Trace, Normalised)>, CalibrateError> {
        let outcome = match attempted {
            Ok(passed) => return Ok(Some(passed)),
            Err(NoRun::Error(error)) => return Err(error.into()),
            Err(NoRun::Outcome(outcome)) => outcome,
        };
        match outcome.verdict {
            Verdict::Incomplete if self.n_incomplete < all => {
                self.n_incomplete += 1;
                Ok(None)
            }
            Verdict::Incomplete => Err(CalibrateError::Incomplete {
                n: self.n_incomplete + 1,
                all: self.n_incomplete + 1,
                findings: outcome.findings,
            }),
            Verdict::Broken if outcome.interrupted => Err(CalibrateError::Interrupted),
            verdict => Err(CalibrateError::Failed {
                verdict: verdict.word(),
                condition,
                findings: outcome.findings,
            }),
        }
    }
}
