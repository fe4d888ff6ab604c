//! What is asked of the kernel for one event.

use crate::sys::perf;
use perf_records::attr::{
    Attr, Chain, Maps, Modes, ReadFormat, SAMPLE_TYPE, SampleType, Sampling, Source,
};
use perf_records::units::{Cpu, Pid};
use std::os::fd::BorrowedFd;

/// One event, as the plan wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRequest {
    /// What to call it: `raw_syscalls:sys_enter`, `sched:sched_switch`.
    pub name: String,
    /// What it measures.
    pub source: Source,
    /// Which occurrences have a record.
    pub sampling: Sampling,
    /// What each sample has besides what all have ([`SAMPLE_TYPE`]). With [`SampleType::PERIOD`] it
    /// says by how much it moved the counter: most tracepoints count by one, those of scheduler
    /// statistics count nanoseconds (`__perf_count()` in `include/trace/events/sched.h`), and only
    /// the sum of their periods equals the counter.
    pub extra: SampleType,
    /// The in-kernel filter, if any.
    pub filter: Option<String>,
    /// User registers wanted with each record, as a mask.
    pub user_registers: u64,
    /// Whether it shows what happens in user mode alone, which is what a user may ask for who has
    /// no right to more.
    pub exclude_kernel: bool,
    /// Whether it is counted for the control group, where there is one. Calls never are: a workload
    /// may leave the group, not its tasks.
    pub of_group: bool,
    /// Whether it is recorded of every task of the machine where all else is counted for a control
    /// group.
    pub of_everybody: bool,
    /// Where its newest records overwrite the oldest: the data pages of that ring on each CPU, a
    /// power of two. `None` where nothing is overwritten.
    pub overwrites: Option<usize>,
    /// The call chain of each record, where one is wanted.
    pub chain: Option<Chain>,
    /// The modes of the processor that it is about.
    pub modes: Modes,
}

impl EventRequest {
    /// All user registers of its records, as a mask.
    #[must_use]
    pub fn user_registers(&self) -> u64 {
        self.user_registers | self.chain.map_or(0, Chain::user_registers)
    }
}

/// Which of a session's events a record belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The side-band event.
    SideBand,
    /// The request at this place.
    Request(usize),
    /// What programs read from memory.
    Memory,
}

/// How the events follow the workload.
#[derive(Clone, Copy, Debug)]
pub enum Follow<'a> {
    /// Inherited from task to task and enabled by its first `execve(2)`. Cheap for few events,
    /// quadratic in their number at every fork.
    Tasks(Pid),
    /// As above for the side-band; the requests are counted for a control group, whose cost does
    /// not grow with the tasks.
    Group(Pid, BorrowedFd<'a>),
    /// Everything is counted for a control group that no task can leave, the side-band included: so
    /// a set-user-ID program is followed too, at whose execve the kernel takes the events off a
    /// task that is not root (`begin_new_exec()`, `fs/exec.c`).
    Members(BorrowedFd<'a>),
}

pub(super) const SIDE_BAND: &str = "dummy";

pub(super) fn side_band_attr(wakeup_bytes: u32, has_lost: bool) -> Attr {
    Attr {
        source: Source::DUMMY,
        sampling: Sampling::Never,
        sample_type: SAMPLE_TYPE,
        user_registers: 0,
        read_format: lost_format(has_lost),
        inherit: true,
        enable_on_exec: true,
        side_band: true,
        maps: Maps::No,
        namespaces: false,
        switches: false,
        // It never fires, and names and tasks come all the same: so it takes no right.
        exclude_kernel: true,
        modes: Modes::default(),
        wakeup_bytes,
        write_backward: false,
        max_stack: 0,
        chain: Chain::default(),
    }
}

pub(super) fn request_attr(request: &EventRequest, follow: Follow<'_>, has_lost: bool) -> Attr {
    let of_tasks = match follow {
        Follow::Tasks(_) => true,
        Follow::Group(..) => !request.of_group,
        Follow::Members(_) => false,
    };
    let mut sample_type = SAMPLE_TYPE.and(request.extra);
    let chain = request.chain.unwrap_or_default();
    if request.chain.is_some() {
        sample_type = sample_type.and(chain.sample_type());
    }
    let user_registers = request.user_registers();
    if user_registers != 0 {
        sample_type = sample_type.and(SampleType::REGS_USER);
    }
    Attr {
        source: request.source,
        sampling: request.sampling,
        sample_type,
        user_registers,
        read_format: lost_format(has_lost),
        inherit: of_tasks,
        enable_on_exec: of_tasks,
        side_band: false,
        maps: Maps::No,
        namespaces: false,
        switches: false,
        exclude_kernel: request.exclude_kernel,
        modes: request.modes,
        wakeup_bytes: 0,
        write_backward: request.overwrites.is_some(),
        max_stack: chain.max_stack,
        chain,
    }
}

fn lost_format(has_lost: bool) -> ReadFormat {
    if has_lost {
        ReadFormat::LOST
    } else {
        ReadFormat(0)
    }
}

/// Whether events can be counted for a control group, found by opening one. In a version 2
/// hierarchy whose root never had a controller enabled for its children, groups have none for perf
/// events either (`cgroup_calc_subtree_ss_mask()`, `kernel/cgroup/cgroup.c`).
#[must_use]
pub fn can_count_for(group: BorrowedFd<'_>, cpu: Cpu) -> bool {
    let mut attr = side_band_attr(0, false);
    (attr.inherit, attr.enable_on_exec, attr.side_band) = (false, false, false);
    perf::open(&attr.raw(), perf::Target::Cgroup(group), Some(cpu)).is_ok()
}
