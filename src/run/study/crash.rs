//! Tries all states that a power cut may leave of a scenario's run, and tells of each.

mod written;

use crate::crash::{Built, Pieces, State};
use crate::plan::Plan;
use crate::run::crash::{Recovery, Tried, cut, spoken, told};
use crate::run::once::once;
use crate::run::ready::Ready;
use crate::run::scenario::NoRun;
use crate::run::side_by_side::side_by_side;
use crate::run::{Control, Extras, Item, RunError, Suite, lay_out};
use crate::scenario::Diagnostic;
use crate::verdict::{self, Crashed, Failure, Finding, Run, Verdict, joined};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
pub use written::{Remains, Reproduction};

/// How states are tried.
#[derive(Clone, Copy, Debug)]
pub struct CrashOptions {
    /// At most so many; `None` for as many as the scenario says.
    pub states: Option<usize>,
    /// Chooses among more than that; `None` for what the scenario says.
    pub seed: Option<u64>,
    /// Only the state of this number.
    pub only: Option<usize>,
    /// Whether that state's folder is kept, as the power cut left it.
    pub keep: bool,
    /// How many are tried side by side.
    pub jobs: usize,
}

/// Why no states were tried.
#[derive(Debug, thiserror::Error)]
pub enum CrashError {
    /// The requirements are not met here.
    #[error("it would be skipped: {}", joined(.0, "; "))]
    Unmet(Vec<Finding>),
    /// There is no such scenario, or it says nothing of power cuts.
    #[error("{0}")]
    Unfit(String),
    /// The run itself is no pass.
    #[error("its run is no pass, so it tells nothing of power cuts\n{}: {}", .verdict.word(), joined(.findings, "\n"))]
    NoPass {
        /// Its verdict.
        verdict: Verdict,
        /// The findings on it.
        findings: Vec<Finding>,
    },
    /// There is no state of this number.
    #[error("there is no state {number}: there are {of}")]
    NoState {
        /// The number.
        number: usize,
        /// How many there are.
        of: usize,
    },
    /// The state has what no scenario lays out.
    #[error("no scenario can lay this state out: {0}")]
    Unwritten(String),
    /// The scenario cannot be written.
    #[error(transparent)]
    Text(Box<Diagnostic>),
    /// The user ended it before the first state.
    #[error("interrupted")]
    Interrupted,
    /// The harness could not do its work.
    #[error(transparent)]
    Run(RunError),
}

impl From<RunError> for CrashError {
    fn from(error: RunError) -> Self {
        match error.unmet() {
            Some(lack) => Self::Unmet(vec![lack]),
            None => Self::Run(error),
        }
    }
}

impl From<NoRun> for CrashError {
    fn from(error: NoRun) -> Self {
        match error {
            NoRun::Error(error) => error.into(),
            NoRun::Outcome(outcome) => Self::NoPass {
                verdict: outcome.verdict,
                findings: outcome.findings,
            },
        }
    }
}

/// What is going to be tried.
#[derive(Clone, Debug)]
pub struct CrashStart {
    /// The scenario.
    pub item: Item,
    /// The calls that changed the folder, made it durable, or promised something, in their order.
    pub calls: Vec<String>,
    /// The functions that led to each of these, the innermost first, where they were recorded.
    pub from: Vec<Option<String>>,
    /// For each of these the first behind which all of it is durable.
    pub durable_by: Vec<Option<usize>>,
    /// How many states are tried.
    pub states: usize,
    /// How many there are, in words.
    pub extent: String,
}

/// All states that were tried.
#[derive(Debug)]
pub struct CrashStudy {
    /// The scenario.
    pub item: Item,
    /// What became of the states.
    pub crashed: Crashed,
    /// Those that failed, in the order of their numbers.
    pub failures: Vec<Failure>,
    /// The one of them that lost least, as its power cut left it.
    pub worst: Option<Remains>,
    /// Where the folder of a state is kept.
    pub kept: Option<PathBuf>,
    /// Whether it was ended before all states were tried.
    pub interrupted: bool,
}

