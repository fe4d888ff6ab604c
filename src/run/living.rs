//! Follows processes that live already, from a moment on at which no thread of theirs is missed.
//!
//! Events are opened thread by thread while the process runs, and a thread that one makes before
//! its own turn has none. So the threads are listed again when all events are open, and once more
//! when they have been started; a thread of that last list that neither had its events opened nor
//! was born of one that had ([family](super::reader)) makes the trace incomplete.

use super::reader::{Begun, Reader};
use super::session::{Control, calls, system, wait_for};
use super::setting::{Observer, ProbedFile, Setting};
use super::{Bench, RunError};
use crate::plan::EventsPlan;
use perf_live::capture::ReadOf;
use perf_live::events::{Account, EventSet, Follow};
use perf_live::host::{Host, Living, Midlife};
use perf_live::sys;
use perf_records::merge::Merge;
use perf_records::units::{Pid, Tid};
use std::collections::HashSet;
use std::time::Duration;

/// How often events are opened anew because a thread came meanwhile.
const TRIES: usize = 20;

/// Why processes that live cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// There is no such process.
    #[error("there is no process {pid}, or it has ended")]
    NoProcess {
        /// Its id.
        pid: Pid,
    },
    /// By its id another process is found in procfs.
    #[error("procfs is of another pid namespace than this one, where {pid} is another process")]
    OtherNumbers {
        /// Its id.
        pid: Pid,
    },
    /// More descriptors are needed than this process may have.
    #[error("{threads} threads on {cpus} CPUs need {needed} descriptors, and {limit} are allowed")]
    TooMany {
        /// The threads.
        threads: usize,
        /// The CPUs.
        cpus: usize,
        /// Descriptors that are needed.
        needed: u64,
        /// Descriptors that are allowed.
        limit: u64,
    },
}

impl AttachError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoProcess { .. } => None,
            Self::OtherNumbers { .. } => Some(
                "mount procfs in this namespace (as `unshare --mount-proc` does), or run the \
                 harness in the other"
                    .to_owned(),
            ),
            Self::TooMany { needed, .. } => Some(format!(
                "name fewer events (-e), or raise the limit: prlimit --nofile={needed}:{needed} --pid $$"
            )),
        }
    }
}

/// Processes that live, and whose events have begun.
#[derive(Debug)]
pub struct Attached {
    /// Their events; a thread of its own drains them.
    pub events: EventSet,
    /// The processes as they were just before.
    pub living: Vec<Living>,
    /// What procfs said of them just after.
    pub found: Vec<Midlife>,
    begun: Begun,
}

/// Returns a process that lives.
///
/// # Errors
/// [`AttachError::NoProcess`], [`AttachError::OtherNumbers`].
pub fn living(host: &Host, pid: Pid) -> Result<Living, AttachError> {
    is_numbered_here(host, pid)?;
    host.living(pid).ok_or(AttachError::NoProcess { pid })
}

/// Refuses an id that is another process' in procfs.
fn is_numbered_here(host: &Host, pid: Pid) -> Result<(), AttachError> {
    match host.numbers_otherwise() {
        true => Err(AttachError::OtherNumbers { pid }),
        false => Ok(()),
    }
}

