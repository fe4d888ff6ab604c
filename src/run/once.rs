//! One run of a planned workload, from its launch to its trace.

use super::Saving;
use super::crash::{self, Before, Witnessed};
use super::directory::initial;
use super::flight::FlightLog;
use super::gate::{Doing, Faulted, aliases_of, log_of, witnessed};
use super::given;
use super::ground::Names;
use super::limits::Limiter;
use super::marks::normalised;
use super::needing::{self, Needing};
use super::overwritten::conclude;
use super::probes;
use super::session::{SessionError, system};
use super::setting::{Fired, Observer, ProbedFile, Setting};
use super::submitted::Submitted;
use super::{Bench, Control, Extras, Patience, RunError, follow};
use crate::crash::Ends;
use crate::matching::forget_begins;
use crate::plan::Plan;
use crate::trace::{Builder, Trace, View};
use crate::verdict::{self, About, Finding, Known, Run};
use perf_live::events::{Origin, Sleepers};
use perf_live::sandbox::{self, Running, WorkDir, Workload};
use perf_records::record::LayoutTable;
use perf_records::space::Stack;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use syscall_model::files::Initial;
use syscall_model::{Observation, Signatures, uring};

// The most time for uncorking: a file system that hangs must not hang the suite.
const UNCORKING: Duration = Duration::from_secs(10);

/// Runs the workload of a plan in the directory that was laid out for it. Returns the run and its
/// trace as collected, without the calls before its start.
///
/// # Errors
/// [`RunError`], if the harness could not do its work; the workload is dead by then.
pub(super) fn once(
    bench: &Bench<'_>,
    plan: &Plan,
    control: &mut dyn Control,
    extras: Extras<'_>,
    dir: &WorkDir,
) -> Result<(Run, Trace), RunError> {
    // Declared before the events: they must be closed before a probe is removed.
    let probed = probes::in_directory(bench, plan, dir.path())?;
    let plan = probed.plan();
    let workload = probed.workload(bench, dir.path())?;
    let inside = workload.world.inside(dir.path());
    let follows_names = plan.events.watched.names;
    let start = Start {
        names: follows_names.then(|| Names::of_run(&workload.world, &inside, dir.path())),
        initial: initial(&inside),
        probed: probed.files((&inside, dir.path())),
        workload,
        inside,
        outside: dir.path(),
    };
    started(bench, plan, control, extras, start)
}

/// Where a run starts.
pub(super) struct Start<'a> {
    pub(super) workload: Workload,
    /// The files under each name before the run; `None` if they are not asked for.
    pub(super) names: Option<Names>,
    /// The descriptors that it starts with.
    pub(super) initial: Initial,
    /// The files that have probes.
    pub(super) probed: Vec<ProbedFile>,
    /// Its working directory, as it sees it.
    pub(super) inside: PathBuf,
    /// The same on the host.
    pub(super) outside: &'a Path,
}

