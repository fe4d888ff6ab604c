//! Whether BPF programs can record calls on this machine.

use super::Bench;
use crate::plan::{CallSource, EventsPlan, Reach};
use crate::scenario::KernelVersion;
use crate::verdict::{About, Finding};
use perf_live::errors::chain;
use perf_live::events::{EventSet, RingPages, Rings};

/// Why BPF programs cannot record calls here, though the user asked for it.
#[derive(Debug, thiserror::Error)]
#[error("BPF cannot record calls here (`--source bpf`): {why}")]
pub struct UnrecordedError {
    why: String,
    hint: Option<String>,
}

impl UnrecordedError {
    /// Returns what the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        self.hint.clone()
    }

    fn because(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            hint: Some("leave it to the kernel: --source perf".to_owned()),
        }
    }
}

impl Bench<'_> {
    /// Whether programs record the calls of a run whose plan lets them.
    pub(super) fn records_calls(&self) -> bool {
        match self.source {
            CallSource::Auto => {
                self.may_record_calls() && self.programs().is_ok_and(|it| it.records_calls())
            }
            CallSource::Bpf => true,
            CallSource::Perf => false,
        }
    }

    /// Whether programs are to record calls where the user did not ask for it: not where the kernel
    /// preempts a program, and then skips it for other tasks. That would be told, as perf counts
    /// what the program missed; but perf records all there.
    pub(super) fn may_record_calls(&self) -> bool {
        let is_known = cfg!(target_arch = "x86_64") && !self.host.has_own_pid_namespace();
        is_known && !self.preempts_programs() && matches!(self.reach(), Ok(Reach::Everything))
    }

    /// Whether the kernel may preempt a program on a tracepoint of calls: since Linux 6.19.
    #[must_use]
    pub fn preempts_programs(&self) -> bool {
        let version = KernelVersion::of_release(&self.release);
        version.is_none_or(|version| (version.major, version.minor) >= (6, 19))
    }

    /// Returns a remark where perf records a run's calls, though programs were asked for.
    pub(super) fn recorded_by_perf(&self, plan: &EventsPlan, events: &EventSet) -> Option<Finding> {
        let mut requests = plan.requests.iter();
        let has_calls = requests.any(|request| request.name.starts_with("raw_syscalls:"));
        let is_asked = self.source == CallSource::Bpf;
        let is_other = is_asked && has_calls && !events.records_by_programs();
        is_other.then(|| {
            let text = "perf records the calls of this run: BPF cannot where a control group is \
                        followed, records are overwritten, or call chains or registers are asked for";
            Finding::remark(About::Run, text)
        })
    }

    /// Checks that programs can record calls here, if the user asked for that.
    ///
    /// # Errors
    /// [`UnrecordedError`].
    pub fn can_record_calls(&self) -> Result<(), UnrecordedError> {
        if self.source != CallSource::Bpf {
            return Ok(());
        }
        if self.host.has_own_pid_namespace() {
            let why = "a program knows tasks by their ids in the machine's first namespace of processes, and this process has another";
            return Err(UnrecordedError::because(why));
        }
        match self.reach() {
            Ok(Reach::Everything) => {}
            Ok(_) => {
                let why = "it needs the right to trace everything";
                return Err(UnrecordedError::because(why));
            }
            Err(error) => return Err(UnrecordedError::because(chain(&error))),
        }
        if let Err(error) = self.programs() {
            return Err(UnrecordedError {
                hint: error.hint(),
                ..UnrecordedError::because(chain(error))
            });
        }
        // Programs wake the reader by the ring of a whole CPU.
        let lasting = Rings::lasting(&self.cpus, RingPages::all(1));
        lasting
            .map(drop)
            .map_err(|error| UnrecordedError::because(chain(&error)))
    }
}
