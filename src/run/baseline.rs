//! The run that a scenario's own is compared with.

use super::once::once;
use super::recorded::of_baseline;
use super::scenario::{NoRun, Outcome};
use super::{Bench, Control, Extras, StoreOptions, lay_out};
use crate::plan::Plan;
use crate::trace::Normalised;
use crate::verdict::{self, Finding, Run, Verdict};
use std::path::Path;

/// Runs a baseline in a directory of its own, removes that directory, and returns the trace.
///
/// # Errors
/// [`NoRun`]: where it did not end as it should, there is nothing to compare with.
pub(super) fn run(
    bench: &Bench<'_>,
    plan: &Plan,
    file: &Path,
    control: &mut dyn Control,
    save: Option<(&Path, &StoreOptions)>,
) -> Result<Normalised, NoRun> {
    let dir = lay_out(bench, plan, file)?;
    let save = save.map(|(file, about)| (of_baseline(file), about));
    let extras = Extras {
        save: save.as_ref().map(|(file, about)| (file.as_path(), *about)),
        ..Extras::default()
    };
    let ran = once(bench, plan, control, extras, &dir);
    dir.remove()?;
    judged(plan, ran.map(|(run, _)| run).map_err(NoRun::from))
}

/// Returns the trace of a baseline's run if the run passed.
pub(super) fn judged(plan: &Plan, ran: Result<Run, NoRun>) -> Result<Normalised, NoRun> {
    let no_run = match ran {
        Err(no_run) => no_run,
        Ok(run) => {
            let judgement = verdict::judge(plan, &run);
            if judgement.verdict() == Verdict::Pass {
                return Ok(run.trace);
            }
            NoRun::Outcome(Box::new(Outcome::of(&run, judgement)))
        }
    };
    Err(match no_run {
        NoRun::Error(error) => NoRun::Error(error),
        NoRun::Outcome(mut outcome) => {
            for Finding { text, .. } in &mut outcome.findings {
                text.insert_str(0, "the baseline: ");
            }
            NoRun::Outcome(outcome)
        }
    })
}
