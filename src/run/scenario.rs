//! One scenario, once.

use super::limits::{self, Limiter};
use super::{Bench, Control, Fault, Observer, Patience, RunError, Setting, follow};
use crate::errors::chain;
use crate::plan::{Plan, PlannedTracepoint, WorldPlan};
use crate::sandbox::{self, Cgroup, Content, File, Program, Stdio, WorkDir, WorkDirError, World};
use crate::scenario::{Addresses, FileSource, Survivors};
use crate::snapshot::{self, Place, Provenance};
use crate::syscall::files::{FileKind, Initial};
use crate::syscall::{Actor, Observation, UNREAD};
use crate::trace::{Builder, Normalised, TracedEvent, View};
use crate::units::{Cpu, Limit, Nanos, Usage};
use crate::verdict::{self, Ended, Verdict};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What came of one run.
#[derive(Debug)]
pub struct Outcome {
    /// The verdict, the snapshot's included.
    pub verdict: Verdict,
    /// What speaks against a pass.
    pub reasons: Vec<String>,
    /// How many calls and events the trace holds.
    pub events: u64,
    /// How many records are missing.
    pub lost: u64,
    /// What the workload used.
    pub usage: Usage,
    /// The limits that it ran into.
    pub struck: Vec<Limit>,
    /// The trace's text, where there is a snapshot to it.
    pub text: Option<String>,
    /// What came of the comparison with the stored one.
    pub snapshot: SnapshotOutcome,
    /// Whether that is all that speaks against it.
    pub only_snapshot: bool,
}

/// What came of the comparison of a trace with its snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotOutcome {
    /// There is none, or the run gives no trace to compare.
    NotCompared,
    /// Equal.
    Same,
    /// Different, or nothing is stored; what is stored, and in which file.
    Differs {
        /// The file that it was compared with.
        file: std::path::PathBuf,
        /// Its text; `None` where there is no such file.
        stored: Option<String>,
    },
}

/// The path in which workloads find their programs.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// What the uncorking may take: a file system that hangs must not hang the suite.
const UNCORKING: Duration = Duration::from_secs(10);

/// Makes the directory of a planned scenario, with its files.
///
/// # Errors
/// [`WorkDirError`]; nothing is left of it then.
pub fn lay_out(bench: &Bench<'_>, plan: &Plan, file: &Path) -> Result<WorkDir, WorkDirError> {
    let user = plan.world.as_ref().and_then(|world| world.user.as_ref());
    let owner = user.map(|user| (user.uid, user.gid));
    WorkDir::lay_out(bench.base()?, &files(plan, file, owner), owner)
}

/// Runs a planned scenario in the directory that was laid out for it, and judges it. Nothing is written.
///
/// # Errors
/// [`RunError`], where the harness could not do its work; the workload is dead by then.
pub fn attempt(
    bench: &Bench<'_>,
    plan: &Plan,
    file: &Path,
    control: &mut dyn Control,
    fault: Fault,
    dir: &WorkDir,
) -> Result<Outcome, RunError> {
    let group = bench.group();
    let workload = match workload(bench, plan, dir.path(), group.clone()) {
        Err(RunError::Launch(sandbox::LaunchError::NotExecuted(error))) => {
            return Ok(not_executed(&error));
        }
        other => other?,
    };
    let inside = workload.world.inside(dir.path());
    let mut corked = sandbox::launch(&workload)?;
    let init = corked.has_init().then(|| corked.pid());
    let mut events = bench
        .open(&plan.events, &corked, group.as_deref(), plan.ring_pages)
        .map_err(|error| corked.failure().map_or(error, RunError::Launch))?;
    if let (None, Some(group)) = (&plan.world, &group) {
        corked.end_with(group.members());
    }
    let limiter = Limiter::new(bench, plan, &corked, group)?;
    let watch = limiter.watch(bench, &corked)?;
    let running = match corked.uncork(UNCORKING) {
        Err(sandbox::LaunchError::NotExecuted(error)) => return Ok(not_executed(&error)),
        other => other?,
    };
    let mut collector = Collector {
        plan,
        builder: Builder::new(plan.keeps_order()),
        error: None,
    };
    let world = plan.world.as_ref();
    let survivors = world.map_or_else(Survivors::default, |world| world.spec.survivors);
    let patience = Patience {
        timeout: Some(plan.workload.timeout),
        tick: Duration::from_secs(1),
        watch: Some(watch),
    };
    let mut ended = follow(
        running,
        &mut events,
        &plan.events,
        patience,
        control,
        &mut collector,
        Setting {
            init,
            initial: initial(&inside),
            fault,
            forbids_survivors: survivors == Survivors::Forbidden,
            ends_all: true,
            ..Setting::default()
        },
    )?;
    limiter.conclude(&mut ended);
    ended.account.other_cpus = !bench.has_same_cpus();
    bench.recycle(events, &ended.account);
    if let Some(error) = collector.error {
        return Err(error);
    }
    if let Some(id) = ended.exited.main_pid {
        collector.builder.main_process(id);
    }
    let view = View {
        directory: Some(inside.to_string_lossy().into_owned()),
        ..plan.view.clone().unwrap_or_default()
    };
    let trace = collector
        .builder
        .finish()
        .normalise(&view, &bench.signatures);
    judge(bench, plan, file, &ended, &trace)
}

