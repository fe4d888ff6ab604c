//! Composes the other rooms, from a scenario file to a verdict, in the order of the diagram on the
//! front page.

mod baseline;
mod chains;
mod check;
mod copies;
mod counting;
mod crash;
mod directory;
mod discover;
mod dumping;
mod error;
mod faults;
mod features;
mod flight;
mod functions;
mod gate;
mod given;
mod ground;
mod halves;
mod limits;
mod living;
mod machine;
mod marks;
mod needing;
mod once;
mod opening;
mod options;
mod overwritten;
mod probes;
mod programs;
mod reach;
mod reader;
mod reading;
mod ready;
mod record;
mod recorded;
mod recording_calls;
mod rejudge;
mod reported;
mod scenario;
mod session;
mod setting;
mod shard;
mod side_by_side;
mod sources;
mod stat;
mod storing;
mod study;
mod submitted;
mod suite;
mod survivors;
mod triggers;
mod watch;
mod workload;

pub use chains::NamedFunction;
pub use check::{Checked, Subject as CheckSubject};
pub use counting::Count;
pub use discover::{Item, discover, is_scenario};
pub use error::RunError;
pub use flight::{
    Destination, Dump, Dumps, FileError, FileReport, FlightAccount, FlightLog, ForwardLog,
    KeptAccount, Recorder, Unnamed,
};
pub use gate::Doing;
pub use given::UnreadFile;
pub use ground::Names;
pub use living::{AttachError, Attached, follow_living, living};
pub use needing::{Action, Enforced};
pub use options::{Options, Update};
pub use reach::{AccessError, LIMITS_OF_OWN_CALLS};
pub use reader::Reader;
pub use reading::{LIMITS_OF_COPIES, Reading, UnreadError};
pub use ready::{SuiteError, check, given_programs};
pub use record::{RecordEnd, Recording, RecordingError, record};
pub use recorded::{
    InjectError, Injected, Output, Preface, RecordedRun, ReplayError, Saved, Saving, Store,
    StoreError, StoreOptions, Stored, chosen_cpus, inject_file, inject_pipe,
};
pub use recording_calls::UnrecordedError;
pub use reported::ScenarioReport;
pub use scenario::{Outcome, SnapshotOutcome, Subject, attempt};
pub use session::{Control, Next, Patience, SessionError, Undisturbed, follow};
pub use setting::{Convention, Extras, Fault, Fired, Observer, ProbedFile, Setting, Turn};
pub use shard::{NoShard, Shard, Whole, WholeError, whole};
pub use stat::Counters;
pub use study::{
    CalibrateError, Calibrating, CrashError, CrashOptions, CrashStart, CrashStudy, Killer,
    LEAST_KILLED, MutationOptions, MutationReport, RecordError, Remains, Reproduction, Standing,
    Survey, Sweep, SweepError, SweepOptions, SweepPlan, Swept, TimeBy,
};
pub use suite::Suite;
pub use survivors::GRACE;
pub use triggers::{Alarm, Ask, Switch, Triggers};
pub use watch::Watch;
pub use workload::{PATH, environment, lay_out};

use crate::plan::{CallSource, Reach, StringSource};
use crate::policy::PolicyFile;
use crate::scenario::Programs;
use crate::snapshot;
use perf_live::capture::{self, Capture, CaptureError};
use perf_live::events::{self, Account, EventSet, Pins, Rings};
use perf_live::host::{Catalogue, Host, HostError, KernelTypes};
use perf_live::ring::Bounds;
use perf_live::sandbox::{Base, Cgroup, WorkDirError, Worlds};
use perf_live::sys::process;
use perf_live::sys::removal::Members;
use perf_records::units::{Cpu, TracepointName};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use syscall_model::Signatures;

/// How many runs at a time there is room for, unless the caller says how many.
const RUNS: usize = 16;

