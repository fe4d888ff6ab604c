//! Chooses the events that show the calls: `raw_syscalls` with a filter, or, for a user without
//! further rights, each call's own tracepoints.

use super::Lack;
use super::copies::Copies;
use super::error::EventsError;
use super::events::{EventsPlan, Meaning};
use super::following;
use super::memory::MemoryReader;
use crate::trace::View;
use perf_live::capture::{Half, OfCalls};
use perf_live::host::{Catalogue, HostError};
use perf_live::units::{ENTRIES, ProbeKind};
use perf_records::format::Format;
use perf_records::units::TracepointName;
use std::collections::HashSet;
use std::sync::Arc;
use syscall_model::names::{self, Abi};
use syscall_model::select::{Admitted, FilterPlan, Selection, in_kernel_filter};

/// How far the right to trace goes, found by opening an event and not by the number in
/// `perf_event_paranoid`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// To every tracepoint.
    #[default]
    Everything,
    /// To what one's own programs do in user mode (`exclude_kernel`): their calls, each by its own
    /// tracepoints, as these alone are handed the registers of the program
    /// (`perf_syscall_enter()`). `raw_syscalls` can be opened then too, and never shows anything.
    OwnCalls,
    /// To the events of a recording: each call by its own tracepoints, if they are recorded.
    Recorded,
}

impl Reach {
    /// Whether each call is told by tracepoints of its own.
    #[must_use]
    pub fn has_own_tracepoints(self) -> bool {
        matches!(self, Self::OwnCalls | Self::Recorded)
    }
}

/// The most calls that are recorded by tracepoints of their own, including those that follow tasks.
/// Each takes two events on each CPU, and each event makes every fork some 8 µs longer: with 200 a
/// fork takes 3 ms on two CPUs, and 0.1 ms with none.
pub const MOST_CALLS: usize = 100;

pub(super) const RAW: &str = "raw_syscalls";
pub(super) const ENTER: &str = "raw_syscalls:sys_enter";
pub(super) const LEAVE: &str = "raw_syscalls:sys_exit";

const REFUSAL: &str = "signal:signal_generate";
/// `SIGSYS` with `SYS_SECCOMP` (`include/uapi/asm-generic/siginfo.h`).
const REFUSED: &str = "sig == 31 && code == 1";

/// The user registers that tell which instruction made a call. On x86 they are `ip` and `cx`
/// (`arch/x86/include/uapi/asm/perf_regs.h`): the `syscall` instruction leaves the return address
/// in `cx`, `int 0x80` the program's own value. On arm64 the mark of the registers tells 32-bit
/// code from 64-bit, and `pc` where the call was made.
const OF_INSTRUCTION: u64 = if cfg!(target_arch = "aarch64") {
    1 << 32
} else {
    1 << 8 | 1 << 2
};

/// The user registers of a call that begins. A program can put into `cx` what `syscall` leaves
/// there; `int 0x80` takes the fourth argument from `si`, where `syscall` takes the second.
const OF_CALL: u64 = if cfg!(target_arch = "aarch64") {
    OF_INSTRUCTION
} else {
    OF_INSTRUCTION | 1 << 4
};

/// `PERF_REG_X86_SP`, or `PERF_REG_ARM64_SP`.
const STACK_POINTER: u64 = if cfg!(target_arch = "aarch64") {
    1 << 31
} else {
    1 << 7
};

/// Whether an event is of a probe of returns from a function of a program, or of the entries to
/// such a function: where the stack is tells which of them are nested.
fn is_of_returns(event: &str) -> bool {
    let (system, _) = event.split_once(':').unwrap_or_default();
    system == ProbeKind::Uretprobe.word() || system == ENTRIES
}

/// The user registers with which one of the tracepoints of all calls tells the convention, and a
/// return from a function its depth; 0 for another event.
pub(super) fn registers_of(event: &str) -> u64 {
    match event {
        ENTER => OF_CALL,
        LEAVE => OF_INSTRUCTION,
        _ if is_of_returns(event) => STACK_POINTER,
        _ => 0,
    }
}

/// Why the calls by which a loader starts a program cannot be told from others; `None` if they can.
pub(super) fn cannot_tell_starts(reach: Reach) -> Option<&'static str> {
    match reach {
        Reach::Everything => None,
        _ => Some(
            "needs the right to record every call, to tell where a program begins (`since: main`)",
        ),
    }
}