fn judge(
    bench: &Bench<'_>,
    plan: &Plan,
    file: &Path,
    ended: &Ended,
    trace: &Normalised,
) -> Result<Outcome, RunError> {
    let counts = trace.counts();
    let (mut verdict, mut reasons) = verdict::judge(plan, ended, &counts);
    if ended.interrupted {
        (verdict, reasons) = (Verdict::Broken, vec!["interrupted".to_owned()]);
    }
    // A known failure is judged by its expectations alone: there is no right trace of it.
    let mut is_trace = matches!(verdict, Verdict::Pass | Verdict::Fail)
        && plan.view.is_some()
        && !ended.is_cut_short()
        && plan.expect_failure.is_none();
    if is_trace && trace.unread > 0 {
        is_trace = false;
        if verdict == Verdict::Pass {
            verdict = Verdict::Incomplete;
        }
        reasons.push(format!(
            "the trace says {} times `{UNREAD}` of the workload's memory, so it cannot be compared",
            trace.unread
        ));
    }
    let text = trace.text();
    let snapshot = if is_trace {
        compare(bench, &Place::of(file).of_row(&plan.row), &text)?
    } else {
        SnapshotOutcome::NotCompared
    };
    if let SnapshotOutcome::Differs { file, stored } = &snapshot {
        verdict = Verdict::Fail;
        reasons.push(match stored {
            Some(stored) => format!(
                "the trace differs from `{}`:\n{}",
                file.display(),
                snapshot::diff(stored, &text).trim_end()
            ),
            None => format!("there is no snapshot `{}` yet", file.display()),
        });
    }
    let is_different = matches!(snapshot, SnapshotOutcome::Differs { .. });
    let only_snapshot = is_different && reasons.len() == 1;
    let (verdict, reasons) = verdict::with_known_failure(plan, verdict, reasons);
    Ok(Outcome {
        only_snapshot,
        verdict,
        reasons,
        events: counts.values().sum(),
        lost: ended.account.lost(),
        usage: ended.usage,
        struck: ended.struck(),
        text: is_trace.then_some(text),
        snapshot,
    })
}

fn compare(bench: &Bench<'_>, place: &Place, text: &str) -> Result<SnapshotOutcome, RunError> {
    let chosen = place.choose(&bench.release);
    place.check_variants()?;
    let stored = snapshot::read(&chosen)?;
    Ok(match stored {
        Some(stored) if snapshot::matches(&stored, text) => SnapshotOutcome::Same,
        stored => SnapshotOutcome::Differs {
            file: chosen,
            stored,
        },
    })
}

/// A workload that could not be executed did not fail its expectations: it is reported as just that.
fn not_executed(error: &sandbox::NotExecuted) -> Outcome {
    let hint = error
        .hint()
        .map(|hint| format!(" (hint: {hint})"))
        .unwrap_or_default();
    Outcome {
        verdict: Verdict::Fail,
        reasons: vec![format!("{}{hint}", chain(error))],
        events: 0,
        lost: 0,
        usage: Usage::default(),
        struck: Vec::new(),
        text: None,
        snapshot: SnapshotOutcome::NotCompared,
        only_snapshot: false,
    }
}

