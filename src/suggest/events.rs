//! Finds what the calls of runs have in common.

use super::syncs::has_flag;
use super::{Given, between, mapped, replacement, syncs};
use crate::scenario::{CountRange, Expectations, NumberOf, StepSpec, Suggestion, Test, event};
use crate::trace::Deed;
use crate::verdict::Run;
use std::collections::BTreeMap;
use syscall_model::class::class_members;

/// Calls with a lasting effect, so that their number matters.
const COUNTED: &[&str] = &[
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "truncate",
    "ftruncate",
    "execve",
    "execveat",
    "connect",
    "bind",
    "listen",
    "kill",
    "setuid",
    "setresuid",
    "setgroups",
];

/// A call made more often than this is made in a loop.
const MOST: u64 = 20;

/// Returns expectations that hold in these runs, each key of `expect` at most once. If the program
/// loads modules, opened files get no expectation, unless a file is replaced.
pub(super) fn suggestions(runs: &[Run], given: &Given, is_loading: bool) -> Vec<Suggestion> {
    let mapped = mapped::files(runs);
    let replacement = replacement::suggestion(runs, given, &mapped);
    let has_opens = !is_loading || replacement.is_some();
    let all = [
        mapped::remark(runs, &mapped),
        replacement,
        between::suggestion(runs, &mapped),
        never(runs, given, has_opens),
        counts(runs),
    ];
    all.into_iter().flatten().collect()
}

/// Whether a run syncs files, or gives one the name of another: it means to keep data.
pub(super) fn keeps_data(runs: &[Run]) -> bool {
    let blocks = runs.iter().flat_map(|run| &run.trace.blocks);
    let mut deeds = blocks.flat_map(|block| &block.deeds);
    deeds.any(|deed| syncs::brings(deed).is_some() || renames(deed))
}

fn renames(deed: &Deed) -> bool {
    deed.name.starts_with("rename") && syncs::succeeded(deed)
}

/// Suggests what was never done.
fn never(runs: &[Run], given: &Given, has_opens: bool) -> Option<Suggestion> {
    if !given.has_all_events {
        return None;
    }
    let deeds = || {
        runs.iter()
            .flat_map(|run| &run.trace.blocks)
            .flat_map(|block| &block.deeds)
    };
    let is_done = |is: &dyn Fn(&Deed) -> bool| deeds().any(is);
    let network: Vec<&str> = class_members("network").into_iter().flatten().collect();
    let mut steps = Vec::new();
    let mut words = Vec::new();
    if !is_done(&|deed| network.contains(&&*deed.name)) {
        steps.push(event("%network", Vec::new()));
        words.push("no network");
    }
    if !is_done(&|deed| deed.name.starts_with("rename") || deed.name.starts_with("unlink")) {
        steps.push(event("rename*", Vec::new()));
        steps.push(event("unlink*", Vec::new()));
        words.push("no file removed or renamed");
    }
    let has_made = is_done(&|deed| has_flag(deed, "O_CREAT") || &*deed.name == "creat");
    if has_opens && !has_made {
        steps.push(created("O_CREAT"));
        words.push("no file made");
    } else if has_opens && !is_done(&|deed| has_flag(deed, "O_TRUNC")) {
        steps.push(created("O_TRUNC"));
        words.push("no file emptied to be written anew");
    }
    (!steps.is_empty()).then(|| Suggestion {
        why: vec![format!("What it did not do: {}.", words.join(", "))],
        expectations: Expectations {
            never: steps,
            ..Expectations::default()
        },
    })
}

fn created(flag: &str) -> StepSpec {
    let test = Test::Contains(vec![flag.to_owned()]);
    event("openat", vec![("flags".to_owned(), test)])
}

/// Suggests how often calls with a lasting effect were made.
fn counts(runs: &[Run]) -> Option<Suggestion> {
    let mut counts = runs.iter().map(|run| run.trace.counts());
    let first: BTreeMap<String, u64> = counts.next()?;
    let others: Vec<_> = counts.collect();
    let counted = first.iter().filter(|(name, count)| {
        COUNTED.contains(&name.as_str())
            && **count <= MOST
            && others.iter().all(|other| other.get(*name) == Some(count))
    });
    let count: Vec<NumberOf> = counted
        .map(|(name, count)| NumberOf {
            step: event(name, Vec::new()),
            times: CountRange {
                min: *count,
                max: Some(*count),
            },
        })
        .collect();
    (!count.is_empty()).then(|| Suggestion {
        why: vec!["How often it did what lasts; a range is \"1..=4\".".to_owned()],
        expectations: Expectations {
            count,
            ..Expectations::default()
        },
    })
}