impl EventsPlan {
    /// Opens the events that show the calls to record.
    pub(super) fn add_calls(
        &mut self,
        recorded: &Selection,
        catalogue: &dyn Catalogue,
    ) -> Result<(), EventsError> {
        match self.reach {
            Reach::Everything => {
                self.add_raw_calls(recorded, catalogue)?;
                self.add_copies(recorded, catalogue)
            }
            Reach::OwnCalls | Reach::Recorded => self.add_own_calls(recorded, catalogue),
        }
    }

    fn add_raw_calls(
        &mut self,
        recorded: &Selection,
        catalogue: &dyn Catalogue,
    ) -> Result<(), EventsError> {
        let enter = raw_format(ENTER, catalogue)?;
        let args = enter.field("args").filter(|found| found.size == 48);
        let meaning = Meaning::Enter {
            id: number_field(&enter, ENTER, "id")?,
            args: args.ok_or_else(|| shape(ENTER, "args"))?.offset,
            n_args: 6,
            copies: None,
        };
        let filter = filter_text(recorded, true);
        self.add(ENTER, enter.id, filter, meaning);
        self.may_be_written(Half::Enter, recorded);
        let leave = raw_format(LEAVE, catalogue)?;
        let meaning = Meaning::Leave {
            id: number_field(&leave, LEAVE, "id")?,
            ret: long_field(&leave, LEAVE, "ret")?,
        };
        let filter = filter_text(recorded, false);
        // A call that a filter refused has only this half.
        self.add(LEAVE, leave.id, filter, meaning);
        self.may_be_written(Half::Leave, recorded);
        Ok(())
    }

    /// Lets a program write the records of the last event, which is of this half of calls.
    fn may_be_written(&mut self, half: Half, recorded: &Selection) {
        if let Some(request) = self.requests.last_mut() {
            let admitted = Admitted::of(recorded, half == Half::Enter);
            request.calls = admitted.map(|admitted| OfCalls { half, admitted });
        }
    }

    /// Opens the event that tells of calls refused by a signal: such a call leaves without a result
    /// of its own. The signal is made before the call is left (`__seccomp_filter()`,
    /// `kernel/seccomp.c`).
    pub(super) fn add_refusals(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        let is_of_interest =
            self.reach == Reach::Everything && (self.selection.is_some() || self.every);
        if !is_of_interest || !catalogue.may_add(REFUSAL, REFUSED) {
            return Ok(());
        }
        match raw_format(REFUSAL, catalogue) {
            Err(EventsError::Host(HostError::NoTracepoint { .. })) => {}
            format => {
                let filter = Some(REFUSED.to_owned());
                self.add(REFUSAL, format?.id, filter, Meaning::Refusal);
            }
        }
        Ok(())
    }

    /// Whether calls refused by a signal are recorded as such.
    #[must_use]
    pub fn tells_refusals(&self) -> bool {
        self.meanings.contains(&Meaning::Refusal)
    }

    /// Opens both tracepoints of each call. A call without a tracepoint is not in this kernel: it
    /// fails with `ENOSYS`.
    fn add_own_calls(
        &mut self,
        recorded: &Selection,
        catalogue: &dyn Catalogue,
    ) -> Result<(), EventsError> {
        let native = Abi::native();
        let is_many = recorded.is_everything() || recorded.numbers(native).count() > MOST_CALLS;
        if is_many && self.reach == Reach::OwnCalls {
            return Err(EventsError::TooMany);
        }
        let mut wanted = following::wanted(recorded, self.memory.contents);
        for number in recorded.numbers(native) {
            let Some(call) = names::name(native, number) else {
                continue;
            };
            let half = |half| own_tracepoint(half, call, catalogue);
            let (Some((enter, enters)), Some((leave, leaves))) =
                (half("sys_enter")?, half("sys_exit")?)
            else {
                self.without_tracepoint.push(call);
                continue;
            };
            let reads = self.memory.reader == MemoryReader::Kernel;
            let wanted = wanted.remove(&(native, number)).filter(|_| reads);
            let copies = wanted.and_then(|wanted| Copies::of(number, &enters, &wanted));
            let place = copies.is_some().then_some(self.copies.len());
            self.copies.extend(copies);
            let meaning = entering(&enters, enter.as_str(), place)?;
            self.add(enter.as_str(), enters.id, None, meaning);
            let meaning = Meaning::Leave {
                id: number_field(&leaves, leave.as_str(), NUMBER)?,
                ret: long_field(&leaves, leave.as_str(), "ret")?,
            };
            self.add(leave.as_str(), leaves.id, None, meaning);
        }
        Ok(())
    }
}