impl Bench<'_> {
    /// Opens the events of a plan on processes that live, and starts them.
    ///
    /// # Errors
    /// [`RunError::Attach`], [`RunError::Open`], [`RunError::Capture`], [`RunError::Session`].
    pub fn attach(
        &self,
        plan: &EventsPlan,
        pids: &[Pid],
        ring_pages: usize,
    ) -> Result<Attached, RunError> {
        self.counted(plan, None)?;
        if let Some(pid) = pids.first() {
            is_numbered_here(self.host, *pid)?;
        }
        let mut tries = TRIES;
        let (mut events, threads, open) = loop {
            let threads = self.threads(pids)?;
            self.has_room(threads.len(), plan.requests.len() + 1)?;
            let mut events = self.open_for(plan, Follow::Living(&threads), ring_pages)?;
            // Programs know tasks by their ids in the first namespace.
            if !self.host.has_own_pid_namespace() {
                events.read_memory(Some(&plan.fetches), ReadOf::Living(&threads))?;
            }
            events.enable_side_band()?;
            let open = sys::monotonic_now();
            tries -= 1;
            let now = self.threads(pids)?;
            let known: HashSet<Tid> = threads.iter().copied().collect();
            if tries == 0 || now.iter().all(|thread| known.contains(thread)) {
                let now: HashSet<Tid> = now.into_iter().collect();
                let (living, gone): (Vec<_>, Vec<_>) =
                    threads.into_iter().partition(|thread| now.contains(thread));
                events.forget(&gone);
                break (events, living, open);
            }
            let rings = events.into_rings_for_another_try();
            if let (Some(rings), Ok(mut kept)) = (rings, self.kept.lock()) {
                kept.push(rings);
            }
        };
        let mut all: Vec<Living> = Vec::new();
        for pid in pids {
            let process = self.host.living(*pid);
            let mut process = process.ok_or(AttachError::NoProcess { pid: *pid })?;
            process
                .threads
                .retain(|thread| threads.contains(&thread.tid));
            all.push(process);
        }
        // A flood may fill the rings before all is read that procfs says.
        let apart = events.drain_apart();
        apart.map_err(system("start a thread that drains the rings"))?;
        // A task that is made meanwhile may come behind the first round.
        events.enable()?;
        events.enable()?;
        let started = sys::monotonic_now();
        let found = all.iter().map(|process| self.host.midlife(process));
        let found = found.collect();
        Ok(Attached {
            events,
            living: all,
            found,
            begun: Begun {
                open,
                started,
                told: sys::monotonic_now(),
            },
        })
    }

    fn threads(&self, pids: &[Pid]) -> Result<Vec<Tid>, AttachError> {
        let mut all = Vec::new();
        for pid in pids {
            let threads = self.host.threads_of(*pid);
            all.extend(threads.ok_or(AttachError::NoProcess { pid: *pid })?.listed);
        }
        Ok(all)
    }

    /// Whether so many events of so many threads can be open at a time.
    fn has_room(&self, threads: usize, events: usize) -> Result<(), AttachError> {
        let cpus = self.cpus.len();
        let needed = (threads as u64).saturating_mul((cpus * events) as u64) + 64;
        // All that are allowed were taken when this bench was made.
        match self.open_files {
            Some((_, limit)) if needed > limit => Err(AttachError::TooMany {
                threads,
                cpus,
                needed,
                limit,
            }),
            _ => Ok(()),
        }
    }
}

/// Follows processes that live until all of them have ended, or until `control` has something to
/// say; they go on then, and the second value is true.
///
/// # Errors
/// [`RunError`]; the processes go on.
pub fn follow_living(
    attached: Attached,
    bench: &Bench<'_>,
    plan: &EventsPlan,
    tick: Duration,
    control: &mut dyn Control,
    observer: &mut dyn Observer,
) -> Result<(Account, bool), RunError> {
    let Attached {
        mut events,
        living,
        found,
        begun,
    } = attached;
    let events = &mut events;
    let setting = Setting {
        attached: true,
        reads_memory: events.reads_memory(),
        probed: Some(bench.probed_files(None)),
        ..Setting::default()
    };
    let mut reader = Reader::new(plan, events.n_requests(), observer, setting);
    reader.know(&living, begun, found);
    let mut merge = Merge::default();
    let mut leaves = false;
    while !leaves && !events.have_hung_up() {
        leaves = wait_for(events, std::iter::empty(), control, tick)?;
        reader.drain(&mut merge, events, &mut || calls(control))?;
    }
    if leaves {
        control.ends().map_err(system("take a signal"))?;
    }
    reader.cut(sys::monotonic_now());
    let stopped = events.disable_for_living();
    stopped.map_err(system("stop the events"))?;
    let asks = &mut || match calls(control)? {
        true => control
            .ends()
            .map(|()| true)
            .map_err(system("take a signal")),
        false => Ok(false),
    };
    reader.drain_rest(&mut merge, events, asks)?;
    reader.finish();
    let account = reader.account(events);
    let mut account = account.map_err(system("read the counters"))?;
    let probed = bench.probed_files(None);
    account
        .other_files
        .extend(probed.iter().filter_map(ProbedFile::written));
    account.other_cpus = !bench.has_same_cpus();
    Ok((account, leaves))
}