/// Runs a workload that is ready. Returns the run and its trace as collected.
///
/// # Errors
/// As [`once`].
pub(super) fn started(
    bench: &Bench<'_>,
    plan: &Plan,
    control: &mut dyn Control,
    extras: Extras<'_>,
    start: Start<'_>,
) -> Result<(Run, Trace), RunError> {
    let Start {
        workload,
        names,
        initial,
        probed,
        inside,
        outside,
    } = start;
    let keeps = extras.save.is_some();
    let given = keeps.then(|| given::laid_out(plan, outside)).transpose()?;
    let group = workload.group.clone();
    let group_name = group.as_ref().and_then(|group| group.name());
    let mut corked = sandbox::launch(&workload)?;
    let init = corked.has_init().then(|| corked.pid());
    let mut events = bench
        .open(&plan.events, &corked, group.as_deref(), plan.ring_pages)
        .map_err(|error| corked.failure().map_or(error, RunError::Launch))?;
    let by_perf = bench.recorded_by_perf(&plan.events, &events);
    if let (None, Some(group)) = (&plan.world, &group) {
        corked.end_with(group.members());
    }
    let counters = bench.count(plan, &corked)?;
    let limiter = Limiter::new(bench, plan, &corked, group)?;
    let watch = limiter.watch(bench, &corked)?;
    let sleepers = bench.sleepers(plan, &corked)?;
    let log = FlightLog::begin(&mut events);
    let saving = |(file, options)| Saving::begin(file, options, (&events, &corked), bench);
    let saving = extras.save.map(saving).transpose()?;
    let running = corked.uncork(UNCORKING)?;
    let mut collector = Collector::new(plan);
    collector.saving = saving;
    collector.is_late = log.is_some();
    let patience = Patience {
        timeout: Some(plan.workload.timeout),
        tick: Duration::from_secs(1),
        watch: Some(watch),
    };
    let setting = Setting {
        init,
        given,
        initial,
        names,
        fault: extras.fault,
        group: group_name,
        held: log_of(plan, keeps),
        probed: Some(probed),
        moved: Some((inside.clone(), outside.to_owned())),
        ..Setting::of(plan)
    };
    let follows = |running| {
        let (events, to) = (&mut events, &mut collector);
        let setting = setting.clone();
        follow(
            running,
            events,
            &plan.events,
            patience,
            control,
            to,
            setting,
        )
    };
    let held = (&setting, running, sleepers);
    let (mut run, seen) = held_for(bench, plan, (&inside, outside), held, follows)?;
    limiter.conclude(plan, &mut run);
    run.programs = needing::programs(&collector.needing, &workload.world, (&inside, outside));
    let counts = counters.read().map_err(system("read the counters"))?;
    run.account.counters = counts.into_iter().map(Into::into).collect();
    run.account.other_cpus = !bench.has_same_cpus();
    run.account.other_files.extend(setting.written());
    run.directory = Some(inside.to_string_lossy().into_owned());
    let seen_of = seen.as_ref().filter(|_| collector.saving.is_some());
    let kept = seen_of.map(|(before, witnessed)| crash::keep(before, witnessed));
    if let (Some((before, witnessed)), Some(crash)) = (seen, &plan.crash) {
        let left = crash::looks(outside, &crash.watch);
        let ended = std::mem::take(&mut collector.ended).all;
        crash::conclude(plan, &mut run, left, (before, witnessed, ended));
    }
    let saving = collector.saving.take();
    let expected = &plan.expect.files_after;
    let reads_all = saving.is_some() || plan.reads_all;
    if reads_all || !expected.is_empty() {
        let is_read = |path: &[u8]| reads_all || verdict::reads_content(expected, path);
        run.left = Known::Yes(crash::left(&run, outside, &is_read));
    }
    if let Some(mut saving) = saving {
        if let Some(log) = log {
            let account = &mut run.account;
            conclude(log, &mut events, &mut saving, &plan.events, account)?;
        }
        let besides = (&setting, kept);
        saving.end(&events, bench.host, &plan.events, besides, &run)?;
    }
    bench.recycle(events, &run.account);
    let (mut run, trace) = collector.finish(run, &bench.signatures)?;
    run.findings.extend(by_perf);
    needing::judge(bench, plan, &mut run);
    Ok((run, trace))
}

/// The working directory before a run, and what was seen of the calls that changed it.
type Watched = (Before, Witnessed);

/// Answers the calls that are held while `follows` follows the workload: those of faults, or those
/// that change the working directory, of which it returns what was seen.
fn held_for(
    bench: &Bench<'_>,
    plan: &Plan,
    (inside, outside): (&Path, &Path),
    (setting, running, sleepers): (&Setting, Running, Option<Sleepers>),
    follows: impl FnOnce(Running) -> Result<Run<()>, SessionError>,
) -> Result<(Run<()>, Option<Watched>), RunError> {
    let log = setting.held.clone().unwrap_or_default();
    if let Some(crash) = &plan.crash {
        let before = crash::scan(outside).map_err(RunError::State)?;
        let watched = (bench.host, (inside, before.devices.clone()), crash);
        let fetches = &plan.events.fetches;
        let (run, mut witnessed) = witnessed(watched, fetches, log, running, follows)?;
        witnessed.look_at_labels(outside, &crash.watch);
        return Ok((run, Some((before, witnessed))));
    }
    let doing = Doing {
        bench,
        events: &plan.events,
        faults: &plan.faults,
        directory: inside,
        aliases: &aliases_of(plan, setting.names.as_ref(), &setting.initial),
    };
    let sleepers = sleepers.map(|sleepers| (sleepers, outside));
    let (mut run, faults) = doing.supervised(log, (running, sleepers), follows)?;
    run.faults = faults;
    Ok((run, None))
}