/// What one process of the harness knows and holds for all its runs.
#[derive(Debug)]
pub struct Bench<'a> {
    /// The machine.
    pub host: &'a Host,
    /// The CPUs that were online when this was made.
    pub cpus: Vec<Cpu>,
    /// Its kernel's release.
    pub release: String,
    /// The signatures of the kernel's calls.
    pub signatures: Signatures<'a>,
    /// The soft and hard limit of open files with which the process was started; workloads get
    /// them.
    pub open_files: Option<(u64, u64)>,
    /// What sandboxes are made of.
    pub worlds: Arc<Worlds>,
    accepted: OnceLock<bool>,
    has_lost: OnceLock<bool>,
    has_types: bool,
    types: OnceLock<Option<KernelTypes>>,
    n_runs: usize,
    patience: u32,
    programs: Programs,
    keeps_records: AtomicBool,
    /// The bytes of each ring that the first run will have, if that is likely; else 0.
    likely_ring: AtomicU64,
    strings: StringSource,
    source: CallSource,
    every_call: bool,
    /// Whether the files are followed that calls reach; `Some(false)` if they can be.
    every_path: Option<bool>,
    enforced: Option<Enforced>,
    backlog: Option<Bounds>,
    // Made before the pins: it is slow while they hold the tracepoints.
    capture: OnceLock<Result<Arc<Capture>, CaptureError>>,
    reach: OnceLock<Reach>,
    kept: Mutex<Vec<Rings>>,
    members: Members,
    base: Mutex<Option<Arc<Base>>>,
    probes: probes::Probes,
    pins: Pins,
}

impl Bench<'_> {
    /// The kernel, as far as it decides which snapshot is right.
    #[must_use]
    pub fn kernel(&self) -> snapshot::Kernel<'_> {
        snapshot::Kernel::native(&self.release)
    }
}