/// Returns why a scenario could not be judged without the right to trace everything; `None` if it
/// can.
pub(super) fn unseen(
    events: &EventsPlan,
    expected: &HashSet<&str>,
    view: Option<&View>,
) -> Option<Lack> {
    if events.reach == Reach::Everything {
        return None;
    }
    let mut absent = events.without_tracepoint.iter();
    if let Some(call) = absent.find(|call| expected.contains(**call)) {
        return Some(Lack::of_machine(format!(
            "needs the right to trace everything: `{call}` has no tracepoint of its own here"
        )));
    }
    let view = view.filter(|view| view.keeps_order())?;
    let mut selected = events.selection.iter().flat_map(Selection::names);
    // The result of one such call is not seen, and the descriptors and addresses of the others are
    // not followed.
    let is_less = |name: &str| {
        name == "rt_sigreturn"
            || following::concerns_descriptors(name)
            || following::concerns_mappings(name)
    };
    let call = selected.find(|name| view.shows(name) && is_less(name))?;
    Some(Lack::of_machine(format!(
        "its snapshot needs the right to trace everything, for what it shows of `{call}`"
    )))
}

const NUMBER: &str = "__syscall_nr";

/// `struct syscall_trace_enter` (`include/trace/syscall.h`): the number, and as many words as the
/// call has arguments.
fn entering(format: &Format, name: &str, copies: Option<usize>) -> Result<Meaning, EventsError> {
    let id = number_field(format, name, NUMBER)?;
    let own = format.fields.iter().filter(|field| field.name != NUMBER);
    let words = own.take_while(|field| field.size == 8 && !field.name.starts_with("__"));
    let words: Vec<usize> = words.map(|field| field.offset).collect();
    let args = words.first().copied().unwrap_or_default();
    let in_a_row = |(place, at): (usize, &usize)| *at == args + 8 * place;
    if words.len() > 6 || !words.iter().enumerate().all(in_a_row) {
        return Err(shape(name, "arguments"));
    }
    Ok(Meaning::Enter {
        id,
        args,
        n_args: words.len(),
        copies,
    })
}

/// Returns the format of a call's own tracepoint; `None` if the call has none.
pub(super) fn own_tracepoint(
    half: &str,
    call: &str,
    catalogue: &dyn Catalogue,
) -> Result<Option<(TracepointName, Arc<Format>)>, HostError> {
    for kernel_name in names::tracefs_names(call) {
        let Some(name) = TracepointName::parse(&format!("syscalls:{half}_{kernel_name}")) else {
            continue;
        };
        match catalogue.format(&name) {
            Err(HostError::NoTracepoint { .. }) => {}
            format => return Ok(Some((name, format?))),
        }
    }
    Ok(None)
}

fn filter_text(selection: &Selection, enter: bool) -> Option<String> {
    match in_kernel_filter(selection, enter) {
        // `Nothing` cannot be: the calls that create tasks are always selected.
        FilterPlan::Everything | FilterPlan::Nothing => None,
        FilterPlan::Only(text) => Some(text),
    }
}

pub(super) fn raw_format(
    name: &str,
    catalogue: &dyn Catalogue,
) -> Result<Arc<Format>, EventsError> {
    let parsed = TracepointName::parse(name).ok_or_else(|| shape(name, "id"))?;
    Ok(catalogue.format(&parsed)?)
}

fn shape(name: &str, field: &'static str) -> EventsError {
    let name = name.to_owned();
    EventsError::Shape { name, field }
}

/// Where the low four bytes of a call's number are: an `int` in the call's own tracepoints, a
/// `long` in `raw_syscalls`.
fn number_field(format: &Format, name: &str, field: &'static str) -> Result<usize, EventsError> {
    let found = format.field(field).ok_or_else(|| shape(name, field))?;
    match found.size {
        8 if cfg!(target_endian = "big") => Ok(found.offset + 4),
        4 | 8 => Ok(found.offset),
        _ => Err(shape(name, field)),
    }
}

