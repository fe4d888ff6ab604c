//! Processes: how they are made, how they end, what they use and may use.

use super::file_names as file;
use super::names;
use super::pen::Pen;
use super::site::{Bytes, Site};
use super::time::{self, Sense, Unit};
use crate::names::Abi;
use crate::text::Values;

/// `struct clone_args`: what its flags make of it, and the id that the kernel writes for the
/// parent.
pub(super) fn clone_arguments<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let has = |flags: u64, wanted: i32| flags & u64::from(wanted as u32) != 0;
    // CLONE_ARGS_SIZE_VER2; the first version had 64 bytes.
    const SIZE: usize = 88;
    let given = site.given_part()?;
    let least = if given.is_readable() { 64 } else { SIZE };
    if given.len() < least {
        return None;
    }
    // The kernel takes zeros for what the program does not know.
    let mut padded = [0; SIZE];
    let known = given.whole().get(..SIZE).unwrap_or(given.whole());
    padded.get_mut(..known.len())?.copy_from_slice(known);
    let bytes = Bytes::of(&padded);
    let flags = bytes.u64(0)?;
    pen.text("{flags=");
    pen.flags(&names::CLONE, flags);
    let addresses = [
        (libc::CLONE_PIDFD, ", pidfd=", 8),
        (
            libc::CLONE_CHILD_CLEARTID | libc::CLONE_CHILD_SETTID,
            ", child_tid=",
            16,
        ),
        (libc::CLONE_PARENT_SETTID, ", parent_tid=", 24),
    ];
    for (wanted, field, offset) in addresses {
        if has(flags, wanted) {
            pen.text(field);
            pen.address(bytes.u64(offset)?);
        }
    }
    pen.text(", exit_signal=");
    match i32::try_from(bytes.u64(32)?) {
        Ok(signal) => pen.signal(signal),
        Err(_) => pen.number(bytes.u64(32)?),
    }
    pen.text(", stack=");
    pen.address(bytes.u64(40)?);
    pen.text(", stack_size=");
    pen.hex(bytes.u64(48)?);
    if has(flags, libc::CLONE_SETTLS) {
        pen.text(", tls=");
        pen.address(bytes.u64(56)?);
    }
    if let (Some(ids), Some(count)) = (bytes.u64(64), bytes.u64(72))
        && (ids, count) != (0, 0)
    {
        pen.text(", set_tid=");
        pen.address(ids);
        pen.text(", set_tid_size=");
        pen.number(count);
    }
    if let Some(group) = bytes.u64(80)
        && (group != 0 || flags & CLONE_INTO_CGROUP != 0)
    {
        pen.text(", cgroup=");
        match i32::try_from(group) {
            Ok(group) if flags & CLONE_INTO_CGROUP != 0 => pen.descriptor(group, site.file(group)),
            _ => pen.number(group),
        }
    }
    super::file::rest(pen, given, SIZE);
    pen.text("}");
    // The kernel writes there what it returns; that it did is not read again. It writes nothing
    // where there is no room for it, and the call succeeds all the same.
    if let Some(child) = site.result().filter(|child| *child > 0)
        && has(flags, libc::CLONE_PARENT_SETTID)
        && !has(flags, libc::CLONE_PIDFD)
    {
        pen.text(" => {parent_tid=");
        if bytes.u64(24)? == 0 {
            pen.text("NULL}");
        } else {
            pen.text("[");
            pen.task(child as i32);
            pen.text("]}");
        }
    }
    Some(())
}

/// What clone(2) writes for the parent.
///
/// The child's id is the result, and stands there only until the child or another thread writes
/// something else: glibc lets the kernel write zero there at the end of a thread. So what is read
/// tells whether the kernel could write, and the result tells what it wrote.
pub(super) fn clone_answer<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let child = site.result().filter(|child| *child > 0)?;
    let bytes = site.filled_first(4)?;
    pen.text("[");
    if site.word(0)? as i32 & libc::CLONE_PARENT_SETTID != 0 {
        pen.task(child as i32);
    } else {
        let descriptor = bytes.i32(0)?;
        pen.descriptor(descriptor, site.file(descriptor));
    }
    pen.text("]");
    Some(())
}

