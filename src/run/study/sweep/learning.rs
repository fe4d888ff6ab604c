//! The two runs without faults: what the program does, and the number of each of its calls.

use super::numbered::numbered;
use super::special::special;
use super::{SweepError, SweepOptions, SweepPlan, TimeBy};
use crate::matching::Matcher;
use crate::plan::Plan;
use crate::run::once::once;
use crate::run::overwritten::OVERWRITTEN;
use crate::run::ready::{Ready, SuiteError};
use crate::run::scenario::{NoRun, Subject, stored};
use crate::run::{Control, Extras, Item, Suite, attempt, lay_out};
use crate::scenario::{Added, AddedFault, KeyPath, When, faulted, read_all};
use crate::sweep::{Choice, Learned, Lost, Matching, Seen, Site, Spot};
use crate::sweep::{gone, looked_at, sites};
use crate::trace::Normalised;
use crate::verdict::{self, Run, Verdict};
use perf_live::files;
use perf_live::sandbox::Left;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How many times longer than without faults a run may take, where the scenario does not say.
const PATIENCE: u32 = 20;

/// The least that it may take: a program that waits a second before it tries again is not hung.
const LEAST: Duration = Duration::from_secs(3);

/// What no call has as its number.
const NEVER: When = When {
    first: u64::MAX,
    last: Some(u64::MAX),
    step: 1,
};

/// The signals whose way is the default one: a process that dumps core dies by one of them.
const DEATHS: &str = "{ event: 'signal:signal_deliver', filter: 'sa_handler == 0' }";

const GONE: &str = "only the first of the two runs without faults has such a call";

const NO_DEATHS: &str = "`signal:signal_deliver` cannot be traced here: a crash of another process than the main one does not show";

/// What was learned of a scenario.
pub(super) struct Lesson {
    pub(super) plan: SweepPlan,
    /// Expects of results alone, and has no fault but the scenario's own.
    pub(super) swept: Plan,
    /// What faults are meant for, resolved.
    pub(super) matchers: BTreeMap<Matching, Resolved>,
    pub(super) learned: Learned,
}

/// What faults for some calls are meant for, and how many calls these were.
pub(super) struct Resolved {
    pub(super) matcher: Matcher,
    /// While they were held.
    pub(super) counted: u64,
}

