//! Writes what a command did, as text, Markdown and JSON lines: each thing once, with how often, in
//! an order that two runs share.

mod folded;

use super::json::{Exit, object_line};
use crate::matching::{Blamed, Deeds, Done, Statement, Unsure};
use crate::verdict::Known;
use folded::{Line, folded};
use perf_live::host::is_of_procfs;
use perf_live::units::ExitKind;
use perf_records::units::{shell_path, shown};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What a command did, with how much of it is known.
#[derive(Debug)]
pub struct Stated<'a> {
    /// The command and its arguments.
    pub command: &'a [String],
    /// What it did.
    pub statement: &'a Statement,
    /// How it ended.
    pub exit: Known<ExitKind>,
    /// How many processes there were.
    pub processes: usize,
    /// How many records are missing.
    pub lost: u64,
    /// Why it is not complete; nothing if it is.
    pub gaps: Vec<String>,
    /// The folders, beside the working directory, that were looked at before the command started.
    pub looked_at: Vec<PathBuf>,
}

/// What was done to one thing, all of it together.
#[derive(Clone, Debug, Default)]
struct Row<'a> {
    count: u64,
    is_usual: bool,
    tests: BTreeSet<&'a str>,
    /// Whether what did it may have been one of several tests.
    is_unsure: bool,
}

/// What it was done to, and why that is not known.
type Key<'a> = (Deeds, Option<&'a str>, Option<&'a str>, Option<&'a Unsure>);

/// How a kind of deeds is called in a text.
const fn heading(what: Deeds) -> &'static str {
    match what {
        Deeds::Executed => "programs executed",
        Deeds::Read => "files read outside of the working directory",
        Deeds::Written => "files and folders made or changed",
        Deeds::Deleted => "deleted",
        Deeds::Renamed => "renamed",
        Deeds::Connected => "peers connected",
        Deeds::Bound => "addresses bound",
        Deeds::Opened => "sockets without an address",
        Deeds::Privileges => "privileges changed",
        Deeds::Signalled => "signals sent to other processes",
        Deeds::Handed => "files and sockets that it was handed open",
    }
}

/// What stands for a thing that was not read, or has no name.
const UNREAD: &str = "(not read)";

impl<'a> Stated<'a> {
    fn rows(&self) -> BTreeMap<Key<'a>, Row<'a>> {
        let mut rows: BTreeMap<Key<'a>, Row<'a>> = BTreeMap::new();
        for done in &self.statement.done {
            let Done {
                what,
                to,
                new,
                others,
                unsure,
                is_usual,
                by,
                ..
            } = done;
            let others = others.iter();
            let others = others.map(|(to, new)| (Some(to.as_str()), new.as_deref()));
            // By the name that was used it may not be found again: that of a mount that is gone.
            for (to, new) in [(to.as_deref(), new.as_deref())].into_iter().chain(others) {
                let key = (*what, to, new, unsure.as_ref());
                let row = rows.entry(key).or_default();
                row.count += 1;
                row.is_usual = *is_usual;
                match by {
                    Blamed::Nothing => {}
                    Blamed::Test(name) => drop(row.tests.insert(name)),
                    Blamed::OneOf(names) => {
                        row.is_unsure = true;
                        row.tests.extend(names.iter().map(|name| &**name));
                    }
                }
            }
        }
        rows
    }

    /// Why it is not complete: what is missing, and what is not known.
    fn reasons(&self) -> Vec<String> {
        let done = self.statement.done.iter();
        let unknown = match done.filter(|done| done.unsure.is_some()).count() {
            0 => None,
            1 => Some("1 deed is not known in full: it is marked with a `?`".to_owned()),
            n => Some(format!(
                "{n} deeds are not known in full: they are marked with a `?`"
            )),
        };
        self.gaps.iter().cloned().chain(unknown).collect()
    }

