//! Attaching the programs to their tracepoints.

use super::loading::{Wanted, load, load_all};
use super::programs::{self, Copy, Names, Offsets, Place};
use super::{CaptureError, Kernel, system};
use crate::host::Catalogue;
use crate::sys::bpf::{self, Map, ProgramKind};
use crate::sys::perf;
use perf_records::attr::Attr;
use perf_records::format::Format;
use perf_records::units::TracepointName;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

/// Loads the programs and attaches them; `others` is the map of those that others go on with.
pub(super) fn attach(
    names: &Names,
    others: &Map,
    catalogue: &dyn Catalogue,
    kernel: Kernel,
) -> Result<Vec<OwnedFd>, CaptureError> {
    let copies = Copy::needed(kernel.may_preempt);
    let called: Vec<_> = programs::Other::needed(copies).collect();
    let mut wanted: Vec<_> = called
        .iter()
        .map(|other| Wanted::raw("execve", other.program(names)))
        .collect();
    let (tracepoints, programs): (Vec<_>, Vec<_>) =
        on_tracepoints(names, kernel).into_iter().unzip();
    let named = tracepoints.iter().zip(programs);
    wanted.extend(
        named.map(|(name, program)| Wanted::raw(name.to_str().unwrap_or_default(), program)),
    );
    let mut loaded = load_all(&wanted)?.into_iter();
    for (other, program) in called.iter().zip(loaded.by_ref()) {
        others
            .put(other.place(), program.as_fd())
            .map_err(system("fill a map"))?;
    }
    let mut attached = Vec::new();
    if kernel.members.is_none() {
        attached.extend(attach_to_events(names, catalogue)?);
    }
    for (tracepoint, program) in tracepoints.into_iter().zip(loaded) {
        let attach = bpf::attach_raw(tracepoint, program.as_fd());
        attached.push(attach.map_err(system("attach a program"))?);
    }
    Ok(attached)
}

/// The programs on raw tracepoints, in the order in which they are to be attached.
fn on_tracepoints(names: &Names, kernel: Kernel) -> Vec<(&'static CStr, Option<Vec<u64>>)> {
    let mut all = Vec::new();
    let copies = Copy::needed(kernel.may_preempt);
    if let Some(members) = kernel.members {
        let place = Place::Tracepoint(members);
        for copy in copies {
            all.push((c"sched_process_fork", programs::fork(names, place, *copy)));
            all.push((c"sched_process_exec", programs::exec(names, place, *copy)));
        }
    }
    // The kernel switches tasks where it cannot be preempted.
    all.push((c"sched_switch", programs::switch(names)));
    for copy in copies {
        all.push((c"sched_process_exit", programs::gone(names)));
        all.push((c"signal_deliver", programs::signal(names, *copy)));
        all.push((c"sys_exit", programs::exit(names, *copy)));
        all.push((c"sys_enter", programs::enter(names, *copy)));
    }
    all
}

/// Without a description of the kernel's types only the records of events tell the new ids. To
/// detach these programs takes a tenth of a second since Linux 6.13, which waits for a grace period
/// (`perf_event_detach_bpf_prog()`).
fn attach_to_events(
    names: &Names,
    catalogue: &dyn Catalogue,
) -> Result<[OwnedFd; 2], CaptureError> {
    let (fork_id, exec_id, offsets) = offsets(catalogue)?;
    let attach = |name, id, program| {
        let program = load(&Wanted {
            name,
            kind: ProgramKind::Tracepoint,
            program,
        })?;
        let event = perf::open(&Attr::holding(id).raw(), perf::Target::Myself, None)
            .map_err(system("open an event for a program"))?;
        perf::set_bpf(event.as_fd(), program.as_fd()).map_err(system("attach a program"))?;
        Ok::<_, CaptureError>(event)
    };
    let place = Place::Record(offsets);
    // The kernel runs programs on events where it cannot be preempted.
    let (fork, exec) = (
        programs::fork(names, place, Copy::First),
        programs::exec(names, place, Copy::First),
    );
    Ok([
        attach("sched_process_fork", fork_id, fork)?,
        attach("sched_process_exec", exec_id, exec)?,
    ])
}

fn offsets(catalogue: &dyn Catalogue) -> Result<(u16, u16, Offsets), CaptureError> {
    let shape = |what| CaptureError::Shape { what };
    let format = |name: &str| {
        let name = TracepointName::parse(name).ok_or(shape("a name that is no tracepoint's"))?;
        Ok::<_, CaptureError>(catalogue.format(&name)?)
    };
    let offset = |format: &Format, field: &str| {
        let found = format.field(field).filter(|found| found.size == 4);
        found
            .and_then(|found| i16::try_from(found.offset).ok())
            .ok_or(shape("a tracepoint of the scheduler lacks a field"))
    };
    let fork = format("sched:sched_process_fork")?;
    let exec = format("sched:sched_process_exec")?;
    let offsets = Offsets {
        child: offset(&fork, "child_pid")?,
        exec_file: offset(&exec, "filename")?,
        exec_pid: offset(&exec, "pid")?,
        exec_old_pid: offset(&exec, "old_pid")?,
    };
    Ok((fork.id, exec.id, offsets))
}

#[cfg(test)]
mod tests {
    use super::super::Members;
    use super::super::programs::tests::NAMES;
    use super::*;

    fn standing(may_preempt: bool) -> Vec<(&'static CStr, Option<Vec<u64>>)> {
        let members = Members {
            pid: 8,
            exec_file: 8,
        };
        let kernel = Kernel {
            members: Some(members),
            compat: Some(16),
            may_preempt,
            preemption: None,
            recording: None,
        };
        on_tracepoints(&NAMES, kernel)
    }

    #[test]
    fn where_programs_can_be_preempted_each_stands_four_times() {
        for (may_preempt, copies) in [(false, 1), (true, 4)] {
            let all = standing(may_preempt);
            let count = |name| all.iter().filter(|(other, _)| *other == name).count();
            for (name, program) in &all {
                assert!(program.is_some(), "{name:?}");
                let expected = if *name == c"sched_switch" { 1 } else { copies };
                assert_eq!(count(*name), expected, "{name:?}");
            }
        }
    }
}
