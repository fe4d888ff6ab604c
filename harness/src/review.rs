//! `harness review`: what waits beside the snapshots is accepted or rejected.

use crate::{complain, is_ci, status};
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use trace_harness::snapshot::{self, SnapshotError};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 nothing waits any more, 1 something still does, 2 usage error."
)]
pub(crate) struct Arguments {
    /// Folders to look in
    #[arg(value_name = "PATH", default_value = "snapshots")]
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
        anstream::eprintln!("harness: nothing is accepted or rejected when CI is set");
        return status::USAGE;
    }
    match review(arguments) {
        Ok(0) => status::PASSED,
        Ok(_) => status::FAILED,
        Err(error) => {
            complain(&error, None);
            status::USAGE
        }
    }
}

/// How many still wait.
fn review(arguments: &Arguments) -> Result<usize, SnapshotError> {
    let mut waiting = Vec::new();
    for path in &arguments.paths {
        waiting.extend(snapshot::files_below(path, ".snap.new")?);
    }
    if waiting.is_empty() {
        anstream::println!("nothing waits for review");
    }
    let mut left = 0;
    for (place, pending) in waiting.iter().enumerate() {
        show(pending, place + 1, waiting.len())?;
        match decide(arguments) {
            Decision::Accept => {
                let file = snapshot::accept(pending)?;
                anstream::println!("accepted: {}", file.display());
            }
            Decision::Reject => {
                snapshot::forget_pending(&pending.with_extension(""))?;
                anstream::println!("rejected: {}", pending.display());
            }
            Decision::Skip => left += 1,
            Decision::Quit => return Ok(waiting.len() - place + left),
        }
    }
    Ok(left)
}

fn show(pending: &Path, number: usize, total: usize) -> Result<(), SnapshotError> {
    let stored = snapshot::read(&pending.with_extension(""))?.unwrap_or_default();
    let new = snapshot::read(pending)?.unwrap_or_default();
    anstream::println!(
        "[{number}/{total}] {}",
        pending.with_extension("").display()
    );
    for line in snapshot::diff(&stored, &new).lines() {
        let color = match line.as_bytes().first() {
            Some(b'+') => "\u{1b}[32m",
            Some(b'-') => "\u{1b}[31m",
            _ => "",
        };
        anstream::println!("{color}{line}\u{1b}[0m");
    }
    Ok(())
}

enum Decision {
    Accept,
    Reject,
    Skip,
    Quit,
}

fn decide(arguments: &Arguments) -> Decision {
    if arguments.accept {
        return Decision::Accept;
    }
    if arguments.reject {
        return Decision::Reject;
    }
    if !std::io::stdin().is_terminal() {
        return Decision::Skip;
    }
    loop {
        anstream::print!("accept (a), reject (r), skip (s), quit (q)? ");
        let mut answer = String::new();
        let asked = std::io::stdout()
            .flush()
            .and_then(|()| std::io::stdin().lock().read_line(&mut answer));
        match (asked, answer.trim()) {
            (Ok(0) | Err(_), _) | (_, "q") => return Decision::Quit,
            (_, "a") => return Decision::Accept,
            (_, "r") => return Decision::Reject,
            (_, "s") => return Decision::Skip,
            _ => {}
        }
    }
}
