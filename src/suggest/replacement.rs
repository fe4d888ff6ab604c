//! Finds how a file is replaced: written beside the old one, synced, and renamed.

use super::Given;
use super::syncs::{self, Brings, brings, has_flag, succeeded};
use crate::scenario::{Expectations, Literal, Pattern, StepSpec, Suggestion, Test, event};
use crate::trace::Deed;
use crate::verdict::Run;
use std::collections::BTreeSet;

/// Suggests the order, if all runs have the same.
pub(super) fn suggestion(
    runs: &[Run],
    given: &Given,
    mapped: &BTreeSet<Vec<u8>>,
) -> Option<Suggestion> {
    let mut found = runs
        .iter()
        .map(|run| Replacement::find(&run.trace.in_order(), mapped));
    let first = found.next()??;
    if !found.all(|other| other.as_ref() == Some(&first)) {
        return None;
    }
    let to = &first.to;
    // What was not recorded may have been done.
    let mut why = match &first.removed {
        Some(call) => vec![
            format!(
                "`{to}` is not replaced whole: `{call}` takes or empties the old one before the new one"
            ),
            "has its name, so that a crash between may leave none. What it does:".to_owned(),
        ],
        None if first.is_mapped || !given.has_all_events => {
            vec![format!("`{to}` is replaced by a rename:")]
        }
        None => vec![format!("`{to}` is replaced whole:")],
    };
    let lacks = |sync: &Sync| *sync == Sync::None && given.has_all_events;
    if lacks(&first.sync) {
        why.push("But nothing syncs what is in it before it has its name, so that after a crash it may be empty.".to_owned());
    } else if lacks(&first.folder) {
        why.push(
            "But nothing syncs the folder behind it, so that a crash may bring the old one back."
                .to_owned(),
        );
    }
    Some(Suggestion {
        why,
        expectations: Expectations {
            sequence: first.steps(),
            ..Expectations::default()
        },
    })
}

/// How a file or a folder comes to the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sync {
    /// By a call of this name on the descriptor that was opened.
    Same(String),
    /// By a call of this name on the descriptor of a file with this name.
    Named(String, String),
    /// By a call of this name, which syncs everything.
    All(String),
    /// With each write.
    Always,
    /// Perhaps: it is not known what a call synced.
    Unclear,
    None,
}

/// The calls of a replacement, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Replacement {
    open: String,
    creates: bool,
    sync: Sync,
    rename: String,
    to: String,
    folder: Sync,
    /// The call that took the old file's name away before.
    removed: Option<String>,
    /// Whether the new file is written through a mapping too.
    is_mapped: bool,
}

impl Replacement {
    fn find(deeds: &[&Deed], mapped: &BTreeSet<Vec<u8>>) -> Option<Self> {
        let is_rename = |deed: &Deed| deed.name.starts_with("rename") && succeeded(deed);
        let mut renames = deeds.iter().enumerate().filter(|(_, deed)| is_rename(deed));
        renames.find_map(|(at, rename)| Self::by(rename, at, deeds, mapped))
    }

    /// The replacement that this rename, at this place, concludes.
    fn by(rename: &Deed, at: usize, deeds: &[&Deed], mapped: &BTreeSet<Vec<u8>>) -> Option<Self> {
        let (before, behind) = deeds.split_at_checked(at)?;
        let from = syncs::path(rename, "from")?;
        let (opened, open) = before.iter().enumerate().rfind(|(_, deed)| {
            syncs::path(deed, "path").as_ref() == Some(&from)
                && deed.description("returns").is_some()
        })?;
        // What is only read is no new content.
        if !is_for_writing(open) {
            return None;
        }
        let file = open.description("returns");
        let since = before.get(opened..).unwrap_or_default();
        let is_own = |deed: &&Deed| deed.description("fd") == file;
        let last = since
            .iter()
            .rposition(|deed| syncs::writes(deed) && is_own(deed));
        // A sync covers what was written before it.
        let written = since.get(last.unwrap_or_default()..).unwrap_or_default();
        let same = written
            .iter()
            .find(|deed| brings(deed).is_some() && is_own(deed));
        let is_mapped = syncs::absolute(rename, "from").is_some_and(|it| mapped.contains(&it));
        let may_sync = |deed: &&Deed| *deed.name == *"pwritev2";
        let is_unclear = last.is_none() && !is_mapped || since.iter().any(may_sync);
        let sync = match same {
            _ if has_flag(open, "O_SYNC") || has_flag(open, "O_DSYNC") => Sync::Always,
            Some(sync) => Sync::Same(sync.name.to_string()),
            None => match among(written, syncs::absolute(rename, "from").as_deref(), before) {
                Sync::None if is_unclear => Sync::Unclear,
                sync => sync,
            },
        };
        let to = syncs::absolute(rename, "to");
        let folder = to.as_deref().and_then(parent);
        Some(Self {
            open: open.name.to_string(),
            creates: has_flag(open, "O_CREAT"),
            sync,
            rename: rename.name.to_string(),
            to: syncs::path(rename, "to")?,
            folder: among(behind, folder, deeds),
            removed: to.as_deref().and_then(|to| removed(before, to)),
            is_mapped,
        })
    }

