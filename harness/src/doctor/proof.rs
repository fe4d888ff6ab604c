//! Traces a run as a proof.

use super::Finding;
use perf_live::errors::chain;
use perf_live::host::HOW_TO_GET_RIGHTS;
use perf_live::sandbox::{self, LaunchError, Program, Stdio, Workload, World};
use std::ffi::{CString, OsStr};
use std::path::Path;
use std::time::Duration;
use syscall_model::Observation;
use trace_harness::plan::{self, EventsPlan, MemoryPlan, Reach, Wanted};
use trace_harness::run::{
    Bench, Fired, Observer, Patience, RunError, Setting, Undisturbed, follow,
};
use trace_harness::verdict::Run;

/// Runs and traces `true`, and accounts for every record.
pub(super) fn whole_run(
    bench: &Bench<'_>,
    what: &'static str,
    world: World,
    needed: bool,
) -> Finding {
    let result = match trace_true(bench, world) {
        Ok((calls, run)) if run.account.is_complete() => Ok(format!(
            "`true` made {calls} calls, every record accounted for"
        )),
        Ok((_, run)) => Err((
            run.account.complaints().join("; "),
            "try again on a machine less busy".to_owned(),
        )),
        Err(error) => Err((
            chain(&error),
            error.hint().unwrap_or_else(|| HOW_TO_GET_RIGHTS.to_owned()),
        )),
    };
    Finding {
        what,
        result,
        needed,
    }
}

fn trace_true(bench: &Bench<'_>, world: World) -> Result<(u64, Run<()>), RunError> {
    // Without any right to trace, the error comes from opening the events.
    let reach = bench.reach().unwrap_or_default();
    let words: &[&str] = match reach {
        Reach::Everything => &["*"],
        Reach::OwnCalls | Reach::Recorded => &["openat", "close", "%memory", "%process"],
    };
    let words = words.iter().map(|word| (*word).to_owned());
    let wants = [Wanted::Syscalls(words.collect())];
    let plan: EventsPlan = plan::events_within(reach, &wants, MemoryPlan::default(), bench.host)
        .map_err(RunError::Plan)?;
    let corked = sandbox::launch(&workload(bench, world)?)?;
    let init = corked.has_init().then(|| corked.pid());
    let pages = plan::ring_pages(bench.default_ring(), perf_live::sys::page_size());
    let mut events = bench
        .open(&plan, &corked, None, pages)
        .map_err(|error| corked.failure().map_or(error, RunError::Launch))?;
    let running = corked.uncork(Duration::from_secs(10))?;
    let patience = Patience {
        timeout: Some(Duration::from_secs(10)),
        tick: Duration::from_secs(1),
        watch: None,
    };
    let mut counter = Counter(0);
    let run = follow(
        running,
        &mut events,
        &plan,
        patience,
        &mut Undisturbed,
        &mut counter,
        Setting {
            init,
            ..Setting::default()
        },
    )?;
    Ok((counter.0, run))
}

/// Runs `true` with captured outputs.
pub(super) fn workload(bench: &Bench<'_>, world: World) -> Result<Workload, LaunchError> {
    let path = OsStr::new(trace_harness::run::PATH);
    Ok(Workload {
        program: Program::find(OsStr::new("true"), path, Path::new("."))
            .map_err(LaunchError::NotExecuted)?,
        arguments: vec![CString::from(c"true")],
        environment: Vec::new(),
        directory: None,
        stdio: Stdio::Captured { input: None },
        world,
        umask: None,
        inherited: Vec::new(),
        fixed_addresses: true,
        limits: bench.own_limits(),
        group: None,
        held: Default::default(),
        lasts: None,
        allowed: None,
        ruled: None,
    })
}

struct Counter(u64);

impl Observer for Counter {
    fn observe(&mut self, observation: &Observation) {
        self.0 += u64::from(matches!(observation, Observation::Call(_)));
    }
    fn event(&mut self, _: &Fired<'_>) {}
}
