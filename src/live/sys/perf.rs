//! `perf_event_open(2)` and the ioctls on its descriptors.

use super::check;
use super::rights::{self, Right};
use perf_event_open_sys::{bindings, ioctls};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The tasks that an event follows.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// One task and, with `inherit`, what it comes to create, on one CPU.
    Task(perf_records::units::Pid),
    /// The calling thread, on any CPU.
    Myself,
    /// Every task of the machine, on one CPU.
    Everybody,
    /// The members of a control group, on one CPU.
    Cgroup(BorrowedFd<'a>),
}

/// Opens an event; the descriptor is close-on-exec.
///
/// # Errors
/// The kernel's own: `EACCES`/`EPERM` without the right, `ESRCH` for a task that is gone, `EINVAL`
/// for an attribute it does not know, `E2BIG` for one from its future, `EMFILE` out of descriptors.
///
/// # References
/// `perf_event_open(2)`.
pub fn open(
    attr: &bindings::perf_event_attr,
    target: Target<'_>,
    cpu: Option<perf_records::units::Cpu>,
) -> io::Result<OwnedFd> {
    open_beside(attr, target, cpu, None)
}

/// Opens an event as [`open`] does; with a leader it counts when the leader does, and never else.
///
/// # Errors
/// As above; `EINVAL` if the leader follows another task, or if the group needs more counters than
/// there are.
pub fn open_beside(
    attr: &bindings::perf_event_attr,
    target: Target<'_>,
    cpu: Option<perf_records::units::Cpu>,
    leader: Option<BorrowedFd<'_>>,
) -> io::Result<OwnedFd> {
    // Debian's kernels ask for the second where `kernel.perf_event_paranoid` is 3, as by default.
    const OF_EVENTS: [Right; 2] = [Right::Perfmon, Right::SysAdmin];
    let (pid, flags) = match target {
        Target::Task(pid) => (pid.0 as libc::pid_t, 0),
        Target::Myself => (0, 0),
        Target::Everybody => (-1, 0),
        Target::Cgroup(group) => (group.as_raw_fd(), bindings::PERF_FLAG_PID_CGROUP),
    };
    let cpu = cpu.map_or(-1, |cpu| cpu.0 as libc::c_int);
    let flags = u64::from(flags | bindings::PERF_FLAG_FD_CLOEXEC);
    let attr: *const bindings::perf_event_attr = attr;
    // SAFETY: attr points to a whole perf_event_attr whose `size` says its length; the kernel only
    // reads it (E2BIG writes `size`, which the kernel does through the same pointer: see below).
    let opened = rights::with(&OF_EVENTS, || unsafe {
        check(libc::syscall(
            libc::SYS_perf_event_open,
            attr.cast_mut(),
            pid,
            cpu,
            leader.map_or(-1, |leader| leader.as_raw_fd()),
            flags,
        ))
    });
    let fd = opened?;
    // SAFETY: the kernel has just returned this descriptor, which has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Starts counting: `PERF_EVENT_IOC_ENABLE`, also for the children of an inherited event.
///
/// # Errors
/// Those of `ioctl(2)`.
pub fn enable(event: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the ioctl takes a number.
    check(unsafe { ioctls::ENABLE(event.as_raw_fd(), 0) }.into()).map(drop)
}

/// Stops counting: `PERF_EVENT_IOC_DISABLE`, also for the children of an inherited event.
///
/// # Errors
/// Those of `ioctl(2)`.
pub fn disable(event: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the ioctl takes a number.
    check(unsafe { ioctls::DISABLE(event.as_raw_fd(), 0) }.into()).map(drop)
}

/// Sends this event's records to the ring of another: `PERF_EVENT_IOC_SET_OUTPUT`.
///
/// # Errors
/// `EINVAL` where CPU or clock differ, or where `ring_owner` has no ring yet.
pub fn set_output(event: BorrowedFd<'_>, ring_owner: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the ioctl takes a descriptor number.
    check(unsafe { ioctls::SET_OUTPUT(event.as_raw_fd(), ring_owner.as_raw_fd()) }.into()).map(drop)
}

/// Has the ring that the event writes to refuse records, or take them again:
/// `PERF_EVENT_IOC_PAUSE_OUTPUT`. Refused records count as lost; a task that was about to write
/// when the ring was paused still writes.
///
/// # Errors
/// `EINVAL` where the event has no ring.
///
/// # References
/// `rb_toggle_paused()`, `kernel/events/ring_buffer.c`; Linux 4.7.
pub fn pause_output(event: BorrowedFd<'_>, paused: bool) -> io::Result<()> {
    // SAFETY: the ioctl takes a number.
    check(unsafe { ioctls::PAUSE_OUTPUT(event.as_raw_fd(), paused.into()) }.into()).map(drop)
}

/// Sets the event's filter, once in its life: `PERF_EVENT_IOC_SET_FILTER`.
///
/// # Errors
/// `EINVAL` for a filter that the kernel does not understand (it does not say why), `EEXIST` for a
/// second one.
pub fn set_filter(event: BorrowedFd<'_>, filter: &CStr) -> io::Result<()> {
    // SAFETY: the string is NUL-terminated, outlives the call, and the kernel only reads it
    // (strndup_user in perf_event_set_filter()).
    check(unsafe { ioctls::SET_FILTER(event.as_raw_fd(), filter.as_ptr().cast_mut()) }.into())
        .map(drop)
}

/// Attaches a BPF program to the tracepoint of an event, for every task of the machine, whomever
/// the event follows: `PERF_EVENT_IOC_SET_BPF`. A program that returns 0 hides the tracepoint's
/// records from all events of the machine.
///
/// # Errors
/// `EINVAL` for a program of another kind, `E2BIG` where 64 programs are attached already.
pub fn set_bpf(event: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the ioctl takes a descriptor number.
    check(unsafe { ioctls::SET_BPF(event.as_raw_fd(), program.as_raw_fd() as u32) }.into())
        .map(drop)
}

/// The event's id, which its records and those of its inherited children carry:
/// `PERF_EVENT_IOC_ID`.
///
/// # Errors
/// Those of `ioctl(2)`.
pub fn id(event: BorrowedFd<'_>) -> io::Result<u64> {
    let mut id = 0_u64;
    // SAFETY: the kernel writes one u64 to the pointer.
    check(unsafe { ioctls::ID(event.as_raw_fd(), &raw mut id) }.into())?;
    Ok(id)
}

/// What the kernel says of an event after the fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often it fired and passed its filter, inherited children included.
    pub value: u64,
    /// How many of its records found no room in the ring; `None` before Linux 6.0 (no
    /// `PERF_FORMAT_LOST`).
    pub lost: Option<u64>,
    /// How long it was enabled, and how long it counted, in nanoseconds; `None` where that was not
    /// asked for. They differ where events had to share a counter of the hardware.
    pub times: Option<(u64, u64)>,
}