impl Suite<'_> {
    /// Runs one of the suite's scenarios, and its recovery on each state. Tells what is going to be
    /// tried, and each state when it has been.
    ///
    /// # Errors
    /// [`CrashError`].
    pub fn crash<'c>(
        &self,
        item: &Item,
        options: &CrashOptions,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
        begin: &mut dyn FnMut(&CrashStart),
        report: &(dyn Fn(&Failure) + Sync),
    ) -> Result<CrashStudy, CrashError> {
        let plan = self.with_crash(item)?;
        let Some(crash) = &plan.crash else {
            return Err(CrashError::Unfit("it has no key `crash`".to_owned()));
        };
        let run = self.logged(item, &plan, control)?;
        let Some(built) = run.changes.as_deref().filter(|it| it.unknown.is_empty()) else {
            let unknown = run.changes.iter().flat_map(|built| &built.unknown);
            // Of a log that is there, nothing but that it is not whole.
            let missing = run.crash.no().filter(|_| run.changes.is_none());
            let why = unknown.map(String::as_str).chain(missing);
            let unknown = |why| Finding::unknown(verdict::About::Crash, why);
            return Err(CrashError::NoPass {
                verdict: Verdict::Incomplete,
                findings: why.map(unknown).collect(),
            });
        };
        let pieces = cut(built, crash).map_err(|idle| CrashError::NoPass {
            verdict: Verdict::Fail,
            findings: vec![Finding::missed(verdict::About::Crash, idle.to_string())],
        })?;
        let most = options.states.unwrap_or(crash.states);
        let seed = options.seed.unwrap_or(crash.seed);
        let explored = pieces.explore(most, seed);
        let mut crashed = Crashed {
            model: crash.model.name.clone(),
            seed,
            since: crash.since.clone(),
            of_about: explored.coverage().below_log2(),
            ..Crashed::default()
        };
        let mut states: Vec<State> = explored.collect();
        crashed.tried = states.len();
        begin(&CrashStart {
            item: item.clone(),
            calls: built.calls.clone(),
            from: built.from.clone(),
            durable_by: (0..built.calls.len())
                .map(|step| pieces.durable_by(step))
                .collect(),
            states: states.len(),
            extent: crashed.extent(),
        });
        crashed.tried = 0;
        let of = states.len();
        if let Some(number) = options.only {
            states.retain(|state| state.number == number);
            if states.is_empty() {
                return Err(CrashError::NoState { number, of });
            }
        }
        let recovery = Recovery::new(self.bench, crash, built)?;
        let mut kept = None;
        if let Some(state) = states.first().filter(|_| options.keep) {
            let dir = recovery.laid(&pieces.tree(state))?;
            kept = Some(dir.keep().map_err(RunError::from)?);
        }
        let all = Trying {
            recovery: &recovery,
            built,
            pieces: &pieces,
            over: AtomicBool::new(false),
            counted: Mutex::new((crashed, Vec::new(), None)),
        };
        let work = |state: &State| all.one(state, &mut *control(), report);
        side_by_side(&states, options.jobs, &work, &|()| {});
        let mut interrupted = all.over.load(Ordering::Relaxed);
        let (mut crashed, mut failures, error) = all.counted.into_inner().unwrap_or_default();
        if let Some(error) = error {
            return Err(error.into());
        }
        // One state says nothing of the recovery as a whole.
        if !interrupted && options.only.is_none() {
            let control = &mut *control();
            interrupted = recovery.look(&mut crashed, control)?;
        }
        failures.sort_by_key(|failure| failure.state);
        let worst = crashed.worst.as_ref().and_then(|failure| {
            let mut states = states.iter();
            let state = states.find(|state| state.number == failure.state)?;
            Some(Remains {
                failure: failure.clone(),
                told: spoken(built, state),
                item: item.clone(),
                tree: pieces.tree(state),
            })
        });
        Ok(CrashStudy {
            item: item.clone(),
            crashed,
            failures,
            worst,
            kept,
            interrupted,
        })
    }

    fn with_crash(&self, item: &Item) -> Result<Plan, CrashError> {
        let found = self.scenarios.iter().find(|(known, _)| known == item);
        match found {
            None => Err(CrashError::Unfit(
                "it is no scenario of this suite".to_owned(),
            )),
            Some((_, Ready::Unmet(findings) | Ready::Refused(findings))) => {
                Err(CrashError::Unmet(findings.clone()))
            }
            Some((_, Ready::Plan(plan, _))) => Ok((**plan).clone()),
        }
    }

    /// Returns the run, with the log of what it changed; apart from that it passes.
    fn logged<'c>(
        &self,
        item: &Item,
        plan: &Plan,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
    ) -> Result<Run, CrashError> {
        let run = || -> Result<Run, NoRun> {
            let dir = lay_out(self.bench, plan, &item.file)?;
            Ok(once(self.bench, plan, &mut *control(), Extras::default(), &dir)?.0)
        };
        let run = run()?;
        if run.interrupted {
            return Err(CrashError::Interrupted);
        }
        let apart = Plan {
            crash: None,
            ..plan.clone()
        };
        let judgement = verdict::judge(&apart, &run);
        match judgement.verdict() {
            Verdict::Pass => Ok(run),
            verdict => Err(CrashError::NoPass {
                verdict,
                findings: judgement.findings,
            }),
        }
    }
}

type Counted = (Crashed, Vec<Failure>, Option<NoRun>);

/// States that are tried side by side.
struct Trying<'a> {
    recovery: &'a Recovery<'a>,
    built: &'a Built,
    pieces: &'a Pieces,
    over: AtomicBool,
    counted: Mutex<Counted>,
}

impl Trying<'_> {
    fn one(&self, state: &State, control: &mut dyn Control, report: &(dyn Fn(&Failure) + Sync)) {
        if self.over.load(Ordering::Relaxed) {
            return;
        }
        let tree = self.pieces.tree(state);
        let tried = self.recovery.of(state.clone(), &tree, control);
        let Ok(mut counted) = self.counted.lock() else {
            return;
        };
        match tried {
            Ok(Tried { interrupted, .. }) if interrupted => {
                self.over.store(true, Ordering::Relaxed);
            }
            Ok(tried) => {
                let failure = told(self.built, &tried, &tree);
                report(&failure);
                let before = counted.0.failed;
                counted.0.count(tried, &failure);
                if counted.0.failed > before {
                    counted.1.push(failure);
                }
            }
            Err(error) => {
                self.over.store(true, Ordering::Relaxed);
                counted.2.get_or_insert(error);
            }
        }
    }
}
