//! Adds what following takes: the calls by which tasks, descriptors and mappings are followed, and
//! the memory that is read for them.

use super::calls::Reach;
use super::events::EventsPlan;
use super::memory::{MemoryPlan, MemoryReader};
use crate::trace::Naming;
use syscall_model::class;
use syscall_model::files::{self, Watched};
use syscall_model::many;
use syscall_model::mappings;
use syscall_model::memory::Fetches;
use syscall_model::names::{self, Abi};
use syscall_model::pointers;
use syscall_model::select::Selection;

/// The calls without which tasks could not be followed.
const TASKS: [&str; 6] = ["clone", "clone3", "fork", "vfork", "execve", "execveat"];

/// Calls by which a program may send itself the signal that marks a refused call
/// (`do_rt_sigqueueinfo()`): a task inside one of these has not been refused a call.
const SIGNALS: [&str; 3] = ["pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo"];

/// Returns the words for the calls recorded beside a selection (none if only tracepoints are
/// wanted), and what following of descriptors can rely on. Absolute paths need it for any call
/// (`every`: all are recorded). If each call takes events of its own, only tasks are followed.
pub(super) fn beside(
    selection: Option<&Selection>,
    memory: MemoryPlan,
    (reach, every): (Reach, bool),
) -> (Vec<&'static str>, Watched) {
    let is_cheap = reach == Reach::Everything;
    let names = memory.names && is_cheap;
    let paths = names || (memory.paths && is_cheap);
    let selected = selection.filter(|_| is_cheap);
    let has_descriptors = (every && paths)
        || selected.is_some_and(|selection| {
            paths || selection.is_everything() || selection.all_names().any(concerns_descriptors)
        });
    let mut words = Vec::new();
    if !selection.is_some_and(Selection::is_everything) {
        words.extend(TASKS);
        if selected.is_some() {
            words.extend(SIGNALS);
        }
        if has_descriptors {
            words.extend(files::needed());
            words.extend(files::MOVING);
        }
        // A port is the kernel's own if the kernel told it before the program named it.
        let has_ports = |name| ["bind", "connect", "accept", "accept4", "sendto"].contains(&name);
        if selected.is_some_and(|selection| selection.all_names().any(has_ports)) {
            words.extend(["getsockname", "getpeername"]);
        }
        if selected.is_some_and(|selection| selection.all_names().any(|name| name == "sendto")) {
            words.push("recvfrom");
        }
        if has_descriptors && names {
            words.extend(files::naming());
        }
        if selected.is_some_and(|selection| selection.all_names().any(concerns_mappings)) {
            words.extend(mappings::needed());
        }
    }
    let native = Abi::native();
    words.retain(|name| names::number(native, name).is_some());
    let watched = Watched {
        complete: has_descriptors,
        paths,
        names: has_descriptors && names,
        ..Watched::default()
    };
    (words, watched)
}

pub(super) fn concerns_descriptors(name: &str) -> bool {
    let call = name.split_once('.').map_or(name, |(call, _)| call);
    files::needed().contains(&call)
        || class::class_members("desc")
            .is_some_and(|mut members| members.any(|member| member == name))
}

pub(super) fn concerns_mappings(name: &str) -> bool {
    matches!(name, "mmap" | "mmap2" | "munmap" | "mremap" | "brk")
}

/// Whether every call is recorded that changes what is mapped.
pub(super) fn has_mappings(recorded: &Selection) -> bool {
    let native = Abi::native();
    let mut numbers = mappings::needed()
        .iter()
        .filter_map(|name| names::number(native, name));
    numbers.all(|number| recorded.contains(native, number))
}

/// Returns the memory that BPF programs read for the recorded calls.
pub(super) fn fetches(recorded: &Selection, memory: MemoryPlan) -> Fetches {
    if memory.reader != MemoryReader::Bpf {
        return Fetches::new();
    }
    wanted(recorded, memory.contents)
}

/// Returns which memory is of interest, by whatever means it is read.
pub(super) fn wanted(recorded: &Selection, contents: u16) -> Fetches {
    let calls = pointers::conventions().flat_map(|abi| {
        // With each call those that it may stand for.
        let told = move |number| many::told_by(number).filter(move |_| abi == Abi::I386);
        let numbers = recorded.numbers(abi);
        numbers
            .flat_map(move |number| std::iter::once(number).chain(told(number)))
            .map(move |number| ((abi, number), pointers::fetches(abi, number, contents)))
    });
    let is_read = |(abi, number): (Abi, u32)| many::array(abi, number as i32).is_some();
    calls
        .filter(|(call, fetches)| !fetches.is_empty() || is_read(*call))
        .collect()
}

impl EventsPlan {
    /// Returns the operation that a record of this tracepoint submits to an io_uring; `None` if it
    /// is no such tracepoint.
    #[must_use]
    pub fn operation(&self, tracepoint: usize, record: &[u8]) -> Option<u8> {
        let planned = self.named.get(tracepoint)?;
        let format = planned.format.as_deref();
        let format = format.filter(|_| planned.naming == Naming::Operations)?;
        let field = format.field("opcode")?;
        record.get(field.offset).copied()
    }
}