/// The counters of a group that are read at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// How long the group was enabled, and how long it counted, in nanoseconds.
    pub times: (u64, u64),
    /// The id of each event, and how often it happened.
    pub values: Vec<(u64, u64)>,
}

/// Reads the counters of a group of so many events by their leader, which was opened with
/// `PERF_FORMAT_GROUP`, both times and `PERF_FORMAT_ID` and nothing else.
///
/// # Errors
/// Those of `read(2)`; a short answer is `UnexpectedEof`.
///
/// # References
/// `perf_read_group()`, `kernel/events/core.c`.
pub fn read_group(leader: BorrowedFd<'_>, members: usize) -> io::Result<GroupCounts> {
    let mut words = vec![0_u64; 3 + 2 * members];
    let bytes = words.len() * size_of::<u64>();
    // SAFETY: the buffer has that many bytes.
    let got = check(
        unsafe { libc::read(leader.as_raw_fd(), words.as_mut_ptr().cast(), bytes) } as libc::c_long,
    )?;
    let (head, rest) = words.split_at(3);
    let (&[number, enabled, running], true) = (head, got as usize == bytes) else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let values = rest.chunks_exact(2).take(number as usize);
    Ok(GroupCounts {
        times: (enabled, running),
        values: values
            .filter_map(|pair| Some((*pair.get(1)?, *pair.first()?)))
            .collect(),
    })
}

/// Reads an event's counter; `format` is what it was opened with, without `PERF_FORMAT_GROUP`.
///
/// # Errors
/// Those of `read(2)`; a short answer is `UnexpectedEof`.
///
/// # References
/// `perf_read_one()`, `kernel/events/core.c`.
pub fn read_counts(event: BorrowedFd<'_>, format: u64) -> io::Result<Counts> {
    let mut words = [0_u64; 5];
    let wanted = (1 + format.count_ones() as usize).min(words.len());
    // SAFETY: the buffer has 40 bytes and at most that many are asked for.
    let got = check(
        unsafe { libc::read(event.as_raw_fd(), words.as_mut_ptr().cast(), wanted * 8) }
            as libc::c_long,
    )?;
    if got as usize != wanted * 8 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let [value, rest @ ..] = words;
    let mut rest = rest.into_iter();
    // What was asked for follows in the order of its bits.
    let mut next = |bit| {
        (format & u64::from(bit) != 0)
            .then(|| rest.next())
            .flatten()
    };
    let enabled = next(bindings::PERF_FORMAT_TOTAL_TIME_ENABLED);
    let running = next(bindings::PERF_FORMAT_TOTAL_TIME_RUNNING);
    next(bindings::PERF_FORMAT_ID);
    Ok(Counts {
        value,
        lost: next(bindings::PERF_FORMAT_LOST),
        times: enabled.zip(running),
    })
}
