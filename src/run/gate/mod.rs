//! Does the faults of a scenario to the calls of its workload.

mod blocks;
mod callers;
mod counts;
mod deed;
mod faulted;
mod judge;
mod looked;
mod proof;

pub(super) use faulted::Faulted;
pub(super) use judge::TRACER;

use super::crash::{Stream, Witness, Witnessed};
use super::ground::Names;
use super::reader::exact_paths;
use super::{Bench, RunError};
use crate::plan::{CrashPlan, EventsPlan, FaultPlan, Plan};
use crate::scenario::Promises;
use crate::verdict::{Faults, Known};
use callers::Callers;
use deed::Main;
use judge::Decider;
use perf_live::events::Sleepers;
use perf_live::gate::{GateError, Log, Paths, Supervisor};
use perf_live::host::Host;
use perf_live::sandbox::Running;
use perf_live::sys::memory;
use proof::prove;
use std::collections::BTreeSet;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use syscall_model::Alias;
use syscall_model::files::Initial;
use syscall_model::memory::Fetches;

const UNPRIVILEGED: &str =
    "calls are held under no_new_privs: set-user-ID programs give the workload no rights";

/// What the calls that are held are written to, kept to the end where they are saved.
pub(super) fn log_of(plan: &Plan, is_saved: bool) -> Option<Log> {
    let log = if is_saved { Log::keeping } else { Log::default };
    (!plan.faults.is_empty() || plan.crash.is_some()).then(log)
}

/// What is done to the calls of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Doing<'a> {
    /// The machine.
    pub bench: &'a Bench<'a>,
    /// What is recorded.
    pub events: &'a EventsPlan,
    /// The faults, of which the first that is due is done.
    pub faults: &'a [FaultPlan],
    /// The working directory, as the workload sees it.
    pub directory: &'a Path,
    /// What else the files are called that it writes out, before the run.
    pub aliases: &'a [Alias],
}

impl Doing<'_> {
    /// Answers the calls that are held while `follow` follows the workload; returns what that
    /// returns, and what became of the faults. Where these ask for the functions that led to calls,
    /// `sleepers` tell of the registers, and the working directory lies there on the host.
    ///
    /// # Errors
    /// Those of `follow`; [`RunError::Gate`] and [`RunError::Supervisor`], which ended the
    /// workload.
    pub fn supervised<T, E: Into<RunError>>(
        &self,
        log: Log,
        (mut running, sleepers): (Running, Option<(Sleepers, &Path)>),
        follow: impl FnOnce(Running) -> Result<T, E>,
    ) -> Result<(T, Known<Faults>), RunError> {
        let Some(listener) = running.take_listener() else {
            let why = "the workload had no faults".to_owned();
            let followed = follow(running).map_err(Into::into)?;
            return Ok((followed, Known::No(why)));
        };
        let no_new_privileges = listener.no_new_privileges;
        let main = Main {
            level: usize::from(running.has_init()),
            id: running.main_pid(),
        };
        let (stop, paths) = stops()?;
        let streams = running.streams();
        let supervisor = Supervisor::new(self.bench.host, listener, log);
        // What names functions cannot go from thread to thread.
        let answers = |supervisor: &mut Supervisor<'_>, stopped: &UnixStream| {
            let callers = sleepers.map(|(sleepers, outside)| {
                Callers::new(self.bench.host, sleepers, (self.directory, outside))
            });
            let mut decider = Decider::new(*self, (main, streams), paths, callers);
            supervisor.run(stopped, &mut decider)?;
            Ok(decider.into_faults())
        };
        let (followed, mut faults) = answered(supervisor, stop, answers, running, follow)?;
        if no_new_privileges {
            faults.remarks.push(UNPRIVILEGED.to_owned());
        }
        let is_unsure = faults.outcomes.iter().any(|it| it.unknown > 0);
        let lack = is_unsure.then(memory::lack).flatten().map(str::to_owned);
        let lack = lack.filter(|lack| !faults.unknown.contains(lack));
        faults.unknown.extend(lack);
        Ok((followed, Known::Yes(faults)))
    }
}