const CLONE_INTO_CGROUP: u64 = 1 << 33;

/// What wait4(2) tells of a child, when it tells of one: its result is 0 where there was nothing to
/// tell.
pub(super) fn wait_status<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    site.result().filter(|child| *child > 0)?;
    let status = site.filled()?.i32(0)?;
    pen.text("[{");
    if libc::WIFSTOPPED(status) {
        pen.text("WIFSTOPPED(s) && WSTOPSIG(s) == ");
        pen.signal(libc::WSTOPSIG(status));
    } else if libc::WIFSIGNALED(status) {
        pen.text("WIFSIGNALED(s) && WTERMSIG(s) == ");
        pen.signal(libc::WTERMSIG(status));
        if libc::WCOREDUMP(status) {
            pen.text(" && WCOREDUMP(s)");
        }
    } else if libc::WIFCONTINUED(status) {
        pen.text("WIFCONTINUED(s)");
    } else {
        pen.text("WIFEXITED(s) && WEXITSTATUS(s) == ");
        pen.number(libc::WEXITSTATUS(status));
    }
    pen.text("}");
    // What stopped a traced child, a PTRACE_EVENT.
    let event = status >> 16;
    if libc::WIFSTOPPED(status) && event != 0 {
        pen.text(" | ");
        pen.number(event);
        pen.text("<<16");
    }
    pen.text("]");
    Some(())
}

/// `struct rusage`.
pub(super) fn usage<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let result = site.result()?;
    if site.name() == "wait4" && result == 0 {
        return None;
    }
    let bytes = site.filled()?;
    let unit = (Unit::Micro, Sense::Measured);
    pen.text("{ru_utime=");
    time::pair(pen, bytes, 0, unit)?;
    pen.text(", ru_stime=");
    time::pair(pen, bytes, 16, unit)?;
    pen.text(", ...}");
    Some(())
}

/// `struct tms`.
pub(super) fn times<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.filled()?;
    let fields = [
        "{tms_utime=",
        ", tms_stime=",
        ", tms_cutime=",
        ", tms_cstime=",
    ];
    for (place, field) in fields.into_iter().enumerate() {
        time::ticks(pen, field, bytes.u64(place * 8)?);
    }
    pen.text("}");
    Some(())
}

/// `struct rlimit`, in units of 1024 where that is shorter.
pub(super) fn limits<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.known()?;
    // That of 32 bits has another name.
    let is_narrow = site.call.abi != Abi::native() && site.name() != "prlimit64";
    let none = if is_narrow {
        "RLIM_INFINITY"
    } else {
        "RLIM64_INFINITY"
    };
    for (field, offset) in [("{rlim_cur=", 0), (", rlim_max=", 8)] {
        pen.text(field);
        match bytes.u64(offset)? {
            u64::MAX => pen.text(none),
            limit if limit > 1024 && limit % 1024 == 0 => {
                pen.number(limit / 1024);
                pen.text("*1024");
            }
            limit => pen.number(limit),
        }
    }
    pen.text("}");
    Some(())
}

/// A mask of CPUs.
pub(super) fn cpus<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = match site.given_part() {
        Some(_) => site.given_first(site.word(1)? as u32 as usize)?,
        None => site.filled()?,
    };
    pen.text("[");
    let start = pen.out.len();
    for (place, byte) in bytes.whole().iter().enumerate() {
        for bit in (0..8).filter(|bit| byte >> bit & 1 == 1) {
            if pen.out.len() > start {
                pen.text(" ");
            }
            pen.number(place * 8 + bit);
        }
    }
    pen.text(if bytes.is_cut { " ...]" } else { "]" });
    Some(())
}

