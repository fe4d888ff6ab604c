//! What is asked of the kernel for one event.

use crate::capture::OfCalls;
use crate::sys::perf;
use perf_records::attr::{Attr, ReadFormat, SAMPLE_TYPE, Source};
use perf_records::units::{Cpu, Pid, Tid};
use std::os::fd::BorrowedFd;

/// One event that is to be opened: recorded, or only counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRequest {
    /// As perf names it: `raw_syscalls:sys_enter`, `sched:sched_switch`, `cpu-clock`.
    pub name: String,
    /// What is asked of the kernel.
    pub attr: Attr,
    /// The in-kernel filter, if any.
    pub filter: Option<String>,
    /// What a recording is to call it, if that is not its name.
    pub shown: Option<String>,
    /// After how many records it is to stand still.
    pub at_most: Option<u64>,
    /// Whether it is counted for the control group, where there is one. Calls never are: a workload
    /// may leave the group, not its tasks.
    pub of_group: bool,
    /// Whether it is recorded of every task of the machine where all else is counted for a control
    /// group.
    pub of_everybody: bool,
    /// Where its newest records overwrite the oldest: the data pages of that ring on each CPU, a
    /// power of two. `None` where nothing is overwritten, or the ring is as large as others.
    pub overwrites: Option<usize>,
    /// What a BPF program must know to write its records; `None` where none can.
    pub calls: Option<OfCalls>,
}

impl EventRequest {
    /// One without filter and limits.
    #[must_use]
    pub fn new(name: impl Into<String>, attr: Attr) -> Self {
        Self {
            name: name.into(),
            attr,
            filter: None,
            shown: None,
            at_most: None,
            of_group: false,
            of_everybody: false,
            overwrites: None,
            calls: None,
        }
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
    /// Threads that already live, and by inheritance what they create. No `execve(2)` starts these
    /// events: [`EventSet::enable`](super::EventSet::enable) does.
    Living(&'a [Tid]),
}

pub(super) const SIDE_BAND: &str = "dummy";

pub(super) fn side_band_attr(wakeup_bytes: u32, has_lost: bool) -> Attr {
    Attr {
        sample_type: SAMPLE_TYPE,
        read_format: lost_format(has_lost),
        side_band: true,
        // It never fires, and names and tasks come all the same: so it takes no right.
        exclude_kernel: true,
        wakeup_bytes,
        ..Attr::counting(Source::DUMMY)
    }
}

pub(super) fn request_attr(request: &EventRequest, follow: Follow<'_>, has_lost: bool) -> Attr {
    let of_tasks = match follow {
        Follow::Tasks(_) | Follow::Living(_) => true,
        Follow::Group(..) => !request.of_group,
        Follow::Members(_) => false,
    };
    Attr {
        read_format: lost_format(has_lost),
        inherit: of_tasks,
        enable_on_exec: of_tasks && !matches!(follow, Follow::Living(_)),
        write_backward: request.overwrites.is_some(),
        ..request.attr
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
