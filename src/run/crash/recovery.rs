//! Runs the recovery on a state.

use super::folder::lay;
use super::originals::Originals;
use crate::crash::{Built, State, Tree};
use crate::plan::CrashPlan;
use crate::run::once::once;
use crate::run::scenario::NoRun;
use crate::run::{Bench, Control, Extras, RunError};
use crate::verdict::{self, Crashed, Judgement, Verdict};
use perf_live::sandbox::WorkDir;
use std::fs::File;
use std::io::Write;

/// The file that holds what was promised.
pub(super) const ACKNOWLEDGED: &str = "acknowledged";

/// The file that is there where the power cut came behind the end of the run.
pub(super) const ENDED: &str = "ended";

/// What became of one state.
#[derive(Debug)]
pub(in crate::run) struct Tried {
    pub(in crate::run) state: State,
    pub(in crate::run) judgement: Judgement,
    pub(in crate::run) interrupted: bool,
}

/// A recovery, and the run that it recovers from.
#[derive(Debug)]
pub(in crate::run) struct Recovery<'a> {
    bench: &'a Bench<'a>,
    plan: &'a CrashPlan,
    built: &'a Built,
    originals: Originals,
}

impl<'a> Recovery<'a> {
    /// Prepares what states are laid out with.
    ///
    /// # Errors
    /// [`RunError`].
    pub(in crate::run) fn new(
        bench: &'a Bench<'_>,
        plan: &'a CrashPlan,
        built: &'a Built,
    ) -> Result<Self, RunError> {
        let base = bench.base()?;
        let originals = Originals::make(&built.last, base.directory()).map_err(RunError::State)?;
        Ok(Self {
            bench,
            plan,
            built,
            originals,
        })
    }

    /// Lays a tree out in a directory of its own.
    ///
    /// # Errors
    /// [`RunError`].
    pub(in crate::run) fn laid(&self, tree: &Tree) -> Result<WorkDir, RunError> {
        let dir = WorkDir::lay_out(self.bench.base()?, &[], None)?;
        lay(tree, dir.path(), &self.originals).map_err(RunError::State)?;
        Ok(dir)
    }

    /// Lays a state out in a directory, and runs the recovery there.
    ///
    /// # Errors
    /// [`NoRun`]: the harness could not do its work.
    pub(in crate::run) fn of(
        &self,
        state: State,
        tree: &Tree,
        control: &mut dyn Control,
    ) -> Result<Tried, NoRun> {
        let dir = self.laid(tree)?;
        for (name, bytes) in spoken(self.built, &state) {
            // It is new: a link of that name would lead out of the folder.
            let file = File::create_new(dir.path().join(name));
            let told = file.and_then(|mut file| file.write_all(&bytes));
            told.map_err(RunError::State)?;
        }
        let plan = &self.plan.recovers;
        let ran = once(self.bench, plan, control, Extras::default(), &dir);
        let (judgement, interrupted) = match ran.map_err(NoRun::from) {
            Ok((run, _)) => (verdict::judge(plan, &run), run.interrupted),
            Err(NoRun::Outcome(outcome)) => {
                let interrupted = outcome.interrupted;
                let findings = outcome.findings;
                (Judgement { findings }, interrupted)
            }
            Err(error) => return Err(error),
        };
        dir.remove()?;
        Ok(Tried {
            state,
            judgement,
            interrupted,
        })
    }

    /// Tries a recovery that passed on all states where the run ended, with other bytes in each
    /// file that it wrote: no file system leaves that. Returns whether it was interrupted.
    ///
    /// # Errors
    /// [`NoRun`]: the harness could not do its work.
    pub(in crate::run) fn look(
        &self,
        crashed: &mut Crashed,
        control: &mut dyn Control,
    ) -> Result<bool, NoRun> {
        if crashed.tried == 0 || crashed.failed > 0 || !crashed.unknown.is_empty() {
            return Ok(false);
        }
        let Some(tree) = self.built.log.spoilt() else {
            crashed.is_blind = Some(false);
            return Ok(false);
        };
        let state = State {
            moment: self.built.calls.len(),
            acknowledged: self.built.promises.len() + 1,
            ..State::default()
        };
        let tried = self.of(state, &tree, control)?;
        if !tried.interrupted {
            crashed.is_blind = Some(tried.judgement.verdict() == Verdict::Pass);
        }
        Ok(tried.interrupted)
    }
}

/// What the recovery is told of a state, by the names of files.
pub(in crate::run) fn spoken(built: &Built, state: &State) -> Vec<(&'static str, Vec<u8>)> {
    let said = built.promises.iter().take(state.acknowledged);
    let said = said.flatten().copied().collect();
    let has_ended = state.acknowledged > built.promises.len();
    let ended = has_ended.then(|| (ENDED, Vec::new()));
    [(ACKNOWLEDGED, said)].into_iter().chain(ended).collect()
}