/// `struct sched_attr`, as far as its size goes.
pub(super) fn schedule<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.known()?;
    let size = bytes.u32(0)?;
    pen.text("{size=");
    pen.number(size);
    pen.text(", sched_policy=");
    pen.name(&file::POLICIES, bytes.u32(4)?.into());
    pen.text(", sched_flags=");
    pen.flags(&file::SCHEDULE, bytes.u64(8)?);
    pen.text(", sched_nice=");
    pen.number(bytes.i32(16)?);
    pen.text(", sched_priority=");
    pen.number(bytes.u32(20)?);
    for (field, offset) in [
        (", sched_runtime=", 24),
        (", sched_deadline=", 32),
        (", sched_period=", 40),
    ] {
        pen.text(field);
        pen.number(bytes.u64(offset)?);
    }
    if size >= 56
        && let (Some(min), Some(max)) = (bytes.u32(48), bytes.u32(52))
    {
        pen.text(", sched_util_min=");
        pen.number(min);
        pen.text(", sched_util_max=");
        pen.number(max);
    }
    pen.text("}");
    Some(())
}

/// `struct __user_cap_header_struct`.
pub(super) fn capability_header<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.given()?;
    pen.text("{version=");
    pen.name(&file::CAPABILITY_VERSIONS, bytes.u32(0)?.into());
    pen.text(", pid=");
    pen.task(bytes.i32(4)?);
    pen.text("}");
    Some(())
}

/// Three sets of capabilities, each in two halves; the first version had one.
pub(super) fn capabilities<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    const VERSION_1: u32 = 0x1998_0330;
    let header = Site {
        argument: site.argument.checked_sub(1)?,
        ..site
    };
    let has_halves = header.given()?.u32(0)? != VERSION_1;
    let bytes = site.known()?;
    let fields = ["{effective=", ", permitted=", ", inheritable="];
    for (place, field) in fields.into_iter().enumerate() {
        pen.text(field);
        let low = u64::from(bytes.u32(place * 4)?);
        let high = u64::from(bytes.u32(12 + place * 4)?);
        capability_set(pen, if has_halves { low | high << 32 } else { low });
    }
    pen.text("}");
    Some(())
}

fn capability_set<V: Values>(pen: &mut Pen<'_, V>, set: u64) {
    let start = pen.out.len();
    let mut left = set;
    for (bit, name) in file::CAPABILITIES.iter().enumerate() {
        if set >> bit & 1 == 1 {
            pen.bar(start);
            pen.text("1<<");
            pen.text(name);
            left &= !(1 << bit);
        }
    }
    if left != 0 || set == 0 {
        pen.bar(start);
        pen.hex(left);
    }
}

/// Ids of groups. The kernel tells how many there are also where there is no room for them.
pub(super) fn ids<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    if site.name() == "getgroups" && (site.result() == Some(0) || site.word(0)? as i32 == 0) {
        site.result()?;
        pen.text("[]");
        return Some(());
    }
    let bytes = match site.given_part() {
        Some(given) => given.first(usize::try_from(site.word(0)? as i32).ok()? * 4),
        None => site.filled()?,
    };
    pen.array(bytes, 4, |pen, id| {
        pen.id(id.u32(0)?);
        Some(())
    })
}

/// `[0]`: one number behind a pointer.
pub(super) fn one<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>, is_id: bool) -> Option<()> {
    pen.text("[");
    if is_id {
        pen.id(bytes.u32(0)?);
    } else {
        pen.number(bytes.i32(0)?);
    }
    pen.text("]");
    Some(())
}

/// The name of a thread, which has room for 16 bytes with its zero byte (`TASK_COMM_LEN`).
pub(super) fn name<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.filled_first(16)?.whole();
    let end = bytes.iter().position(|byte| *byte == 0);
    pen.string(bytes.get(..end?)?);
    Some(())
}