impl<'a> Bench<'a> {
    /// Looks at the machine, and raises the soft limit of open files to the hard one: each event
    /// takes a descriptor for each CPU.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn new(host: &'a Host) -> Result<Self, HostError> {
        let signatures = Signatures::new(Box::new(|event| {
            let name = TracepointName::parse(&format!("syscalls:{event}"))?;
            host.format(&name).ok()
        }));
        host.has_the_kernels_clocks()?;
        let cpus = host.online_cpus()?;
        Ok(Self {
            host,
            n_runs: RUNS.max(cpus.len() * 2),
            cpus,
            release: host.kernel_release()?,
            signatures,
            open_files: process::raise_open_files(),
            worlds: Worlds::new(host)?.into(),
            accepted: OnceLock::new(),
            has_lost: OnceLock::new(),
            has_types: true,
            types: OnceLock::new(),
            patience: 1,
            programs: given_programs(),
            keeps_records: AtomicBool::new(false),
            likely_ring: AtomicU64::new(0),
            strings: StringSource::Auto,
            source: CallSource::Auto,
            every_call: false,
            every_path: None,
            enforced: None,
            backlog: None,
            capture: OnceLock::new(),
            reach: OnceLock::new(),
            kept: Mutex::default(),
            members: Members::Kill,
            base: Mutex::default(),
            probes: probes::Probes::default(),
            pins: Pins::default(),
        })
    }

    /// Behaves as on a kernel that does not count lost records: the counters alone are the witness.
    #[must_use]
    pub fn without_lost_counts(mut self) -> Self {
        self.has_lost = false.into();
        self
    }

    /// Behaves as on a kernel that does not describe its types.
    #[must_use]
    pub fn without_kernel_types(mut self) -> Self {
        self.has_types = false;
        self
    }

    /// Makes room for `n_runs` runs at a time.
    #[must_use]
    pub fn for_runs(mut self, n_runs: usize) -> Self {
        self.n_runs = n_runs;
        self
    }

    /// Multiplies the time for each scenario by `times`: a limit that its author chose is too short
    /// on a slow machine.
    #[must_use]
    pub fn with_patience(mut self, times: u32) -> Self {
        self.patience = times;
        self
    }

    /// Has the memory of workloads read by this means only; without it, not at all.
    #[must_use]
    pub fn with_strings(mut self, strings: StringSource) -> Self {
        self.strings = strings;
        self
    }

    /// Has the records of calls written by this means.
    #[must_use]
    pub fn with_source(mut self, source: CallSource) -> Self {
        self.record_by(source);
        self
    }

    /// The same of one that is made.
    pub fn record_by(&mut self, source: CallSource) {
        self.source = source;
    }

    /// Has every call of workloads recorded, however few their scenarios ask for, and told of each
    /// run what it needed.
    pub fn record_every_call(&mut self) {
        self.every_call = true;
    }

    /// The same, with the files that calls reach by paths and descriptors; where `is_needed` is not
    /// set, only if the machine can tell.
    pub fn record_every_path(&mut self, is_needed: bool) {
        self.record_every_call();
        self.every_path = Some(is_needed);
    }

    /// Has workloads run under a policy, whose refusals fail them.
    pub fn enforce(&mut self, enforced: Enforced) {
        match enforced.policy {
            PolicyFile::Calls(_) => self.record_every_call(),
            PolicyFile::Rules(_) => self.record_every_path(true),
        }
        self.enforced = Some(enforced);
    }

    /// Bounds what may wait to be read, in place of [`Bounds::default`].
    #[must_use]
    pub fn with_backlog(mut self, bounds: Option<Bounds>) -> Self {
        self.backlog = bounds;
        self
    }

    /// Lets workloads outlive the harness.
    #[must_use]
    pub fn sparing_workloads(mut self) -> Self {
        self.members = Members::Spare;
        self
    }

    /// Returns where runs have their directories and groups; made at the first call.
    ///
    /// # Errors
    /// [`WorkDirError::Make`].
    pub fn base(&self) -> Result<Arc<Base>, WorkDirError> {
        let mut base = self.base.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = &*base {
            return Ok(Arc::clone(base));
        }
        let hierarchy = self.host.cgroup2();
        let made = Arc::new(Base::new(hierarchy.as_deref(), self.members)?);
        Ok(Arc::clone(base.insert(made)))
    }

    /// Returns the programs that read the memory of workloads, started at the first call; `None` if
    /// they are not wanted.
    ///
    /// # Errors
    /// [`CaptureError`], the same at each call.
    pub fn capture(&self) -> Result<Option<&Arc<Capture>>, &CaptureError> {
        if matches!(self.strings, StringSource::Kernel | StringSource::None) {
            return Ok(None);
        }
        self.programs().map(Some)
    }

    /// Returns the programs that read memory, and that record calls if that is wanted.
    fn programs(&self) -> Result<&Arc<Capture>, &CaptureError> {
        let capture = self.capture.get_or_init(|| {
            for name in capture::TRACEPOINTS {
                let format = TracepointName::parse(name).map(|name| self.host.format(&name));
                if let Some(Ok(format)) = format {
                    self.pins.hold(format.id);
                }
            }
            let types = self.kernel_types().filter(|_| self.has_types);
            let kernel = (types.map(|types| &**types), self.preempts_programs());
            let start =
                |recording| Capture::start(self.host, &self.cpus, kernel, self.n_runs, recording);
            let recording = Some(self.likely_ring.load(Ordering::Relaxed));
            match self.source {
                CallSource::Auto if self.may_record_calls() => {
                    start(recording).or_else(|_| start(None))
                }
                CallSource::Bpf => start(recording),
                CallSource::Auto | CallSource::Perf => start(None),
            }
        });
        capture.as_ref()
    }

    fn kernel_types(&self) -> Option<&KernelTypes> {
        self.types.get_or_init(|| self.host.kernel_types()).as_ref()
    }

    /// Whether this kernel counts lost records (Linux 6.0). It is asked at the first call, by an
    /// event of a task: for the machine's first of these it waits for all CPUs, some milliseconds.
    #[must_use]
    pub fn has_lost_counts(&self) -> bool {
        *self.has_lost.get_or_init(events::kernel_counts_lost)
    }

    /// Whether the CPUs that are online now are those that events are opened on.
    #[must_use]
    pub fn has_same_cpus(&self) -> bool {
        self.host.online_cpus().is_ok_and(|now| now == self.cpus)
    }

    /// Closes a run's events and keeps their rings for the next. After a loss a ring owes a record
    /// of it, which would come in the next run: such rings are given up.
    pub fn recycle(&self, events: EventSet, account: &Account) {
        if let (true, Some(rings), Ok(mut kept)) =
            (account.is_complete(), events.into_rings(), self.kept.lock())
        {
            kept.push(rings);
        }
    }

    /// Makes a control group for a run, for its limits and to count events for. `None` if the host
    /// lacks the version 2 hierarchy or refuses. The group must outlive the workload.
    #[must_use]
    pub fn group(&self) -> Option<Arc<Cgroup>> {
        let group = Cgroup::below(self.base().ok()?.groups()?).ok()?;
        let accepts = || process::try_group(group.as_fd()).is_ok();
        let accepted = self.accepted.get_or_init(accepts);
        accepted.then(|| Arc::new(group))
    }
}