    /// What would make more of it known: the folders to look at before, of files of which it is not
    /// known which they were.
    fn hint(&self) -> Option<String> {
        const MOST: usize = 3;
        let mut folders = BTreeSet::new();
        for done in &self.statement.done {
            if let Some(Unsure::Which(_)) = done.unsure {
                let names = [&done.to, &done.new].into_iter().flatten();
                folders.extend(names.filter_map(|name| Path::new(name).parent()));
            }
        }
        let is_looked_at = |folder: &Path| self.looked_at.iter().any(|it| folder.starts_with(it));
        // What lies there is made by the kernel when it is looked at.
        let is_kernels = |folder: &Path| is_of_procfs(folder.as_os_str().as_bytes());
        let can_help = |folder: &&Path| {
            let is_of_files = folder.is_absolute() && !is_kernels(folder);
            is_of_files && folder.parent().is_some() && !is_looked_at(folder)
        };
        let named = folders.into_iter().filter(can_help).take(MOST);
        let named = named.map(|folder| format!("--folder {}", shell_path(folder)));
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| {
            format!(
                "what lies in a folder before the command starts is looked at by {}",
                named.join(" ")
            )
        })
    }

    /// Whether it says all that the command did.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.reasons().is_empty()
    }

    fn head(&self) -> String {
        let ended = match &self.exit {
            Known::Yes(exit) => format!("it ended with {exit}"),
            Known::No(why) => format!("how it ended is not known: {why}"),
        };
        let tests = match self.statement.tests.len() {
            0 => String::new(),
            1 => ", 1 test".to_owned(),
            n => format!(", {n} tests"),
        };
        let processes = match self.processes {
            1 => "1 process".to_owned(),
            n => format!("{n} processes"),
        };
        format!("{processes}{tests}; {ended}")
    }

    /// Each kind of deeds with its lines, and how many things nearly every program has among them.
    fn sections(&self) -> Vec<(Deeds, Vec<Line>, usize)> {
        let rows = self.rows();
        let of = |what: Deeds| {
            let own = rows.iter().filter(|(key, _)| key.0 == what);
            let (usual, own): (Vec<_>, Vec<_>) = own.partition(|(_, row)| row.is_usual);
            let lines = own.into_iter().map(|((_, to, new, unsure), row)| Line {
                path: to.unwrap_or(UNREAD).to_owned(),
                new: new.map(str::to_owned),
                why: unsure.map(ToString::to_string),
                n_files: 1,
                count: row.count,
                tests: row.tests.iter().map(|test| (*test).to_owned()).collect(),
                is_unsure: row.is_unsure,
            });
            let lines: Vec<Line> = lines.collect();
            let lines = match what {
                Deeds::Read | Deeds::Written | Deeds::Deleted | Deeds::Renamed => folded(lines),
                _ => lines,
            };
            (what, lines, usual.len())
        };
        Deeds::ALL.into_iter().map(of).collect()
    }

    /// Appends it as text for people.
    pub fn text(&self, out: &mut String) {
        let command = shown(&self.command.join(" ")).into_owned();
        let word = if self.is_complete() {
            "complete"
        } else {
            "incomplete"
        };
        let _always_fits = writeln!(out, "{word}: what `{command}` did: {}", self.head());
        for reason in self.reasons() {
            let _always_fits = writeln!(out, "  because {}", shown(&reason));
        }
        if let Some(hint) = self.hint() {
            let _always_fits = writeln!(out, "  hint: {hint}");
        }
        for (what, lines, usual) in self.sections() {
            let _always_fits = writeln!(out, "{}", counted(what, &lines, usual));
            for line in lines {
                let _always_fits = writeln!(out, "  {}", line.text());
            }
        }
    }

    /// Appends it as Markdown, for a summary of a CI run.
    pub fn markdown(&self, out: &mut String) {
        let command = shown(&self.command.join(" ")).into_owned();
        let word = if self.is_complete() {
            "complete"
        } else {
            "incomplete"
        };
        let _always_fits = writeln!(out, "## What {} did: {word}\n", code(&command));
        let _always_fits = writeln!(out, "{}\n", self.head());
        for reason in self.reasons() {
            let _always_fits = writeln!(out, "- because {}", code(&reason));
        }
        if let Some(hint) = self.hint() {
            let _always_fits = writeln!(out, "- hint: {}", code(&hint));
        }
        for (what, lines, usual) in self.sections() {
            let _always_fits = writeln!(out, "\n### {}\n", counted(what, &lines, usual));
            for line in lines {
                let _always_fits = writeln!(out, "- {}", code(&line.text()));
            }
        }
    }

    /// Appends it as JSON lines: one for each thing, then the summary.
    pub fn json(&self, out: &mut String) {
        for ((what, to, new, unsure), row) in self.rows() {
            object_line(out, "done", |line| {
                line.put("what", what.word());
                line.put("to", to);
                line.put("new", new);
                line.put("known", unsure.is_none());
                line.put_some("why", unsure.map(ToString::to_string));
                line.put("usual", row.is_usual);
                line.put("count", row.count);
                line.put("tests", &row.tests);
                line.put("tests_known", !row.is_unsure);
            });
        }
        object_line(out, "summary", |line| {
            line.put("complete", self.is_complete());
            line.put("reasons", self.reasons());
            line.put_some("hint", self.hint());
            line.put("lost", self.lost);
            line.put("processes", self.processes);
            let tests = self.statement.tests.iter().map(|it| &**it);
            line.put("tests", tests.collect::<Vec<&str>>());
            let exit = self.exit.yes().map(|exit| Exit::from(*exit));
            line.put("exit", exit);
            line.put("command", self.command);
        });
    }
}

/// `deleted: 3`, and what nearly every program has among them.
fn counted(what: Deeds, lines: &[Line], usual: usize) -> String {
    let n: u64 = lines.iter().map(|line| line.n_files).sum();
    let heading = heading(what);
    match (n, usual) {
        (0, 0) => format!("{heading}: none"),
        (n, 0) => format!("{heading}: {n}"),
        (n, usual) => format!("{heading}: {n}, beside {usual} of the preset `system`"),
    }
}

/// A text as code in Markdown, whatever is in it.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

#[cfg(test)]
mod tests;
