//! `harness review`: accepts or rejects the traces that wait beside the snapshots.

use crate::out::note;
use crate::{complain, is_ci, out, status};
use perf_records::units::{shown, shown_path};
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use trace_harness::snapshot::{self, SnapshotError};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 nothing waits any more, 1 something still does, 2 usage error."
)]
pub(crate) struct Arguments {
    /// Folders to look in, which must be there [default: snapshots, if it is]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Accept all without asking
    #[arg(long, conflicts_with = "reject")]
    accept: bool,
    /// Reject all without asking
    #[arg(long)]
    reject: bool,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    if is_ci() {
        note!("harness: nothing is accepted or rejected when CI is set");
        return status::USAGE;
    }
    match review(arguments) {
        Ok(0) => status::PASSED,
        Ok(_) => status::FAILED,
        Err(ReviewError::Print(error)) => out::ended(Err(error), status::PASSED, status::USAGE),
        Err(error @ (ReviewError::Snapshot(_) | ReviewError::NoFolder(_))) => {
            complain(&error, None);
            status::USAGE
        }
    }
}

/// Why a review could not be finished.
#[derive(Debug, thiserror::Error)]
enum ReviewError {
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error("there is no folder `{}`", shown_path(.0))]
    NoFolder(PathBuf),
    #[error("cannot write to standard output")]
    Print(#[from] io::Error),
}

/// Returns how many traces still wait. A trace that could not be shown is left undecided.
fn review(arguments: &Arguments) -> Result<usize, ReviewError> {
    let mut waiting = Vec::new();
    let usual = [PathBuf::from("snapshots")];
    let paths = match arguments.paths.as_slice() {
        [] => &usual,
        named => named,
    };
    for path in paths {
        if !arguments.paths.is_empty() && !path.exists() {
            return Err(ReviewError::NoFolder(path.clone()));
        }
        waiting.extend(snapshot::files_below(path, ".snap.new")?);
    }
    if waiting.is_empty() {
        out::print("nothing waits for review\n")?;
    }
    let mut left = 0;
    for (place, pending) in waiting.iter().enumerate() {
        show(pending, place + 1, waiting.len())?;
        match decide(arguments)? {
            Decision::Accept => {
                let file = snapshot::accept(pending)?;
                out::print(&format!("accepted: {}\n", shown_path(&file)))?;
            }
            Decision::Reject => {
                snapshot::forget_pending(&pending.with_extension(""))?;
                out::print(&format!("rejected: {}\n", shown_path(pending)))?;
            }
            Decision::Skip => left += 1,
            Decision::Quit => return Ok(waiting.len() - place + left),
        }
    }
    Ok(left)
}

fn show(pending: &Path, number: usize, total: usize) -> Result<(), ReviewError> {
    let stored = snapshot::read(&pending.with_extension(""))?.unwrap_or_default();
    let new = snapshot::read(pending)?.unwrap_or_default();
    let mut text = format!(
        "[{number}/{total}] {}\n",
        shown_path(pending.with_extension(""))
    );
    for line in snapshot::diff(&stored, &new).lines() {
        let color = match line.as_bytes().first() {
            Some(b'+') => "\u{1b}[32m",
            Some(b'-') => "\u{1b}[31m",
            _ => "",
        };
        text.push_str(&format!("{color}{}\u{1b}[0m\n", shown(line)));
    }
    Ok(out::print_styled(&text)?)
}

enum Decision {
    Accept,
    Reject,
    Skip,
    Quit,
}

fn decide(arguments: &Arguments) -> io::Result<Decision> {
    if arguments.accept {
        return Ok(Decision::Accept);
    }
    if arguments.reject {
        return Ok(Decision::Reject);
    }
    if !std::io::stdin().is_terminal() {
        return Ok(Decision::Skip);
    }
    loop {
        out::print("accept (a), reject (r), skip (s), quit (q)? ")?;
        let mut answer = String::new();
        let asked = io::stdin().lock().read_line(&mut answer);
        return Ok(match (asked, answer.trim()) {
            (Ok(0) | Err(_), _) | (_, "q") => Decision::Quit,
            (_, "a") => Decision::Accept,
            (_, "r") => Decision::Reject,
            (_, "s") => Decision::Skip,
            _ => continue,
        });
    }
}
