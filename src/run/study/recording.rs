//! Runs a scenario that expects nothing yet.

use crate::plan::Plan;
use crate::run::once::once;
use crate::run::scenario::NoRun;
use crate::run::{Control, Extras, RunError, Suite, lay_out};
use crate::scenario::Expect;
use crate::verdict::{self, Finding, Known, Run, Verdict, joined};
use perf_live::sandbox::Left;

/// Why no run was recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Its requirements are not met here.
    #[error("it would be skipped: {}", joined(.0, "; "))]
    Unmet(Vec<Finding>),
    /// The run is of no use for a test, whatever it did.
    #[error("{}: {}", .0.word(), joined(.1, "\n"))]
    NoRun(Verdict, Vec<Finding>),
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
    /// The harness could not do its work.
    #[error(transparent)]
    Run(RunError),
}

impl From<RunError> for RecordError {
    fn from(error: RunError) -> Self {
        match error.unmet() {
            Some(lack) => Self::Unmet(vec![lack]),
            None => Self::Run(error),
        }
    }
}

impl Suite<'_> {
    /// Runs the only scenario of this suite once and returns the run, however it ended by itself.
    /// Writes nothing.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn record(&self, control: &mut dyn Control) -> Result<Run, RecordError> {
        let plans = self.plans().map_err(RecordError::Unmet)?;
        let Some((_, file, plan)) = plans.into_iter().next() else {
            let none = Finding::broken("there is no scenario");
            return Err(RecordError::Unmet(vec![none]));
        };
        let dir = lay_out(self.bench, plan, file).map_err(RunError::from)?;
        let extras = Extras::default();
        let mut run = match once(self.bench, plan, control, extras, &dir).map_err(NoRun::from) {
            Err(NoRun::Outcome(outcome)) => {
                return Err(RecordError::NoRun(outcome.verdict, outcome.findings));
            }
            Err(NoRun::Error(error)) => return Err(error.into()),
            Ok((run, _)) => run,
        };
        if run.interrupted {
            return Err(RecordError::Interrupted);
        }
        // However it ended is what is expected.
        let plan = Plan {
            expect: Expect {
                exit: run.exit.yes().copied(),
                ..Expect::default()
            },
            ..plan.clone()
        };
        let judgement = verdict::judge(&plan, &run);
        let verdict = judgement.verdict();
        if verdict != Verdict::Pass {
            return Err(RecordError::NoRun(verdict, judgement.findings));
        }
        run.left = Known::Yes(Left::below(dir.path(), &|_| true));
        Ok(run)
    }
}
