//! Plans events that show evasions: a task that gets out of sight, or a call made by a way that no
//! planned event sees.

use super::calls::Reach;
use super::error::EventsError;
use super::events::{EventsPlan, Grouping, Meaning};
use super::wanted::Wanted;
use perf_live::host::{Catalogue, HostError};
use perf_records::glob::{glob, is_glob};
use perf_records::units::TracepointName;
use syscall_model::names::{self, Abi};
use syscall_model::select::Selection;
use syscall_model::{Call, uring};

const ATTACH: &str = "cgroup:cgroup_attach_task";

/// The calls of the vsyscall page of x86-64, by their numbers there. Measured on Linux 6.18 with
/// `CONFIG_LEGACY_VSYSCALL_XONLY`: such a call faults, the kernel makes it in the fault
/// (`emulate_vsyscall()`), and no tracepoint of calls fires. Without the emulation such a program
/// dies. Today's page (vDSO) does these calls without the kernel, so that there is nothing to
/// record; where it needs the kernel, it makes an ordinary call.
pub const LEGACY_CALLS: [&str; 3] = ["gettimeofday", "time", "getcpu"];

const LEGACY: &str = "vsyscall:emulate_vsyscall";

/// Returns the words for calls that are recorded beside a selection, to see whether it was evaded.
pub(super) fn beside<'w>(wants: &'w [Wanted], selection: Option<&Selection>) -> Vec<&'w str> {
    let mut words = Vec::new();
    if wants.contains(&Wanted::Evasions) {
        let own = named_calls(wants);
        let both = || selection.into_iter().chain(&own);
        if both().flat_map(Selection::names).any(uring::does) {
            words.extend(["io_uring_setup", "io_uring_enter"]);
        }
        if both().flat_map(Selection::names).any(uring::aio_does) {
            words.push(uring::AIO);
        }
        words.extend(own_tracepoints(wants));
    }
    words
}

fn parse(words: &[&str]) -> Option<Selection> {
    Selection::parse(words, Abi::native()).ok()
}

/// The calls, as tracefs has their names, whose own tracepoints are wanted
/// (`syscalls:sys_enter_openat`): these show native calls alone (`perf_syscall_enter()`,
/// `kernel/trace/trace_syscalls.c`).
fn own_tracepoints(wants: &[Wanted]) -> Vec<&str> {
    let events = wants.iter().filter_map(|want| match want {
        Wanted::Event(wanted) => Some(wanted.name.as_str()),
        _ => None,
    });
    let calls = events.flat_map(|event| match is_glob(event) {
        true => of_glob(event),
        false => of_event(event).into_iter().collect(),
    });
    calls.filter(|call| parse(&[call]).is_some()).collect()
}

/// The call whose own tracepoint this is.
fn of_event(event: &str) -> Option<&str> {
    let event = event.strip_prefix("syscalls:")?;
    event
        .strip_prefix("sys_enter_")
        .or_else(|| event.strip_prefix("sys_exit_"))
}

/// The calls of whose own tracepoints a glob is.
fn of_glob(pattern: &str) -> Vec<&'static str> {
    let is_meant = |call: &str| {
        let halves = ["sys_enter", "sys_exit"].into_iter();
        halves
            .map(|half| format!("syscalls:{half}_{call}"))
            .any(|it| glob(pattern, it))
    };
    let all = names::all(Abi::native()).map(|(_, name)| name);
    all.filter(|name| names::tracefs_names(name).any(is_meant))
        .collect()
}

/// Returns them as a selection; `None` if none is wanted.
pub(super) fn named_calls(wants: &[Wanted]) -> Option<Selection> {
    let words = own_tracepoints(wants);
    parse(&words).filter(|_| !words.is_empty())
}

impl EventsPlan {
    /// Counts everything for a control group, and watches that the workload does not leave it.
    ///
    /// # Errors
    /// [`EventsError::Host`].
    pub(super) fn follow_members(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        if self.reach == Reach::Everything {
            self.watch_group(catalogue)?;
            self.watch_machine(catalogue)?;
            self.grouping = Grouping::Members;
        }
        Ok(())
    }

    /// Records tasks of the whole machine that come into the group. A task that left the group is
    /// not seen to come back, as the tracepoint of moves fires for it outside the group. That it
    /// stayed away is known from its end, which is not seen.
    fn watch_machine(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        let found = self.meanings.iter_mut().zip(&mut self.requests);
        let mut found = found.filter(|(meaning, _)| **meaning == Meaning::LeavesGroup);
        let name = TracepointName::parse(ATTACH);
        if let Some(((meaning, request), name)) = found.next().zip(name)
            && let Some(field) = catalogue.format(&name)?.field("dst_path")
        {
            *meaning = Meaning::JoinsGroup { path: field.offset };
            request.of_everybody = true;
        }
        Ok(())
    }

    /// Records calls through the vsyscall page, so that a run with a wanted call made there says
    /// so.
    pub(super) fn watch_legacy(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        let native = Abi::native();
        let is_wanted = self.every
            || self.selection.as_ref().is_some_and(|selection| {
                let mut numbers = LEGACY_CALLS
                    .iter()
                    .filter_map(|name| names::number(native, name));
                numbers.any(|number| selection.contains(native, number))
            });
        let name = TracepointName::parse(LEGACY).filter(|_| is_wanted);
        let Some(name) = name.filter(|_| self.reach == Reach::Everything) else {
            return Ok(());
        };
        let format = match catalogue.format(&name) {
            // Without the emulation there is no such call.
            Err(HostError::NoTracepoint { .. }) => return Ok(()),
            format => format?,
        };
        if let Some(field) = format.field("nr") {
            let number = field.offset;
            self.add(LEGACY, format.id, None, 0, Meaning::LegacyCall { number });
        }
        Ok(())
    }

    /// Records tasks that leave the group.
    pub(super) fn watch_group(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        if self.meanings.contains(&Meaning::LeavesGroup) {
            return Ok(());
        }
        if let Some(name) = TracepointName::parse(ATTACH) {
            match catalogue.format(&name) {
                // Linux before 4.18 has none; the oldest that is supported is 5.10.
                Err(HostError::NoTracepoint { .. }) => {}
                format => self.add(ATTACH, format?.id, None, 0, Meaning::LeavesGroup),
            }
        }
        Ok(())
    }

    /// Whether this is a 32-bit call in the place of a native one whose own tracepoints are wanted.
    #[must_use]
    pub fn evades_tracepoint(&self, call: &Call) -> bool {
        let number = u32::try_from(call.number);
        call.abi != Abi::native()
            && self.named_calls.as_ref().is_some_and(|selection| {
                number.is_ok_and(|number| selection.contains(call.abi, number))
            })
    }

    /// Returns the wanted calls that io_uring can do by operations that are not recorded, in the
    /// order of these operations.
    #[must_use]
    pub fn unseen_as_operations(&self) -> Vec<&'static str> {
        let unseen = (0..=u8::MAX).filter(|opcode| !self.operations.recorded.contains(opcode));
        let calls = unseen.filter_map(uring::calls_of).flatten();
        calls
            .copied()
            .filter(|call| {
                let mut wanted = self.selection.iter().chain(&self.named_calls);
                wanted.any(|selection| selection.has_name(call))
            })
            .collect()
    }
}
