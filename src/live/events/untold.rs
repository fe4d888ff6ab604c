//! What probes do not tell of a run, and no counter of the kernel's either.

use perf_records::units::{count_of, shown};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Returns of a function that the kernel left out, or may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntoldReturns {
    /// The event.
    pub name: String,
    /// The process of the first thread.
    pub process: u32,
    /// The first thread in which it was so.
    pub thread: u32,
    /// In how many further threads it was so.
    pub others: u64,
    /// Of how many calls the return was left out; `None` where that is not known, as the entries
    /// are in no record.
    pub calls: Option<u64>,
}

impl fmt::Display for UntoldReturns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            process,
            thread,
            others,
            calls,
        } = self;
        write!(f, "`{name}`: ")?;
        match calls {
            Some(1) => f.write_str("the return of 1 call was left out")?,
            Some(n) => write!(f, "the returns of {n} calls were left out")?,
            None => f.write_str("returns of deeper calls may have been left out")?,
        }
        write!(f, " in thread {thread} of process {process}")?;
        if *others > 0 {
            write!(f, " and {} more", count_of(*others, "thread"))?;
        }
        f.write_str(
            ", where 64 probed calls were waiting to return: the kernel tells 64 nested returns of \
             a thread, over all its uretprobes, and no deeper ones; a `uprobe` at the function's \
             entry counts all calls",
        )
    }
}

/// A probe that the kernel may have forgotten in a process, so that its calls have no record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// The event.
    pub name: String,
    /// The file that has the probe, as the workload sees it.
    pub path: String,
    /// The thread that ended.
    pub thread: u32,
    /// Its process.
    pub process: u32,
    /// The first process that lived on.
    pub beside: u32,
}

impl fmt::Display for Forgotten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            path,
            thread,
            process,
            beside,
        } = self;
        let path = shown(path);
        write!(
            f,
            "`{name}`: when thread {thread} of process {process} ended, the kernel may have \
             forgotten the probe in `{path}` for process {beside}, which lived on (tasks swap their \
             events where a CPU switches from one to the other); it forgets none in a file of the \
             run's own: one of `files`, or the copy that a scenario's sandbox has with \
             `root: readonly`"
        )
    }
}

/// A file with a probe that was another than the one that is executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherFile {
    /// The event.
    pub name: String,
    /// The path, as the workload sees it.
    pub path: String,
    /// The first process that executed another file there; `None` where the file itself was
    /// written to.
    pub process: Option<u32>,
}

impl fmt::Display for OtherFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            path,
            process,
        } = self;
        let path = shown(path);
        write!(f, "`{name}`: ")?;
        match process {
            Some(process) => write!(
                f,
                "process {process} mapped another file at `{path}` to execute it than the one that \
                 has the probe, and no record tells of what it did there"
            )?,
            None => write!(
                f,
                "`{path}` was written to after its probe was made, which stayed where the function \
                 was before"
            )?,
        }
        f.write_str(
            "; the probe is in the file that is there before the run: make or replace that before, \
             and not in the workload",
        )
    }
}

/// Which probes do not tell all calls of their functions, by the number of these copies; a line
/// each.
pub(super) fn copies(copied: &BTreeMap<String, u64>) -> impl Iterator<Item = String> {
    copied.iter().map(|(event, n)| {
        let copies = if *n == 1 { "copy" } else { "copies" };
        format!(
            "`{event}` does not tell all calls: the compiler put {n} {copies} of the function into \
             its callers, and the probe is in none of these (`noinline` keeps it from that)"
        )
    })
}