impl Suite<'_> {
    /// Makes the two runs.
    pub(super) fn learn<'c>(
        &self,
        item: &Item,
        options: &SweepOptions,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
    ) -> Result<Lesson, SweepError> {
        let plan = self.fit(item)?;
        if let Some(calls) = &options.calls {
            let traced = plan.events.names();
            if !calls.all_names().any(|name| traced.contains(name)) {
                return Err(SweepError::NotTraced);
            }
        }
        let start = Instant::now();
        let first = self.pass(item, &plan, control)?;
        let special = special(&first);
        let of_first = sites(&first.trace, &choice(options, &plan, &special));
        if of_first.is_empty() {
            let calls = first.trace.blocks.iter().map(|block| block.deeds.len());
            return Err(SweepError::NoSite { calls: calls.sum() });
        }
        let (timeout, timeout_by) = self.timeout(&plan, start.elapsed());
        let matchings: BTreeSet<Matching> = of_first.iter().flat_map(Spot::matchings).collect();
        let matchings: Vec<Matching> = matchings.into_iter().collect();
        let text = files::text(&item.file, files::SCENARIO)
            .map_err(|error| SweepError::Unfit(perf_live::errors::chain(&error)))?;
        let (resolved, sees_deaths) = self.with_faults((item, &text), &matchings, timeout)?;
        let mut held = Plan {
            keeps_all: true,
            reads_all: true,
            // The names of temporary files stay the same.
            view: plan.view.clone(),
            ..resolved
        };
        // Behind a fault the program may make a call like it.
        held.marks.may_come_again = true;
        let own = plan.faults.len().min(held.faults.len());
        let (given, rehearsal) = self.rehearse(item, &held, own, control)?;
        let added = held.faults.split_off(own);
        let counted = rehearsal
            .faults
            .yes()
            .and_then(|faults| faults.outcomes.get(own..));
        let counted: Vec<u64> = match counted {
            Some(outcomes) => outcomes
                .iter()
                .map(|it| it.seen - it.unmade.min(it.seen))
                .collect(),
            None => Vec::new(),
        };
        let matchers = added.into_iter().zip(counted);
        let matchers = matchers.map(|(fault, counted)| Resolved {
            matcher: fault.matcher,
            counted,
        });
        let matchers: BTreeMap<Matching, Resolved> = matchings.into_iter().zip(matchers).collect();
        let choice = choice(options, &held, &special);
        let spots = sites(&rehearsal.trace, &choice);
        let seen = Seen::of(&of_first);
        let gone = gone(of_first, &spots).into_iter();
        let (sites, untold) = numbered((spots, &seen), &matchers, rehearsal.held.as_ref());
        let lost = gone.map(|spot| Lost { spot, why: GONE });
        let lost = lost.chain(untold);
        let mut learned = Learned::of_files(given);
        learned.add(&first);
        learned.add(&rehearsal);
        let of_all = sites.iter().map(|site| site.spot.errors.len()).sum();
        if of_all == 0 {
            let why = "no call was made in both runs without faults".to_owned();
            return Err(SweepError::Unfit(why));
        }
        let faults = rehearsal.faults.yes();
        let mut remarks = faults.map_or_else(Vec::new, |faults| faults.remarks.clone());
        if !sees_deaths {
            remarks.push(NO_DEATHS.to_owned());
        }
        let expect = &held.expect;
        Ok(Lesson {
            plan: SweepPlan {
                item: item.clone(),
                not_failed: not_failed(&rehearsal.trace, &sites, &choice),
                lost: lost.collect(),
                sites,
                of_all,
                runs: of_all,
                timeout,
                timeout_by,
                expects_results: expect.stdout.is_some() || !expect.files_after.is_empty(),
                remarks,
                text,
            },
            swept: held,
            matchers,
            learned,
        })
    }

    /// Resolves the scenario with a fault for each of these, of which none ever fires, and with
    /// its expectations of results alone. Says whether the run will show which processes crash.
    fn with_faults(
        &self,
        (item, text): (&Item, &str),
        matchings: &[Matching],
        timeout: Duration,
    ) -> Result<(Plan, bool), SweepError> {
        let never = |matching: &Matching| AddedFault {
            step: matching.step(),
            when: NEVER,
            error: libc::EIO,
            signal: None,
        };
        let faults: Vec<AddedFault> = matchings.iter().map(never).collect();
        // What tells of the close of a file whether data may be lost.
        let closes = matchings.iter().any(|it| it.call == "close");
        let looked_at = match closes {
            true => looked_at(),
            false => BTreeSet::new(),
        };
        let with = |event, looked_at: &BTreeSet<&'static str>| -> Result<Plan, SweepError> {
            let added = Added {
                exit: None,
                faults: &faults,
                event,
                timeout,
                description: None,
                from: &|from| from.to_owned(),
            };
            let it = (item.file.as_path(), text, item.row.as_str());
            let text = faulted(it, &self.bench.programs, &added)
                .map_err(|complaint| SweepError::Text(Box::new(complaint)))?;
            let read = read_all(&item.file, &text, &self.bench.programs);
            let read = read.map_err(|complaint| SweepError::Text(Box::new(complaint)))?;
            let nothing = || SweepError::Unfit("there is no scenario".to_owned());
            let mut scenario = read.into_iter().next().ok_or_else(nothing)?;
            scenario.beside.looked_at.clone_from(looked_at);
            let suite = Suite::of_scenario(self.bench, &item.file, scenario);
            let suite = suite.map_err(|error| match error {
                SuiteError::Invalid(mut complaints) if !complaints.is_empty() => {
                    SweepError::Text(Box::new(complaints.swap_remove(0)))
                }
                error => error.into(),
            })?;
            let plans = suite.plans().map_err(SweepError::Unmet)?;
            let plan = plans.into_iter().next().map(|(_, _, plan)| plan.clone());
            plan.ok_or_else(nothing)
        };
        // A scenario may have its own, and a user may not trace it.
        for looked_at in [&looked_at, &BTreeSet::new()] {
            for event in [Some(DEATHS), None] {
                if let Ok(plan) = with(event, looked_at) {
                    return Ok((plan, event.is_some()));
                }
            }
        }
        Ok((with(None, &BTreeSet::new())?, false))
    }

    /// Returns the plan of a scenario whose run tells what a fault changes.
    fn fit(&self, item: &Item) -> Result<Plan, SweepError> {
        let unfit = |why: &str| SweepError::Unfit(why.to_owned());
        let found = self.scenarios.iter().find(|(known, _)| known == item);
        let plan = match found {
            None => return Err(unfit("it is no scenario of this suite")),
            Some((_, Ready::Unmet(findings) | Ready::Refused(findings))) => {
                return Err(SweepError::Unmet(findings.clone()));
            }
            Some((_, Ready::Plan(plan, _))) => plan,
        };
        if plan.expect_failure.is_some() {
            return Err(unfit(
                "it is known to fail: its expectations tell nothing of a run",
            ));
        }
        if plan.events.overwrites() {
            return Err(unfit(OVERWRITTEN));
        }
        if plan.expect.limit.is_some() {
            return Err(unfit(
                "it expects a limit to be reached, which ends each run elsewhere",
            ));
        }
        Ok(Plan {
            keeps_all: true,
            reads_all: true,
            ..(**plan).clone()
        })
    }

    /// Returns the run without any change, which passes.
    fn pass<'c>(
        &self,
        item: &Item,
        plan: &Plan,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
    ) -> Result<Run, SweepError> {
        let stored = stored(self.bench, plan, item)?;
        let subject = Subject {
            file: &item.file,
            stored: &stored,
        };
        let dir = lay_out(self.bench, plan, &item.file).map_err(crate::run::RunError::from)?;
        let outcome = attempt(
            self.bench,
            plan,
            subject,
            &mut *control(),
            Extras::default(),
            &dir,
        )?;
        match outcome.run {
            _ if outcome.interrupted => Err(SweepError::Interrupted),
            Some(run) if outcome.verdict == Verdict::Pass => Ok(*run),
            _ => Err(SweepError::NoPass {
                when: "its run without a fault",
                verdict: outcome.verdict,
                findings: outcome.findings,
            }),
        }
    }

    /// Returns a run in which all calls are held that are going to be failed, and none is; and the
    /// files that it was given.
    fn rehearse<'c>(
        &self,
        item: &Item,
        plan: &Plan,
        own: usize,
        control: &(dyn Fn() -> Box<dyn Control + 'c> + Sync),
    ) -> Result<(Left, Run), SweepError> {
        let run = || -> Result<(Left, Run), NoRun> {
            let dir = lay_out(self.bench, plan, &item.file)?;
            let given = Left::below(dir.path(), &|_| true);
            let control = &mut *control();
            let (run, _) = once(self.bench, plan, control, Extras::default(), &dir)?;
            Ok((given, run))
        };
        let (verdict, findings) = match run() {
            Ok((_, run)) if run.interrupted => return Err(SweepError::Interrupted),
            Ok((given, run)) => {
                // That the added faults do not fire is meant.
                let mut judged = plan.clone();
                judged.faults.truncate(own);
                let judgement = verdict::judge(&judged, &run);
                match judgement.verdict() {
                    Verdict::Pass => return Ok((given, run)),
                    verdict => (verdict, judgement.findings),
                }
            }
            Err(NoRun::Error(error)) => return Err(error.into()),
            Err(NoRun::Outcome(outcome)) => (outcome.verdict, outcome.findings),
        };
        Err(SweepError::NoPass {
            when: "its run with all calls held and none failed",
            verdict,
            findings,
        })
    }

    /// How long a run may take before its patience is added: as the scenario says, or by how long
    /// it took, and never longer than without a word of the scenario.
    fn timeout(&self, plan: &Plan, took: Duration) -> (Duration, TimeBy) {
        let whole = plan.workload.timeout / self.bench.patience.max(1);
        let at = KeyPath::root().key("workload").key("timeout");
        if plan.positions.has(&at) {
            return (whole, TimeBy::Scenario);
        }
        let learned = took.saturating_mul(PATIENCE).max(LEAST);
        let more = u64::from(learned.subsec_nanos() > 0);
        let seconds = Duration::from_secs(learned.as_secs().saturating_add(more));
        (seconds.min(whole), TimeBy::Learned)
    }
}

/// Which calls of a run with this plan are failed.
fn choice<'a>(
    options: &'a SweepOptions,
    plan: &'a Plan,
    special: &'a BTreeSet<String>,
) -> Choice<'a> {
    let calls = options.calls.as_ref();
    Choice {
        errors: &options.errors,
        calls: calls.map(|calls| calls.all_names().collect()),
        hidden: &plan.marks.hidden,
        special,
    }
}

/// The calls of no site, and how often each came.
fn not_failed(trace: &Normalised, sites: &[Site], choice: &Choice<'_>) -> BTreeMap<String, u64> {
    let mut counts = trace.counts();
    let chosen = trace.in_order().into_iter().filter(|deed| choice.has(deed));
    let chosen: BTreeSet<&str> = chosen.map(|deed| &*deed.name).collect();
    let failed: BTreeSet<&str> = sites.iter().map(|site| &*site.spot.matching.call).collect();
    counts.retain(|name, _| {
        !name.contains(':') && chosen.contains(&**name) && !failed.contains(&**name)
    });
    counts
}
