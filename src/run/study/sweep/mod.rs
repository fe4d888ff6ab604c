//! Fails each call of a scenario's run once, and says what the program made of it.
//!
//! ```text
//! scenario --attempt--> the run that learns: it passes, and has the sites
//!    |  faulted(): a fault for each site, of which none fires; results alone are expected
//!    v
//! rehearsal: the same calls are held, and none is answered; it tells the number of each call
//!    |  one fault fires
//!    v
//! a run for each site and error --classify--> Swept
//! ```

mod learning;
mod numbered;
mod special;
mod written;

use crate::plan::FaultPlan;
use crate::run::once::once;
use crate::run::ready::SuiteError;
use crate::run::scenario::NoRun;
use crate::run::side_by_side::side_by_side;
use crate::run::{Bench, Control, Extras, Item, RunError, Shard, Suite, lay_out};
use crate::scenario::{AddedFault, Diagnostic, Per, When};
use crate::sweep::{Errors, Given, Lost, Site, Told, classify};
use crate::verdict::{Finding, Verdict, joined};
use learning::Lesson;
use perf_live::errors::chain;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use syscall_model::errno::errno_name;
use syscall_model::select::Selection;
use syscall_model::{Answer, Injected};

/// What is swept.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// The errors that are tried.
    pub errors: Errors,
    /// The calls; `None` for all.
    pub calls: Option<Selection>,
    /// The share of the runs; `None` for all.
    pub shard: Option<Shard>,
    /// Whether a fault is done to all calls from its first on, and not to that one alone.
    pub lasting: bool,
    /// How many runs are made side by side.
    pub jobs: usize,
}

/// Why a scenario was not swept.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// Its requirements are not met here.
    #[error("it would be skipped: {}", joined(.0, "; "))]
    Unmet(Vec<Finding>),
    /// There is no scenario, or none of which a run tells what a fault changes.
    #[error("it cannot be swept: {0}")]
    Unfit(String),
    /// Its run without faults is no pass.
    #[error("{when} is no pass, so it tells nothing of faults\n{}: {}", .verdict.word(), joined(.findings, "\n"))]
    NoPass {
        /// Which of the runs without faults.
        when: &'static str,
        /// Its verdict.
        verdict: Verdict,
        /// The findings on it.
        findings: Vec<Finding>,
    },
    /// None of the chosen calls is recorded.
    #[error("none of the calls of `-e` is among its `trace.events`, so none was recorded")]
    NotTraced,
    /// No call of the run is one that was chosen and can have such an error.
    #[error("no call of its run can be failed so: {calls} calls were recorded")]
    NoSite {
        /// How many calls and events its trace has.
        calls: usize,
    },
    /// The user ended it before the first fault.
    #[error("interrupted")]
    Interrupted,
    /// The file cannot be read any more, or not be written again.
    #[error("{}", .0.render(false).trim_end())]
    Text(Box<Diagnostic>),
    /// The scenario with faults cannot be resolved.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// The harness could not do its work.
    #[error(transparent)]
    Run(RunError),
}

impl From<RunError> for SweepError {
    fn from(error: RunError) -> Self {
        match error.unmet() {
            Some(lack) => Self::Unmet(vec![lack]),
            None => Self::Run(error),
        }
    }
}

/// Where the time that each run may take is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeBy {
    /// `workload.timeout`.
    Scenario,
    /// The time that the runs without faults took.
    Learned,
}

impl TimeBy {
    /// Its word in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Learned => "learned",
        }
    }
}

/// What a sweep is going to do.
#[derive(Clone, Debug)]
pub struct SweepPlan {
    /// The scenario.
    pub item: Item,
    /// The sites, in the order of the run.
    pub sites: Vec<Site>,
    /// The sites that cannot be failed.
    pub lost: Vec<Lost>,
    /// How many runs all shards make together.
    pub of_all: usize,
    /// How many runs are made.
    pub runs: usize,
    /// How long each of them may take.
    pub timeout: Duration,
    /// Where that is from.
    pub timeout_by: TimeBy,
    /// Whether it expects something of what the program writes and leaves.
    pub expects_results: bool,
    /// What is to be known of all runs.
    pub remarks: Vec<String>,
    /// The recorded calls that no error is known of, and how often each came.
    pub not_failed: BTreeMap<String, u64>,
    text: String,
}

/// One run with one fault.
#[derive(Clone, Debug)]
pub struct Swept {
    /// The place of its site in the plan.
    pub site: usize,
    /// The error's number.
    pub error: i32,
    /// The fault.
    pub fault: AddedFault,
    /// What the program made of it.
    pub told: Told,
    /// Whether the harness could not do its work.
    pub is_broken: bool,
    /// How long the run took, with all that is around it.
    pub duration: Duration,
}

/// A sweep that has ended.
#[derive(Debug)]
pub struct Sweep {
    /// What was to be done.
    pub plan: SweepPlan,
    /// The runs, in the order of their sites.
    pub runs: Vec<Swept>,
    /// Whether it was ended before all runs were made.
    pub interrupted: bool,
}

/// A run to be made.
#[derive(Clone, Copy, Debug)]
struct Job {
    site: usize,
    error: i32,
    signal: Option<i32>,
}