    fn steps(&self) -> Vec<Pattern> {
        let capture = |name: &str| Test::Capture(name.to_owned());
        let field = |name: &str, test: Test| (name.to_owned(), test);
        let text = |text: &str| Test::Is(Literal::Text(text.to_owned()));
        let zero = || field("returns", Test::Is(Literal::Number(0)));
        let step = |sync: &Sync| -> Option<StepSpec> {
            let (name, fd) = match sync {
                Sync::Same(name) => (name, Some(capture("file"))),
                Sync::Named(name, file) => (name, Some(text(file))),
                Sync::All(name) => (name, None),
                Sync::Always | Sync::Unclear | Sync::None => return None,
            };
            let fields = fd.map(|fd| field("fd", fd)).into_iter().chain([zero()]);
            Some(event(name, fields.collect()))
        };
        let mut open = vec![field("path", capture("new"))];
        if self.creates {
            open.push(field("flags", Test::Contains(vec!["O_CREAT".to_owned()])));
        }
        if matches!(self.sync, Sync::Same(_)) {
            open.push(field("returns", capture("file")));
        }
        let names = vec![
            field("from", capture("new")),
            field("to", text(&self.to)),
            zero(),
        ];
        let mut steps = vec![event(&self.open, open)];
        steps.extend(step(&self.sync));
        steps.push(event(&self.rename, names));
        steps.extend(step(&self.folder));
        steps.into_iter().map(Pattern::Step).collect()
    }
}

/// Returns the call among these that took this name away, if it was not made again behind that.
fn removed(before: &[&Deed], name: &[u8]) -> Option<String> {
    let mut removed = None;
    for deed in before {
        let is = |word: &str| syncs::absolute(deed, word).as_deref() == Some(name);
        let starts_with = |starts: &[&str]| starts.iter().any(|it| deed.name.starts_with(it));
        let is_opened = is("path") && deed.description("returns").is_some();
        let empties = is_opened && (*deed.name == *"creat" || has_flag(deed, "O_TRUNC"))
            || succeeded(deed) && *deed.name == *"truncate" && is("path");
        if empties
            || succeeded(deed) && (starts_with(&["unlink"]) && is("path"))
            || succeeded(deed) && starts_with(&["rename"]) && is("from")
        {
            removed = Some(deed.name.to_string());
        } else if is_opened
            || succeeded(deed) && starts_with(&["rename", "link", "symlink"]) && is("to")
        {
            removed = None;
        }
    }
    removed
}

fn is_for_writing(open: &Deed) -> bool {
    let flags = ["O_WRONLY", "O_RDWR"];
    *open.name == *"creat" || flags.iter().any(|flag| has_flag(open, flag))
}

/// Finds the call among these that brings what has this name to the disk, by whatever descriptor.
/// A sync of what the run itself has written, under another name, is of another file.
fn among(deeds: &[&Deed], name: Option<&[u8]>, all: &[&Deed]) -> Sync {
    let mut is_unclear = false;
    for deed in deeds {
        let call = || deed.name.to_string();
        match brings(deed) {
            None => {}
            Some(Brings::All) => return Sync::All(call()),
            Some(Brings::File(file)) if Some(file.as_slice()) == name => {
                return match syncs::written(&file) {
                    Some(file) => Sync::Named(call(), file),
                    None => Sync::Unclear,
                };
            }
            Some(Brings::File(_)) => {
                let is_written = |other: &&&Deed| {
                    syncs::writes(other) && other.description("fd") == deed.description("fd")
                };
                is_unclear |= name.is_none() || !all.iter().any(|other| is_written(&other));
            }
            Some(Brings::Unknown) => is_unclear = true,
        }
    }
    match is_unclear || name.is_none() {
        true => Sync::Unclear,
        false => Sync::None,
    }
}

/// The folder of a path from the root.
fn parent(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    path.get(..slash.max(1))
}
