//! Finds what the calls of runs have in common.

use super::Given;
use crate::scenario::{
    CountRange, Expectations, Literal, NumberOf, Pattern, StepSpec, Suggestion, Test, event,
};
use crate::trace::{Deed, Value};
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
    let replacement = replacement(runs);
    let has_opens = !is_loading || replacement.is_some();
    let all = [replacement, never(runs, given, has_opens), counts(runs)];
    all.into_iter().flatten().collect()
}

/// Finds how a file is replaced: written beside the old one, synced, and renamed.
fn replacement(runs: &[Run]) -> Option<Suggestion> {
    let mut found = runs
        .iter()
        .map(|run| Replacement::find(&run.trace.in_order()));
    let first = found.next()??;
    if !found.all(|other| other.as_ref() == Some(&first)) {
        return None;
    }
    let mut why = vec![format!("`{}` is replaced whole:", first.to)];
    why.extend(match (first.sync.is_some(), first.folder.is_some()) {
        (false, _) => vec![
            "But nothing syncs what is in it before it has its name, so that after a crash it may be empty.".to_owned(),
        ],
        (true, false) => vec![
            "But nothing syncs the folder behind it, so that a crash may bring the old one back.".to_owned(),
        ],
        (true, true) => Vec::new(),
    });
    Some(Suggestion {
        why,
        expectations: Expectations {
            sequence: first.steps(),
            ..Expectations::default()
        },
    })
}

/// The calls of a replacement, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Replacement {
    open: String,
    creates: bool,
    sync: Option<String>,
    rename: String,
    to: String,
    folder: Option<(String, String)>,
}

impl Replacement {
    fn find(deeds: &[&Deed]) -> Option<Self> {
        let (at, rename) = deeds.iter().enumerate().find(|(_, deed)| {
            deed.name.starts_with("rename") && succeeded(deed) && deed.part("from").is_some()
        })?;
        let (before, behind) = deeds.split_at_checked(at)?;
        let from = path(rename, "from")?;
        let (opened, open) = before.iter().enumerate().rfind(|(_, deed)| {
            path(deed, "path").as_ref() == Some(&from) && description(deed, "returns").is_some()
        })?;
        let file = description(open, "returns");
        let sync = before
            .iter()
            .skip(opened)
            .find(|deed| is_sync(deed) && succeeded(deed) && description(deed, "fd") == file);
        let folder = behind.iter().enumerate().find_map(|(place, deed)| {
            let folder = description(deed, "returns").filter(|_| has_flag(deed, "O_DIRECTORY"))?;
            let sync = behind.iter().skip(place).find(|deed| {
                is_sync(deed) && succeeded(deed) && description(deed, "fd") == Some(folder)
            })?;
            Some((deed.name.to_string(), sync.name.to_string()))
        });
        Some(Self {
            open: open.name.to_string(),
            creates: has_flag(open, "O_CREAT"),
            sync: sync.map(|deed| deed.name.to_string()),
            rename: rename.name.to_string(),
            to: path(rename, "to")?,
            folder,
        })
    }

    fn steps(&self) -> Vec<Pattern> {
        let capture = |name: &str| Test::Capture(name.to_owned());
        let field = |name: &str, test: Test| (name.to_owned(), test);
        let zero = || field("returns", Test::Is(Literal::Number(0)));
        let mut open = vec![field("path", capture("new"))];
        if self.creates {
            open.push(field("flags", Test::Contains(vec!["O_CREAT".to_owned()])));
        }
        let mut steps = Vec::new();
        if let Some(sync) = &self.sync {
            open.push(field("returns", capture("file")));
            steps.push(event(sync, vec![field("fd", capture("file")), zero()]));
        }
        steps.insert(0, event(&self.open, open));
        let to = Test::Is(Literal::Text(self.to.clone()));
        let names = vec![field("from", capture("new")), field("to", to), zero()];
        steps.push(event(&self.rename, names));
        if let Some((open, sync)) = &self.folder {
            let flags = Test::Contains(vec!["O_DIRECTORY".to_owned()]);
            let fields = vec![field("flags", flags), field("returns", capture("folder"))];
            steps.push(event(open, fields));
            steps.push(event(sync, vec![field("fd", capture("folder")), zero()]));
        }
        steps.into_iter().map(Pattern::Step).collect()
    }
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

fn is_sync(deed: &Deed) -> bool {
    matches!(&*deed.name, "fsync" | "fdatasync")
}

fn succeeded(deed: &Deed) -> bool {
    deed.returns
        .as_ref()
        .is_some_and(|part| part.value == Value::Number(0))
}

fn has_flag(deed: &Deed, flag: &str) -> bool {
    deed.part("flags").is_some_and(|part| {
        matches!(&part.value, Value::Names(names, _) if names.iter().any(|name| **name == *flag))
    })
}

/// Returns the open file description of a part.
fn description(deed: &Deed, word: &str) -> Option<u64> {
    match deed.part(word)?.value {
        Value::File { description, .. } | Value::UnknownFile { description, .. } => description,
        _ => None,
    }
}

/// Returns a path as an author would write it: below the working directory if it is there, else as
/// in the call.
fn path(deed: &Deed, word: &str) -> Option<String> {
    let part = deed.part(word)?;
    let Value::Path {
        given, absolute, ..
    } = &part.value
    else {
        return None;
    };
    let below = absolute
        .as_ref()
        .and_then(|path| path.strip_prefix(b"$DIR/"));
    let path = below.unwrap_or(given);
    let path = path.strip_prefix(b"$DIR/").unwrap_or(path);
    let path = path.strip_prefix(b"./").unwrap_or(path);
    String::from_utf8(path.to_vec()).ok()
}