impl Suite<'_> {
    /// Sweeps one of the suite's scenarios; tells its plan before the first run with a fault, and
    /// each of these runs when it has ended. Writes nothing.
    ///
    /// # Errors
    /// [`SweepError`].
    pub fn sweep<'c>(
        &self,
        item: &Item,
        options: &SweepOptions,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
        begin: &mut dyn FnMut(&SweepPlan),
        report: &(dyn Fn(&Swept) + Sync),
    ) -> Result<Sweep, SweepError> {
        let lesson = self.learn(item, options, control)?;
        let jobs = lesson.jobs(options);
        let plan = SweepPlan {
            runs: jobs.len(),
            ..lesson.plan.clone()
        };
        begin(&plan);
        let interrupted = AtomicBool::new(false);
        let work = |job: &Job| {
            if interrupted.load(Ordering::Relaxed) {
                return None;
            }
            let swept = lesson.fail(self.bench, *job, options, control);
            if swept.is_none() {
                interrupted.store(true, Ordering::Relaxed);
            }
            swept
        };
        let runs = Mutex::new(Vec::new());
        let done = |swept: Option<Swept>| {
            if let Some(swept) = swept {
                report(&swept);
                runs.lock().map(|mut runs| runs.push(swept)).ok();
            }
        };
        side_by_side(&jobs, options.jobs, &work, &done);
        let mut runs = runs.into_inner().unwrap_or_default();
        runs.sort_by_key(|swept: &Swept| (swept.site, errno_name(swept.error)));
        Ok(Sweep {
            interrupted: interrupted.into_inner(),
            plan,
            runs,
        })
    }
}

impl Lesson {
    /// The runs to be made: those of the shard, if one is chosen.
    fn jobs(&self, options: &SweepOptions) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (site, it) in self.plan.sites.iter().enumerate() {
            let errors = it.spot.errors.iter();
            jobs.extend(errors.map(|&(error, signal)| Job {
                site,
                error,
                signal,
            }));
        }
        let Some(shard) = options.shard else {
            return jobs;
        };
        let name = |job: &Job| self.fault(*job, options).map(|fault| fault.to_string());
        let names: BTreeSet<String> = jobs.iter().filter_map(name).collect();
        let own = shard.share(&names, &BTreeMap::new());
        jobs.retain(|job| name(job).is_some_and(|name| own.contains(&name)));
        jobs
    }

    fn fault(&self, job: Job, options: &SweepOptions) -> Option<AddedFault> {
        let site = self.plan.sites.get(job.site)?;
        Some(AddedFault {
            step: site.matching.step(),
            when: When {
                first: site.when,
                last: (!options.lasting).then_some(site.when),
                step: 1,
            },
            error: job.error,
            signal: job.signal,
        })
    }

    /// Makes a run with one fault more; `None` where it was interrupted.
    fn fail<'c>(
        &self,
        bench: &Bench<'_>,
        job: Job,
        options: &SweepOptions,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
    ) -> Option<Swept> {
        let site = self.plan.sites.get(job.site)?;
        let fault = self.fault(job, options)?;
        let resolved = self.matchers.get(&site.matching)?;
        let injected = Injected {
            answer: Some(Answer::Error(job.error)),
            signal: job.signal,
            ..Injected::default()
        };
        let mut swept_plan = self.swept.clone();
        swept_plan.faults.push(FaultPlan {
            matcher: resolved.matcher.clone(),
            when: fault.when,
            per: Per::Run,
            injected,
            until: None,
            callers: Vec::new(),
            within: Default::default(),
        });
        let given = Given {
            site,
            injected,
            fault: swept_plan.faults.len().saturating_sub(1),
            plan: &swept_plan,
            learned: &self.learned,
            expects_results: self.plan.expects_results,
        };
        let start = Instant::now();
        let run = || one(bench, &self.plan.item, &given, &mut *control());
        let told = catch_unwind(AssertUnwindSafe(run))
            .unwrap_or_else(|_| Err(vec!["the harness panicked".to_owned()]));
        let (told, is_broken) = match told {
            Ok(None) => return None,
            Ok(Some(told)) => (told, false),
            Err(why) => (Told::unknown(why), true),
        };
        Some(Swept {
            site: job.site,
            error: job.error,
            fault,
            told,
            is_broken,
            duration: start.elapsed(),
        })
    }
}

/// Makes one run and classifies it; `None` where it was interrupted.
///
/// # Errors
/// Why the harness could not do its work.
fn one(
    bench: &Bench<'_>,
    item: &Item,
    given: &Given<'_>,
    control: &mut dyn Control,
) -> Result<Option<Told>, Vec<String>> {
    let mut run = || -> Result<_, NoRun> {
        let dir = lay_out(bench, given.plan, &item.file)?;
        Ok(once(bench, given.plan, control, Extras::default(), &dir)?)
    };
    match run() {
        Ok((run, _)) if run.interrupted => Ok(None),
        Ok((run, _)) => Ok(Some(classify(given, run))),
        Err(NoRun::Outcome(outcome)) if outcome.interrupted => Ok(None),
        Err(NoRun::Outcome(outcome)) => {
            let texts = outcome.findings.iter().map(|finding| finding.text.clone());
            Ok(Some(Told::unknown(texts.collect())))
        }
        Err(NoRun::Error(error)) => {
            let hint = error.hint().map(|hint| format!("hint: {hint}"));
            Err(std::iter::once(chain(&error)).chain(hint).collect())
        }
    }
}
