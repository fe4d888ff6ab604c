//! What a trace will not show, said before it begins, and what it lacks, said at its end.

use crate::out::note;
use perf_live::errors::chain;
use perf_live::events::Account;
use std::collections::BTreeSet;
use std::fmt::Write;
use syscall_model::names::{self, Abi};
use syscall_model::select::Selection;
use syscall_model::{UNREAD, kin};
use trace_harness::plan::{EventsPlan, MemoryReader, Reach};
use trace_harness::run::{LIMITS_OF_COPIES, LIMITS_OF_OWN_CALLS, Reading};
use trace_harness::upgrade::INCOMPLETE;

/// Why nothing reads the memory of a command where programs could.
pub(super) const NO_WHOLE_CPU: &str = "no event of a whole CPU may be opened";

/// The same of processes that live already.
pub(super) const OTHER_NUMBERS: &str = "the programs that read know processes by their ids in the first pid namespace, and the harness is in another";

/// Says once what the trace says at each string, where strings are not read by what reads them
/// best: `why` that is, if programs could read and `is_read` is false.
pub(super) fn say_unread(
    reading: &Reading<'_>,
    plan: &EventsPlan,
    is_read: bool,
    why: &'static str,
) {
    let (why, hint) = match reading.without_bpf {
        Some(error) => (chain(error), error.hint()),
        None if reading.reader == MemoryReader::Bpf && !is_read => (why.to_owned(), None),
        None => return,
    };
    if !plan.points() {
        return;
    }
    let shown = match reading.reader {
        MemoryReader::Kernel => format!("the kernel's own copies, {LIMITS_OF_COPIES}"),
        MemoryReader::Bpf | MemoryReader::Nobody => format!("not read and shown as {UNREAD}"),
    };
    note!("harness: strings are {shown}: {why}");
    if let Some(hint) = hint {
        note!("hint: {hint}");
    }
}

/// Says of a trace of which nothing came by which other calls a program may have done what is
/// traced: a library makes a `renameat` of a `rename`.
pub(super) fn say_kin(plan: &EventsPlan) {
    let native = |name: &&str| names::number(Abi::native(), name).is_some();
    let traced: BTreeSet<&str> = plan.selection.iter().flat_map(Selection::names).collect();
    let kin: BTreeSet<&str> = traced.iter().flat_map(|name| kin(name)).copied().collect();
    let others: Vec<&str> = kin.difference(&traced).copied().filter(native).collect();
    if !others.is_empty() {
        note!(
            "harness: nothing came of what was named; a program may call in its place {}",
            others.join(", ")
        );
    }
}

/// Says once what is not seen of the calls, where each is seen by tracepoints of its own.
pub(super) fn say_unseen(plan: &EventsPlan) {
    if let Some(line) = plan.of_nobody() {
        note!("harness: {line}");
    }
    if plan.reach == Reach::Everything {
        return;
    }
    note!(
        "harness: traced with the rights of an ordinary user: {}",
        LIMITS_OF_OWN_CALLS
    );
    let wanted = |call: &&&str| {
        let selected = plan.selection.iter().flat_map(Selection::names);
        selected.into_iter().any(|name| name == **call)
    };
    let unseen: Vec<&str> = plan
        .without_tracepoint
        .iter()
        .filter(wanted)
        .copied()
        .collect();
    if !unseen.is_empty() {
        let unseen = unseen.join(", ");
        note!("harness: of calls that this kernel does not have nothing is seen: {unseen}");
    }
}

/// Appends the last line of a text that is read later, by which `harness diff` knows it too.
pub(super) fn end_incomplete(out: &mut String, lost: u64) {
    let _always_fits = match lost {
        0 => writeln!(out, "{INCOMPLETE}"),
        _ => writeln!(out, "{INCOMPLETE}: {lost} records lost"),
    };
}

/// Says what is missing, a line each, and what helps; `is_stream` if the trace is written to what
/// a person may be reading.
pub(super) fn say_incomplete(account: &Account, complaints: &[String], is_stream: bool) {
    let lost = account.lost();
    match lost {
        0 => note!("harness: the trace is incomplete"),
        _ => note!("harness: the trace is incomplete: {lost} records lost"),
    }
    for line in complaints {
        note!("  {line}");
    }
    if account.full_backlog > 0 {
        let to_file = match is_stream {
            true => "write the trace to a file (-o), ",
            false => "",
        };
        note!(
            "hint: let more of it wait (--backlog, and room for it in TMPDIR), {to_file}or name fewer events (-e)"
        );
    } else if lost > 0 {
        note!("hint: use larger rings (-m 64MiB), or name fewer events (-e)");
    }
}