/// The offset of a field of eight bytes.
fn long_field(format: &Format, name: &str, field: &'static str) -> Result<usize, EventsError> {
    let found = format.field(field).filter(|found| found.size == 8);
    Ok(found.ok_or_else(|| shape(name, field))?.offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{MemoryPlan, Wanted, WantedEvent, events_within};

    const ENTERS: &str =
        include_str!("../../harness/fixtures/payloads/syscalls.sys_enter_openat.txt");
    const COPIES: &str =
        include_str!("../../harness/fixtures/payloads/syscalls.sys_enter_openat@7.2.txt");
    const LEAVES: &str =
        include_str!("../../harness/fixtures/payloads/syscalls.sys_exit_openat.txt");

    /// A kernel in which every call looks like `openat`, and that has no `uselib`.
    struct Kernel(&'static str);

    impl Catalogue for Kernel {
        fn format(&self, name: &TracepointName) -> Result<Arc<Format>, HostError> {
            let capture = match name.event() {
                "sys_enter_uselib" | "sys_exit_uselib" => {
                    let name = name.clone();
                    return Err(HostError::NoTracepoint { name });
                }
                event if event.starts_with("sys_enter_") => self.0,
                _ => LEAVES,
            };
            let at = capture.find("\nname: ").expect("a format") + 1;
            Ok(Arc::new(
                perf_records::format::parse(&capture[at..]).expect("a format"),
            ))
        }
        fn systems(&self) -> Result<Vec<String>, HostError> {
            Ok(vec!["syscalls".to_owned()])
        }
        fn events(&self, _: &str) -> Result<Vec<String>, HostError> {
            Ok(Vec::new())
        }
    }

    fn plan(words: &[&str], memory: MemoryPlan) -> Result<EventsPlan, EventsError> {
        let words = words.iter().map(|word| (*word).to_owned());
        let wants = [Wanted::Syscalls(words.collect())];
        let kernel = match memory.reader {
            MemoryReader::Kernel => Kernel(COPIES),
            _ => Kernel(ENTERS),
        };
        events_within(Reach::OwnCalls, &wants, memory, &kernel)
    }

    #[test]
    fn a_user_without_rights_gets_both_tracepoints_of_each_call_and_of_those_that_make_tasks() {
        let plan = plan(&["close", "uselib"], MemoryPlan::default()).expect("a plan");
        let names: Vec<&str> = plan.requests.iter().map(|event| &*event.name).collect();
        for half in ["enter", "exit"] {
            for call in ["close", "execve", "execveat", "clone", "clone3"] {
                assert!(
                    names.contains(&&*format!("syscalls:sys_{half}_{call}")),
                    "{names:?}"
                );
            }
        }
        let read = names.iter().any(|name| name.ends_with("_dup2"));
        assert!(!read, "descriptors are not followed: {names:?}");
        assert!(plan.requests.iter().all(|event| event.attr.exclude_kernel));
        if names::number(Abi::native(), "uselib").is_some() {
            assert_eq!(plan.without_tracepoint, ["uselib"]);
        }
        let entering = Meaning::Enter {
            id: 8,
            args: 16,
            n_args: 4,
            copies: None,
        };
        assert!(plan.meanings.contains(&entering), "{:?}", plan.meanings);
    }

    #[test]
    fn the_kernels_copies_come_with_the_tracepoint_that_is_open_already() {
        let memory = MemoryPlan {
            reader: MemoryReader::Kernel,
            ..MemoryPlan::default()
        };
        let plan = plan(&["openat"], memory).expect("a plan");
        let of_openat = plan.requests.iter().zip(&plan.meanings);
        let meanings: Vec<&Meaning> = of_openat
            .filter(|(event, _)| event.name == "syscalls:sys_enter_openat")
            .map(|(_, meaning)| meaning)
            .collect();
        let [
            Meaning::Enter {
                copies: Some(place),
                n_args: 4,
                ..
            },
        ] = meanings.as_slice()
        else {
            panic!("{meanings:?}");
        };
        let number = names::number(Abi::native(), "openat").expect("a number");
        assert_eq!(plan.copies[*place].number, number);
    }

    #[test]
    fn more_calls_than_forks_can_carry_are_refused() {
        for words in [&["*"][..], &["!futex"], &["%file", "%desc"]] {
            let refused = plan(words, MemoryPlan::default());
            assert!(matches!(refused, Err(EventsError::TooMany)), "{words:?}");
        }
        assert!(plan(&["%file"], MemoryPlan::default()).is_ok());
    }

    #[test]
    fn what_opens_and_shows_nothing_is_refused() {
        for name in ["raw_syscalls:sys_enter", "io_uring:IORING_OP_FSYNC"] {
            let wants = [Wanted::Event(WantedEvent {
                name: name.to_owned(),
                filter: None,
                ..WantedEvent::default()
            })];
            let memory = MemoryPlan::default();
            let refused = events_within(Reach::OwnCalls, &wants, memory, &Kernel(ENTERS));
            assert!(
                matches!(refused, Err(EventsError::OutOfReach { at: 0, .. })),
                "{name}"
            );
        }
    }
}