/// Lets every call go on that is held while `follow` follows the workload, and looks at it before.
///
/// # Errors
/// As [`Doing::supervised`].
pub(super) fn witnessed<T, E: Into<RunError>>(
    (host, folder, plan): (&Host, (&Path, BTreeSet<u64>), &CrashPlan),
    fetches: &Fetches,
    log: Log,
    mut running: Running,
    follow: impl FnOnce(Running) -> Result<T, E>,
) -> Result<(T, Witnessed), RunError> {
    let listener = running
        .take_listener()
        .ok_or_else(|| RunError::Supervisor(io::Error::other("the workload has no listener")))?;
    let no_new_privileges = listener.no_new_privileges;
    let (stop, paths) = stops()?;
    let pipes = running.pipes();
    let stream = match &plan.acknowledged {
        Promises::Stdout => Stream::Pipe(pipes.map(|[out, _]| out)),
        Promises::Stderr => Stream::Pipe(pipes.map(|[_, err]| err)),
        sent => Stream::Socket(sent.clone()),
    };
    let (folder, devices) = folder;
    let folder = (folder.as_os_str().as_bytes(), &plan.watch, devices);
    let mut witness = Witness::new(
        host,
        folder,
        (stream, (plan.rings, fetches), plan.model.orders_pages()),
        plan.ends.as_ref(),
        paths,
    );
    let supervisor = Supervisor::new(host, listener, log);
    let answers = |supervisor: &mut Supervisor<'_>, stopped: &UnixStream| {
        supervisor.run(stopped, &mut witness)
    };
    let (followed, ()) = answered(supervisor, stop, answers, running, follow)?;
    let mut witnessed = witness.finish();
    witnessed.promises = plan.acknowledged.word();
    if no_new_privileges {
        witnessed.remarks.push(UNPRIVILEGED.to_owned());
    }
    Ok((followed, witnessed))
}

/// What else the files are called that calls may be held for: as they were before the run, by what
/// the names of its trace go by, too.
pub(super) fn aliases_of(plan: &Plan, names: Option<&Names>, initial: &Initial) -> Vec<Alias> {
    let Some(names) = names.filter(|_| !plan.faults.is_empty()) else {
        return Vec::new();
    };
    let directory = initial.directory.as_deref().unwrap_or_default();
    let paths = exact_paths(&plan.events, directory);
    syscall_model::aliases(Box::new(names.clone()), directory, &paths)
}

/// Both ends of what stops a supervisor, and what looks up paths until then.
fn stops() -> Result<((UnixStream, UnixStream), Paths), RunError> {
    let (stop, stopped) = UnixStream::pair().map_err(RunError::Supervisor)?;
    let paths = Paths::new(stopped.try_clone().map_err(RunError::Supervisor)?);
    Ok(((stop, stopped), paths))
}

/// Has a thread answer calls while `follow` follows the workload, which is killed as soon as they
/// are answered no more; what is held then is held until it is dead.
fn answered<T, A: Send, E: Into<RunError>>(
    mut supervisor: Supervisor<'_>,
    (stop, stopped): (UnixStream, UnixStream),
    answers: impl FnOnce(&mut Supervisor<'_>, &UnixStream) -> Result<A, GateError> + Send,
    mut running: Running,
    follow: impl FnOnce(Running) -> Result<T, E>,
) -> Result<(T, A), RunError> {
    let (alive, lifeline) = UnixStream::pair().map_err(RunError::Supervisor)?;
    running.tie_to(lifeline.into());
    let supervisor = &mut supervisor;
    let (followed, answered) = std::thread::scope(|scope| -> Result<_, RunError> {
        let thread = std::thread::Builder::new().name("gate".to_owned());
        let answers = move || {
            // Closed by an error and a panic; one that has no more to answer still lives.
            let alive = alive;
            answers(supervisor, &stopped).map(|answered| (answered, alive))
        };
        let thread = thread.spawn_scoped(scope, answers);
        let thread = thread.map_err(RunError::Supervisor)?;
        let followed = follow(running);
        drop(stop);
        Ok((followed, thread.join()))
    })?;
    // What ended the workload comes first.
    let answered = match answered {
        Ok(answered) => answered.map(|(answered, _)| answered)?,
        Err(_panic) => return Err(RunError::Supervisor(io::Error::other("it panicked"))),
    };
    Ok((followed.map_err(Into::into)?, answered))
}
