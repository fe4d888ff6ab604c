//! Does the faults of a scenario to the calls of its workload.

mod counts;
mod deed;
mod judge;
mod proof;

pub(super) use proof::prove;

use super::{Bench, RunError};
use crate::plan::{EventsPlan, FaultPlan};
use crate::verdict::{Faults, Known};
use judge::Decider;
use perf_live::gate::{Log, Supervisor};
use perf_live::sandbox::Running;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

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
}

impl Doing<'_> {
    /// Answers the calls that are held while `follow` follows the workload; returns what that
    /// returns, and what became of the faults.
    ///
    /// # Errors
    /// Those of `follow`; [`RunError::Gate`], after which the workload ran on without its calls.
    pub fn supervised<T, E: Into<RunError>>(
        &self,
        log: Log,
        mut running: Running,
        follow: impl FnOnce(Running) -> Result<T, E>,
    ) -> Result<(T, Known<Faults>), RunError> {
        let bench = self.bench;
        let Some(listener) = running.take_listener() else {
            let why = "the workload had no faults".to_owned();
            let followed = follow(running).map_err(Into::into)?;
            return Ok((followed, Known::No(why)));
        };
        let no_new_privileges = listener.no_new_privileges;
        let mut decider = Decider::new(*self);
        let (stop, stopped) = UnixStream::pair().map_err(RunError::Supervisor)?;
        let supervisor = Supervisor::new(bench.host, listener, log);
        let (followed, answered) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| supervisor.run(&stopped, &mut decider));
            let followed = follow(running);
            drop(stop);
            (followed, thread.join())
        });
        let followed = followed.map_err(Into::into)?;
        match answered {
            Ok(answered) => answered?,
            Err(_panic) => return Err(RunError::Supervisor(io::Error::other("it panicked"))),
        }
        let mut faults = decider.into_faults();
        if no_new_privileges {
            faults.remarks.push(
            "calls are held under no_new_privs: set-user-ID programs give the workload no rights"
                .to_owned(),
        );
        }
        Ok((followed, Known::Yes(faults)))
    }
}
