//! Chooses what is read of the memory behind the arguments of calls, and what reads it.

use super::Lack;
use super::events::EventsPlan;
use crate::trace::View;
use std::collections::BTreeSet;
use syscall_model::select::Selection;
use syscall_model::{class, files, pointers};

/// What the user wants the strings of calls to be read by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StringSource {
    /// A BPF program; if none is allowed, the kernel's own tracepoints, as far as they hold
    /// strings; else nothing.
    #[default]
    Auto,
    /// A BPF program, or the run is refused.
    Bpf,
    /// The kernel's own tracepoints, from Linux 6.19 on, or the run is refused.
    Kernel,
    /// Nothing: each string is shown as unread, and no other memory is read either.
    None,
}

/// What the user wants the records of calls to be written by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallSource {
    /// A BPF program, where it may be loaded and writes the same; the kernel for all else: for
    /// calls with call chains, in rings that are overwritten, of workloads that are followed by
    /// their control group or that live already, and for all other events.
    #[default]
    Auto,
    /// The kernel, for its events (perf).
    Perf,
    /// The same as `Auto`, or the run is refused where no program may be loaded.
    Bpf,
}

/// What reads the memory of workloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryReader {
    /// A BPF program, which reads all that pointers point to.
    #[default]
    Bpf,
    /// The kernel, which copies the strings of some calls into their own tracepoints
    /// ([`Copies`](super::Copies)).
    Kernel,
    /// Nothing.
    Nobody,
}

/// What is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// What reads the memory.
    pub reader: MemoryReader,
    /// How many bytes of the buffers of `read(2)`, `write(2)` and similar calls are read at most; 0
    /// for none.
    pub contents: u16,
    /// Whether calls get the absolute paths of their arguments; this takes following of working
    /// directories.
    pub paths: bool,
    /// Whether calls get the files that their paths and descriptors lead to; this takes following
    /// of all names.
    pub names: bool,
}

impl EventsPlan {
    /// Whether any of the wanted calls has a pointer that is to be read.
    #[must_use]
    pub fn points(&self) -> bool {
        let mut selected = self.selection.iter().flat_map(Selection::names);
        selected.any(|name| points(name, self.memory.contents))
    }
}

impl EventsPlan {
    /// Whether a snapshot shows where paths of calls lead.
    #[must_use]
    pub fn shows_paths(&self, view: &View) -> bool {
        let names_files = |name: &str| {
            class::class_members("file").is_some_and(|mut members| members.any(|it| it == name))
        };
        let mut selected = self.selection.iter().flat_map(Selection::names);
        self.memory.reader == MemoryReader::Bpf
            && view.keeps_order()
            && selected.any(|name| view.shows(name) && names_files(name))
    }
}

fn points(call: &str, contents: u16) -> bool {
    !pointers::fetches_of(call, contents).is_empty()
}

/// Returns why a trace here would differ from its snapshot, which was recorded with BPF as reader;
/// `None` if it would not.
///
/// The memory read decides what the shown calls' arguments say, and what their descriptors refer
/// to. The kernel's own copies are less than that, and a value that is cut or unread must not be
/// compared.
pub(super) fn unread(events: &EventsPlan, view: &View, without_bpf: Option<&str>) -> Option<Lack> {
    if events.memory.reader == MemoryReader::Bpf || !view.keeps_order() {
        return None;
    }
    let selected = events.selection.iter().flat_map(Selection::names);
    let shown = selected.filter(|name| view.shows(name));
    let followed = events.watched.complete.then_some(files::needed());
    let calls: BTreeSet<&str> = shown
        .chain(followed.into_iter().flatten().copied())
        .filter(|name| points(name, events.memory.contents))
        .collect();
    let first = calls.first()?;
    let more = match calls.len() - 1 {
        0 => String::new(),
        1 => " and one more call".to_owned(),
        n => format!(" and {n} more calls"),
    };
    let why = without_bpf.map(|why| format!(": {why}"));
    Some(Lack::of_kernel(format!(
        "its snapshot needs BPF, to read what the arguments of `{first}`{more} point to{}",
        why.unwrap_or_default()
    )))
}
