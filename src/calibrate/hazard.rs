//! Finds what may differ though it did not: races that show in a run, whichever task won them.

use super::Reason;
use crate::trace::{Block, Deed, Level, Normalised, StableName, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Calls of a process, by name, that have to be shown at a lower level.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hazard {
    pub(super) process: u32,
    pub(super) name: String,
    pub(super) how: Level,
    pub(super) reason: Reason,
}

/// Returns the hazards of a run.
pub(super) fn all(run: &Normalised) -> BTreeSet<Hazard> {
    let mut found = of_streams(run);
    found.extend(of_names(run));
    for process in run.processes() {
        found.extend(of_children(process));
    }
    found
}

/// The scheduler decides which of several living children ends first, and when the signal for that
/// arrives.
pub(super) fn of_children(process: &[Block]) -> BTreeSet<Hazard> {
    let mut deeds: Vec<&Deed> = process.iter().flat_map(|block| &block.deeds).collect();
    deeds.sort_by_key(|deed| deed.left);
    let mut living: BTreeSet<StableName> = BTreeSet::new();
    let mut most = 0;
    let mut found = BTreeSet::new();
    let mut add = |deed: &Deed, how, reason| {
        found.insert(Hazard {
            process: deed.task.process,
            name: deed.name.as_ref().to_owned(),
            how,
            reason,
        });
    };
    for deed in &deeds {
        match (&*deed.name, child(deed)) {
            ("clone" | "clone3" | "fork" | "vfork", Some(child)) => {
                living.insert(child);
                most = most.max(living.len());
            }
            ("wait4", Some(child)) => {
                let is_for_any = deed.fields.first().is_some_and(|part| part.text == "-1");
                if is_for_any && living.len() > 1 {
                    add(deed, Level::Counts, Reason::Children);
                }
                living.remove(&child);
            }
            _ => {}
        }
    }
    for deed in deeds.iter().filter(|deed| *deed.name == *"rt_sigreturn") {
        // Signals that arrive together are delivered once.
        match most {
            0 => {}
            1 => add(deed, Level::Counts, Reason::Signals),
            _ => add(deed, Level::Set, Reason::Signals),
        }
    }
    found
}

// A pipe takes up to this many bytes as a whole (`PIPE_BUF`, pipe(7)).
const WHOLE: i128 = 4096;

/// Data written to a pipe in several pieces may be read in others, unless each was read before the
/// next was written.
fn of_streams(run: &Normalised) -> BTreeSet<Hazard> {
    let mut written: BTreeMap<&str, Vec<(&Deed, i128)>> = BTreeMap::new();
    let mut read: BTreeMap<&str, Vec<&Deed>> = BTreeMap::new();
    for deed in run.in_order() {
        let Some((pipe, end)) = deed.fields.first().and_then(|part| pipe(&part.text)) else {
            continue;
        };
        let moved = match deed.returns.as_ref().map(|part| &part.value) {
            Some(Value::Number(moved)) => *moved,
            _ => continue,
        };
        match (&*deed.name, end) {
            ("read" | "readv", "read") => read.entry(pipe).or_default().push(deed),
            ("write" | "writev", "write") if moved > 0 => {
                written.entry(pipe).or_default().push((deed, moved));
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    for (pipe, reads) in read {
        let writes = written.get(pipe).map(Vec::as_slice).unwrap_or_default();
        let is_read_between = |first: &Deed, second: &Deed| {
            let mut reads = reads.iter();
            reads.any(|read| read.left > first.entered && read.left < second.entered)
        };
        let mut pairs = writes.iter().zip(writes.iter().skip(1));
        let is_many = pairs.any(|((first, _), (second, _))| !is_read_between(first, second));
        if is_many || writes.iter().any(|(_, moved)| *moved > WHOLE) {
            found.extend(reads.iter().map(|deed| Hazard {
                process: deed.task.process,
                name: deed.name.as_ref().to_owned(),
                how: Level::Set,
                reason: Reason::Stream,
            }));
        }
    }
    found
}

/// Returns the pipe and its end from `0<pipe:3 read>`.
fn pipe(text: &str) -> Option<(&str, &str)> {
    let (_, name) = text.strip_suffix('>')?.split_once("<pipe:")?;
    name.split_once(' ')
}

/// If two processes make or remove the same name, one of them comes too late, unless it began after
/// the other was done or waited for the other's end.
fn of_names(run: &Normalised) -> BTreeSet<Hazard> {
    let mut births: BTreeMap<u32, u64> = BTreeMap::new();
    let mut ends: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut same: BTreeMap<(&str, String), Vec<&Deed>> = BTreeMap::new();
    for deed in run.in_order() {
        births.entry(deed.task.process).or_insert(deed.entered);
        match (&*deed.name, child(deed)) {
            ("clone" | "clone3" | "fork" | "vfork", Some(child)) => {
                births.insert(child.process, deed.entered);
            }
            ("wait4", Some(child)) => {
                ends.insert((deed.task.process, child.process), deed.left);
            }
            (
                "unlink" | "unlinkat" | "rmdir" | "mkdir" | "mkdirat" | "link" | "linkat"
                | "symlink" | "rename" | "renameat" | "renameat2",
                _,
            ) => {
                let fields = deed.fields.iter().map(|part| part.text.as_str());
                let key = (&*deed.name, fields.collect::<Vec<_>>().join(", "));
                same.entry(key).or_default().push(deed);
            }
            _ => {}
        }
    }
    let is_race = |first: &Deed, second: &Deed| {
        let (one, other) = (first.task.process, second.task.process);
        let is_born = births.get(&other).is_some_and(|birth| *birth < first.left);
        let end = ends.get(&(other, one));
        one != other && is_born && end.is_none_or(|end| *end > second.entered)
    };
    let mut found = BTreeSet::new();
    for deeds in same.values() {
        let pairs = deeds.iter().zip(1..);
        for (first, behind) in pairs {
            let others = deeds.iter().skip(behind);
            for second in others.filter(|second| is_race(first, second)) {
                found.extend([first, *second].map(|deed| Hazard {
                    process: deed.task.process,
                    name: deed.name.as_ref().to_owned(),
                    how: Level::Counts,
                    reason: Reason::Processes,
                }));
            }
        }
    }
    found
}

/// Returns the process that a call returned.
fn child(deed: &Deed) -> Option<StableName> {
    let task = deed.returns.as_ref().and_then(|part| match part.value {
        Value::Task { task, .. } => task,
        _ => None,
    });
    task.filter(|task| task.thread == 1)
}
