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
use syscall_model::{Call, Entry, uring};

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
        let own = named_calls(wants, EITHER);
        let both = || selection.into_iter().chain(&own);
        if both().flat_map(Selection::names).any(uring::does) {
            words.extend(["io_uring_setup", "io_uring_enter"]);
        }
        if both().flat_map(Selection::names).any(uring::aio_does) {
            words.push(uring::AIO);
        }
        words.extend(own_tracepoints(wants, EITHER));
    }
    words
}

fn parse(words: &[&str]) -> Option<Selection> {
    Selection::parse(words, Abi::native()).ok()
}

/// The halves of a call that have tracepoints of their own.
pub(super) const EITHER: &[&str] = &["sys_enter_", "sys_exit_"];

/// The half that a call has only if the kernel makes it.
pub(super) const ENTERED: &[&str] = &["sys_enter_"];

/// The calls, as tracefs has their names, of which such a half is wanted by a tracepoint of its own
/// (`syscalls:sys_enter_openat`), or counted: these show native calls alone
/// (`perf_syscall_enter()`, `kernel/trace/trace_syscalls.c`).
fn own_tracepoints<'w>(wants: &'w [Wanted], halves: &[&str]) -> Vec<&'w str> {
    let calls = wants.iter().flat_map(|want| match want {
        Wanted::Event(wanted) => of_tracepoint(&wanted.name, halves),
        Wanted::Counted(words) => {
            let words = words.iter();
            words.flat_map(|word| of_counted(word, halves)).collect()
        }
        _ => Vec::new(),
    });
    calls.filter(|call| parse(&[call]).is_some()).collect()
}

/// The calls of whose own tracepoints this is one, or a glob.
fn of_tracepoint<'w>(event: &'w str, halves: &[&str]) -> Vec<&'w str> {
    if !is_glob(event) {
        let event = event.strip_prefix("syscalls:");
        let call = |event: &'w str| halves.iter().find_map(|half| event.strip_prefix(half));
        return event.and_then(call).into_iter().collect();
    }
    let is_meant = |call: &str| {
        let mut halves = halves.iter();
        halves.any(|half| glob(event, format!("syscalls:{half}{call}")))
    };
    let all = names::all(Abi::native()).map(|(_, name)| name);
    all.filter(|name| names::tracefs_names(name).any(is_meant))
        .collect()
}

/// The calls of which a word counts a half, written as perf's users do: `unlink/name=gone/`,
/// `syscalls:sys_enter_unlink:u`. All calls are counted by `raw_syscalls:sys_enter`, which
/// shows those of 32 bits as well.
fn of_counted<'w>(word: &'w str, halves: &[&str]) -> Vec<&'w str> {
    let terms = word.find('/').filter(|at| *at > 0);
    let word = terms.map_or(word, |at| &word[..at]);
    let mut parts = word.splitn(3, ':');
    match (parts.next(), parts.next()) {
        (Some("syscalls"), Some(event)) => {
            of_tracepoint(&word[.."syscalls:".len() + event.len()], halves)
        }
        (Some(name), _) => parse(&[name])
            .filter(|calls| !calls.is_everything())
            .map(|calls| calls.names().collect())
            .unwrap_or_default(),
        (None, _) => Vec::new(),
    }
}

/// Returns them as a selection; `None` if none is wanted.
pub(super) fn named_calls(wants: &[Wanted], halves: &[&str]) -> Option<Selection> {
    let words = own_tracepoints(wants, halves);
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
            self.add(LEGACY, format.id, None, Meaning::LegacyCall { number });
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
                format => self.add(ATTACH, format?.id, None, Meaning::LeavesGroup),
            }
        }
        Ok(())
    }

    /// Says so of a call that the tracepoints of single calls that are wanted, or the counters, do
    /// not show.
    #[must_use]
    pub fn evades_tracepoint(&self, call: &Call) -> Option<String> {
        let number = u32::try_from(call.number).ok()?;
        let is_among = |calls: &Option<Selection>| {
            let mut calls = calls.iter();
            calls.any(|calls| calls.contains(call.abi, number))
        };
        let is_unentered = matches!(call.entry, Entry::Missing) || call.injected.answer.is_some();
        let how = if call.abi != Abi::native() && is_among(&self.named_calls) {
            "made as a 32-bit call"
        } else if is_unentered && is_among(&self.entered_calls) {
            "answered or refused before the kernel made it"
        } else {
            return None;
        };
        Some(format!(
            "`{}` was {how}, which counters and the tracepoints of single calls do not show: name the \
             call in `syscalls` instead",
            call.name().unwrap_or("?")
        ))
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