/// Collects a run into a trace.
pub(super) struct Collector<'a> {
    plan: &'a Plan,
    saving: Option<Saving>,
    /// Whether the run is judged after its end, from its recording.
    is_late: bool,
    wants_functions: bool,
    /// Whether expectations name a function that no process has.
    lacks_functions: bool,
    submitted: Submitted,
    /// A call that the tracepoints or counters of the scenario do not show.
    evading: Option<String>,
    /// The calls by which operations were handed over that are in no record.
    handed: BTreeSet<String>,
    builder: Builder,
    /// What the workload needed of the kernel, where that is asked for.
    needing: Option<Needing>,
    faulted: Option<Faulted>,
    /// How the calls ended that may have changed the working directory.
    pub(super) ended: Ends,
    error: Option<RunError>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            saving: None,
            is_late: false,
            wants_functions: plan.looks_at_functions(),
            lacks_functions: false,
            submitted: Submitted::of(&plan.events),
            evading: None,
            handed: BTreeSet::new(),
            builder: Builder::new(plan.keeps_order()),
            needing: Needing::of(&plan.events),
            ended: Ends::default(),
            faulted: Faulted::of(plan),
            error: None,
        }
    }

    /// Returns the run, and the trace as collected, without the calls before its start.
    pub(super) fn finish(
        mut self,
        mut run: Run<()>,
        signatures: &Signatures<'_>,
    ) -> Result<(Run, Trace), RunError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some(id) = run.main_pid {
            self.builder.main_process(id);
        }
        let view = View {
            directory: run.directory.clone(),
            ..self.plan.view.clone().unwrap_or_default()
        };
        if let Some(needing) = self.needing {
            needing.conclude(self.plan, &mut run);
        }
        let mut trace = self.builder.finish();
        let (mut normalised, mut findings) =
            normalised(self.plan, &mut trace, view.clone(), signatures);
        let told = match &mut run.faults {
            Known::Yes(told) => Some(told),
            Known::No(_) => None,
        };
        let faulted = self.faulted;
        let faulted =
            faulted.map(|it| it.finish(self.plan, told, &normalised, (&view, signatures)));
        run.held = faulted.filter(|_| self.plan.keeps_all);
        normalised.lack_functions(self.lacks_functions);
        normalised.counted = run.account.counts();
        normalised.handed = self.handed;
        let overwritten = self.plan.events.overwritten(&run.account);
        forget_begins(&self.plan.spans, &mut normalised, &overwritten);
        let unknown = |text| Finding::unknown(About::Events, text);
        findings.extend(self.evading.map(unknown));
        findings.extend(self.submitted.unrecorded().map(unknown));
        run.findings.splice(0..0, findings);
        super::survivors::number(&mut run, &trace, self.plan.world.is_none());
        Ok((run.with(normalised), trace))
    }
}

impl Observer for Collector<'_> {
    fn record(&mut self, table: &LayoutTable<Origin>, bytes: &[u8]) {
        if let Some(saving) = &mut self.saving {
            saving.record(table, bytes);
        }
    }

    fn pause(&mut self) {
        // Overwritten records are older and come last: rounds would not hold.
        if let (false, Some(saving)) = (self.is_late, &mut self.saving) {
            saving.round();
        }
    }

    fn observe(&mut self, observation: &Observation) {
        if self.is_late {
            return;
        }
        let Plan {
            events,
            marks,
            crash,
            ..
        } = self.plan;
        if let Observation::Call(call) = observation {
            self.submitted.note(call);
            self.handed
                .extend(uring::hands_over(call).then(|| uring::AIO.to_owned()));
            if let Some(crash) = crash {
                self.ended.take(call, crash.acknowledged.are_sent());
            }
            if self.evading.is_none() {
                self.evading = events.evades_tracepoint(call);
            }
        }
        if let Some(needing) = &mut self.needing {
            needing.note(observation);
        }
        if let Some(faulted) = &mut self.faulted {
            faulted.observe(self.plan, observation);
        }
        self.builder
            .observe(observation, |call| events.wants(call) || marks.may_be(call));
    }

    fn wants_functions(&self) -> bool {
        self.wants_functions
    }

    fn lacks_functions(&mut self) {
        self.lacks_functions = true;
    }

    fn observe_with(&mut self, observation: &Observation, stack: &Arc<Stack>) {
        let faulted = self.faulted.iter_mut();
        faulted.for_each(|faulted| faulted.led_by(Arc::clone(stack)));
        self.builder.led_by(Arc::clone(stack));
        self.ended.led_by(Arc::clone(stack));
        self.observe(observation);
    }

    fn event(&mut self, fired: &Fired<'_>) {
        let planned = self.plan.events.named.get(fired.place);
        let Some(planned) = planned.filter(|_| !self.is_late) else {
            return;
        };
        if let Err(error) = fired.add_to(planned, &mut self.builder) {
            self.error.get_or_insert(error);
        }
    }
}