/// What travels with a snapshot of this scenario.
pub(super) fn provenance<'a>(
    bench: &'a Bench<'_>,
    file: &'a Path,
    description: &'a str,
) -> Provenance<'a> {
    Provenance {
        scenario: file,
        description,
        kernel: &bench.release,
    }
}

fn files(plan: &Plan, scenario: &Path, owner: Option<(u32, u32)>) -> Vec<File> {
    let base = scenario.parent().unwrap_or(Path::new(""));
    let content = |source: &FileSource| match source {
        FileSource::Content(text) => Content::Bytes(text.clone().into_bytes()),
        FileSource::From(path) => Content::CopyOf(base.join(path)),
    };
    let files = plan.workload.files.iter();
    files
        .map(|(path, file)| File {
            path: path.clone(),
            content: content(&file.source),
            mode: file.mode,
            owner: plan
                .owners
                .get(path)
                .map(|user| (user.uid, user.gid))
                .or(owner),
        })
        .collect()
}

/// What the workload starts with: the cork has closed everything else.
fn initial(directory: &Path) -> Initial {
    let streams = ["stdin", "stdout", "stderr"].into_iter().zip(0..);
    let given =
        |(name, number): (&str, i32)| (FileKind::Given(name.as_bytes().into()), vec![number]);
    Initial {
        files: streams.map(given).collect(),
        complete: true,
        directory: Some(directory.as_os_str().as_bytes().to_owned()),
    }
}

/// The variables that every workload has in a sandbox, where its working directory is `home`.
#[must_use]
pub fn environment(home: &Path) -> BTreeMap<String, String> {
    let home = home.to_string_lossy();
    [("PATH", PATH), ("HOME", &home), ("TMPDIR", &home)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

fn workload(
    bench: &Bench<'_>,
    plan: &Plan,
    dir: &Path,
    group: Option<Arc<Cgroup>>,
) -> Result<sandbox::Workload, RunError> {
    let c_string = |text: String| {
        CString::new(text).map_err(|error| RunError::ZeroByte {
            text: String::from_utf8_lossy(&error.into_vec()).into_owned(),
        })
    };
    let (world, umask, fixed_addresses) = match &plan.world {
        None => (World::Host, 0o022, true),
        Some(WorldPlan { spec, user }) => (
            bench.worlds.own(spec, user.as_ref()),
            spec.umask,
            spec.addresses == Addresses::Fixed,
        ),
    };
    let home = world.inside(dir);
    let argv = plan.workload.command.argv();
    let mut environment = environment(&home);
    environment.extend(plan.workload.env.clone());
    let path = environment.get("PATH").cloned().unwrap_or_default();
    let program = argv.first().copied().unwrap_or_default();
    Ok(sandbox::Workload {
        program: Program::find(OsStr::new(program), OsStr::new(&path), dir)
            .map_err(sandbox::LaunchError::NotExecuted)?,
        arguments: argv
            .iter()
            .map(|&argument| c_string(argument.to_owned()))
            .collect::<Result<_, _>>()?,
        environment: environment
            .into_iter()
            .map(|(name, value)| c_string(format!("{name}={value}")))
            .collect::<Result<_, _>>()?,
        directory: Some(dir.to_owned()),
        stdio: Stdio::Captured {
            input: plan.workload.stdin.clone().map(String::into_bytes),
        },
        world,
        umask: Some(umask),
        fixed_addresses,
        limits: limits::of_processes(bench, plan),
        group,
    })
}

/// Collects a run into a trace.
struct Collector<'a> {
    plan: &'a Plan,
    builder: Builder,
    error: Option<RunError>,
}

impl Observer for Collector<'_> {
    fn observe(&mut self, observation: &Observation) {
        self.builder
            .observe(observation, |call| self.plan.events.wants(call));
    }

    fn event(&mut self, actor: &Actor, time: Nanos, _: Cpu, tracepoint: usize, payload: &[u8]) {
        let Some(PlannedTracepoint {
            name,
            format,
            naming,
        }) = self.plan.events.tracepoints.get(tracepoint)
        else {
            return;
        };
        match TracedEvent::decode(naming, format, payload) {
            Ok(event) => self.builder.event(actor.thread, time, event),
            Err(source) => {
                self.error.get_or_insert(RunError::Decode {
                    event: name.as_ref().to_owned(),
                    source,
                });
            }
        }
    }
}
