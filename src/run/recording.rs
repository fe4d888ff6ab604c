//! Runs of a scenario that expects nothing yet.

use super::once::once;
use super::{Control, Extras, RunError, Suite, lay_out};
use crate::plan::Plan;
use crate::scenario::Expect;
use crate::suggest::Seen;
use crate::verdict::{self, About, Finding, Verdict, joined};
use perf_live::errors::chain;
use perf_live::sandbox::{LaunchError, Left};

/// Why there is nothing to record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It cannot run here.
    #[error("it would be skipped: {}", joined(.0, "; "))]
    Unmet(Vec<Finding>),
    /// A run that can be no test's, whatever it did.
    #[error("{}: {}", .0.word(), joined(.1, "\n"))]
    NoRun(Verdict, Vec<Finding>),
    /// Somebody ended it.
    #[error("interrupted")]
    Interrupted,
    /// The harness could not do its work.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Suite<'_> {
    /// Runs the only scenario of this suite once, and tells what came of it, however it ended by
    /// itself. Nothing is written.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn record(&self, control: &mut dyn Control) -> Result<Seen, RecordError> {
        let plans = self.plans().map_err(RecordError::Unmet)?;
        let Some((_, file, plan)) = plans.into_iter().next() else {
            let none = Finding::broken("there is no scenario");
            return Err(RecordError::Unmet(vec![none]));
        };
        let dir = lay_out(self.bench, plan, file).map_err(RunError::from)?;
        let (ended, trace, _) = match once(self.bench, plan, control, Extras::default(), &dir) {
            Err(RunError::Launch(LaunchError::NotExecuted(error))) => {
                let finding = Finding::missed(About::Exit, chain(&error));
                return Err(RecordError::NoRun(Verdict::Fail, vec![finding]));
            }
            ran => ran?,
        };
        if ended.interrupted {
            return Err(RecordError::Interrupted);
        }
        let unknown = |why: String| {
            let finding = Finding::unknown(About::Run, why);
            RecordError::NoRun(Verdict::Incomplete, vec![finding])
        };
        let exit = ended.exit.clone().into_result().map_err(unknown)?;
        // Whatever its end was, it is what is expected.
        let plan = Plan {
            expect: Expect {
                exit: Some(exit),
                ..Expect::default()
            },
            ..plan.clone()
        };
        let judgement = verdict::judge(&plan, &ended, &trace.counts(), &[]);
        let verdict = judgement.verdict();
        if verdict != Verdict::Pass {
            return Err(RecordError::NoRun(verdict, judgement.findings));
        }
        Ok(Seen {
            exit,
            stdout: ended.stdout.into_result().map_err(unknown)?,
            stderr: ended.stderr.into_result().map_err(unknown)?,
            left: Left::below(dir.path(), &|_| true),
            trace,
        })
    }
}
